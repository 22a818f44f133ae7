//! The sim behind a scenario: found, waited for, launched, or of no use.

use std::time::Duration;

use cascade_api::TraceState;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{A100, FLAGS, H100, H100 as SAMPLE, refused, run, short, with};
use crate::app::{TOKEN, TestApp, text};

const MODEL: &str = "facebook/opt-125m";

fn of(trace: &str) -> Value {
    with(short(1, 6, 32), json!({"trace_id": trace}))
}

async fn traced(app: &TestApp, id: &str) {
    let metadata = json!({"trace_gpu_arch": "sm_90", "model": MODEL});
    app.trace(id, TraceState::Ready, metadata).await;
}

/// The run and the sim that a request has launched.
async fn launched(app: &TestApp) -> (String, String) {
    loop {
        let runs = app.get("/api/runs").await;
        let ours = runs.as_array().unwrap().iter().find(|run| run["sample"] == false);
        if let Some(run) = ours {
            let run = text(&run["id"]);
            return (run.clone(), text(&app.sim(&run).await["id"]));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A request and, beside it, what becomes of the sim that it launches.
async fn while_waiting(app: &TestApp, body: Value, sim: impl AsyncFn(&str)) -> (u16, Value) {
    let ask = async {
        let answer = app.post("/api/scenarios", body).await;
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let act = async {
        let (_, id) = launched(app).await;
        app.launch(&id).await;
        app.heartbeat(&id, "running").await;
        sim(&id).await;
    };
    tokio::join!(ask, act).0
}

#[tokio::test]
async fn what_names_nothing_or_cannot_be_estimated_is_refused() {
    let app = TestApp::with(&FLAGS).await;
    traced(&app, "demo").await;
    app.trace("raw", TraceState::Processing, json!({"model": MODEL}))
        .await;
    let config = |more: Value| {
        json!({"trace_gpu_arch": "sm_90", "model": MODEL, "model_config": with(json!({"architecture": "OPTForCausalLM",
            "num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12}), more)})
    };
    app.trace("awq", TraceState::Ready, config(json!({"quantization": "awq"})))
        .await;
    app.trace(
        "tp2",
        TraceState::Ready,
        config(json!({"tensor_parallel_size": 2})),
    )
    .await;
    app.trace(
        "odd",
        TraceState::Ready,
        json!({"trace_gpu_arch": "sm_90", "model": "a/b"}),
    )
    .await;
    let rows = [
        (of("none"), 404, "trace none not found"),
        (
            with(
                json!({"model": "a/none"}),
                json!({"num_requests": 1, "prompt_tokens": 1, "output_tokens": 1}),
            ),
            404,
            "no ready trace of model 'a/none'",
        ),
        (of("raw"), 409, "trace raw is processing"),
        (
            with(of(SAMPLE), json!({"gpu_config": "SM80_A100"})),
            422,
            "SM80_A100 is sm_80",
        ),
        (
            with(of(SAMPLE), json!({"gpu_config": "SM86_RTX3070"})),
            422,
            "not on SM86_RTX3070",
        ),
        (
            with(of(SAMPLE), json!({"gpu_config": "SM99_X"})),
            422,
            "unknown gpu_config",
        ),
        (with(of("demo"), json!({"gpu_config": null})), 422, "names no GPU"),
        (of("awq"), 422, "quantized"),
        (of("tp2"), 422, "several GPUs"),
        (of("odd"), 422, "no model `a/b` is built in"),
    ];
    for (body, status, words) in rows {
        let detail = refused(&app, body, status).await;
        assert!(detail.as_str().unwrap().contains(words), "{detail}");
    }
    let runs = app.get("/api/runs").await;
    assert_eq!(runs.as_array().unwrap().len(), 2, "none of them launched a run");
    let bare = app
        .bare(reqwest::Method::POST, "/api/scenarios")
        .json(&of(H100))
        .send()
        .await
        .unwrap();
    assert_eq!(bare.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_wait_that_ends_first_names_the_run_and_leaves_it() {
    let app = TestApp::with(&[&FLAGS[..], &["--openai-wait-s", "0.2"]].concat()).await;
    let detail = refused(
        &app,
        with(of(A100), json!({"gpu_config": "SM80_A100", "fresh": true})),
        504,
    )
    .await;
    let (run_id, sim) = launched(&app).await;
    let detail = detail.as_str().unwrap();
    assert!(
        detail.contains(&run_id) && detail.contains(&sim) && detail.contains("pending"),
        "{detail}"
    );
    let made = app.get(&format!("/api/runs/{run_id}")).await;
    assert_eq!(
        (&made["replay"], &made["sims"][0]["state"]),
        (&json!(true), &json!("pending"))
    );
    // The finished sim is still there for those who do not ask for a fresh one.
    let result = run(&app, with(of(A100), json!({"gpu_config": "SM80_A100"}))).await;
    assert_eq!(result["cached"], true);
}

#[tokio::test]
async fn callers_share_one_run_and_read_its_timeline() {
    let app = TestApp::with(&FLAGS).await;
    traced(&app, "demo").await;
    let timelines = app
        .get("/api/runs/run-sample-opt125m-h100-e2e/step-timelines")
        .await;
    let timeline = json!({"simulated": timelines[0]["simulated"]});
    let finish = async |sim: &str| {
        let answer = app
            .post(&format!("/api/sims/{sim}/step-timeline"), timeline.clone())
            .await;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        app.heartbeat(sim, "succeeded").await;
    };
    let second = async {
        launched(&app).await;
        run(&app, of("demo")).await
    };
    let (first, second) = tokio::join!(while_waiting(&app, of("demo"), finish), second);
    assert_eq!(first.0, 200, "{}", first.1);
    assert_eq!(
        (&first.1["cached"], &second["sim_id"]),
        (&json!(false), &first.1["sim_id"])
    );
    let third = run(&app, of("demo")).await;
    assert_eq!(
        (&third["cached"], &third["sim_id"]),
        (&json!(true), &first.1["sim_id"])
    );
    assert_eq!(third["aggregate"], run(&app, of(H100)).await["aggregate"]);
    let runs = app.get("/api/runs").await;
    assert_eq!(runs.as_array().unwrap().len(), 3, "the samples' and one more");
}

#[tokio::test]
async fn a_sim_that_fails_or_sends_no_steps_is_a_bad_gateway() {
    for (state, words) in [("failed", "failed"), ("succeeded", "without a step timeline")] {
        let app = TestApp::with(&["--token", TOKEN]).await;
        traced(&app, "demo").await;
        let end = async |sim: &str| {
            app.heartbeat(sim, state).await;
        };
        let (status, answer) = while_waiting(&app, of("demo"), end).await;
        let (run, sim) = launched(&app).await;
        let detail = answer["detail"].as_str().unwrap();
        assert_eq!(status, 502, "{detail}");
        assert!(
            detail.contains(words) && detail.contains(&run) && detail.contains(&sim),
            "{detail}"
        );
        if state == "succeeded" {
            // Asked again, the sim there is says the same: another would send no steps either.
            let again = refused(&app, of("demo"), 502).await;
            assert_eq!(again, answer["detail"]);
            assert_eq!(app.get("/api/runs").await.as_array().unwrap().len(), 1);
        }
    }
}
