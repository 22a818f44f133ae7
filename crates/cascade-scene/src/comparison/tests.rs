//! The table against hand-made runs.

use super::{KernelTable, error, totals};
use cascade_api::{Comparison, ComparisonRow, GpuName, KernelStat, RunDetail};
use indexmap::IndexMap;
use serde_json::json;

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

/// One finished kernel.
fn stat(sim: &str, index: u64, ns: f64) -> KernelStat {
    KernelStat {
        sim_id: sim.into(),
        kernel_index: index,
        kernel_name: format!("k{index}"),
        kernel_launch_uid: None,
        gpu_sim_cycle: None,
        gpu_sim_insn: None,
        gpu_ipc: None,
        sim_time_ns: Some(ns),
        stats: IndexMap::new(),
    }
}

#[test]
fn a_row_shows_the_median_over_replicas_and_repeats_change_nothing() {
    let mut table = KernelTable::default();
    table.reset(
        &run(&[("sim-a", "H100"), ("sim-b", "H100"), ("sim-c", "H200")]),
        &[stat("sim-a", 0, 10.0)],
    );
    table.add(&stat("sim-b", 0, 30.0));
    table.add(&stat("sim-b", 0, 30.0));
    table.add(&stat("sim-c", 1, 7.0));
    table.add(&stat("sim-unknown", 0, 99.0));
    let rows = &table.table().rows;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].sim_ns[&GpuName::from("H100")], Some(20.0));
    assert_eq!(rows[0].sim_ns[&GpuName::from("H200")], None);
    assert_eq!(rows[1].sim_ns[&GpuName::from("H200")], Some(7.0));
}

#[test]
fn a_new_snapshot_starts_over_but_keeps_real_times() {
    let real = Comparison {
        has_real_timing: true,
        configs: vec!["H100".into()],
        rows: vec![ComparisonRow {
            kernel_index: 0,
            kernel_name: "real".into(),
            real_ns: Some(8.0),
            sim_ns: IndexMap::from([("H100".into(), Some(1.0))]),
        }],
        engines: IndexMap::new(),
    };
    let mut table = KernelTable::new(real);
    let run = run(&[("sim-a", "H100")]);
    table.reset(&run, &[stat("sim-a", 0, 10.0), stat("sim-a", 1, 4.0)]);
    table.reset(&run, &[stat("sim-a", 0, 12.0)]);
    let rows = &table.table().rows;
    assert_eq!(rows.len(), 1, "a kernel of the old snapshot is gone");
    assert_eq!(
        (rows[0].real_ns, rows[0].kernel_name.as_str()),
        (Some(8.0), "real")
    );

    let total = &totals(table.table())[0];
    assert_eq!((total.kernels, total.sim_ns), (1, 12.0));
    assert_eq!(total.mean_abs_error, Some(0.5));
    assert_eq!(
        error(12.0, Some(0.0)),
        None,
        "nothing can be held against no time"
    );
}
