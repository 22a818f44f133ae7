//! The real vLLM 0.33.0 scheduler's decisions, and how a difference is told.

use std::io::Read;

use super::*;
use crate::scheduler::Scheduler;

/// The recorded traces, gzip'd, with the file name of each.
fn traces() -> Vec<(String, Trace)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            Trace::parse(&text).unwrap(),
        )
    };
    paths.into_iter().map(read).collect()
}

fn check(prepare: impl Fn(&mut Scheduler)) {
    let traces = traces();
    assert_eq!(traces.len(), 45);
    let mut failures = Vec::new();
    for (name, trace) in traces {
        let mut scheduler = Scheduler::new(trace.config.clone());
        prepare(&mut scheduler);
        if let Err(difference) = replay::run(&trace, scheduler) {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_recorded_step_of_vllm_is_reproduced() {
    check(|_| {});
}

#[test]
fn so_it_is_without_the_shortcut_for_like_steps() {
    check(Scheduler::disable_runs);
}
