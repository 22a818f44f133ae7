//! The columns against hand-made runs and the slow way.

use cascade_api::{KernelSlice, RunDetail, SimColumn, SimId};
use proptest::prelude::*;
use serde_json::json;

use super::{Kernels, Key};

/// A run whose sims are given as (id, GPU).
fn run(sims: &[(&str, &str)]) -> RunDetail {
    let at = "2026-11-08T00:00:00Z";
    let sims: Vec<_> = sims
        .iter()
        .map(|(id, gpu)| {
            json!({
                "id": id, "run_id": "run-1", "gpu_config": gpu, "replica": 0, "engine": "cascade",
                "state": "running", "created_at": at, "kernels_done": 0, "kernels_total": 2,
                "latest": {}, "log_tail": [],
            })
        })
        .collect();
    let trace = json!({
        "id": "t", "state": "ready", "created_at": at, "updated_at": at, "layers": [],
        "trace_gpu_arch": "sm_90", "kernel_count": 2, "bytes": 1, "has_real_timing": false,
        "has_step_timeline": false, "sample": false,
    });
    let run = json!({
        "id": "run-1", "trace_id": "t", "created_at": at, "state": "active", "entries": [], "sim_counts": {},
        "sample": false, "trace": trace, "sims": sims,
    });
    serde_json::from_value(run).unwrap()
}

/// A slice of rows named `k<row mod 3>`.
fn slice(from: u64, real: &[f64], sims: &[(&str, &[f64])]) -> KernelSlice {
    let rows = sims
        .iter()
        .map(|(_, ns)| ns.len())
        .max()
        .unwrap_or(0)
        .max(real.len()) as u64;
    KernelSlice {
        rows: from + rows,
        from,
        has_real_timing: !real.is_empty(),
        names: ["k0", "k1", "k2"].map(String::from).to_vec(),
        name: (from..from + rows).map(|row| (row % 3) as u32).collect(),
        real_ns: real.iter().map(|ns| Some(*ns)).collect(),
        sims: sims
            .iter()
            .map(|(id, ns)| SimColumn {
                sim_id: (*id).into(),
                ns: ns.iter().map(|ns| Some(*ns)).collect(),
            })
            .collect(),
        totals: Vec::new(),
    }
}

#[test]
fn a_row_shows_the_median_over_replicas_and_repeats_change_nothing() {
    let mut table = Kernels::new(&run(&[("a", "H100"), ("b", "H100"), ("c", "H200")]));
    table.put(&slice(0, &[8.0], &[("a", &[10.0])]));
    for _ in 0..2 {
        table.add(&"b".into(), 0, "k0", Some(30.0));
    }
    table.add(&"c".into(), 1, "k1", Some(7.0));
    table.add(&"unknown".into(), 1, "k1", Some(99.0));
    assert_eq!((table.len(), table.rows()), (2, 2));
    assert_eq!(
        (table.ns(0, 0), table.ns(0, 1), table.ns(1, 1)),
        (Some(20.0), None, Some(7.0))
    );
    let totals = table.totals();
    assert_eq!(
        (totals[0].kernels, totals[0].sim_ns, totals[0].mean_abs_error),
        (1, 20.0, Some(1.5))
    );
    assert_eq!(
        (totals[1].kernels, totals[1].sim_ns, totals[1].mean_abs_error),
        (1, 7.0, None)
    );
    let rows = table.comparison().rows;
    assert_eq!(rows[0].sim_ns[&cascade_api::GpuName::from("H100")], Some(20.0));
    assert_eq!(rows[1].real_ns, None);
}

#[test]
fn what_is_missing_is_asked_for_once_it_is_known_of() {
    let mut table = Kernels::new(&run(&[("a", "H100"), ("b", "H200")]));
    let done = |a: u64, b: u64| [(SimId::from("a"), a), ("b".into(), b)];
    assert_eq!(table.missing(&done(0, 0)), None);
    assert_eq!(table.missing(&done(2, 0)), Some(0));
    table.put(&slice(0, &[], &[("a", &[1.0, 2.0]), ("b", &[1.0])]));
    assert_eq!(table.missing(&done(2, 1)), None);
    table.add(&"b".into(), 3, "k0", Some(4.0));
    assert_eq!(table.missing(&done(2, 4)), Some(1), "an event was missed");
    table.put(&slice(1, &[], &[("b", &[2.0, 3.0, 4.0])]));
    assert_eq!(table.missing(&done(2, 4)), None);
}

#[test]
fn charts_keep_every_peak_and_every_kernel() {
    let mut table = Kernels::new(&run(&[("a", "H100")]));
    let times: Vec<f64> = (0..100).map(|n| if n == 77 { 500.0 } else { 1.0 }).collect();
    table.put(&slice(0, &[], &[("a", &times)]));
    let chart = table.by_launch(40.0, 2.0);
    assert_eq!((chart.groups.len(), chart.kernels_per_group), (10, 10));
    assert_eq!(chart.groups[7].values, [Some(500.0)]);
    assert_eq!(chart.groups[7].label, "71–80");
    let chart = table.by_name(1);
    assert_eq!(chart.groups[0].label, "k2 × 33");
    assert_eq!(chart.groups[0].values, [Some(532.0)]);
    assert_eq!(chart.groups[1].label, "2 kernels more");
    assert_eq!(chart.groups[1].values, [Some(67.0)]);
}

proptest! {
    #[test]
    fn any_order_is_that_of_a_plain_sort(
        times in prop::collection::vec(prop::option::of(0.0_f64..1e9), 0..60),
        key in 0_u8..3,
        descending: bool,
        filter in "(k[0-2])?",
    ) {
        let mut table = Kernels::new(&run(&[("a", "H100")]));
        let all = slice(0, &vec![1.0; times.len()], &[]);
        table.put(&all);
        for (row, ns) in times.iter().enumerate() {
            table.add(&"a".into(), row as u64, &format!("k{}", row % 3), *ns);
        }
        let key = [Key::Index, Key::Name, Key::Gpu(0)][usize::from(key)];
        let mut expected: Vec<u32> = (0..times.len() as u32)
            .filter(|row| filter.is_empty() || filter == format!("k{}", row % 3))
            .collect();
        let order = table.order((key, descending), &filter).unwrap_or_else(|| expected.clone());
        match key {
            Key::Index => {
                if descending {
                    expected.reverse();
                }
            }
            Key::Name => {
                expected.sort_by_key(|row| row % 3);
                if descending {
                    expected.reverse();
                }
            }
            _ => {
                let ns = |row: u32| times[row as usize];
                let (mut some, none): (Vec<u32>, Vec<u32>) = expected.iter().partition(|row| ns(**row).is_some());
                some.sort_by(|a, b| {
                    let order = ns(*a).unwrap().total_cmp(&ns(*b).unwrap());
                    if descending { order.reverse() } else { order }
                });
                some.extend(none);
                expected = some;
            }
        }
        prop_assert_eq!(order, expected);
    }
}
