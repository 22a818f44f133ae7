//! Predicted requests of the sample runs, from the published tables of the OPT-125m sample.

use std::collections::BTreeMap;

use cascade_api::{
    CorrectionDigest, CoverageDigest, DilutionDigest, GroupDigest, KindDigest, RealSim, RequestDigest,
    RunDetail, SimStepDigest, StepDigest,
};

/// Mean kernel times of the H100 sample: group, launches in a step, real µs, H100 µs, H200 µs.
const GROUPS: [(&str, f64, f64, f64, f64); 11] = [
    ("Small elementwise", 63.0, 1.385_139, 3.231_237, 3.230_830),
    ("Layer norm", 25.0, 3.404_100, 5.102_904, 5.100_884),
    ("Attention", 12.0, 6.326_604, 6.863_510, 6.863_763),
    ("MLP up GEMM", 12.0, 4.875_271, 5.465_152, 5.395_960),
    ("MLP down GEMM", 12.0, 5.007_292, 5.188_384, 5.192_929),
    ("QKV GEMM", 12.0, 4.689_312, 4.942_424, 4.934_848),
    ("Out-proj GEMM", 12.0, 4.079_292, 4.460_606, 4.460_101),
    ("KV-cache write", 12.0, 2.052_000, 4.077_652, 4.077_399),
    ("Split-K reduction", 12.0, 1.940_000, 3.671_212, 3.671_212),
    (
        "Other setup/index/reduction",
        5.0,
        4.753_550,
        6.835_657,
        6.811_515,
    ),
    ("lm_head GEMM", 1.0, 30.623_500, 26.263_636, 27.927_273),
];

/// Measured and simulated; no error for a counterfactual.
fn pair(real: f64, simulated: f64, counterfactual: bool) -> RealSim {
    let compared = !counterfactual;
    RealSim {
        real: Some(real),
        simulated: Some(simulated),
        error: compared.then_some(simulated - real),
        error_pct: compared.then_some((simulated - real) / real * 100.0),
    }
}

/// A prediction without a measured time.
fn lone(simulated: f64) -> RealSim {
    RealSim {
        simulated: Some(simulated),
        ..RealSim::default()
    }
}

/// A request: repeat, then real and simulated ms of request, first token and inter-token time.
fn request(repeat: Option<i64>, ms: [(f64, f64); 3], counterfactual: bool) -> RequestDigest {
    let [e2e_ms, ttft_ms, itl_ms] = ms.map(|(real, simulated)| pair(real, simulated, counterfactual));
    RequestDigest {
        repeat,
        output_tokens: Some(32),
        ttft_ms,
        itl_ms,
        e2e_ms,
    }
}

/// One of the H100 sample's groups on the H100 or the H200.
fn group((name, per_step, real, h100, h200): (&str, f64, f64, f64, f64), other: bool) -> GroupDigest {
    let simulated = if other { h200 } else { h100 };
    let by_kind = |value: f64| BTreeMap::from(["decode", "prefill"].map(|kind| (kind.to_owned(), value)));
    let launches = (per_step * 96.0) as u64;
    GroupDigest {
        group: name.into(),
        launches,
        mean_ns: pair(real * 1000.0, simulated * 1000.0, other),
        per_step: by_kind(per_step),
        step_ns: by_kind(per_step * simulated * 1000.0),
        real_step_ns: by_kind(per_step * real * 1000.0),
        provenance: BTreeMap::from([
            ("exact".into(), 3),
            ("dedup".into(), 62),
            ("identical".into(), launches - 65),
        ]),
    }
}

/// A correction: label, basis, µs off, errors of groups, busy µs, request ms, groups that got worse.
fn correction(
    label: &str,
    sample: &str,
    off: f64,
    errors: [f64; 2],
    busy: f64,
    e2e: f64,
    worse: &[&str],
) -> CorrectionDigest {
    CorrectionDigest {
        label: label.into(),
        sample: sample.into(),
        subtracted_ns: off * 1000.0,
        group_error_pct: Some(errors[0]),
        weighted_error_pct: Some(errors[1]),
        gpu_busy_ns: pair(575_611.0, busy * 1000.0, false),
        e2e_ms: pair(254.452, e2e, false),
        worse: worse.iter().map(|group| (*group).to_owned()).collect(),
    }
}

/// The H100 sample on the H100, or counterfactually on the H200.
fn hopper(other: bool) -> StepDigest {
    let kind = |name: &str, steps, wall: (f64, f64), busy: (f64, f64), host, gap| KindDigest {
        kind: name.into(),
        steps,
        wall_ns: pair(wall.0, wall.1, other),
        gpu_busy_ns: pair(busy.0, busy.1, other),
        host_ns: Some(host),
        gap_before_ns: gap,
        unmodeled_gpu_ns: Some(10_764.0),
        mean_abs_error_pct: (!other).then_some(3.04),
    };
    let busy = if other {
        (817_620.0, 823_136.0)
    } else {
        (816_980.0, 822_679.0)
    };
    let moved = if other { 0.0203 } else { 0.0 };
    let repeat = |n: i64, real: [f64; 3], simulated: [f64; 3]| {
        let value = |i: usize| (real[i], simulated[i] + if i == 0 { moved } else { 0.0 });
        request(Some(n), [value(0), value(1), value(2)], other)
    };
    let corrections = vec![
        correction("none", "none", 0.0, [42.4, 42.1], 816.98, 262.141, &[]),
        correction(
            "launch constant of 3,000 cycles removed",
            "out-of-sample",
            1.515,
            [20.0, 19.2],
            547.3,
            253.51,
            &[
                "Attention",
                "MLP down GEMM",
                "MLP up GEMM",
                "Out-proj GEMM",
                "QKV GEMM",
                "lm_head GEMM",
            ],
        ),
        correction(
            "T0 of 1.356 µs",
            "in-sample",
            1.356,
            [21.6, 20.8],
            575.6,
            254.43,
            &[
                "Attention",
                "MLP down GEMM",
                "Out-proj GEMM",
                "QKV GEMM",
                "lm_head GEMM",
            ],
        ),
    ];
    StepDigest {
        model: Some("facebook/opt-125m".into()),
        real_gpu: Some("NVIDIA H100 80GB HBM3".into()),
        counterfactual: other,
        note: Some(
            "Reconstructed from published statistics: kernel times are group means, not a capture.".into(),
        ),
        host_model: Some("scaled-gaps".into()),
        mean: request(
            None,
            [(254.452, 262.141 + moved), (8.628, 9.0), (7.930, 8.173)],
            other,
        ),
        requests: vec![
            repeat(1, [253.435, 8.636, 7.897], [261.134, 8.987, 8.141]),
            repeat(2, [254.613, 8.383, 7.943], [262.302, 8.710, 8.187]),
            repeat(3, [255.308, 8.865, 7.950], [262.988, 9.302, 8.191]),
        ],
        kinds: vec![
            kind(
                "prefill",
                3,
                (8_498_641.0, 7_883_362.0 + busy.1),
                (615_279.0, busy.1),
                7_883_362.0,
                None,
            ),
            kind(
                "decode",
                93,
                (7_894_492.0, 7_318_881.0 + busy.0),
                (575_611.0, busy.0),
                7_318_881.0,
                Some(36_950.0),
            ),
        ],
        groups: GROUPS.into_iter().map(|row| group(row, other)).collect(),
        coverage: CoverageDigest {
            kernels: 17_088,
            simulated_kernels: 17_088,
            kernel_fraction: Some(1.0),
            gpu_time_fraction: Some(0.9813),
        },
        provenance: BTreeMap::from([
            ("exact".into(), 31),
            ("dedup".into(), 681),
            ("identical".into(), 16_376),
        ]),
        dilution: (!other).then_some(DilutionDigest {
            gpu_share: 0.0729,
            gpu_error_pct: 41.676,
            step_error_pct: 3.04,
        }),
        corrections: if other { Vec::new() } else { corrections },
    }
}

/// The A100 sample, whose groups and token times are not published.
fn ampere() -> StepDigest {
    let repeat = |n: i64, real: f64, simulated: f64| RequestDigest {
        repeat: Some(n),
        e2e_ms: pair(real, simulated, false),
        ..RequestDigest::default()
    };
    StepDigest {
        real_gpu: Some("NVIDIA A100-SXM4-80GB".into()),
        mean: RequestDigest {
            e2e_ms: pair(222.083, 229.580, false),
            ttft_ms: lone(8.1),
            ..RequestDigest::default()
        },
        requests: vec![
            repeat(1, 222.429, 229.943),
            repeat(2, 221.967, 229.441),
            repeat(3, 221.853, 229.356),
        ],
        kinds: vec![KindDigest {
            kind: "decode".into(),
            steps: 93,
            gpu_busy_ns: pair(970_500.0, 1_204_780.0, false),
            host_ns: Some(5_900_000.0),
            ..KindDigest::default()
        }],
        groups: Vec::new(),
        coverage: CoverageDigest {
            kernels: 14_724,
            simulated_kernels: 14_724,
            kernel_fraction: Some(1.0),
            gpu_time_fraction: Some(0.98257),
        },
        provenance: BTreeMap::from([
            ("exact".into(), 33),
            ("dedup".into(), 591),
            ("identical".into(), 14_100),
        ]),
        dilution: Some(DilutionDigest {
            gpu_share: 0.14,
            gpu_error_pct: 24.141,
            step_error_pct: 3.394,
        }),
        corrections: Vec::new(),
        ..hopper(false)
    }
}

/// What the sims of a sample run sent; other runs have nothing yet.
pub(crate) fn digests(run: &RunDetail) -> Vec<SimStepDigest> {
    let sims = run.sims.iter().filter(|_| run.summary.sample);
    sims.map(|sim| SimStepDigest {
        sim_id: sim.id.clone(),
        gpu_config: sim.gpu_config.clone(),
        replica: sim.replica,
        engine: sim.engine,
        digest: Some(match sim.gpu_config.as_str() {
            "SM80_A100" => ampere(),
            gpu => hopper(gpu == "SM90_H200"),
        }),
        problem: None,
    })
    .collect()
}
