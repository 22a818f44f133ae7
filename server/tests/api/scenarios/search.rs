//! Searches over scenarios.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{FLAGS, H100, near, short, with};
use crate::app::TestApp;

async fn searched(app: &TestApp, body: Value) -> (StatusCode, Value) {
    let answer = app.post("/api/scenarios/search", body).await;
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test]
async fn the_highest_rate_within_limits_is_found() {
    let app = TestApp::with(&FLAGS).await;
    let scenario = with(short(400, 512, 64), json!({"slo": {"ttft_ms": 60}}));
    let body = json!({"scenario": scenario, "goal": {"attainment": 0.95}, "rate": {"low": 1, "high": 10000}});
    let (status, found) = searched(&app, body).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    let best = &found["points"][found["best"].as_u64().unwrap() as usize];
    let rate = best["values"]["arrival_rate_rps"].as_f64().unwrap();
    assert!(best["slo_attainment"].as_f64().unwrap() >= 0.95);
    assert!(found["bound"].as_f64().unwrap() <= rate * 1.01);
    assert_eq!(found["bases"][0]["trace_id"], H100);
    assert!(
        best["provenance_counts"]["extrapolated:roofline"]
            .as_u64()
            .unwrap()
            > 0
    );
    // The rate alone comes to the same.
    let scenario = with(scenario, json!({"arrival_rate_rps": rate}));
    let alone = super::run(&app, scenario).await;
    assert_eq!(alone["aggregate"], best["aggregate"]);
}

#[tokio::test]
async fn a_front_over_gpus_and_loads_names_its_sims() {
    let app = TestApp::with(&FLAGS).await;
    let vary = json!([
        {"input": "gpu_config", "values": ["SM90_H100", "SM90_H200"]},
        {"input": "num_requests", "values": [1, 8, 64]},
    ]);
    let body = json!({"scenario": short(1, 512, 128), "pareto": {"vary": vary}});
    let (status, found) = searched(&app, body).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    assert_eq!(found["points"].as_array().unwrap().len(), 6);
    near(
        &found["points"][2]["aggregate"]["throughput_output_tokens_s"],
        7194.53,
    );
    assert_eq!(found["bases"].as_array().unwrap().len(), 2);
    assert!(!found["front"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn bodies_that_ask_for_nothing_are_refused() {
    let app = TestApp::with(&FLAGS).await;
    for (body, words) in [
        (json!({"scenario": short(1, 8, 8)}), "exactly one of"),
        (
            json!({"scenario": short(1, 8, 8), "rate": {"low": 1, "high": 2}}),
            "every rate is good",
        ),
        (
            json!({"scenario": short(0, 8, 8), "pareto": {"vary": []}}),
            "num_requests",
        ),
        (
            json!({"scenario": short(1, 8, 8), "pareto": {"vary": [{"input": "nothing", "values": [1]}]}}),
            "nothing",
        ),
        (
            json!({"scenario": short(1, 8, 8), "pareto": {"vary": [{"input": "fresh", "values": [true]}]}}),
            "fresh is not varied",
        ),
    ] {
        let (status, answer) = searched(&app, body.clone()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert!(answer.to_string().contains(words), "{words}: {answer}");
    }
}
