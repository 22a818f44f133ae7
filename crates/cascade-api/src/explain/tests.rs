//! Explanations of made-up kernels.

use super::*;

fn stats(pairs: &[(&str, &str)]) -> IndexMap<String, StatValue> {
    let value = |text: &str| match text.parse::<f64>() {
        Ok(number) => StatValue::Number(number),
        Err(_) => StatValue::Text(text.to_owned()),
    };
    pairs
        .iter()
        .map(|(key, text)| (format!("cascade_engine_{key}"), value(text)))
        .collect()
}

const STREAM: [(&str, &str); 22] = [
    ("level", "L1"),
    ("l2_start", "cold"),
    ("status", "unvalidated"),
    ("t0_cycles", "1000.0"),
    ("fill_cycles", "0.0"),
    ("body_cycles", "9000.0"),
    ("bound_issue", "80.0"),
    ("bound_dram", "8100.0"),
    ("bound_l2", "1800.0"),
    ("bound_latency", "900.0"),
    ("winning_bound", "dram"),
    ("limited_by", "threads"),
    ("issue_cycles", "1000"),
    ("stall_dram", "89000"),
    ("stall_lsu_busy", "10000"),
    ("l2_sectors", "1000"),
    ("l2_hits", "250"),
    ("dram_share", "0.81"),
    ("dram_gb_s", "1259.6"),
    ("dram_peak_gb_s", "1555.0"),
    ("sampled_fraction", "1.0000"),
    ("sampling_error", "0.0000"),
];

#[test]
fn a_stream_is_limited_by_dram_and_bandwidth_would_help() {
    let it = explain(&stats(&STREAM)).unwrap();
    assert_eq!(
        it.limit,
        "It is limited by DRAM bandwidth, which alone takes 90 % of the kernel's work."
    );
    let [help] = it.helps.as_slice() else {
        panic!("{:?}", it.helps)
    };
    assert!(help.what.contains("more DRAM bandwidth"));
    // Twice the bandwidth saves 4,050 of 10,000 cycles.
    assert!((help.up_to.unwrap() - 10_000.0 / 5_950.0).abs() < 1e-9);
    assert_eq!(
        (it.bounds[0].key.as_str(), it.waits[0].label.as_str()),
        ("dram", "data from DRAM")
    );
    assert!((it.waits.iter().map(|bar| bar.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(it.parts.len(), 2, "nothing was spent on launching");
    let dram = it.rates.iter().find(|rate| rate.key == "dram").unwrap();
    assert_eq!((dram.share, dram.text.as_str()), (0.81, "1260 of 1555 GB/s"));
    assert_eq!(
        it.rates.iter().find(|rate| rate.key == "l2_hits").unwrap().share,
        0.25
    );
    assert_eq!(it.caveats.len(), 2, "{:?}", it.caveats);
}

fn with<'a>(changes: &[(&'a str, &'a str)]) -> KernelExplanation {
    let mut all = stats(&STREAM);
    all.extend(stats(changes));
    explain(&all).unwrap()
}

#[test]
fn what_warps_wait_for_explains_latency() {
    let it = with(&[
        ("winning_bound", "latency"),
        ("limited_by", "regs"),
        ("status", "validated"),
        ("l2_start", "warm"),
    ]);
    assert!(
        it.limit
            .contains("89 % of the warps' time is spent waiting for data from DRAM"),
        "{}",
        it.limit
    );
    assert!(it.helps[0].what.contains("more loads under way"));
    assert!(it.helps.iter().any(|help| help.what.contains("fewer registers")));
    assert!(it.caveats.is_empty(), "{:?}", it.caveats);
}

#[test]
fn overhead_small_grids_and_doubts_are_told() {
    let small = with(&[("winning_bound", "overhead"), ("body_cycles", "500")]);
    assert!(small.limit.starts_with("The fixed overhead"));
    assert_eq!(small.helps[0].up_to, Some(3.0));
    let grid = with(&[
        ("limited_by", "grid"),
        ("blocks_in_grid", "12"),
        ("blocks_traced", "6"),
    ]);
    assert!(grid.helps.iter().any(|help| help.what.contains("the grid's 12")));
    assert!(
        grid.caveats
            .contains(&"Only 6 of its 12 blocks were traced.".to_owned())
    );
    let doubtful = with(&[
        ("fallback", "it is deadlocked"),
        ("sampled_fraction", "0.25"),
        ("sampling_error", "0.012"),
        ("predicates_inferred", "1"),
        ("mbarriers_inferred", "3"),
        ("coverage", "0.9"),
    ]);
    assert_eq!(doubtful.caveats.len(), 7);
    assert!(
        doubtful
            .caveats
            .iter()
            .any(|it| it.contains("25 %") && it.contains("1.2 %"))
    );
}

#[test]
fn other_simulators_are_not_explained() {
    let foreign = [("gpu_tot_sim_cycle".to_owned(), StatValue::Number(5.0))];
    assert_eq!(explain(&foreign.into_iter().collect()), None);
    assert_eq!(explain(&IndexMap::new()), None);
    // A broken log gives no numbers that are none.
    let it = with(&[("body_cycles", "0"), ("t0_cycles", "0"), ("stall_dram", "nan")]);
    assert!(it.bounds.iter().chain(&it.waits).all(|bar| bar.share.is_finite()));
}
