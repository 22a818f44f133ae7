//! The app is killed while workers report to it.

use std::time::Duration;

use super::app::App;
use super::{json, text};

#[test]
fn a_killed_app_loses_and_doubles_no_line() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("made");
    json(&[
        "trace",
        "synth",
        "--model-like",
        "opt-125m",
        "--steps",
        "2",
        "--arch",
        "sm_90",
        "-o",
        text(&folder),
    ]);
    let log = place.path().join("recorded.log");
    let simulated = json(&[
        "simulate-trace",
        text(&folder),
        "--gpu",
        "SM90_H100",
        "--log",
        text(&log),
    ]);
    let recorded = std::fs::read_to_string(&log).unwrap();
    let command = format!(
        "{} worker --replay {} --delay 0.5",
        env!("CARGO_BIN_EXE_cascade"),
        log.display()
    );

    let mut app = App::start(Some(&command));
    app.json(&["upload", text(&folder), "--run-name", "demo"]);
    app.ready("demo");
    let run = app.json(&["runs", "create", "demo", "--gpu", "SM90_H100:4"]);
    let run = run["id"].as_str().unwrap();
    for _ in 0..2 {
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(
            app.json(&["runs", "show", run])["state"],
            "active",
            "the app is killed while sims run"
        );
        app.kill();
        std::thread::sleep(Duration::from_secs(1));
        app.start_again();
    }
    let watched = app.run(&["runs", "watch", run]);
    assert_eq!(watched.code, 0, "{}{}", watched.stdout, watched.stderr);
    let results = app.json(&["results", run]);
    for sim in results["sims"].as_array().unwrap() {
        let id = sim["sim"]["id"].as_str().unwrap();
        assert_eq!(
            sim["kernels"].as_array().unwrap().len() as u64,
            simulated["gpus"][0]["totals"]["kernels"]
        );
        assert_eq!(sim["sim"]["engine"], "replay");
        let stored = app.dir.path().join(format!("data/logs/{id}.log"));
        assert_eq!(std::fs::read_to_string(stored).unwrap(), recorded, "{id}");
    }
}
