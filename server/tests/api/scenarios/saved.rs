//! Saved scenarios.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{FLAGS, run, short};
use crate::app::{TestApp, text};

#[tokio::test]
async fn a_scenario_is_saved_listed_read_and_deleted() {
    let app = TestApp::with(&FLAGS).await;
    assert_eq!(app.get("/api/scenarios/saved").await, json!([]));
    let save = async |name: &str, requests: u32| -> Value {
        let body = json!({"name": name, "scenario": short(requests, 512, 128)});
        let answer = app.post("/api/scenarios/saved", body).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        answer.json().await.unwrap()
    };
    let (one, eight) = (save("one", 1).await, save("eight", 8).await);
    assert_eq!(app.get("/api/scenarios/saved").await, json!([eight, one]));
    let path = format!("/api/scenarios/saved/{}", text(&eight["id"]));
    let saved = app.get(&path).await;
    assert_eq!(
        (&saved["name"], &saved["result"]["requests"]),
        (&json!("eight"), &json!(8))
    );
    // What is saved can be run as it is, and comes to the same.
    let again = run(&app, saved["scenario"].clone()).await;
    assert_eq!(again["aggregate"], saved["result"]["aggregate"]);
    let delete = async || app.request(Method::DELETE, &path).send().await.unwrap().status();
    assert_eq!(delete().await, StatusCode::NO_CONTENT);
    assert_eq!(delete().await, StatusCode::NOT_FOUND);
    assert_eq!(app.get("/api/scenarios/saved").await, json!([one]));
    for body in [
        json!({"name": "", "scenario": short(1, 8, 8)}),
        json!({"name": "x", "scenario": short(0, 8, 8)}),
        json!({"scenario": short(1, 8, 8)}),
    ] {
        let answer = app.post("/api/scenarios/saved", body).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }
}
