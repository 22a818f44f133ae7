//! Health, traces and GPUs.

use cascade_api::TraceState;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::app::{TestApp, stable};

#[tokio::test]
async fn health_says_how_the_app_is_set_up() {
    let app = TestApp::with(&[
        "--token",
        "t",
        "--workspace",
        "acme-lab",
        "--s3-public-url",
        "https://s3.example/",
    ])
    .await;
    let answer = app.bare(Method::GET, "/api/health").send().await.unwrap();
    let body: serde_json::Value = answer.json().await.unwrap();
    insta::assert_json_snapshot!(body, @r#"
    {
      "auth": true,
      "ok": true,
      "s3_bucket": "cascade",
      "s3_endpoint": "https://s3.example",
      "s3_prefix": "accelsim-traces",
      "version": "0.1.0",
      "workspace": "acme-lab"
    }
    "#);
    let open = TestApp::with(&["--no-auth"]).await;
    let answer = open.bare(Method::GET, "/api/health").send().await.unwrap();
    let body: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(body["auth"], json!(false));
    let port = open.running.s3.unwrap().port();
    assert_eq!(body["s3_endpoint"], json!(format!("http://127.0.0.1:{port}")));
}

#[tokio::test]
async fn traces_come_newest_first_with_their_facts() {
    let app = TestApp::start().await;
    app.ready().await;
    app.trace("newer", TraceState::Failed, json!(null)).await;
    let list = app.get("/api/traces").await;
    let ids: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["id"].clone(), t["error"].clone()))
        .collect();
    assert_eq!(
        ids,
        [
            (json!("newer"), json!("profiler reported status 'failed'")),
            (json!("demo"), json!(null))
        ]
    );
    let detail = stable(app.get("/api/traces/demo").await);
    insta::assert_json_snapshot!("trace_detail", detail);
}

#[tokio::test]
async fn a_trace_id_of_any_shape_is_simply_not_found() {
    let app = TestApp::start().await;
    for (path, detail) in [
        ("nope", "trace nope not found"),
        ("a%00b", "trace a\0b not found"),
        ("%E2%82%AC%20x", "trace € x not found"),
        ("%2e%2e%2fetc", "trace ../etc not found"),
        ("%ff%fe", "Not Found"),
    ] {
        let answer = app
            .request(Method::GET, &format!("/api/traces/{path}"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(
            answer.json::<serde_json::Value>().await.unwrap(),
            json!({ "detail": detail })
        );
    }
}

#[tokio::test]
async fn gpus_come_by_name() {
    let app = TestApp::start().await;
    let gpus = app.get("/api/gpu-configs").await;
    let h100 = gpus
        .as_array()
        .unwrap()
        .iter()
        .find(|gpu| gpu["name"] == "SM90_H100")
        .unwrap();
    assert_eq!(
        (&h100["arch"], &h100["core_clock_mhz"]),
        (&json!("sm_90"), &json!(1980.0))
    );
    assert_eq!(h100["engines"], json!(["cascade"]));
}

#[tokio::test]
async fn the_synthetic_trace_is_made_once_for_its_owner_and_becomes_ready() {
    let app = TestApp::start().await;
    let path = "/api/synthetic-trace";
    let stranger = app.bare(Method::POST, path).send().await.unwrap();
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(app.get("/api/traces").await, json!([]), "nothing was made");

    // Two at once make one.
    let (one, two) = tokio::join!(app.post(path, json!(null)), app.post(path, json!(null)));
    let mut statuses = [one.status(), two.status()];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::CREATED]);
    let made: serde_json::Value = two.json().await.unwrap();
    assert_eq!(made["id"], "synthetic-opt-125m");

    // Ingest, which the browser tests run, takes in what is in the bucket under a name without a dot.
    let folder = app.traces_dir().join("synthetic-opt-125m");
    let list = std::fs::read_to_string(folder.join("traces/kernelslist.g")).unwrap();
    assert!(list.lines().count() > 10, "{list}");
    for line in list.lines().filter(|line| line.starts_with("kernel-")) {
        assert!(folder.join("traces").join(line.trim()).exists(), "{line}");
    }
    let metadata = std::fs::read_to_string(folder.join("metadata.json")).unwrap();
    assert!(metadata.contains("synthetic"), "{metadata}");
}
