//! The documents, as the app serves them.

use reqwest::{Method, Response, StatusCode};

use crate::app::TestApp;

/// An app whose site holds two pages and the files beside them.
async fn with_documents() -> TestApp {
    let app = TestApp::start().await;
    let site = app.dir.path().join("site");
    std::fs::create_dir_all(site.join("docs/assets")).unwrap();
    for (file, text) in [
        ("docs/index.html", "<h1>Introduction</h1>"),
        ("docs/engine.html", "<h1>Engine</h1>"),
        ("docs/404.html", "<h1>Not here</h1>"),
        ("docs/engine.md", "# Engine – all of it"),
        ("docs/assets/docs.css", "a{}"),
        ("llms.txt", "# Cascade"),
    ] {
        std::fs::write(site.join(file), text).unwrap();
    }
    app
}

async fn get(app: &TestApp, path: &str) -> Response {
    app.bare(Method::GET, path).send().await.unwrap()
}

#[tokio::test]
async fn documents_are_open_and_say_what_they_are() {
    let app = with_documents().await;
    for (path, kind, text) in [
        ("/docs", "text/html; charset=utf-8", "<h1>Introduction</h1>"),
        ("/docs/", "text/html; charset=utf-8", "<h1>Introduction</h1>"),
        ("/docs/engine", "text/html; charset=utf-8", "<h1>Engine</h1>"),
        ("/docs/engine.html", "text/html; charset=utf-8", "<h1>Engine</h1>"),
        (
            "/docs/engine.md",
            "text/markdown; charset=utf-8",
            "# Engine – all of it",
        ),
        ("/docs/assets/docs.css?v=1", "text/css; charset=utf-8", "a{}"),
        ("/llms.txt", "text/plain; charset=utf-8", "# Cascade"),
    ] {
        let answer = get(&app, path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let headers = answer.headers();
        assert_eq!(headers["content-type"], kind, "{path}");
        assert!(headers.contains_key("content-security-policy"), "{path}");
        let keep = headers["cache-control"].to_str().unwrap();
        assert_eq!(keep.contains("immutable"), path.contains("?v="), "{path}");
        assert_eq!(answer.text().await.unwrap(), text, "{path}");
    }
}

#[tokio::test]
async fn a_missing_page_is_404_and_nothing_outside_is_served() {
    let app = with_documents().await;
    std::fs::write(app.dir.path().join("secret.html"), "secret").unwrap();
    for path in [
        "/docs/nope",
        "/docs/nope.md",
        "/docs/assets",
        "/docs/a/b",
        "/docs/..%2f..%2fsecret",
    ] {
        let answer = get(&app, path).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(
            answer.headers()["content-type"],
            "text/html; charset=utf-8",
            "{path}"
        );
        assert_eq!(answer.text().await.unwrap(), "<h1>Not here</h1>", "{path}");
    }
}
