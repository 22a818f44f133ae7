//! Tests of the digest.

use proptest::prelude::*;

use super::*;
use crate::calibrate::tests::h100;
use crate::simulate;
use crate::testing::simulated_timelines;

fn of<'a>(gpu_config: &'a str, corrections: &'a [Correction]) -> DigestOptions<'a> {
    DigestOptions {
        gpu_config,
        real_gpu_config: None,
        corrections,
    }
}

#[test]
fn the_published_sample_comes_out() {
    let (real, simulated) = h100();
    let corrections = [Correction::launch_constant(3000, 1980.0)];
    let digest = digest(&real, &simulated, &of("SM90_H100", &corrections)).unwrap();
    assert!(!digest.counterfactual);
    assert_eq!(digest.real_gpu.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    let near = |value: Option<f64>, wanted: f64, by: f64| {
        assert!((value.unwrap() - wanted).abs() <= by, "{value:?} {wanted}");
    };
    near(digest.mean.e2e_ms.real, 254.452, 0.001);
    near(digest.mean.e2e_ms.simulated, 262.141, 0.001);
    near(digest.mean.e2e_ms.error_pct, 3.02, 0.005);
    assert_eq!((digest.mean.repeat, digest.mean.output_tokens), (None, Some(32)));
    let signed = |name: &str| {
        let group = digest.groups.iter().find(|g| g.group == name).unwrap();
        assert_eq!(group.launches % 4, 0);
        group.mean_ns.error_pct
    };
    near(signed("QKV GEMM"), 5.398, 0.001);
    near(signed("KV-cache write"), 98.716, 0.001);
    near(signed("lm_head GEMM"), -14.237, 0.001);
    near(signed("Small elementwise"), 133.279, 0.001);
    let [prefill, decode] = digest.kinds.as_slice() else {
        panic!("two kinds");
    };
    assert_eq!(
        (prefill.kind.as_str(), prefill.steps, decode.steps),
        ("prefill", 3, 93)
    );
    near(decode.gpu_busy_ns.simulated, 816_980.0, 0.1);
    assert_eq!(
        digest.provenance,
        BTreeMap::from([("dedup".to_owned(), 712), ("identical".to_owned(), 16_376)])
    );
    assert_eq!(
        (digest.coverage.kernels, digest.coverage.simulated_kernels),
        (17_088, 17_088)
    );
    // About 7.29 % of the mean step is GPU time: 42 % of error there is 3 % of the step.
    let dilution = digest.dilution.unwrap();
    near(Some(dilution.gpu_share), 0.0729, 0.00005);
    near(Some(dilution.gpu_error_pct), 41.7, 0.05);
    near(Some(dilution.step_error_pct), 3.04, 0.005);
    assert_eq!(digest.corrections.len(), 2);
    assert_eq!(digest.corrections[0].sample, "none");
}

#[test]
fn another_gpu_has_no_errors() {
    let (real, simulated) = h100();
    let h200 = digest(&real, &simulated, &of("SM90_H200", &[])).unwrap();
    assert!(h200.counterfactual && h200.dilution.is_none());
    let json = serde_json::to_value(&h200).unwrap();
    fn errors(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Object(map) => map
                .iter()
                .map(|(key, v)| errors(v) + usize::from(key.contains("error") && !v.is_null()))
                .sum(),
            serde_json::Value::Array(list) => list.iter().map(errors).sum(),
            _ => 0,
        }
    }
    assert_eq!(errors(&json), 0);
    assert!(h200.mean.e2e_ms.simulated.is_some());
    let told = DigestOptions {
        real_gpu_config: Some("SM90_H100"),
        ..of("SM90_H100", &[])
    };
    let mut nameless = real.clone();
    nameless.meta.shift_remove("gpu_name");
    assert!(!digest(&nameless, &simulated, &told).unwrap().counterfactual);
    assert!(
        digest(&nameless, &simulated, &of("SM90_H100", &[]))
            .unwrap()
            .counterfactual
    );
}

proptest! {
    #[test]
    fn groups_add_up_to_the_kernels((real, times) in simulated_timelines()) {
        let simulated = simulate(&real, &times).unwrap();
        let digest = digest(&real, &simulated, &of("SM90_H100", &[])).unwrap();
        let launches: u64 = digest.provenance.values().sum();
        prop_assert_eq!(launches, digest.coverage.kernels);
        prop_assert_eq!(digest.coverage.simulated_kernels, times.durations.len() as u64);
        for kind in &digest.kinds {
            let groups: f64 = digest.groups.iter().filter_map(|g| g.step_ns.get(&kind.kind)).sum();
            let steps = simulated.steady().filter(|s| s.kind == kind.kind);
            let kernels: f64 = steps.flat_map(|s| &s.kernels).map(|k| k.duration_ns).sum();
            prop_assert!((groups * kind.steps as f64 - kernels).abs() < 1.0);
        }
    }
}
