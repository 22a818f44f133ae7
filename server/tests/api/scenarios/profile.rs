//! Profiles handed over, for running scenarios elsewhere.

use cascade_api::ScenarioCreate;
use cascade_api::validate::Validate;
use cascade_serving::profile::PerfProfile;
use serde_json::{Value, json};

use super::{A100, FLAGS, H100, run, short, with};
use crate::app::TestApp;

async fn profile(app: &TestApp, query: &str) -> (u16, Value) {
    let answer = app.request(reqwest::Method::GET, &format!("/api/scenarios/profile{query}"));
    let answer = answer.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_profile_answers_elsewhere_as_the_server_does() {
    let app = TestApp::with(&FLAGS).await;
    let bases = app.get("/api/scenarios/bases").await;
    let mut pairs: Vec<(&str, &str)> = bases
        .as_array()
        .unwrap()
        .iter()
        .map(|base| {
            (
                base["trace_id"].as_str().unwrap(),
                base["gpu_config"].as_str().unwrap(),
            )
        })
        .collect();
    pairs.sort_unstable();
    assert_eq!(
        pairs,
        [(A100, "SM80_A100"), (H100, "SM90_H100"), (H100, "SM90_H200")]
    );

    let (status, answer) = profile(&app, &format!("?trace_id={H100}&gpu_config=SM90_H200")).await;
    assert_eq!(
        (status, &answer["gpu_config"]),
        (200, &json!("SM90_H200")),
        "{answer}"
    );
    let made: PerfProfile = serde_json::from_value(answer["profile"].clone()).unwrap();
    let body = with(short(8, 512, 128), json!({"gpu_config": "SM90_H200"}));
    let ask = ScenarioCreate::validate(body.clone()).unwrap();
    let here = cascade_scenario::evaluate(&made, &ask).unwrap();
    let there = run(&app, body).await;
    assert_eq!(serde_json::to_value(here.aggregate).unwrap(), there["aggregate"]);
    assert_eq!(serde_json::to_value(&here.requests).unwrap(), there["requests"]);
    assert_eq!(answer["sim_id"], there["sim_id"]);
}

#[tokio::test]
async fn what_has_no_profile_says_why_and_launches_nothing() {
    let app = TestApp::with(&FLAGS).await;
    let metadata = json!({"trace_gpu_arch": "sm_90", "model": "facebook/opt-125m"});
    app.trace("bare", cascade_api::TraceState::Ready, metadata).await;
    let before = app.get("/api/runs").await;
    for (query, status, says) in [
        ("", 422, "exactly one of trace_id and model"),
        ("?trace_id=bare&model=facebook/opt-125m", 422, "exactly one"),
        ("?trace_id=nothing", 404, "nothing"),
        ("?model=nobody", 404, "no ready trace of model 'nobody'"),
        (
            "?trace_id=bare&gpu_config=SM90_H100",
            404,
            "launch a run of it first",
        ),
        ("?trace_id=bare&gpu_config=SM80_A100", 422, "sm_80"),
        ("?trace_id=bare&gpu_config=NOPE", 422, "unknown gpu_config 'NOPE'"),
    ] {
        let (found, answer) = profile(&app, query).await;
        assert_eq!(found, status, "{query}: {answer}");
        assert!(
            answer["detail"].as_str().unwrap().contains(says),
            "{query}: {answer}"
        );
    }
    assert_eq!(app.get("/api/runs").await, before);
}
