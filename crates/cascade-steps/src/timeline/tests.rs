//! Tests of reading and writing timelines.

use std::sync::Arc;

use super::*;

const TWO_STEPS: &str = r#"{"meta":{"model":"m","max_tokens":4},
 "steps":[{"step":0,"repeat":0,"warmup":false,"kind":"prefill","num_reqs":1,"num_scheduled_tokens":6,
  "baseline_wall_ns":6507260.692579505,"profiled_wall_ns":null,"gpu_busy_ns":544095.6925795053,
  "cuda_api_ns":null,"host_ns":5963165,
  "kernels":[{"seq":1,"name":"k","grid":"24x1x1","block":"32x16x1","duration_ns":2016,
              "start_offset_ns":108088.07402640952,"stream":7},
             {"seq":2,"name":"k","grid":"24x1x1","block":"32x16x1","duration_ns":1376.5,"start_offset_ns":null}],
  "baseline_wall_start_ns":1764451992123456789,"baseline_wall_end_ns":1006707260.6925795,
  "baseline_gap_before_ns":null,"profiled_wall_start_ns":null,"profiled_wall_end_ns":null,
  "profiled_gap_before_ns":null,"note":[1,2]}],
 "requests":[{"repeat":0,"warmup":false,"queued_ms":0.2,"ttft_ms":null,"itl_ms_mean":null,"itl_ms_p50":null,
  "e2e_ms":9,"num_output_tokens":1,"arrival_ns":null,"tag":"x"}],
 "summary":{"per_kind":{}},"later":true}"#;

fn parse(text: &str) -> Result<Timeline, TimelineError> {
    Timeline::parse(CORRECTED, text.as_bytes())
}

#[test]
fn a_round_trip_keeps_unknown_fields_nulls_integers_and_times() {
    let timeline = parse(TWO_STEPS).unwrap();
    let written = serde_json::to_value(&timeline).unwrap();
    let original: Value = serde_json::from_str(TWO_STEPS).unwrap();
    assert_eq!(written, original);
    let text = serde_json::to_string(&timeline).unwrap();
    assert!(text.contains(r#""duration_ns":2016,"#) && text.contains("1764451992123456789"));
    assert_eq!(parse(&text).unwrap(), timeline);
}

#[test]
fn kernels_of_one_shape_share_it() {
    let timeline = parse(TWO_STEPS).unwrap();
    let [a, b] = timeline.steps[0].kernels.as_slice() else {
        panic!("two kernels");
    };
    assert!(Arc::ptr_eq(&a.shape, &b.shape));
}

#[test]
fn errors_name_file_place_and_field() {
    let wrong = TWO_STEPS.replace("1376.5", "\"soon\"");
    let error = parse(&wrong).unwrap_err().to_string();
    assert!(error.starts_with(
        r#"corrected_timeline.json: steps: [0]: kernels: [1]: duration_ns: invalid type: string "soon", expected f64"#
    ), "{error}");
    let error = parse(&TWO_STEPS.replace("1376.5", "-3")).unwrap_err().to_string();
    assert_eq!(
        error,
        "corrected_timeline.json: repeat 0, step 0: kernel 2 duration_ns is -3; it must be a number from 0 to 1e18"
    );
    let error = parse(&TWO_STEPS.replace(r#""seq":2"#, r#""seq":1"#))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "corrected_timeline.json: repeat 0, step 0: kernel 1 seq is there twice"
    );
    let error = parse(r#"{"steps":[{"step":0,"repeat":0}]}"#)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("corrected_timeline.json: steps: [0]: missing field `kind`"),
        "{error}"
    );
    let step = r#"{"step":0,"repeat":0,"kind":"decode"}"#;
    let error = parse(&format!(r#"{{"steps":[{step},{step}]}}"#))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "corrected_timeline.json: repeat 0, step 0: step is there twice"
    );
}

#[test]
fn a_stamp_moves_without_loss() {
    let epoch = Stamp::from_ns(1_764_451_992_123_456_789);
    let later = epoch.plus(0.25).plus(-1e9).plus(0.75);
    assert_eq!(later, Stamp::from_ns(1_764_451_991_123_456_790));
    assert_eq!(later.since(epoch), 1.0 - 1e9);
    assert_eq!(
        serde_json::to_string(&epoch.plus(0.6)).unwrap(),
        "1764451992123456790"
    );
    assert_eq!(
        serde_json::to_string(&Stamp::from_ns(5).plus(-0.5)).unwrap(),
        "4.5"
    );
}

#[test]
fn times_whose_sums_would_not_be_numbers_are_refused() {
    for (from, to, expected) in [
        ("2016", "1.7e308", "step 0: kernel 1 duration_ns is 17"),
        (
            "6507260.692579505",
            "1e19",
            "step 0: baseline_wall_ns is 10000000000000000000",
        ),
        ("5963165", "-1e19", "step 0: host_ns is -10000000000000000000"),
        ("108088.07402640952", "1e300", "kernel 1 start_offset_ns is 1"),
        (
            r#""e2e_ms":9"#,
            r#""e2e_ms":1e200"#,
            "request of repeat 0: e2e_ms is 1",
        ),
    ] {
        let error = parse(&TWO_STEPS.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("1e18"), "{error}");
    }
    let most = TWO_STEPS.replace("2016", "1e18").replace("1376.5", "1e18");
    let simulated = crate::simulate(&parse(&most).unwrap(), &crate::SimDurations::default()).unwrap();
    assert!(
        simulated.steps[0]
            .kernels
            .iter()
            .all(|kernel| kernel.duration_ns == 1e18)
    );
}
