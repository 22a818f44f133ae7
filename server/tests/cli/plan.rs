//! `cascade plan`, and results that are used again.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::{cascade, json, ran, run, text};

/// A trace like the demo's with `steps` forward passes.
fn synth(folder: &Path, steps: &str) {
    json(&[
        "trace",
        "synth",
        "--model-like",
        "opt-125m",
        "--arch",
        "sm_90",
        "--steps",
        steps,
        "-o",
        text(folder),
    ]);
}

fn simulate(folder: &Path, flags: &[&str]) -> Value {
    json(&[&["simulate-trace", text(folder), "--gpu", "SM90_H100"], flags].concat())["gpus"][0].clone()
}

#[test]
fn a_plan_says_what_is_simulated_and_what_it_saves() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("t");
    synth(&folder, "3");
    let file = dir.path().join("plan.json");
    let plan = json(&["plan", text(&folder), "-o", text(&file)]);
    assert_eq!(
        serde_json::from_slice::<Value>(&std::fs::read(&file).unwrap()).unwrap(),
        plan
    );
    assert_eq!(
        (&plan["format"], &plan["timeline"]),
        (&json!("cascade-plan-1"), &Value::Null)
    );

    // What is planned is what happens.
    let simulated = simulate(&folder, &["--cold-l2"]);
    let kernels = simulated["kernels"].as_array().unwrap();
    let totals = &plan["totals"];
    assert_eq!(totals["kernels"], kernels.len());
    assert_eq!(totals["warp_insts"], simulated["totals"]["warp_insts"]);
    let exact = kernels.iter().filter(|kernel| kernel["provenance"] == "exact");
    assert_eq!(totals["simulated"], exact.count());
    for group in plan["groups"].as_array().unwrap() {
        let label = format!("dedup:{}", group["representative"]);
        for uid in group["members"].as_array().unwrap().iter().skip(1) {
            let kernel = &kernels[uid.as_u64().unwrap() as usize - 1];
            assert_eq!(kernel["provenance"], label.as_str());
        }
    }
    // Passes repeat each other, and some kernels of one launch header do different work.
    assert!(totals["simulated_share"].as_f64().unwrap() < 0.9, "{totals}");
    assert!(totals["mixed_header_groups"].as_u64().unwrap() > 0, "{totals}");
    let off = json(&["plan", text(&folder), "--dedup", "off"]);
    assert_eq!(off["totals"]["simulated_share"], 1.0);
    let shown = run(&["plan", text(&folder), "--verify-dedup", "1"]);
    assert!(shown.stdout.contains("hold different work"), "{}", shown.stdout);
}

#[test]
fn a_plan_tells_how_much_of_a_timeline_is_covered() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("t");
    synth(&folder, "1");
    let plan = json(&["plan", text(&folder)]);
    let name = &plan["groups"][0]["name"];
    let launch = |seq, name: &Value, ns| json!({"seq": seq, "name": name, "grid": "1x1x1", "block": "32x1x1", "duration_ns": ns});
    let step = |step, warmup, kernels: Vec<Value>| json!({"step": step, "repeat": 0, "warmup": warmup, "kind": "decode", "kernels": kernels});
    let timeline = json!({"meta": {}, "steps": [
        step(0, true, vec![launch(0, name, 50)]),
        step(1, false, vec![launch(1, name, 300), launch(2, name, 100), launch(3, &json!("other"), 600)]),
    ]});
    let row = |uid: u64, name: &Value, step, seq| json!({"uid": uid, "name": name, "repeat": 0, "step": step, "seq": seq});
    let mapping = json!([
        row(1, name, 1, 1),
        row(1, name, 0, 0),
        row(99, name, 1, 2),
        row(1, &json!("another"), 1, 3),
    ]);
    std::fs::write(folder.join("kernel_mapping.json"), mapping.to_string()).unwrap();
    let before = json(&["plan", text(&folder)]);
    assert_eq!(before["timeline"], Value::Null, "one file of two says nothing");
    let elsewhere = dir.path().join("real.json");
    std::fs::write(&elsewhere, timeline.to_string()).unwrap();
    let covered = &json(&["plan", text(&folder), "--timeline", text(&elsewhere)])["timeline"];
    assert_eq!(
        *covered,
        json!({
            "launches": 3, "covered": 1, "same_shape": 1, "gpu_ns": 1000.0, "covered_gpu_ns": 300.0,
            "mapped": 4, "without_kernel": 2, "without_launch": 1
        })
    );
    std::fs::copy(&elsewhere, folder.join("corrected_timeline.json")).unwrap();
    let shown = run(&["plan", text(&folder.join("traces"))]);
    assert!(
        shown.stdout.contains("1 of them (33.33 %) and for 30.00 %"),
        "{}",
        shown.stdout
    );
    // Packed files are the trace's too.
    for name in ["corrected_timeline.json", "kernel_mapping.json"] {
        let plain = std::fs::read(folder.join(name)).unwrap();
        let packed = std::fs::File::create(folder.join(format!("{name}.gz"))).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
        packed.write_all(&plain).unwrap();
        packed.finish().unwrap();
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    assert_eq!(json(&["plan", text(&folder)])["timeline"]["covered"], 1);
    let alone = run(&["plan", text(dir.path()), "--timeline", text(&elsewhere)]);
    assert_eq!(alone.code, 2);
}

#[test]
fn a_second_run_takes_what_the_first_kept() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("t");
    synth(&folder, "2");
    let kept = dir.path().join("kept");
    let run = |flags: &[&str]| {
        let mut command = cascade(&["--json", "simulate-trace", text(&folder), "--gpu", "SM90_H100"]);
        command
            .args(flags)
            .env_remove("CASCADE_NO_CACHE")
            .env("XDG_CACHE_HOME", &kept);
        let ran = ran(command.output().unwrap());
        let synthetic =
            "NOTE: the trace is synthetic: its kernels were written by Cascade, not recorded on a GPU\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (0, synthetic));
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["gpus"][0].clone()
    };
    let estimates = |gpu: &Value| {
        let kernels = gpu["kernels"].as_array().unwrap().clone();
        kernels
            .into_iter()
            .map(|kernel| kernel["estimate"].clone())
            .collect::<Vec<_>>()
    };
    let first = run(&[]);
    assert_eq!(first["origins"]["cached"], 0);
    assert!(
        kept.join("cascade/results").is_dir(),
        "the user's own folder is used"
    );
    let log = dir.path().join("sim.log");
    let second = run(&["--log", text(&log)]);
    assert_eq!(second["origins"]["cached"], first["totals"]["kernels"]);
    assert_eq!(second["origins"]["simulated"], 0);
    assert_eq!(estimates(&second), estimates(&first));
    let none = run(&["--no-cache"]);
    assert_eq!(none["origins"]["cached"], 0);
    assert_eq!(estimates(&none), estimates(&first));
    let elsewhere = run(&["--cache-dir", text(&dir.path().join("other"))]);
    assert_eq!(elsewhere["origins"]["cached"], 0);

    // The log has a block for each kernel, with its label.
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(
        text.matches("\ngpu_sim_cycle = ").count(),
        estimates(&first).len()
    );
    assert_eq!(
        text.matches("\ncascade_cached = 1\n").count(),
        estimates(&first).len()
    );
    assert!(text.contains("\ncascade_provenance = dedup:"), "{text}");
}

#[test]
fn a_check_shows_what_equal_headers_hide() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("t");
    synth(&folder, "1");
    let worst = |by: &str| {
        let gpu = simulate(&folder, &["--dedup", by, "--verify-dedup", "9", "--level", "0"]);
        let checks = gpu["dedup_checks"].as_array().unwrap().clone();
        assert!(!checks.is_empty());
        let relative = checks
            .iter()
            .map(|check| check["max_difference_relative"].as_f64().unwrap());
        relative.fold(0.0, f64::max)
    };
    assert_eq!(worst("content"), 0.0, "bounds do not depend on where buffers lie");
    assert!(worst("header") > 0.05);
}
