//! What a Perfetto trace of a run holds.

use cascade_api::{Engine, KernelStat, RealKernel};
use indexmap::IndexMap;
use serde_json::{Value, json};

use super::Export;

fn kernel(index: u64, cycles: u64, ns: Option<f64>) -> KernelStat {
    KernelStat {
        sim_id: "sim-1".into(),
        kernel_index: index,
        kernel_name: "_Z4copyv".into(),
        kernel_launch_uid: Some(index + 1),
        gpu_sim_cycle: Some(cycles),
        gpu_sim_insn: Some(7),
        gpu_ipc: Some(0.5),
        sim_time_ns: ns,
        stats: IndexMap::new(),
    }
}

fn export() -> Value {
    let mut export = Export::new(|name| name.trim_start_matches("_Z4").trim_end_matches('v').to_owned());
    let mut text = export.head().to_owned();
    for (replica, sim) in [(0, "sim-1"), (1, "sim-2")] {
        let (mut lane, names) = export.lane(&"SM86_RTX3070".into(), Engine::AccelSim, replica, &sim.into());
        text.push_str(&names);
        for kernel in [
            kernel(0, 6174, Some(5454.06)),
            kernel(1, 100, None),
            kernel(2, 50, Some(10.0)),
        ] {
            text.push_str(&export.slice(&mut lane, &kernel));
        }
    }
    let real = RealKernel {
        kernel_id: 4,
        kernel_name: "_Z4copyv".into(),
        duration_ns: 1500.0,
    };
    text.push_str(&export.real("RTX 3070", &[real.clone(), real]));
    text.push_str(&export.end(&"run-1".into(), &"demo".into()));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn each_gpu_is_a_process_and_each_replica_a_thread() {
    let file = export();
    let events = file["traceEvents"].as_array().unwrap();
    let names: Vec<(&str, &str)> = events
        .iter()
        .filter(|e| e["args"]["name"].is_string())
        .map(|e| (e["name"].as_str().unwrap(), e["args"]["name"].as_str().unwrap()))
        .collect();
    assert_eq!(
        names,
        [
            ("process_name", "SM86_RTX3070 · Accel-Sim simulated GPU"),
            ("thread_name", "replica 0 · sim-1"),
            ("thread_name", "replica 1 · sim-2"),
            ("process_name", "Real hardware · RTX 3070"),
            ("thread_name", "measured kernels"),
        ]
    );
    assert_eq!(
        (&file["displayTimeUnit"], &file["otherData"]["run_id"]),
        (&json!("ns"), &json!("run-1"))
    );
}

#[test]
fn slices_lie_end_to_end_and_untimed_kernels_only_count_cycles() {
    let file = export();
    let slices: Vec<&Value> = file["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["ph"] == "X")
        .collect();
    assert_eq!(slices.len(), 6);
    let first = &slices[0];
    assert_eq!(
        (&first["name"], &first["ts"], &first["dur"]),
        (&json!("k1 copy"), &json!(0.0), &json!(5.454))
    );
    let second = &slices[1];
    assert_eq!((&second["ts"], &second["dur"]), (&json!(5.454), &json!(0.01)));
    assert_eq!(
        (&second["args"]["start_cycle"], &second["args"]["end_cycle"]),
        (&json!(6274), &json!(6324))
    );
    assert_eq!(
        (&slices[5]["ts"], &slices[5]["name"]),
        (&json!(1.5), &json!("k4 copy"))
    );
}

#[test]
fn a_replay_never_looks_like_a_simulation_of_this_trace() {
    let mut export = Export::new(str::to_owned);
    let (_, names) = export.lane(&"G".into(), Engine::Replay, 0, &"sim-1".into());
    assert!(names.contains("replay of a recorded log"));
}
