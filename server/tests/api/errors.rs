//! Paths and methods that nothing serves.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::TestApp;

#[tokio::test]
async fn an_unknown_path_under_api_needs_no_token() {
    let app = TestApp::start().await;
    for path in ["/api", "/api/", "/api/nope", "/api/runs/x/nope"] {
        let answer = app.bare(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(
            answer.json::<Value>().await.unwrap(),
            json!({"detail": "Not Found"}),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_so_in_json() {
    let app = TestApp::start().await;
    for (method, path) in [
        (Method::DELETE, "/api/runs"),
        (Method::GET, "/api/sims/x/logs"),
        (Method::POST, "/api/health"),
    ] {
        let answer = app.bare(method, path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert!(answer.headers().contains_key("allow"));
        assert_eq!(
            answer.json::<Value>().await.unwrap(),
            json!({"detail": "Method Not Allowed"})
        );
    }
}

#[tokio::test]
async fn a_body_that_does_not_fit_names_every_problem() {
    let app = TestApp::start().await;
    let body = json!({"trace_id": 7, "entries": [{"gpu_config": "SM90_H100", "count": 0}]});
    let answer = app.post("/api/runs", body).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    insta::assert_json_snapshot!("invalid_run", answer.json::<Value>().await.unwrap());
    let answer = app
        .request(Method::POST, "/api/runs")
        .body("{\"trace_id\":")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        answer.json::<Value>().await.unwrap()["detail"][0]["type"],
        "json_invalid"
    );
}

#[tokio::test]
async fn a_body_over_its_limit_is_refused() {
    let app = TestApp::start().await;
    let (_, sim) = app.running_sim().await;
    let long = "x".repeat((32 << 20) + 1);
    let answer = app
        .request(Method::POST, &format!("/api/sims/{sim}/heartbeat"))
        .body(long)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        answer.json::<Value>().await.unwrap(),
        json!({"detail": "body is over the 32 MiB limit"})
    );
}
