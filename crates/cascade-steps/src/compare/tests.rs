//! How kernels are lined up and medians taken.

use cascade_api::{Engine, GpuName, KernelStat, RealKernel};
use indexmap::IndexMap;
use proptest::prelude::*;

use super::{SimTimes, compare, median};

fn kernel(index: u64, name: &str, ns: Option<f64>) -> KernelStat {
    KernelStat {
        sim_id: "sim-1".into(),
        kernel_index: index,
        kernel_name: name.into(),
        kernel_launch_uid: None,
        gpu_sim_cycle: None,
        gpu_sim_insn: None,
        gpu_ipc: None,
        sim_time_ns: ns,
        stats: IndexMap::new(),
    }
}

fn sim(gpu: &str, engine: Engine, kernels: Vec<KernelStat>) -> SimTimes {
    SimTimes {
        gpu_config: gpu.into(),
        engine,
        kernels,
    }
}

#[test]
fn a_row_is_the_median_over_a_gpus_replicas() {
    let replicas = [3.0, 1.0, 10.0].map(|ns| sim("A", Engine::AccelSim, vec![kernel(0, "k", Some(ns))]));
    let odd = compare(&["A".into()], &replicas, None);
    assert_eq!(odd.rows[0].sim_ns[&GpuName::from("A")], Some(3.0));
    let even = compare(&["A".into()], &replicas[..2], None);
    assert_eq!(even.rows[0].sim_ns[&GpuName::from("A")], Some(2.0));
    assert!(!even.has_real_timing && even.rows[0].real_ns.is_none());
}

#[test]
fn kernels_line_up_by_order_and_gaps_stay_empty() {
    let sims = [
        sim(
            "B",
            Engine::Cascade,
            vec![kernel(0, "first", Some(1.0)), kernel(1, "second", None)],
        ),
        sim("A", Engine::AccelSim, vec![kernel(0, "other", Some(2.0))]),
    ];
    let real = [("", 7.0), ("measured", 8.0), ("last", 9.0)].map(|(name, duration_ns)| RealKernel {
        kernel_id: 1,
        kernel_name: name.into(),
        duration_ns,
    });
    let table = compare(&["A".into(), "B".into(), "A".into()], &sims, Some(&real));
    assert_eq!(table.configs, ["A".into(), "B".into()]);
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|r| {
            (
                r.kernel_name.as_str(),
                r.real_ns,
                r.sim_ns[&GpuName::from("A")],
                r.sim_ns[&GpuName::from("B")],
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("first", Some(7.0), Some(2.0), Some(1.0)),
            ("measured", Some(8.0), None, None),
            ("last", Some(9.0), None, None),
        ]
    );
    assert_eq!(table.engines[&GpuName::from("B")], [Engine::Cascade]);
}

#[test]
fn a_run_without_kernels_has_no_rows() {
    let table = compare(&["A".into()], &[sim("A", Engine::Custom, vec![])], None);
    assert_eq!(
        (table.rows.len(), table.engines[&GpuName::from("A")].len()),
        (0, 1)
    );
}

#[test]
fn an_index_out_of_all_proportion_makes_no_rows_of_its_own() {
    let far = sim("A", Engine::Custom, vec![kernel(u64::MAX, "far", Some(1.0))]);
    assert_eq!(compare(&["A".into()], &[far], None).rows.len(), 1);
}

proptest! {
    #[test]
    fn a_median_has_as_many_values_below_as_above(mut values in prop::collection::vec(-1e9..1e9_f64, 1..40)) {
        let middle = median(&mut values).unwrap();
        let below = values.iter().filter(|v| **v < middle).count();
        let above = values.iter().filter(|v| **v > middle).count();
        prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
    }
}
