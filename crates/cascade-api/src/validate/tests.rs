//! What clients see when a body does not fit.

use insta::assert_json_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::{Validate, from_slice};
use crate::{Heartbeat, LogChunk, RunCreate, StepTimelineUpload};

#[test]
fn a_count_of_zero_names_the_entry_and_the_limit() {
    let body = json!({ "trace_id": "demo", "entries": [{ "gpu_config": "SM86_RTX3070", "count": 0 }] });
    assert_json_snapshot!(RunCreate::validate(body).unwrap_err(), @r#"
    [
      {
        "type": "greater_than_equal",
        "loc": [
          "body",
          "entries",
          0,
          "count"
        ],
        "msg": "Input should be greater than or equal to 1",
        "input": 0,
        "ctx": {
          "ge": 1
        }
      }
    ]
    "#);
}

#[test]
fn every_problem_is_reported_at_once() {
    let body = json!({ "entries": [{ "gpu_config": 3, "count": 65 }, { "count": "two" }, 7] });
    let kinds: Vec<String> = RunCreate::validate(body)
        .unwrap_err()
        .into_iter()
        .map(|e| format!("{} {:?}", e.kind, e.loc.len()))
        .collect();
    assert_eq!(
        kinds,
        [
            "missing 2",
            "string_type 4",
            "less_than_equal 4",
            "missing 4",
            "int_parsing 4",
            "model_attributes_type 3"
        ]
    );
}

#[test]
fn an_empty_list_and_broken_json_are_told_apart() {
    let empty = from_slice::<RunCreate>(br#"{"trace_id": "demo", "entries": []}"#).unwrap_err();
    assert_eq!(empty[0].kind, "too_short");
    let broken = from_slice::<RunCreate>(br#"{"trace_id": "demo", "#).unwrap_err();
    assert_eq!(broken[0].kind, "json_invalid");
    let nothing = from_slice::<RunCreate>(b"").unwrap_err();
    assert_eq!((nothing[0].kind.as_str(), nothing[0].loc.len()), ("missing", 1));
}

#[test]
fn heartbeats_and_chunks_take_what_the_contract_allows() {
    let beat = Heartbeat::validate(json!({ "state": "failed", "exit_code": 134, "error": null })).unwrap();
    assert_eq!((beat.exit_code, beat.error), (Some(134), None));
    let error = Heartbeat::validate(json!({ "state": "lost" }))
        .unwrap_err()
        .remove(0);
    assert_eq!(error.msg, "Input should be 'running', 'succeeded' or 'failed'");
    assert_eq!(
        LogChunk::validate(json!({ "seq": 0, "lines": [] }))
            .unwrap()
            .lines
            .len(),
        0
    );
    assert_eq!(
        LogChunk::validate(json!({ "seq": -1, "lines": [1] }))
            .unwrap_err()
            .len(),
        2
    );
}

#[test]
fn a_step_timeline_needs_steps_and_a_summary() {
    assert!(StepTimelineUpload::validate(json!({ "simulated": { "steps": [], "summary": {} } })).is_ok());
    assert!(StepTimelineUpload::validate(json!({ "simulated": { "steps": {}, "summary": {} } })).is_err());
    let error =
        StepTimelineUpload::validate(json!({ "simulated": { "steps": [], "summary": {} }, "compare": [] }));
    assert_eq!(error.unwrap_err()[0].kind, "dict_type");
}

proptest! {
    #[test]
    fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(errors) = from_slice::<RunCreate>(&bytes) {
            prop_assert!(!errors.is_empty());
        }
    }

    #[test]
    fn a_valid_run_survives(count in 1_u32..=64, name in "[A-Z0-9_]{1,12}") {
        let body = json!({ "trace_id": "t", "entries": [{ "gpu_config": name, "count": count }] });
        let run = RunCreate::validate(body.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(run).unwrap(), body);
    }
}
