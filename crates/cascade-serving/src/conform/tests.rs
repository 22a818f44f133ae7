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
        let mut scheduler = Scheduler::new(trace.config.clone()).unwrap();
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
    check(Scheduler::step_singly);
}

/// Changes one value of a trace at a time and expects it to be named.
#[test]
fn the_first_difference_is_named() {
    let text = r#"{"config": {"num_gpu_blocks": 5, "block_size": 4},
        "requests": [{"id": "a", "prompt_tokens": 8, "output_tokens": 2}],
        "steps": [
            {"step": 1, "scheduled": [["a", 8]], "preempted": [], "running": ["a"], "waiting": [],
             "computed_after": {"a": 8}, "free_blocks": 2, "finished": []},
            {"step": 2, "scheduled": [["a", 1]], "preempted": [], "running": ["a"], "waiting": [],
             "computed_after": {"a": 9}, "free_blocks": 1, "finished": ["a"]}]}"#;
    let told = |text: &str| replay(&Trace::parse(text).unwrap()).map_err(|difference| difference.to_string());
    assert_eq!(
        told(text),
        Ok(Summary {
            steps: 2,
            scheduled_tokens: 9,
            preemptions: 0
        })
    );
    let cases = [
        (
            "[\"a\", 1]",
            "[\"a\", 2]",
            "step 2: scheduled: vLLM has [(\"a\", 2)], this scheduler has [(\"a\", 1)]",
        ),
        (
            "\"free_blocks\": 1",
            "\"free_blocks\": 3",
            "step 2: free_blocks: vLLM has 3, this scheduler has 1",
        ),
        (
            "{\"a\": 8}",
            "{\"a\": 7}",
            "step 1: computed_after: vLLM has {\"a\": 7}, this scheduler has {\"a\": 8}",
        ),
        (
            "\"finished\": [\"a\"]",
            "\"finished\": []",
            "step 2: finished: vLLM has [], this scheduler has [\"a\"]",
        ),
        (
            "\"step\": 2",
            "\"step\": 3",
            "step 2: step: vLLM has 3, this scheduler has 2",
        ),
        (
            "_tokens\": 8",
            "_tokens\": 80",
            "step 1: request a is refused: its context needs 21 KV blocks and the cache has 4: shorten it or add blocks",
        ),
        (
            "\"output_tokens\": 2",
            "\"output_tokens\": 3",
            "step 2: finished: vLLM has [\"a\"], this scheduler has []",
        ),
    ];
    for (from, to, message) in cases {
        assert!(text.contains(from), "{from}");
        assert_eq!(told(&text.replace(from, to)), Err(message.into()));
    }
    let shorter = text.replace("\"output_tokens\": 2", "\"output_tokens\": 1");
    assert_eq!(
        told(&shorter).unwrap_err(),
        "step 1: finished: vLLM has [], this scheduler has [\"a\"]"
    );
    let short = text.replace(
        r#"[{"id": "a", "prompt_tokens": 8, "output_tokens": 2}]"#,
        "\"2 of 8\"",
    );
    assert!(
        told(&short)
            .unwrap_err()
            .starts_with("requests: \"2 of 8\" is not a list")
    );
    assert!(
        Trace::parse("{}")
            .unwrap_err()
            .to_string()
            .starts_with("not a step trace: missing field")
    );
}
