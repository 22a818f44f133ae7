//! The document that describes the API.

use serde_json::Value;

use crate::app::TestApp;

#[tokio::test]
async fn the_document_is_served_and_only_changes_on_purpose() {
    let app = TestApp::start().await;
    let answer = app
        .bare(reqwest::Method::GET, "/api/openapi.json")
        .send()
        .await
        .unwrap();
    let document: Value = answer.json().await.unwrap();
    let operations: Vec<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .iter()
                .map(move |(method, operation)| {
                    let statuses: Vec<&str> = operation["responses"]
                        .as_object()
                        .unwrap()
                        .keys()
                        .map(String::as_str)
                        .collect();
                    format!("{method} {path}: {}", statuses.join(" "))
                })
        })
        .collect();
    insta::assert_snapshot!("operations", operations.join("\n"));
    insta::assert_json_snapshot!("document", document);
}
