//! Upload, simulate, watch, read: the main job through the command line, with our worker and with another.

use std::path::Path;

use super::app::App;
use super::{json, text};

/// A synthetic trace for sm_90.
fn trace(dir: &Path) -> serde_json::Value {
    json(&[
        "trace",
        "synth",
        "--kind",
        "copy:bytes=65536",
        "--kind",
        "gemm",
        "--arch",
        "sm_90",
        "-o",
        text(dir),
    ])
}

#[test]
fn a_trace_is_uploaded_simulated_and_its_results_downloaded() {
    let app = App::start(None);
    let folder = app.dir.path().join("made");
    let made = trace(&folder);
    let upload = [
        "upload",
        text(&folder),
        "--run-name",
        "demo",
        "--meta",
        "model=none",
    ];
    let sent = app.json(&upload);
    assert_eq!(sent["report"]["skipped_files"], 0);
    assert_eq!(
        app.json(&upload)["report"]["skipped_files"],
        sent["report"]["files"],
        "all was there already"
    );
    let info = app.ready("demo");
    assert_eq!(
        (info["kernel_count"].as_u64(), &info["synthetic"]),
        (Some(2), &true.into())
    );
    assert_eq!(info["metadata"]["model"], "none");

    for (name, words) in [
        ("h100", "did you mean SM90_H100?"),
        ("sm90-h200:2", "did you mean SM90_H200?"),
        ("B300", "/gpus lists"),
    ] {
        let refused = app.run(&["runs", "create", "demo", "--gpu", name]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    let watched = app.run(&[
        "runs",
        "create",
        "demo",
        "--gpu",
        "SM90_H100:2",
        "SM90_H200",
        "--watch",
    ]);
    assert_eq!(watched.code, 0, "{}{}", watched.stdout, watched.stderr);
    let runs = app.json(&["runs", "list"]);
    assert_eq!(runs[0]["sim_counts"]["succeeded"], 3);
    let run = runs[0]["id"].as_str().unwrap();

    let file = app.dir.path().join("results.json");
    assert_eq!(app.run(&["results", run, "-o", text(&file)]).code, 0);
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(results, app.json(&["results", run]));
    for sim in results["sims"].as_array().unwrap() {
        assert_eq!(sim["sim"]["engine"], "cascade");
        assert_eq!(
            sim["totals"]["gpu_tot_sim_insn"].as_f64(),
            made["thread_insts"].as_f64()
        );
    }
    let again = app.run(&["runs", "watch", run]);
    assert_eq!(again.code, 0, "a run that is over is shown at once");
}

#[test]
fn another_trace_under_a_used_name_is_uploaded_only_in_its_place() {
    let app = App::start(None);
    let (old, new) = (app.dir.path().join("old"), app.dir.path().join("new"));
    trace(&old);
    app.json(&["upload", text(&old), "--run-name", "x"]);
    assert_eq!(app.ready("x")["kernel_count"], 2);
    trace(&new);
    for entry in std::fs::read_dir(new.join("traces")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("kernel-2") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    let list = new.join("traces/kernelslist.g");
    let one: String = std::fs::read_to_string(&list)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with("kernel-2"))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&list, one).unwrap();

    let upload = ["upload", text(&new), "--run-name", "x"];
    let refused = app.run(&upload);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("such as traces/kernel-2") && refused.stderr.contains("--replace"),
        "{}",
        refused.stderr
    );
    app.json(&[&upload[..], &["--replace"]].concat());
    assert_eq!(app.run(&upload).code, 0, "nothing else is left");
}

#[test]
fn errors_of_the_app_reach_the_terminal() {
    let app = App::start(None);
    for (args, words) in [
        (
            &["runs", "show", "run-000000000000"] as &[&str],
            "run run-000000000000 not found",
        ),
        (&["runs", "create", "nothing", "--gpu", "SM90_H100"], "nothing"),
        (&["runs", "list", "--token", "wrong"], "CASCADE_TOKEN"),
    ] {
        let ran = app.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn another_simulator_keeps_the_contract() {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../end2end/contract_client.py");
    let logs = tempfile::tempdir().unwrap();
    let folder = logs.path().join("made");
    trace(&folder);
    // Its simulator prints a log that we made, and one line more.
    let log = logs.path().join("sim.log");
    json(&[
        "simulate-trace",
        text(&folder),
        "--gpu",
        "SM90_H100",
        "--log",
        text(&log),
    ]);
    let files = logs.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("own.csv"), "a,b\n").unwrap();
    let command = format!(
        "python3 '{}' --repeat --files '{}' sh -c 'cat {}; echo the end'",
        client.display(),
        files.display(),
        log.display()
    );
    let app = App::start(Some(&command));
    app.json(&["upload", text(&folder), "--run-name", "demo"]);
    app.ready("demo");
    let watched = app.run(&["runs", "create", "demo", "--gpu", "SM90_H100", "--watch"]);
    assert_eq!(watched.code, 0, "{}{}", watched.stdout, watched.stderr);
    let run = app.json(&["runs", "list"])[0]["id"].as_str().unwrap().to_owned();
    let results = app.json(&["results", &run]);
    let sim = &results["sims"][0];
    assert_eq!(sim["sim"]["kernels_done"], 2, "sent twice, counted once");
    assert_eq!(
        sim["sim"]["log_tail"].as_array().unwrap().last().unwrap(),
        "the end"
    );
    assert_eq!(sim["sim"]["engine"], "custom");
}
