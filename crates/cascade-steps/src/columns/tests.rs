//! Columns of hand-made runs, and against [`compare`] on random ones.

use cascade_api::{Engine, KernelLaunch, KernelStat, RealKernel};
use indexmap::IndexMap;
use proptest::prelude::*;

use super::columns;
use crate::{SimTimes, compare};

fn stat(index: u64, name: &str, uid: Option<u64>, ns: Option<f64>) -> KernelStat {
    KernelStat {
        sim_id: "sim-a".into(),
        kernel_index: index,
        kernel_name: name.into(),
        kernel_launch_uid: uid,
        gpu_sim_cycle: None,
        gpu_sim_insn: None,
        gpu_ipc: None,
        sim_time_ns: ns,
        stats: IndexMap::new(),
    }
}

fn sim(gpu: &str, kernels: Vec<KernelStat>) -> SimTimes {
    SimTimes {
        gpu_config: gpu.into(),
        engine: Engine::Cascade,
        kernels,
    }
}

fn launch(kernel_id: u64, name: &str, x: u32) -> KernelLaunch {
    KernelLaunch {
        kernel_id,
        name: name.into(),
        grid: (x, 1, 1),
        block: (128, 1, 1),
        instructions: None,
    }
}

#[test]
fn a_kernel_is_written_once_and_finds_its_launch_by_number_first() {
    let list = [
        launch(70, "gemm", 8),
        launch(71, "norm", 2),
        launch(72, "gemm", 16),
    ];
    // Only representatives were simulated, so positions say nothing of the list.
    let own = vec![
        stat(0, "gemm", Some(72), Some(4.0)),
        stat(1, "norm", None, Some(1.0)),
        stat(2, "gemm", Some(70), Some(2.0)),
        stat(3, "gemm", Some(72), Some(4.0)),
        stat(4, "lost", Some(71), None),
    ];
    let got = columns(
        &["H100".into(), "H100".into()],
        &[sim("H100", own)],
        &list,
        None,
        None,
    );
    let kernels: Vec<_> = got.kernels.iter().map(|k| (k.name.as_str(), k.grid)).collect();
    assert_eq!(
        kernels,
        [
            ("gemm", Some((16, 1, 1))),
            ("norm", Some((2, 1, 1))),
            ("gemm", Some((8, 1, 1))),
            ("lost", None)
        ]
    );
    assert_eq!(got.launches, [0, 1, 2, 0, 3]);
    assert_eq!(got.kernels[0].group, "GEMM");
    assert_eq!(got.columns.len(), 1, "a GPU that is named twice is one column");
    let total = got.columns[0].replicas[0];
    assert_eq!((total.kernels, total.total_ns), (4, 11.0));
    assert!(got.real_ns.is_empty());
}

#[test]
fn a_spread_is_sent_only_where_replicas_differ() {
    let of = |ns: f64| sim("H100", vec![stat(0, "k", None, Some(ns))]);
    let same = columns(&["H100".into()], &[of(2.0), of(2.0)], &[], None, None);
    assert!(same.columns[0].min_ns.is_empty() && same.columns[0].max_ns.is_empty());
    let other = columns(&["H100".into()], &[of(2.0), of(9.0), of(3.0)], &[], None, None);
    let column = &other.columns[0];
    assert_eq!(
        (column.min_ns[0], column.median_ns[0], column.max_ns[0]),
        (Some(2.0), Some(3.0), Some(9.0))
    );
    assert_eq!(column.replicas.len(), 3);
}

proptest! {
    #[test]
    fn medians_are_those_of_the_comparison(
        times in prop::collection::vec(prop::collection::vec(prop::option::of(1.0..1e6_f64), 0..12), 1..5),
        measured in prop::option::of(prop::collection::vec(1.0..1e6_f64, 0..12)),
    ) {
        let sims: Vec<SimTimes> = times.iter().enumerate().map(|(i, own)| {
            let kernels = own.iter().enumerate().map(|(k, ns)| stat(k as u64, "k", None, *ns)).collect();
            sim(["H100", "H200"][i % 2], kernels)
        }).collect();
        let real: Option<Vec<RealKernel>> = measured.map(|all| all.into_iter().map(|duration_ns| RealKernel {
            kernel_id: 0, kernel_name: String::new(), duration_ns,
        }).collect());
        let configs = ["H100".into(), "H200".into()];
        let got = columns(&configs, &sims, &[], None, real.as_deref());
        let table = compare(&configs, &sims, real.as_deref());
        for (i, _) in got.launches.iter().enumerate() {
            for column in &got.columns {
                prop_assert_eq!(column.median_ns[i], table.rows[i].sim_ns[&column.gpu_config]);
            }
            if !got.real_ns.is_empty() {
                prop_assert_eq!(got.real_ns[i], table.rows[i].real_ns);
            }
        }
    }
}
