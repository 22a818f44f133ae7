//! Scenarios on a hypothetical GPU: its figures are its base's with the changed facts carried over.

use cascade_api::validate::Validate;
use cascade_api::{ScenarioCreate, TraceState};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{FLAGS, H100, refused, run, short, with};
use crate::app::{TestApp, text};

const MODEL: &str = "facebook/opt-125m";

/// An app with a GPU of twice an H100's bandwidth and a finished sim on it, whose steps are the H100 sample's.
async fn with_fast_gpu() -> (TestApp, String) {
    let app = TestApp::with(&FLAGS).await;
    app.trace(
        "demo",
        TraceState::Ready,
        json!({"trace_gpu_arch": "sm_90", "model": MODEL}),
    )
    .await;
    let made = json!({"name": "SM90_FAST", "base": "SM90_H100", "changes": {"chip.dram_bandwidth": 6704}});
    assert_eq!(
        app.post("/api/gpu-configs", made).await.status(),
        StatusCode::CREATED
    );
    let timelines = app
        .get("/api/runs/run-sample-opt125m-h100-e2e/step-timelines")
        .await;
    let body = json!({"trace_id": "demo", "entries": [{"gpu_config": "SM90_FAST", "count": 1}]});
    let made: Value = app.post("/api/runs", body).await.json().await.unwrap();
    let sim = text(&app.sim(&text(&made["id"])).await["id"]);
    app.launch(&sim).await;
    app.heartbeat(&sim, "running").await;
    // A timeline names its GPU.
    let simulated = timelines[0]["simulated"]
        .to_string()
        .replace("SM90_H100", "SM90_FAST");
    let simulated: Value = serde_json::from_str(&simulated).unwrap();
    let timeline = json!({"simulated": simulated});
    let sent = app
        .post(&format!("/api/sims/{sim}/step-timeline"), timeline)
        .await;
    assert_eq!(sent.status(), StatusCode::NO_CONTENT);
    app.heartbeat(&sim, "succeeded").await;
    (app, sim)
}

#[tokio::test]
async fn twice_the_bandwidth_counts_as_the_roofline_says() {
    let (app, sim) = with_fast_gpu().await;
    let profile = async |trace: &str, gpu: &str| {
        let path = format!("/api/scenarios/profile?trace_id={trace}&gpu_config={gpu}");
        let answer = app.get(&path).await;
        serde_json::from_value::<cascade_serving::profile::PerfProfile>(answer["profile"].clone()).unwrap()
    };
    let (fast, mut h100) = (
        profile("demo", "SM90_FAST").await,
        profile(H100, "SM90_H100").await,
    );
    assert_eq!(fast.gpu.bandwidth_tbs, 2.0 * h100.gpu.bandwidth_tbs);
    assert_eq!(fast.gpu.compute_tflops, h100.gpu.compute_tflops);
    assert_eq!(fast.gpu.memory_gb, h100.gpu.memory_gb);
    assert!(
        fast.gpu
            .source
            .contains("hypothetical: SM90_H100 with chip.dram_bandwidth 6704 instead of 3352"),
        "{}",
        fast.gpu.source
    );

    // Long contexts, so that what is not profiled is read from memory. The answer is that of the H100's profile with
    // twice the bandwidth, and not that of the H100's own.
    let body = with(
        short(64, 1024, 64),
        json!({"trace_id": "demo", "gpu_config": "SM90_FAST"}),
    );
    let found = run(&app, body.clone()).await;
    assert_eq!(
        (&found["sim_id"], &found["gpu_config"]),
        (&json!(sim), &json!("SM90_FAST"))
    );
    let ask = ScenarioCreate::validate(body).unwrap();
    let slow = cascade_scenario::evaluate(&h100, &ask).unwrap();
    h100.gpu.bandwidth_tbs *= 2.0;
    let by_hand = cascade_scenario::evaluate(&h100, &ask).unwrap();
    assert_eq!(
        found["aggregate"],
        serde_json::to_value(by_hand.aggregate).unwrap()
    );
    let slow = serde_json::to_value(slow.aggregate).unwrap();
    assert_ne!(found["aggregate"], slow);
    let rate = |aggregate: &Value| aggregate["throughput_output_tokens_s"].as_f64().unwrap();
    assert!(rate(&found["aggregate"]) > rate(&slow), "{found} {slow}");
}

#[tokio::test]
async fn it_is_a_gpu_wherever_requests_are_estimated() {
    let (app, sim) = with_fast_gpu().await;
    let bases = app.get("/api/scenarios/bases").await;
    let base = bases
        .as_array()
        .unwrap()
        .iter()
        .find(|base| base["gpu_config"] == "SM90_FAST");
    assert_eq!(base.unwrap()["sim_id"], sim, "{bases}");

    let scenario = with(
        short(1, 512, 16),
        json!({"trace_id": "demo", "gpu_config": "SM90_FAST"}),
    );
    let vary = json!([{"input": "num_requests", "values": [1, 8]}]);
    let answer = app
        .post(
            "/api/scenarios/search",
            json!({"scenario": scenario, "pareto": {"vary": vary}}),
        )
        .await;
    assert_eq!(answer.status(), StatusCode::OK);
    let found: Value = answer.json().await.unwrap();
    assert_eq!(found["bases"][0]["sim_id"], sim, "{found}");

    let ask =
        json!({"model": "demo", "prompt": "one two three four", "max_tokens": 4, "gpu_config": "SM90_FAST"});
    let answer = app.post("/v1/completions", ask).await;
    let (status, told) = (answer.status(), answer.text().await.unwrap());
    assert_eq!(status, StatusCode::OK, "{told}");
    assert!(told.contains("SM90_FAST"), "{told}");

    // One made from a GPU whose datasheet the roofline was not checked with stays out.
    let other = json!({"name": "SM89_MINE", "base": "SM89_RTX4090", "changes": {"chip.sms": 100}});
    assert_eq!(
        app.post("/api/gpu-configs", other).await.status(),
        StatusCode::CREATED
    );
    let no = with(
        short(1, 6, 32),
        json!({"trace_id": "demo", "gpu_config": "SM89_MINE"}),
    );
    let said = refused(&app, no, 422).await.to_string();
    assert!(said.contains("GPUs made from them, not on SM89_MINE"), "{said}");
}
