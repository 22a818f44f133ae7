//! What pages show of the samples: the digest's groups, its dilution and its corrections.

use cascade_api::{CorrectionDigest, GroupDigest, StepDigest};
use cascade_steps::{Correction, DigestOptions, Sample, digest, fit_constant_ns};

use super::*;

fn digested(sample: &str, config: &str, corrections: &[Correction]) -> StepDigest {
    let (real, simulated, _) = replay(sample, config);
    let options = DigestOptions {
        gpu_config: config,
        corrections,
        ..DigestOptions::default()
    };
    digest(&real, &simulated, &options).unwrap()
}

fn group<'a>(digest: &'a StepDigest, name: &str) -> &'a GroupDigest {
    let named = digest.groups.iter().find(|g| g.group == name);
    named.unwrap_or_else(|| panic!("no group {name}"))
}

#[test]
fn h100_groups() {
    let digest = digested(H100, "SM90_H100", &[]);
    assert!(!digest.counterfactual);
    assert!(digest.note.as_ref().unwrap().contains(crate::PROVENANCE));
    assert_eq!(digest.groups.len(), 11);
    let rows = [
        ("QKV GEMM", 48, "4.69", "4.94", "5.4"),
        ("Attention", 48, "6.33", "6.86", "8.5"),
        ("Out-proj GEMM", 48, "4.08", "4.46", "9.3"),
        ("MLP up GEMM", 48, "4.88", "5.47", "12.1"),
        ("MLP down GEMM", 48, "5.01", "5.19", "3.6"),
        ("lm_head GEMM", 4, "30.62", "26.26", "-14.2"),
        ("KV-cache write", 48, "2.05", "4.08", "98.7"),
        ("Split-K reduction", 48, "1.94", "3.67", "89.2"),
        ("Layer norm", 100, "3.40", "5.10", "49.9"),
        ("Small elementwise", 252, "1.39", "3.23", "133.3"),
        ("Other setup/index/reduction", 20, "4.75", "6.84", "43.8"),
    ];
    for (name, launches, real, simulated, error) in rows {
        let group = group(&digest, name);
        assert_eq!(group.launches, launches, "{name}");
        rounds(group.mean_ns.real.map(|ns| ns / 1e3), real);
        rounds(group.mean_ns.simulated.map(|ns| ns / 1e3), simulated);
        rounds(group.mean_ns.error_pct, error);
    }
    // Small elementwise, layer norm, KV write and split-K make about 200 of the 240 µs too much.
    let excess = |name: &str| {
        let group = group(&digest, name);
        (group.step_ns["decode"] - group.real_step_ns["decode"]) / 1e3
    };
    let small = [
        "Small elementwise",
        "Layer norm",
        "KV-cache write",
        "Split-K reduction",
    ];
    assert!((195.0..210.0).contains(&small.into_iter().map(excess).sum::<f64>()));
}

#[test]
fn h100_headline() {
    let digest = digested(H100, "SM90_H100", &[]);
    rounds(digest.mean.e2e_ms.real, "254.45");
    rounds(digest.mean.e2e_ms.simulated, "262.14");
    rounds(digest.mean.e2e_ms.error_pct, "3.02");
    rounds(digest.mean.ttft_ms.simulated, "9.00");
    rounds(digest.mean.ttft_ms.error_pct, "4.3");
    rounds(digest.mean.itl_ms.simulated, "8.17");
    rounds(digest.mean.itl_ms.error_pct, "3.06");
    let decode = digest.kinds.iter().find(|k| k.kind == "decode").unwrap();
    rounds(decode.gpu_busy_ns.real.map(|ns| ns / 1e3), "575.6");
    rounds(decode.gpu_busy_ns.simulated.map(|ns| ns / 1e3), "817.0");
    let coverage = digest.coverage;
    assert_eq!((coverage.kernels, coverage.simulated_kernels), (17_088, 17_088));
    rounds(coverage.gpu_time_fraction.map(|f| 100.0 * f), "98.13");
    let counts: Vec<_> = digest
        .provenance
        .iter()
        .map(|(label, n)| (label.as_str(), *n))
        .collect();
    assert_eq!(counts, [("dedup", 681), ("exact", 31), ("identical", 16_376)]);
    // Host time dilutes an error of the GPU of about 42 % to about 3 % of the step.
    let dilution = digest.dilution.unwrap();
    rounds(dilution.gpu_error_pct, "41.676");
    rounds(dilution.step_error_pct, "3.040");
    assert!(
        (0.072..0.074).contains(&dilution.gpu_share),
        "{}",
        dilution.gpu_share
    );
}

#[test]
fn h200_has_no_error_anywhere() {
    let digest = digested(H100, "SM90_H200", &[Correction::launch_constant(3_000, 1_980.0)]);
    assert!(digest.counterfactual);
    rounds(digest.mean.e2e_ms.simulated, "262.16");
    assert_eq!(digest.dilution, None);
    for pair in [digest.mean.e2e_ms, digest.mean.ttft_ms, digest.mean.itl_ms] {
        assert_eq!((pair.error, pair.error_pct), (None, None));
    }
    for group in &digest.groups {
        assert_eq!(group.mean_ns.error_pct, None, "{}", group.group);
    }
    for correction in &digest.corrections {
        assert_eq!(
            (correction.group_error_pct, correction.e2e_ms.error),
            (None, None)
        );
    }
}

#[test]
fn a100_headline() {
    let digest = digested(A100, "SM80_A100", &[]);
    assert!(!digest.counterfactual);
    rounds(digest.mean.e2e_ms.real, "222.08");
    rounds(digest.mean.e2e_ms.simulated, "229.58");
    rounds(digest.mean.e2e_ms.error_pct, "3.38");
    assert_eq!(digest.mean.ttft_ms.real, None);
    assert_eq!(digest.coverage.simulated_kernels, 14_724);
    rounds(digest.coverage.gpu_time_fraction.map(|f| 100.0 * f), "98.2570");
}

/// The constant that the A100 sample asks for, in ns: its excess over its launches.
fn a100_constant() -> f64 {
    let (real, simulated, _) = replay(A100, "SM80_A100");
    fit_constant_ns(&real, &simulated).unwrap().unwrap()
}

/// Group MAPE, time-weighted error, decode busy µs and request error per cent; the sample's label.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

fn correction_is(found: &CorrectionDigest, row: Row) {
    rounds(found.group_error_pct, row.0);
    rounds(found.weighted_error_pct, row.1);
    rounds(found.gpu_busy_ns.simulated.map(|ns| ns / 1e3), row.2);
    rounds(found.e2e_ms.error_pct, row.3);
    assert_eq!(found.sample, row.4, "{}", found.label);
}

#[test]
fn launch_constant_and_fitted_corrections() {
    let constant = a100_constant();
    rounds(constant / 1e3, "1.5275");
    let corrections = [
        Correction::constant("A100 fit, same µs", Sample::OutOfSample, constant),
        Correction::constant(
            "A100 fit, same cycles",
            Sample::OutOfSample,
            constant * 1_410.0 / 1_980.0,
        ),
        Correction::launch_constant(3_000, 1_980.0),
        Correction::launch_constant(5_000, 1_980.0),
        // What makes the mean decode step's busy time right.
        Correction::constant("zero mean", Sample::InSample, (816_980.0 - 575_611.0) / 178.0),
    ];
    let digest = digested(H100, "SM90_H100", &corrections);
    let rows = [
        ("42.4", "42.1", "817.0", "3.02", "none"),
        ("19.9", "19.1", "545.1", "-0.40", "out-of-sample"),
        ("24.2", "23.4", "623.4", "0.59", "out-of-sample"),
        ("20.0", "19.2", "547.3", "-0.37", "out-of-sample"),
        ("38.0", "37.7", "367.5", "-2.63", "out-of-sample"),
        ("21.6", "20.8", "575.6", "-0.01", "in-sample"),
    ];
    assert_eq!(digest.corrections.len(), rows.len());
    for (found, row) in digest.corrections.iter().zip(rows) {
        correction_is(found, row);
    }
    // A constant makes the large kernels worse: that is shown too.
    let worse = &digest.corrections[3].worse;
    for name in ["QKV GEMM", "Attention", "lm_head GEMM"] {
        assert!(worse.iter().any(|w| w == name), "{worse:?}");
    }
}
