//! Server-sent events of `/v1`.

use std::time::Duration;

use cascade_api::TraceState;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{FLAGS, H100, MODEL, chat, completion, ok, with};
use crate::app::{TOKEN, TestApp, text};

/// Comments, chunks and whether `[DONE]` came last.
fn read(body: &str) -> (Vec<&str>, Vec<Value>, bool) {
    let (mut comments, mut chunks, mut done) = (Vec::new(), Vec::new(), false);
    for event in body.split_terminator("\n\n") {
        assert!(!done, "after [DONE]: {event}");
        match event.strip_prefix("data: ") {
            Some("[DONE]") => done = true,
            Some(data) => chunks.push(serde_json::from_str(data).unwrap()),
            None => comments.push(event.strip_prefix(": ").unwrap()),
        }
    }
    (comments, chunks, done)
}

async fn events(app: &TestApp, path: &str, body: Value) -> (Vec<Value>, bool) {
    let answer = app.post(path, with(body, json!({"stream": true}))).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    let (_, chunks, done) = read(&text);
    (chunks, done)
}

#[tokio::test]
async fn chunks_add_up_to_the_whole_answer() {
    let app = TestApp::with(&FLAGS).await;
    let body = completion(json!({"prompt": ["Hello, my name is", "And"], "n": 2, "echo": true}));
    let whole = ok(&app, "/v1/completions", &body).await;
    let (chunks, done) = events(&app, "/v1/completions", body).await;
    assert!(done);
    let mut texts = [const { String::new() }; 4];
    let mut ends = Vec::new();
    for chunk in &chunks {
        assert_eq!(
            (&chunk["object"], &chunk["id"]),
            (&json!("text_completion"), &chunks[0]["id"])
        );
        for choice in chunk["choices"].as_array().unwrap() {
            let index = choice["index"].as_u64().unwrap() as usize;
            assert!(!ends.contains(&index), "a choice goes on after its end");
            texts[index].push_str(choice["text"].as_str().unwrap());
            if choice["finish_reason"] == "length" {
                ends.push(index);
            }
        }
    }
    assert_eq!(ends, [0, 1, 2, 3]);
    for (text, choice) in texts.iter().zip(whole["choices"].as_array().unwrap()) {
        assert_eq!(choice["text"].as_str().unwrap(), text);
    }
    let (last, before) = chunks.split_last().unwrap();
    assert_eq!(last["cascade"], whole["cascade"]);
    assert!(before.iter().all(|chunk| chunk.get("cascade").is_none()));
    assert_eq!(
        chunks.len(),
        4 * 32 + 4,
        "a chunk for each token, and one for each end"
    );
}

#[tokio::test]
async fn a_chat_streams_deltas_and_usage_if_asked() {
    let app = TestApp::with(&FLAGS).await;
    let body = chat(json!({"max_tokens": 3, "stream_options": {"include_usage": true}}));
    let (chunks, done) = events(&app, "/v1/chat/completions", body).await;
    assert!(done);
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["object"] == "chat.completion.chunk")
    );
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert!(chunks[1]["choices"][0]["delta"].get("role").is_none());
    let [.., end, usage] = &chunks[..] else { panic!() };
    assert_eq!(
        (&end["choices"][0]["delta"], &end["choices"][0]["finish_reason"]),
        (&json!({}), &json!("length"))
    );
    assert_eq!(end["usage"], Value::Null);
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(
        usage["usage"],
        json!({"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6})
    );
    assert_eq!(usage["cascade"], end["cascade"]);
    assert_eq!(usage["cascade"]["timing"]["output_tokens"], 3);

    let (chunks, _) = events(&app, "/v1/chat/completions", chat(json!({"max_tokens": 0}))).await;
    let [only] = &chunks[..] else { panic!("{chunks:?}") };
    assert_eq!(
        only["choices"][0]["delta"],
        json!({"role": "assistant", "content": ""})
    );
    assert_eq!(only["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn a_stream_says_what_it_waits_for() {
    let app = TestApp::with(&FLAGS).await;
    app.trace(
        "demo",
        TraceState::Ready,
        json!({"trace_gpu_arch": "sm_90", "model": MODEL}),
    )
    .await;
    let timelines = app
        .get("/api/runs/run-sample-opt125m-h100-e2e/step-timelines")
        .await;
    let timeline = json!({"simulated": timelines[0]["simulated"]});
    for end in ["succeeded", "failed"] {
        let ask = async {
            let body = completion(json!({"model": "demo", "stream": true, "fresh": true}));
            app.post("/v1/completions", body).await.text().await.unwrap()
        };
        let act = async {
            let sim = launched(&app).await;
            app.launch(&sim).await;
            app.heartbeat(&sim, "running").await;
            tokio::time::sleep(Duration::from_millis(700)).await;
            let answer = app
                .post(&format!("/api/sims/{sim}/step-timeline"), timeline.clone())
                .await;
            assert_eq!(answer.status(), StatusCode::NO_CONTENT);
            app.heartbeat(&sim, end).await;
            sim
        };
        let (body, sim) = tokio::join!(ask, act);
        let (comments, chunks, done) = read(&body);
        assert!(
            comments[0].contains(&sim) && comments[0].contains("waiting"),
            "{comments:?}"
        );
        let last = chunks.last().unwrap();
        if end == "succeeded" {
            assert!(done);
            assert_eq!(
                (&last["cascade"]["sim_id"], &last["cascade"]["cached"]),
                (&json!(sim), &json!(false))
            );
        } else {
            assert!(!done && chunks.len() == 1);
            assert_eq!(last["error"]["code"], "base_sim_failed");
        }
    }
    // What is there already needs no wait.
    assert!(
        events(&app, "/v1/completions", completion(json!({"model": H100})))
            .await
            .1
    );
}

/// A sim that waits to be launched.
async fn launched(app: &TestApp) -> String {
    loop {
        let runs = app.get("/api/runs").await;
        for run in runs.as_array().unwrap() {
            let sim = app.sim(run["id"].as_str().unwrap()).await;
            if sim["state"] == "pending" {
                return text(&sim["id"]);
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn what_fails_at_once_has_a_status_of_its_own() {
    let app = TestApp::with(&["--token", TOKEN]).await;
    let answer = app
        .post("/v1/completions", completion(json!({"stream": true})))
        .await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}
