//! Step digests: what a sim sent, in brief, against the timeline in the trace's folder.

use serde_json::{Value, json};

use super::app::TestApp;

/// A timeline of one step in which the GPU is busy for `busy` ns of `busy + 9000`.
fn timeline(busy: i64) -> Value {
    json!({
        "meta": {"model": "m", "gpu_name": "NVIDIA H100 80GB HBM3"},
        "steps": [{
            "step": 0, "repeat": 0, "warmup": false, "kind": "decode", "baseline_wall_ns": busy + 9_000,
            "gpu_busy_ns": busy, "host_ns": 9_000,
            "kernels": [{"seq": 1, "name": "k", "grid": "1x1x1", "block": "32x1x1", "duration_ns": busy,
                         "start_offset_ns": 0}],
        }],
        "requests": [],
        "summary": {"simulation": {"host_model": "scaled-gaps", "core_clock_mhz": 1000, "launch_latency_cycles": 500}},
    })
}

#[tokio::test]
async fn digests_follow_what_was_sent_and_what_was_measured() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let digests = async || app.get(&format!("/api/runs/{run}/step-digests")).await;
    let send = async |simulated: Value| {
        let path = format!("/api/sims/{sim}/step-timeline");
        let answer = app.post(&path, json!({ "simulated": simulated })).await;
        assert_eq!(answer.status().as_u16(), 204);
    };
    assert_eq!(digests().await, json!([]));

    send(timeline(3_000)).await;
    let [none] = digests().await.as_array().unwrap().clone().try_into().unwrap();
    assert_eq!(none["digest"], Value::Null);
    let problem = none["problem"].as_str().unwrap();
    assert!(problem.contains("corrected_timeline.json"), "{problem}");

    let folder = app.running.service.settings.traces_dir().join("demo");
    std::fs::create_dir_all(&folder).unwrap();
    let measured = |busy| {
        let file = folder.join("corrected_timeline.json");
        std::fs::write(file, timeline(busy).to_string()).unwrap();
    };
    measured(2_000);
    let [first] = digests().await.as_array().unwrap().clone().try_into().unwrap();
    assert_eq!(
        (&first["gpu_config"], &first["engine"]),
        (&json!("SM90_H100"), &json!("cascade"))
    );
    let busy = |entry: &Value| entry["digest"]["kinds"][0]["gpu_busy_ns"].clone();
    assert_eq!(
        busy(&first),
        json!({"real": 2000.0, "simulated": 3000.0, "error": 1000.0, "error_pct": 50.0})
    );
    let corrected = &first["digest"]["corrections"];
    assert_eq!(corrected[0]["sample"], "none", "the raw result comes first");
    assert_eq!(corrected[1]["subtracted_ns"], json!(500.0));

    measured(2_500);
    let changed = digests().await;
    assert_eq!(
        busy(&changed[0])["real"],
        json!(2500.0),
        "another measured timeline counts at once"
    );
    send(timeline(5_000)).await;
    let replaced = digests().await;
    assert_eq!(
        busy(&replaced[0])["simulated"],
        json!(5000.0),
        "so does another simulated one"
    );

    send(json!({"steps": [3], "summary": {}})).await;
    let [odd] = digests().await.as_array().unwrap().clone().try_into().unwrap();
    assert!(
        odd["problem"]
            .as_str()
            .unwrap()
            .contains("simulated_timeline.json"),
        "{odd}"
    );
}
