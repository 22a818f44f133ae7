//! Step timing: built from the sim's own log when the trace brings a timeline, and never the sim's undoing.

use cascade_api::ReportedState;
use cascade_steps::Propagate;
use cascade_worker::{Job, Outcome, run};
use serde_json::{Value, json};

use super::app::{App, Fault};
use super::{Bench, log};

const TIMELINE: &str = "trace/corrected_timeline.json";
const MAPPING: &str = "trace/kernel_mapping.json";

/// A step with one kernel of 1,000 ns, in a wall of 10,000 ns.
fn step(number: i64, name: &str) -> Value {
    json!({
        "step": number, "repeat": 0, "warmup": false, "kind": if number == 0 { "prefill" } else { "decode" },
        "num_reqs": 1, "num_scheduled_tokens": 1, "baseline_wall_ns": 10_000, "profiled_wall_ns": 10_000,
        "gpu_busy_ns": 1_000, "cuda_api_ns": null, "host_ns": 9_000,
        "kernels": [{"seq": 5, "name": name, "grid": "1x1x1", "block": "32x1x1", "duration_ns": 1_000,
                     "start_offset_ns": 100}],
        "baseline_gap_before_ns": if number == 0 { Value::Null } else { json!(500) },
    })
}

fn timeline() -> String {
    json!({
        "meta": {"gpu_name": "NVIDIA A100-SXM4-80GB"},
        "steps": [step(0, "k1"), step(1, "k2"), step(2, "k2")],
        "requests": [{"repeat": 0, "warmup": false, "queued_ms": 0, "ttft_ms": 0.01, "itl_ms_mean": null,
                      "itl_ms_p50": null, "e2e_ms": 0.031, "num_output_tokens": 3, "arrival_ns": 0,
                      "pre_first_step_ns": 0, "post_last_step_ns": 0}],
        "summary": {},
    })
    .to_string()
}

fn mapping(last: u64) -> String {
    json!([
        {"uid": 1, "name": "k1", "repeat": 0, "step": 0, "seq": 5},
        {"uid": last, "name": format!("k{last}"), "repeat": 0, "step": 1, "seq": 5},
    ])
    .to_string()
}

/// A replay of three kernels of 100 cycles; the A100 model's clock turns them into time.
fn job(bench: &Bench) -> Job {
    let path = bench.write("recorded.log", log(3));
    bench.replay(&path, None)
}

async fn sent(bench: &Bench, job: Job) -> (Vec<Value>, Vec<String>) {
    let app = App::start(|_| Fault::None).await;
    assert_eq!(run(job, app.client()).await.unwrap(), Outcome::Succeeded);
    assert_eq!(
        app.last_beat().state,
        ReportedState::Succeeded,
        "in {:?}",
        bench.dir
    );
    (app.steps(), app.lines())
}

#[tokio::test(flavor = "multi_thread")]
async fn simulated_times_take_the_place_of_measured_ones() {
    let bench = Bench::new();
    bench.write(TIMELINE, timeline());
    bench.write(MAPPING, mapping(2));
    let (steps, lines) = sent(&bench, job(&bench)).await;
    let [sent] = steps.as_slice() else {
        panic!("one timeline, not {}", steps.len());
    };
    let times: Vec<_> = (0..3)
        .map(|i| {
            sent["simulated"]["steps"][i]["kernels"][0]["duration_ns"]
                .as_f64()
                .unwrap()
        })
        .collect();
    // 100 cycles at 1,410 MHz; the third step was not traced.
    let simulated = 100.0 / 1410.0 * 1000.0;
    assert!(
        (times[0] - simulated).abs() < 1e-9 && times[0] == times[1],
        "{times:?}"
    );
    assert_eq!(times[2], 1000.0);
    let coverage = &sent["simulated"]["summary"]["simulation"]["coverage"];
    assert_eq!(
        (&coverage["kernels"], &coverage["simulated_kernels"]),
        (&json!(3), &json!(2))
    );
    let wall = &sent["compare"]["steps"][0]["wall_ns"];
    assert_eq!(wall["real"], json!(10_000.0));
    assert!((wall["error"].as_f64().unwrap() - (simulated - 1000.0)).abs() < 1e-6);
    assert!(
        lines.iter().any(|line| line.contains("2 of 3 kernels")),
        "the log says what was done"
    );

    let mut job = job(&bench);
    job.propagate = Some(Propagate::Identical);
    let (steps, _) = self::sent(&bench, job).await;
    let third = &steps[0]["simulated"]["steps"][2]["kernels"][0];
    assert_eq!(third["provenance"], "identical");

    bench.write("trace/metadata.json", r#"{"propagate": "identical"}"#);
    let (steps, _) = self::sent(&bench, self::job(&bench)).await;
    assert_eq!(
        steps[0]["simulated"]["steps"][2]["kernels"][0]["provenance"], "identical",
        "the trace's metadata may ask for it"
    );

    bench.write("trace/metadata.json", r#"{"real_gpu_config": "SM90_H100"}"#);
    let (steps, _) = self::sent(&bench, self::job(&bench)).await;
    assert!(
        steps[0]["compare"].is_null(),
        "another GPU was measured: there is no error to state"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_costs_a_line_of_the_log_and_not_the_sim() {
    let bench = Bench::new();
    bench.write(TIMELINE, timeline());
    for (file, text, words) in [
        (MAPPING, mapping(9), "names kernel 9 `k9`"),
        (MAPPING, "[]".to_owned(), "names no kernel"),
        (MAPPING, "[{}]".to_owned(), "kernel_mapping.json"),
        (TIMELINE, "{\"steps\": 3}".to_owned(), "corrected_timeline.json"),
    ] {
        bench.write(file, text);
        let (steps, lines) = sent(&bench, job(&bench)).await;
        assert!(steps.is_empty(), "{words}");
        let said = lines
            .iter()
            .any(|line| line.contains("step timing was not sent") && line.contains(words));
        assert!(said, "{words}: {:?}", lines.last());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_with_one_of_the_two_files_says_which_is_missing() {
    let bench = Bench::new();
    bench.write(TIMELINE, timeline());
    let (steps, lines) = sent(&bench, job(&bench)).await;
    assert!(steps.is_empty());
    assert!(
        lines
            .iter()
            .any(|line| line.contains("the trace has no kernel_mapping.json"))
    );
}
