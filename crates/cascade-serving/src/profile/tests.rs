//! Tests of grouping and of building profiles; the fixture that other tests share.

mod refusals;

use std::sync::{Arc, LazyLock};

use cascade_steps::{Kernel, Request, Shape, Step, Timeline};

use super::*;
use crate::datasheet::datasheet;
use crate::facts::builtin;

/// Kernels of one step of OPT-125m on an H100: name, grid, launches, µs of a launch in a prefill, in a decode.
///
/// Times are Accel-Sim's as the product's analysis of its sample publishes them, by group; names are those of
/// the kernels that vLLM runs there.
const KERNELS: [(&str, &str, usize, f64, f64); 13] = [
    (
        "_ZN2at6native21indexSelectSmallIndexIN3c104HalfEljLi2ELi2ELin2EEE",
        "1x1x1",
        2,
        7.0,
        7.0,
    ),
    (
        "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_bias_TNT",
        "1x9x1",
        12,
        4.942424,
        4.942424,
    ),
    (
        "_ZN4vllm30reshape_and_cache_flash_kernelIttLNS_18Fp8KVCacheDataTypeE0EEE",
        "6x1x1",
        12,
        4.156061,
        4.051515,
    ),
    (
        "_ZN7cutlass13device_kernelIN5flash11enable_sm90INS1_16FlashAttnFwdSm90",
        "12x1x1",
        12,
        7.323737,
        6.710101,
    ),
    (
        "nvjet_sm90_hsh_64x8_64x16_1x1_h_bz_bias_TNT",
        "1x3x1",
        12,
        4.460606,
        4.460606,
    ),
    (
        "nvjet_sm90_hsh_64x8_64x16_2x1_v_bz_bias_relu_TNT",
        "1x12x1",
        12,
        5.465152,
        5.465152,
    ),
    (
        "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_TNT",
        "1x6x1",
        12,
        5.188384,
        5.188384,
    ),
    (
        "_ZN8cublasLt19splitKreduce_kernelILi32ELi16Eif6__halffS1_",
        "24x1x1",
        12,
        3.671212,
        3.671212,
    ),
    (
        "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_add",
        "5x1x1",
        64,
        3.231237,
        3.231237,
    ),
    (
        "_ZN2at6native52_GLOBAL__N__layer_norm_kernel_cu35vectorized_layer_norm_kernel",
        "6x1x1",
        25,
        5.102904,
        5.102904,
    ),
    (
        "_ZN5flash32prepare_varlen_num_blocks_kernelILi1ELb1EEEvPKi",
        "1x1x1",
        1,
        3.1,
        3.1,
    ),
    (
        "nvjet_sm90_hsh_128x8_64x12_2x1_v_bz_TNT",
        "1x66x1",
        1,
        26.263636,
        26.263636,
    ),
    (
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_9ArgMaxOpsIfEE",
        "1x1x1",
        1,
        10.0,
        10.0,
    ),
];

/// GPU busy, residual host time and gap of a prefill and of a decode, in ns: medians of the same analysis.
pub(crate) const PREFILL: [f64; 2] = [822_679.0, 7_843_551.0];
pub(crate) const DECODE: [f64; 3] = [816_980.0, 7_272_397.0, 35_911.0];

fn step(repeat: i64, number: i64) -> Step {
    let prefill = number == 0;
    let mut kernels = Vec::new();
    for (name, grid, launches, at_prefill, at_decode) in KERNELS {
        let shape = Arc::new(Shape {
            name: name.to_owned(),
            grid: Some(grid.to_owned()),
            block: None,
        });
        for _ in 0..launches {
            let us = if prefill { at_prefill } else { at_decode };
            kernels.push(Kernel::new(
                kernels.len() as i64,
                Arc::clone(&shape),
                us * 1000.0,
                None,
            ));
        }
    }
    let [busy, host] = if prefill { PREFILL } else { [DECODE[0], DECODE[1]] };
    // Repeats differ on both sides of their median.
    let host = host + (repeat - 2) as f64 * 90_000.0;
    Step {
        step: number,
        repeat,
        kind: if prefill { "prefill" } else { "decode" }.to_owned(),
        num_reqs: Some(1),
        num_scheduled_tokens: Some(if prefill { 6 } else { 1 }),
        baseline_wall_ns: Some(busy + host),
        gpu_busy_ns: Some(busy),
        host_ns: Some(host),
        kernels,
        baseline_gap_before_ns: (!prefill).then_some(DECODE[2]),
        ..Step::default()
    }
}

/// Three steady repeats of 6 prompt and 32 output tokens on an H100, after a warm-up that is unlike them.
pub(crate) fn timeline() -> Timeline {
    let mut timeline = Timeline::default();
    timeline.steps.push(Step {
        warmup: true,
        kind: "prefill".to_owned(),
        step: -1,
        repeat: -1,
        ..Step::default()
    });
    for repeat in 1..=3 {
        timeline.steps.extend((0..32).map(|number| step(repeat, number)));
        timeline.requests.push(Request {
            repeat,
            // Not published: solved from the row "6 / 32" of the published predictions.
            pre_first_step_ns: Some(279_770.0),
            post_last_step_ns: Some(-250_290.0),
            ..Request::default()
        });
    }
    timeline
}

pub(crate) fn h100() -> PerfProfile {
    static PROFILE: LazyLock<PerfProfile> = LazyLock::new(|| build(&timeline()).unwrap());
    PROFILE.clone()
}

fn build(timeline: &Timeline) -> Result<PerfProfile, ProfileError> {
    let model = builtin("facebook/opt-125m").unwrap();
    PerfProfile::from_timeline(
        timeline,
        model,
        datasheet("SM90_H100").unwrap(),
        Efficiency::default(),
    )
}

#[test]
fn groups_are_told_by_name() {
    let wanted = [
        ("nvjet_sm90_tst_64x8_64x16_4x2_h_bz_splitK_TNT", Group::Linear),
        (
            "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn",
            Group::Linear,
        ),
        (
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
            Group::Linear,
        ),
        (
            "_ZN7cutlass7Kernel2I66cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16",
            Group::Linear,
        ),
        ("fused_moe_kernel", Group::Linear),
        (
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256",
            Group::Linear,
        ),
        (
            "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128>",
            Group::Linear,
        ),
        (
            "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits>",
            Group::Attention,
        ),
        ("kernel_unified_attention_2d", Group::Attention),
        (
            "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16>",
            Group::KvWrite,
        ),
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ArgMaxOps<float> > >",
            Group::Sampler,
        ),
        (
            "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>",
            Group::Sampler,
        ),
        (
            "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024>",
            Group::Sampler,
        ),
        (
            "void flashinfer::norm::RMSNormKernel<8, __nv_bfloat16>",
            Group::Elementwise,
        ),
        ("void vllm::moe::topkGatingSoftmax<8, 128, 4>", Group::Elementwise),
        (
            "void cublasLt::splitKreduce_kernel<32, 16, int>",
            Group::Elementwise,
        ),
        (
            "void vllm::rotary_embedding_kernel<c10::BFloat16, true>",
            Group::Elementwise,
        ),
        ("triton_poi_fused__to_copy_1", Group::Elementwise),
    ];
    for (name, group) in wanted {
        assert_eq!(classify([(name, None)]), [group], "{name}");
    }
}

#[test]
fn the_last_product_is_the_output_projection_if_it_is_large() {
    let step = |last| {
        [
            ("gemm", Some("4x2x1")),
            ("gemm", Some("6x1x1")),
            ("act", None),
            ("gemm", Some(last)),
        ]
    };
    let groups = |last| classify(step(last));
    assert_eq!(groups("16x1x1")[3], Group::LmHead);
    assert_eq!(groups("15x1x1")[3], Group::Linear);
}

#[test]
fn medians_of_the_groups_are_the_profile() {
    let profile = h100();
    let prefill = profile.prefill.unwrap();
    assert_eq!((prefill.tokens, prefill.steps, profile.decode.len()), (6, 3, 31));
    let contexts: Vec<u32> = profile.decode.iter().map(|floor| floor.tokens).collect();
    assert_eq!(contexts, (7..=37).collect::<Vec<_>>());
    assert_eq!(prefill.groups.lm_head, 26_264);
    assert_eq!(prefill.groups.attention, 12 * 7_324 + 3_100 - 3);
    assert_eq!(prefill.groups.linear, 240_679);
    assert_eq!(prefill.groups.sampler, 10_000);
    // Six sums and the rest are rounded each.
    assert!(prefill.gpu_ns().abs_diff(822_679) <= 3);
    assert!(
        profile
            .decode
            .iter()
            .all(|floor| floor.gpu_ns().abs_diff(816_980) <= 3)
    );
    let host = profile.host;
    assert_eq!(
        (host.prefill_ns, host.decode_ns, host.decode_gap_ns),
        (7_843_551, 7_272_397, 35_911)
    );
    assert_eq!(
        (host.prefill_gap_ns, host.post_last_step_ns),
        (None, Some(-250_290))
    );
    assert!(profile.warnings.is_empty(), "{:?}", profile.warnings);
}

#[test]
fn a_profile_crosses_json_unchanged() {
    let profile = h100();
    let text = serde_json::to_string(&profile).unwrap();
    assert_eq!(serde_json::from_str::<PerfProfile>(&text).unwrap(), profile);
}

#[test]
fn what_looks_wrong_is_said() {
    let mut timeline = timeline();
    for step in &mut timeline.steps {
        step.kernels
            .retain(|kernel| !kernel.shape.name.contains("reshape"));
        for kernel in &mut step.kernels {
            kernel.duration_ns /= 100.0;
        }
        step.gpu_busy_ns = Some(8_000.0);
    }
    let warnings = build(&timeline).unwrap().warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("`kv_write`"));
    assert!(
        warnings[1].starts_with("31 of 31 profiled decodes take less than the 73757 ns"),
        "{}",
        warnings[1]
    );
}

#[test]
fn settings_of_the_run_are_looked_for_in_its_records() {
    let document = |name: &str, json: &str| RunDocument::parse(name, json.as_bytes());
    let says =
        |profile: &PerfProfile, words: &str| profile.assumptions.iter().any(|note| note.contains(words));
    let bare = h100();
    assert!(says(&bare, "gpu_memory_utilization was not recorded"));
    let documents = [
        document(
            RUN_FILE,
            r#"{"engine_args": {"gpu_memory_utilization": 0.5, "max_model_len": 0}}"#,
        ),
        document(
            WORKLOAD_FILE,
            r#"{"max_tokens": 32, "max_model_len": 512, "gpu_memory_utilization": 0.9}"#,
        ),
    ];
    let found = bare.clone().with_recorded(&documents);
    let run = found.run.as_ref().unwrap();
    assert_eq!(
        (run.gpu_memory_utilization, run.max_model_len, run.max_tokens),
        (Some(0.5), Some(512), Some(32))
    );
    assert_eq!(found.gpu_memory_utilization(), 0.5);
    for words in [
        "gpu_memory_utilization is 0.5, says run.json",
        "max_model_len is 512, says workload.json",
        "max_model_len of run.json is 0, which cannot be",
    ] {
        assert!(says(&found, words), "{words}: {:?}", found.assumptions);
    }
    // What the timeline says comes first.
    let mut timeline = timeline();
    timeline.meta.insert("max_model_len".to_owned(), 99.into());
    let found = build(&timeline).unwrap().with_recorded(&documents);
    assert_eq!(found.run.as_ref().unwrap().max_model_len, Some(99));
    assert!(says(&found, "max_model_len is 99, says the timeline"));
    let broken = bare.with_recorded(&[document(RUN_FILE, "[]")]);
    assert!(says(&broken, "run.json was not used"));
}
