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

#[tokio::test]
async fn a_timeline_has_a_lane_for_each_sim_and_each_kind_once() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let timeline = async |level: &str| app.get(&format!("/api/runs/{run}/timeline?level={level}")).await;
    let empty = timeline("kernels").await;
    assert_eq!(empty["lanes"][0]["sim_id"], json!(sim));
    assert_eq!(empty["lanes"][0]["ns"], json!([]));
    assert_eq!(timeline("steps").await["lanes"], json!([]));

    let block = |name: &str, cycles: u64| {
        [
            format!("kernel_name = {name}"),
            format!("gpu_sim_cycle = {cycles}"),
            "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 1 sec (1 sec)".to_owned(),
        ]
    };
    let lines: Vec<String> = [
        block("_Z4copyv", 1000),
        block("flash_fwd", 500),
        block("_Z4copyv", 2000),
    ]
    .into_iter()
    .flatten()
    // The last block ends with what a simulator says last.
    .chain(["GPGPU-Sim: *** exit detected ***".to_owned()])
    .collect();
    app.log(&sim, 0, &lines).await;
    let kernels = timeline("kernels").await;
    let lane = &kernels["lanes"][0];
    assert_eq!(lane["kind"], json!([0, 1, 0]));
    assert_eq!(lane["index"], Value::Null, "numbers are positions");
    let ns: Vec<f64> = serde_json::from_value(lane["ns"].clone()).unwrap();
    assert!((ns[2] / ns[0] - 2.0).abs() < 1e-3, "{ns:?}");
    assert_eq!(
        kernels["kinds"],
        json!([{"name": "_Z4copyv", "group": "copy"}, {"name": "flash_fwd", "group": "Attention"}])
    );

    let body = json!({ "simulated": timeline_of_two() });
    let path = format!("/api/sims/{sim}/step-timeline");
    assert_eq!(app.post(&path, body).await.status().as_u16(), 204);
    let steps = timeline("steps").await;
    let lane = &steps["lanes"][0];
    assert_eq!(lane["steps"]["start_ns"], json!([0.0, 12000.0]));
    assert_eq!(lane["start_ns"], json!([0.0, 12000.0]));
    let bad = app.bare(reqwest::Method::GET, &format!("/api/runs/{run}/timeline?level=x"));
    assert!(bad.send().await.unwrap().status().is_client_error());
}

/// Two steps of one kernel each.
fn timeline_of_two() -> Value {
    let mut both = timeline(3_000);
    let mut second = both["steps"][0].clone();
    second["step"] = json!(1);
    both["steps"].as_array_mut().unwrap().push(second);
    both
}
