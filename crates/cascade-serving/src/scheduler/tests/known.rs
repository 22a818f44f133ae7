//! Cases with published outcomes.

use super::*;

/// 200 requests of 512 + 128 tokens at once on 1,000 usable blocks.
fn pressure(change: impl FnOnce(&mut SchedulerConfig)) -> (u64, u32, u64) {
    let mut config = SchedulerConfig {
        num_gpu_blocks: 1001,
        max_num_seqs: 256,
        max_num_batched_tokens: 8192,
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    };
    change(&mut config);
    let story = tell(
        &mut Scheduler::new(config).unwrap(),
        &all_at_once(200, 512, 128),
        |_| {},
    );
    assert!(story.emitted.values().all(|emitted| *emitted == 128));
    (story.steps, story.preemptions.values().sum(), story.tokens)
}

/// Numbers of the unmodified vLLM 0.33.0 scheduler on the same load.
#[test]
fn memory_pressure_preempts_as_vllm_does() {
    assert_eq!(pressure(|_| {}), (1024, 42, 150_857));
    assert_eq!(
        pressure(|config| config.async_scheduling = true),
        (1031, 40, 149_825)
    );
    assert_eq!(
        pressure(|config| config.enable_prefix_caching = true),
        (1024, 42, 144_505)
    );
}

/// The published stress test of the reference rules, and vLLM's own outcome on the same load.
#[test]
fn three_requests_on_four_blocks() {
    let run = |rules, num_gpu_blocks| {
        let config = SchedulerConfig {
            rules,
            num_gpu_blocks,
            block_size: 4,
            enable_prefix_caching: false,
            ..SchedulerConfig::default()
        };
        let story = tell(
            &mut Scheduler::new(config).unwrap(),
            &all_at_once(3, 8, 8),
            |_| {},
        );
        assert!(story.emitted.values().all(|emitted| *emitted == 8));
        (story.steps, story.preemptions.into_values().collect::<Vec<_>>())
    };
    assert_eq!(run(Rules::Reference, 4), (23, vec![0, 3, 2]));
    assert_eq!(run(Rules::VllmV1, 5), (23, vec![0, 1, 0]));
}

#[test]
fn requests_that_can_never_run_are_refused_with_the_reason() {
    let config = SchedulerConfig {
        num_gpu_blocks: 11,
        max_model_len: 400,
        max_num_batched_tokens: 64,
        enable_chunked_prefill: false,
        ..SchedulerConfig::default()
    };
    let mut scheduler = Scheduler::new(config).unwrap();
    let mut add = |prompt, output| scheduler.add(Request::new(0, 0, prompt, output)).unwrap_err();
    assert_eq!(add(0, 1), Refusal::EmptyPrompt);
    assert_eq!(
        add(400, 1),
        Refusal::PromptTooLong {
            prompt_tokens: 400,
            max_model_len: 400
        }
    );
    assert_eq!(
        add(65, 1),
        Refusal::PromptOverBudget {
            prompt_tokens: 65,
            max_num_batched_tokens: 64
        }
    );
    assert_eq!(
        add(64, 98),
        Refusal::KvCapacity {
            needed: 11,
            usable: 10
        }
    );
    assert!(scheduler.add(Request::new(0, 0, 64, 97)).is_ok());
}

#[test]
fn a_prompt_that_became_too_long_to_recompute_in_one_step_is_refused() {
    let config = SchedulerConfig {
        num_gpu_blocks: 9,
        block_size: 4,
        max_num_batched_tokens: 15,
        enable_chunked_prefill: false,
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    };
    let story = tell(
        &mut Scheduler::new(config).unwrap(),
        &all_at_once(2, 14, 12),
        |_| {},
    );
    assert_eq!(story.emitted, BTreeMap::from([(0, 12)]));
    assert_eq!(
        story.refused,
        BTreeMap::from([(1, Refusal::NeverFits { tokens: 16 })])
    );
}

/// vLLM's defaults by GPU and use (`arg_utils.py` of 0.33.0).
#[test]
fn limits_follow_the_gpu_and_the_use() {
    const GIB: u64 = 1 << 30;
    assert_eq!(
        default_limits("NVIDIA H100 80GB HBM3", 79 * GIB, Usage::Server),
        (8192, 1024)
    );
    assert_eq!(
        default_limits("NVIDIA H100 80GB HBM3", 79 * GIB, Usage::Offline),
        (16_384, 1024)
    );
    assert_eq!(
        default_limits("NVIDIA A100-SXM4-80GB", 79 * GIB, Usage::Server),
        (2048, 256)
    );
    assert_eq!(
        default_limits("NVIDIA GeForce RTX 4090", 23 * GIB, Usage::Offline),
        (8192, 256)
    );
    assert_eq!(
        default_limits("NVIDIA B200", 178 * GIB, Usage::Server),
        (16_384, 1024)
    );
}

/// More memory can preempt more: with three blocks two requests run one after the other, with four the second
/// is admitted beside the first and has to give way.
#[test]
fn one_block_more_can_preempt_once_more() {
    let preemptions = |usable: u32| {
        let config = SchedulerConfig {
            num_gpu_blocks: usable + 1,
            block_size: 4,
            enable_prefix_caching: false,
            ..SchedulerConfig::default()
        };
        let story = tell(
            &mut Scheduler::new(config).unwrap(),
            &all_at_once(2, 8, 4),
            |_| {},
        );
        story.preemptions.into_values().sum::<u32>()
    };
    assert_eq!((3..7).map(preemptions).collect::<Vec<_>>(), [0, 1, 1, 0]);
}

#[test]
fn a_step_says_why_the_head_of_the_queue_waits() {
    let blocked = |change: fn(&mut SchedulerConfig), load: &[Request]| {
        let mut config = SchedulerConfig {
            num_gpu_blocks: 9,
            block_size: 4,
            ..SchedulerConfig::default()
        };
        change(&mut config);
        let mut seen = Vec::new();
        tell(&mut Scheduler::new(config).unwrap(), load, |scheduler| {
            seen.push(scheduler.newest().and_then(Plan::blocked));
        });
        seen.dedup();
        seen
    };
    let two = all_at_once(2, 12, 2);
    let blocks = |needed, free| Some(Blocked::Blocks { needed, free });
    assert_eq!(blocked(|_| {}, &two), [None]);
    assert_eq!(
        blocked(|config| config.max_num_seqs = 1, &two),
        [Some(Blocked::Seqs), None]
    );
    assert_eq!(
        blocked(|config| config.max_num_batched_tokens = 12, &two)[0],
        Some(Blocked::Budget)
    );
    let whole = |config: &mut SchedulerConfig| {
        config.max_num_batched_tokens = 13;
        config.enable_chunked_prefill = false;
    };
    assert_eq!(blocked(whole, &two)[0], Some(Blocked::Chunk));
    assert_eq!(
        blocked(|config| config.watermark = 0.34, &two),
        [blocks(6, 5), blocks(6, 4), None]
    );
    let preempting = |config: &mut SchedulerConfig| config.num_gpu_blocks = 7;
    let seen = blocked(preempting, &all_at_once(2, 12, 8));
    assert_eq!(seen[..3], [None, Some(Blocked::Preemption), blocks(4, 2)]);
}

/// vLLM bounds its defaults by the model's length and the number of sequences by the budget.
#[test]
fn default_settings_are_bounded_as_vllm_bounds_them() {
    const GIB: u64 = 1 << 30;
    let of = |config: SchedulerConfig| {
        let config = config.with_default_limits("NVIDIA H100 80GB HBM3", 79 * GIB, Usage::Server);
        (config.max_num_batched_tokens, config.max_num_seqs)
    };
    let plain = SchedulerConfig {
        max_model_len: 131_072,
        ..SchedulerConfig::default()
    };
    assert_eq!(of(plain.clone()), (8192, 1024));
    assert_eq!(
        of(SchedulerConfig {
            enable_chunked_prefill: false,
            ..plain.clone()
        }),
        (131_072, 1024)
    );
    assert_eq!(
        of(SchedulerConfig {
            max_model_len: 4,
            ..plain
        }),
        (4096, 1024)
    );
}
