//! The OpenAI-compatible `/v1` on the bundled samples.

mod errors;
mod streams;
mod tokenizers;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TOKEN, TestApp};

const H100: &str = "sample__facebook_opt-125m__h100-e2e";
const A100: &str = "sample__facebook_opt-125m__a100-e2e";
const MODEL: &str = "facebook/opt-125m";
const FLAGS: [&str; 4] = ["--token", TOKEN, "--samples", "true"];

fn with(mut body: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(more);
    body
}

/// A body for the H100 sample.
fn completion(more: Value) -> Value {
    let body = json!({"model": H100, "gpu_config": "SM90_H100", "prompt": "Hello, my name is", "max_tokens": 32,
        "seed": 42});
    with(body, more)
}

fn chat(more: Value) -> Value {
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]);
    with(
        json!({"model": MODEL, "messages": messages, "gpu_config": "SM90_H100", "seed": 1}),
        more,
    )
}

async fn ok(app: &TestApp, path: &str, body: &Value) -> Value {
    let answer = app.post(path, body.clone()).await;
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{body}: {text}");
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn near(found: &Value, published: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found / published - 1.0).abs() < 0.005,
        "{found}, published {published}"
    );
}

#[tokio::test]
async fn published_requests_come_out() {
    let app = TestApp::with(&FLAGS).await;
    let rows = [
        (H100, "SM90_H100", 6, 32, 8.946, 8.125, 260.593),
        (H100, "SM90_H100", 1024, 256, 8.956, 8.125, 2080.732),
        (H100, "SM90_H100", 1800, 200, 9.228, 8.125, 1625.977),
        (A100, "SM80_A100", 6, 32, 8.190, 7.139, 229.340),
        (A100, "SM80_A100", 128, 128, 8.190, 7.139, 914.664),
    ];
    for (trace, gpu, prompt, output, ttft, itl, e2e) in rows {
        let ids: Vec<u32> = (0..prompt).collect();
        let body = json!({"model": trace, "gpu_config": gpu, "prompt": ids, "max_tokens": output});
        let answer = ok(&app, "/v1/completions", &body).await;
        let timing = &answer["cascade"]["timing"];
        near(&timing["ttft_ms"], ttft);
        near(&timing["mean_itl_ms"], itl);
        near(&timing["e2e_ms"], e2e);
        assert_eq!(answer["cascade"]["prompt_tokens_source"], "token_ids");
        let usage =
            json!({"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output});
        assert_eq!(answer["usage"], usage);
        let counts = json!([timing["prompt_tokens"], timing["output_tokens"]]);
        assert_eq!(counts, json!([prompt, output]));
    }
}

#[tokio::test]
async fn an_answer_says_what_it_rests_on() {
    let app = TestApp::with(&FLAGS).await;
    let answer = ok(&app, "/v1/completions", &completion(json!({}))).await;
    assert!(answer["id"].as_str().unwrap().starts_with("cmpl-"));
    assert_eq!(
        (&answer["object"], &answer["model"]),
        (&json!("text_completion"), &json!(H100))
    );
    let choice = &answer["choices"][0];
    assert_eq!(
        (&choice["index"], &choice["finish_reason"]),
        (&json!(0), &json!("length"))
    );
    // 17 bytes without a tokenizer.
    assert_eq!(answer["usage"]["prompt_tokens"], 5);
    let text = choice["text"].as_str().unwrap();
    assert_eq!(text.split(' ').count(), 32);
    assert!(text.split(' ').all(|word| word.starts_with("tok")));
    let cascade = &answer["cascade"];
    for (field, value) in [
        ("mode", json!("estimate")),
        ("trace_id", json!(H100)),
        ("model", json!(MODEL)),
        ("gpu_config", json!("SM90_H100")),
        ("run_id", json!("run-sample-opt125m-h100-e2e")),
        ("sim_id", json!("sim-sample-opt125m-h100-e2e")),
        ("cached", json!(true)),
        ("prompt_tokens_source", json!("estimated:utf8-bytes/4")),
        ("text_source", json!("placeholder")),
        ("text_is_semantic", json!(false)),
        ("seed", json!(42)),
        ("profile_match", json!(false)),
    ] {
        assert_eq!(cascade[field], value, "{field}");
    }
    let timing = &cascade["timing"];
    assert_eq!(
        timing["calibration_range"],
        json!({"prefill_tokens": [6, 6], "decode_context": [7, 37]})
    );
    // A prompt of five tokens was not profiled; of the decodes only the first lies below the profiled contexts.
    assert_eq!(timing["provenance_counts"]["assumed-host"], 32);
    assert_eq!(timing["provenance_counts"]["measured"], 30);
    assert!(timing["assumptions"].as_array().unwrap().len() > 5);
    let (low, high) = (&timing["low"]["e2e_ms"], &timing["high"]["e2e_ms"]);
    assert!(low.as_f64() <= timing["e2e_ms"].as_f64() && timing["e2e_ms"].as_f64() <= high.as_f64());
    let profiled = &cascade["profiled"];
    assert_eq!(
        (&profiled["prompt_tokens"], &profiled["output_tokens"]),
        (&json!(6), &json!(32))
    );
    near(&profiled["mean"]["e2e_ms"]["real"], 254.45);
    near(&profiled["mean"]["e2e_ms"]["simulated"], 262.14);
    assert_eq!(profiled["requests"].as_array().unwrap().len(), 3);

    let matching: Vec<u32> = (0..6).collect();
    let answer = ok(
        &app,
        "/v1/completions",
        &completion(json!({"prompt": matching, "max_tokens": null})),
    )
    .await;
    assert_eq!(
        answer["usage"]["completion_tokens"], 32,
        "as many as the traced workload"
    );
    assert_eq!(answer["cascade"]["profile_match"], true);
}

#[tokio::test]
async fn prompts_and_choices_multiply() {
    let app = TestApp::with(&FLAGS).await;
    let body = completion(json!({"prompt": ["abcd", "abcdefgh", ""], "n": 2, "max_tokens": 2, "echo": true}));
    let answer = ok(&app, "/v1/completions", &body).await;
    let choices = answer["choices"].as_array().unwrap();
    let beginnings = ["abcd", "abcd", "abcdefgh", "abcdefgh", "", ""];
    assert_eq!(choices.len(), beginnings.len());
    for ((choice, begins), index) in choices.iter().zip(beginnings).zip(0..) {
        assert_eq!(choice["index"], index);
        assert!(
            choice["text"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{begins}tok"))
        );
    }
    assert_ne!(choices[0]["text"], choices[1]["text"]);
    assert_eq!(
        answer["usage"],
        json!({"prompt_tokens": 4, "completion_tokens": 12, "total_tokens": 16})
    );
    let times = answer["cascade"]["choices"].as_array().unwrap();
    assert_eq!(times.len(), 6);
    assert_eq!(times[2]["prompt_tokens"], 2);
    near(&times[5]["ttft_ms"], 8.946);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_text() {
    let app = TestApp::with(&FLAGS).await;
    let text = async |more: Value| {
        let answer = ok(&app, "/v1/completions", &completion(more)).await;
        (
            answer["choices"][0]["text"].clone(),
            answer["cascade"]["seed"].clone(),
        )
    };
    let first = text(json!({})).await;
    assert_eq!(first, text(json!({"temperature": 0.1, "stop": ["tok"]})).await);
    assert_ne!(first.0, text(json!({"seed": -42})).await.0);
    let (drawn, seed) = text(json!({"seed": null})).await;
    assert_ne!(first.0, drawn);
    assert_eq!(text(json!({"seed": seed})).await.0, drawn);
}

#[tokio::test]
async fn a_chat_is_its_messages_joined() {
    let app = TestApp::with(&FLAGS).await;
    let parts = json!([{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Hi"}]);
    let whole = ok(&app, "/v1/chat/completions", &chat(json!({}))).await;
    let messages = json!([{"role": "user", "content": parts}]);
    let split = ok(&app, "/v1/chat/completions", &chat(json!({"messages": messages}))).await;
    for answer in [whole, split] {
        assert!(answer["id"].as_str().unwrap().starts_with("chatcmpl-"));
        assert_eq!(answer["object"], "chat.completion");
        let message = &answer["choices"][0]["message"];
        assert_eq!(message["role"], "assistant");
        assert!(message["content"].as_str().unwrap().starts_with("tok"));
        // "Be brief.\nHi" is 12 bytes.
        assert_eq!(answer["usage"]["prompt_tokens"], 3);
        assert_eq!(answer["usage"]["completion_tokens"], 32);
        near(&answer["cascade"]["timing"]["ttft_ms"], 8.946);
    }
    let short = ok(
        &app,
        "/v1/chat/completions",
        &chat(json!({"max_completion_tokens": 0})),
    )
    .await;
    assert_eq!(short["choices"][0]["message"]["content"], "");
    assert_eq!(short["cascade"]["timing"]["ttft_ms"], Value::Null);
    assert!(short["cascade"]["timing"]["e2e_ms"].as_f64().unwrap() > 8.0);
}

#[tokio::test]
async fn models_are_traces_and_names_that_can_be_used() {
    let app = TestApp::with(&FLAGS).await;
    // Neither has steps.
    app.ready().await;
    app.trace(
        "raw",
        cascade_api::TraceState::Ready,
        json!({"trace_gpu_arch": "sm_90", "model": MODEL}),
    )
    .await;
    let list = app.get("/v1/models").await;
    assert_eq!(list["object"], "list");
    let models = list["data"].as_array().unwrap();
    let ids: Vec<&str> = models.iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    for id in [H100, A100, MODEL] {
        assert!(ids.contains(&id), "{ids:?}");
        for path in [
            format!("/v1/models/{id}"),
            format!("/v1/models/{}", id.replace('/', "%2F")),
        ] {
            let model = app.get(&path).await;
            assert_eq!((&model["id"], &model["object"]), (&json!(id), &json!("model")));
            assert!(models.contains(&model));
        }
    }
    let h100 = app.get(&format!("/v1/models/{H100}")).await;
    assert_eq!(h100["cascade"]["gpu_configs"], json!(["SM90_H100", "SM90_H200"]));
    assert_eq!(h100["cascade"]["default_gpu_config"], "SM90_H100");
    let none = app.request(Method::GET, "/v1/models/raw").send().await.unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}
