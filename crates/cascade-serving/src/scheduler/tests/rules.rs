//! Each rule is a sentence, held over random loads.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;
use crate::content::{Content, Segment};

fn config() -> impl Strategy<Value = SchedulerConfig> {
    let sizes = (
        12u32..60,
        prop_oneof![Just(4u32), Just(16)],
        1u32..12,
        8u32..100,
        0u32..30,
    );
    let flags = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        0.0..0.3,
        any::<bool>(),
    );
    (sizes, flags).prop_map(|(sizes, flags)| SchedulerConfig {
        policy: if flags.0 { Policy::Priority } else { Policy::Fcfs },
        num_gpu_blocks: sizes.0,
        block_size: sizes.1,
        max_num_seqs: sizes.2,
        max_num_batched_tokens: sizes.3,
        long_prefill_token_threshold: sizes.4,
        scheduler_reserve_full_isl: flags.1,
        enable_prefix_caching: flags.2,
        async_scheduling: flags.3,
        watermark: flags.4,
        enable_chunked_prefill: flags.5,
        max_model_len: 200,
        ..SchedulerConfig::default()
    })
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = (1u64..60, 1u32..90, 0u32..40, 0i32..4, 0u64..3, 0u32..80);
    proptest::collection::vec(one, 1..30).prop_map(|list| {
        let request = |(id, one): (usize, (u64, u32, u32, i32, u64, u32))| {
            let (arrival, prompt, output, priority, shared, shared_len) = one;
            let id = id as u64;
            let shared = Segment {
                id: shared,
                start: 0,
                len: shared_len.min(prompt),
            };
            let own = Segment {
                id: 100 + id,
                start: 0,
                len: prompt - shared.len,
            };
            let prompt_content = [shared, own].into_iter().filter(|run| run.len > 0).collect();
            Request {
                priority,
                content: Some(Content {
                    prompt: prompt_content,
                    output: 1000 + id,
                }),
                ..Request::new(id, arrival, prompt, output)
            }
        };
        list.into_iter().enumerate().map(request).collect()
    })
}

/// Blocks held by the running sequences, each counted once however many share it.
fn held(scheduler: &Scheduler) -> u32 {
    let running = || scheduler.running().iter().map(|slot| scheduler.seq(*slot));
    if scheduler.blocks.cache.is_some() {
        let blocks: std::collections::BTreeSet<u32> = running()
            .flat_map(|seq| seq.prefix.iter().flat_map(|p| p.table.clone()))
            .collect();
        blocks.len() as u32
    } else {
        scheduler
            .running()
            .iter()
            .map(|slot| scheduler.blocks.for_tokens(scheduler.computed(*slot)))
            .sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_request_emits_exactly_its_tokens_or_is_refused(
        config in config(), requests in requests(), reference in any::<bool>(),
    ) {
        let rules = if reference { Rules::Reference } else { Rules::VllmV1 };
        let config = SchedulerConfig { rules, async_scheduling: config.async_scheduling && !reference, ..config };
        let mut scheduler = Scheduler::new(config).unwrap();
        let story = tell(&mut scheduler, &requests, |_| {});
        for request in &requests {
            let emitted = story.emitted.get(&request.id);
            prop_assert_eq!(emitted.is_none(), story.refused.contains_key(&request.id));
            prop_assert!(emitted.is_none_or(|emitted| *emitted == request.output_tokens));
        }
        prop_assert_eq!(scheduler.free_blocks(), scheduler.usable_blocks());
        prop_assert!(scheduler.running().is_empty() && scheduler.waiting_len() == 0);
    }

    #[test]
    fn no_step_exceeds_its_limits_and_no_block_leaks(config in config(), requests in requests()) {
        let mut scheduler = Scheduler::new(config).unwrap();
        tell(&mut scheduler, &requests, |scheduler| {
            let (config, scheduled) = (scheduler.config(), scheduler.scheduled());
            let batch = scheduler.newest().unwrap().batch();
            assert!(batch.query_tokens <= config.max_num_batched_tokens.into());
            assert_eq!(batch.query_tokens, scheduled.iter().map(|(_, tokens)| u64::from(*tokens)).sum::<u64>());
            assert_eq!(batch.seqs as usize, scheduled.len());
            let context = |(slot, _): &(Slot, u32)| u64::from(scheduler.computed(*slot));
            assert_eq!(batch.context_tokens, scheduled.iter().map(context).sum::<u64>());
            assert!(scheduler.running().len() <= config.max_num_seqs as usize);
            assert_eq!(scheduler.free_blocks() + held(scheduler), scheduler.usable_blocks());
        });
    }

    /// The shortcut for like steps changes nothing that can be seen.
    #[test]
    fn runs_of_like_steps_are_exact(config in config(), requests in requests(), reference in any::<bool>()) {
        let rules = if reference { Rules::Reference } else { Rules::VllmV1 };
        let config = SchedulerConfig { rules, async_scheduling: config.async_scheduling && !reference, ..config };
        let tell = |mut scheduler: Scheduler| {
            let mut steps = Vec::new();
            let story = tell(&mut scheduler, &requests, |scheduler| {
                let names = |slots: &[Slot]| slots.iter().map(|s| scheduler.seq(*s).id).collect::<Vec<_>>();
                let plan = scheduler.newest().unwrap();
                steps.push((scheduler.scheduled(), *plan.batch(), names(plan.preempted()), scheduler.free_blocks()));
            });
            (story, steps)
        };
        let mut plain = Scheduler::new(config.clone()).unwrap();
        plain.step_singly();
        prop_assert_eq!(tell(Scheduler::new(config).unwrap()), tell(plain));
    }

    /// Enough blocks for the longest sequences that can run together: nothing is ever preempted.
    #[test]
    fn blocks_for_all_who_can_run_preempt_nobody(config in config(), requests in requests()) {
        let longest = requests.iter().map(|r| r.prompt_tokens + r.output_tokens).max().unwrap_or_default();
        let each = longest.div_ceil(config.block_size);
        let num_gpu_blocks = 1 + each * config.max_num_seqs + (1.5 * f64::from(each * config.max_num_seqs)) as u32;
        let story = tell(&mut Scheduler::new(SchedulerConfig { num_gpu_blocks, ..config }).unwrap(), &requests, |_| {});
        prop_assert!(story.preemptions.values().all(|count| *count == 0));
    }
}

/// One load can be unlucky (more blocks admit one more, who then collides), many together are not.
/// FCFS, no prefix caching.
#[test]
fn more_blocks_preempt_less_over_many_loads() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let loads: Vec<Vec<Request>> = (0..300)
        .map(|_| requests().new_tree(&mut runner).unwrap().current())
        .collect();
    let preemptions = |num_gpu_blocks: u32| -> u32 {
        let config = SchedulerConfig {
            num_gpu_blocks,
            block_size: 4,
            max_num_batched_tokens: 64,
            enable_prefix_caching: false,
            ..SchedulerConfig::default()
        };
        let told = loads
            .iter()
            .map(|load| tell(&mut Scheduler::new(config.clone()).unwrap(), load, |_| {}));
        told.map(|story| story.preemptions.values().sum::<u32>()).sum()
    };
    let counts: Vec<u32> = (36..200).step_by(16).map(preemptions).collect();
    assert!(counts.first() > Some(&300), "{counts:?}");
    assert!(counts.is_sorted_by(|few, many| few >= many), "{counts:?}");
}
