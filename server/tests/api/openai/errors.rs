//! Errors of `/v1` have OpenAI's shape.

use cascade_api::TraceState;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{A100, FLAGS, H100, MODEL, chat, completion};
use crate::app::TestApp;

/// The status and the error of an answer, which must have OpenAI's shape.
async fn error(answer: Response) -> (u16, Value) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    let error = body["error"].clone();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    let mut fields: Vec<&String> = error.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["code", "message", "param", "type"], "{body}");
    let kind = if status < 500 {
        "invalid_request_error"
    } else {
        "server_error"
    };
    assert_eq!(error["type"], kind);
    (status, error)
}

#[tokio::test]
async fn each_error_says_what_to_change() {
    let app = TestApp::with(&FLAGS).await;
    app.trace("raw", TraceState::Processing, json!({"model": "a/raw"}))
        .await;
    app.trace(
        "odd",
        TraceState::Ready,
        json!({"trace_gpu_arch": "sm_90", "model": "a/odd"}),
    )
    .await;
    let ids: Vec<u32> = (0..2_030).collect();
    let rows = [
        (
            completion(json!({"model": "none"})),
            404,
            "model_not_found",
            "model",
            "'none'",
        ),
        (
            completion(json!({"model": "raw"})),
            409,
            "model_not_ready",
            "model",
            "processing",
        ),
        (
            completion(json!({"model": "odd"})),
            422,
            "unsupported_model",
            "model",
            "a/odd",
        ),
        (
            completion(json!({"gpu_config": "SM99_X"})),
            422,
            "gpu_config_not_found",
            "gpu_config",
            "SM99_X",
        ),
        (
            completion(json!({"gpu_config": "SM80_A100"})),
            422,
            "architecture_mismatch",
            "gpu_config",
            "sm_80",
        ),
        (
            completion(json!({"gpu_config": "SM86_RTX3070"})),
            422,
            "unsupported_gpu_config",
            "gpu_config",
            "SM90_H200",
        ),
        (
            completion(json!({"prompt": ids})),
            400,
            "context_length_exceeded",
            "max_tokens",
            "2048 tokens",
        ),
        (
            completion(json!({"max_completion_tokens": 7})),
            400,
            "invalid_value",
            "max_completion_tokens",
            "give one",
        ),
        (
            completion(json!({"prompt": {}})),
            400,
            "invalid_value",
            "prompt",
            "list of texts",
        ),
        (
            completion(json!({"prompt": ["a", 3]})),
            400,
            "invalid_value",
            "prompt[1]",
            "string",
        ),
        (
            completion(json!({"logprobs": 5})),
            400,
            "invalid_value",
            "logprobs",
            "not available",
        ),
        (
            json!({"prompt": "a"}),
            400,
            "missing_required_parameter",
            "model",
            "required",
        ),
    ];
    for (body, status, code, param, words) in rows {
        let (found, error) = error(app.post("/v1/completions", body.clone()).await).await;
        assert_eq!(
            (found, &error["code"], &error["param"]),
            (status, &json!(code), &json!(param)),
            "{error}"
        );
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
    let tokens = completion(json!({"prompt": vec!["abcd"; 100], "n": 128, "max_tokens": 1000}));
    let (status, problem) = error(app.post("/v1/completions", tokens).await).await;
    assert_eq!((status, &problem["code"]), (400, &json!("too_many_tokens")));
    let image = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]);
    let (status, problem) = error(
        app.post("/v1/chat/completions", chat(json!({"messages": image})))
            .await,
    )
    .await;
    assert_eq!(
        (status, &problem["param"]),
        (400, &json!("messages[0].content[0].type"))
    );
    let runs = app.get("/api/runs").await;
    assert_eq!(runs.as_array().unwrap().len(), 2, "none of them launched a run");
}

#[tokio::test]
async fn what_is_no_request_is_told_the_same_way() {
    let app = TestApp::with(&FLAGS).await;
    let broken = app
        .request(Method::POST, "/v1/completions")
        .body("{\"model\": ")
        .send()
        .await
        .unwrap();
    let (status, problem) = error(broken).await;
    assert_eq!((status, &problem["code"]), (400, &json!("invalid_json")));
    let empty = app
        .request(Method::POST, "/v1/chat/completions")
        .send()
        .await
        .unwrap();
    assert_eq!(error(empty).await.0, 400);
    for (method, path, status) in [
        (Method::GET, "/v1/nothing", 404),
        (Method::POST, "/v1/embeddings", 404),
        (Method::GET, "/v1", 404),
        (Method::GET, "/v1/completions", 405),
        (Method::POST, "/v1/models", 405),
        (Method::GET, "/v1/models/none", 404),
    ] {
        let answer = app.request(method, path).send().await.unwrap();
        assert_eq!(error(answer).await.0, status, "{path}");
    }
}

#[tokio::test]
async fn a_token_is_asked_for() {
    let app = TestApp::with(&FLAGS).await;
    for (method, path) in [
        (Method::GET, "/v1/models".to_owned()),
        (Method::GET, format!("/v1/models/{H100}")),
        (Method::POST, "/v1/completions".to_owned()),
        (Method::POST, "/v1/chat/completions".to_owned()),
    ] {
        for token in [None, Some("wrong")] {
            let mut request = app.bare(method.clone(), &path).json(&completion(json!({})));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let answer = request.send().await.unwrap();
            assert_eq!(answer.headers()["www-authenticate"], "Bearer");
            let (status, problem) = error(answer).await;
            assert_eq!(
                (status, &problem["code"]),
                (401, &json!("invalid_api_key")),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn a_base_that_takes_too_long_is_named_and_not_asked_for_again() {
    let app = TestApp::with(&[&FLAGS[..], &["--openai-wait-s", "0.2"]].concat()).await;
    let body = completion(json!({"model": A100, "gpu_config": "SM80_A100", "fresh": true}));
    let answer = app.post("/v1/completions", body).await;
    assert_eq!(answer.headers()["x-should-retry"], "false");
    let (status, problem) = error(answer).await;
    assert_eq!((status, &problem["code"]), (504, &json!("base_sim_timeout")));
    let message = problem["message"].as_str().unwrap();
    assert!(message.contains("run-") && message.contains("sim-"), "{message}");
    // A name stands for the newest trace of the model, whose finished sim is used.
    assert_eq!(
        app.post("/v1/completions", completion(json!({"model": MODEL})))
            .await
            .status()
            .as_u16()
            / 100,
        2
    );
}
