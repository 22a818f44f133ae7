//! Who may do what.

use reqwest::header::{COOKIE, LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TOKEN, TestApp};

/// Every operation of the document with example ids in its path.
fn operations() -> Vec<(Method, String, bool)> {
    let document: Value = serde_json::from_str(&cascade_server::openapi::json()).unwrap();
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let path = path.replace("{sim_id}", "sim-1").replace("{run_id}", "run-1");
            let path = path.replace("{trace_id}", "t").replace("{name}", "a.txt");
            found.push((method, path, operation["security"] == json!([{}])));
        }
    }
    found
}

#[tokio::test]
async fn every_operation_wants_the_token_unless_it_says_otherwise() {
    let app = TestApp::start().await;
    let operations = operations();
    assert!(operations.len() >= 24, "{operations:?}");
    for (method, path, open) in operations {
        if open {
            continue;
        }
        for token in [None, Some(""), Some("wrong"), Some("test-token2")] {
            let request = app.bare(method.clone(), &path);
            let request = token
                .map(|t| request.try_clone().unwrap().bearer_auth(t))
                .unwrap_or(request);
            let answer = request.send().await.unwrap();
            assert_eq!(
                answer.status(),
                StatusCode::UNAUTHORIZED,
                "{method} {path} {token:?}"
            );
            assert_eq!(answer.headers()[WWW_AUTHENTICATE], "Bearer");
            let body = answer.json::<Value>().await.unwrap();
            // `/v1` speaks as OpenAI does.
            if path.starts_with("/v1/") {
                let error = &body["error"];
                assert_eq!(
                    (&error["code"], &error["type"]),
                    (&json!("invalid_api_key"), &json!("invalid_request_error"))
                );
            } else {
                assert_eq!(
                    body,
                    json!({"detail": "missing or wrong token"}),
                    "{method} {path}"
                );
            }
        }
        let answer = app.request(method.clone(), &path).send().await.unwrap();
        assert_ne!(answer.status(), StatusCode::UNAUTHORIZED, "{method} {path}");
        assert!(answer.status().as_u16() < 500, "{method} {path}");
    }
}

#[tokio::test]
async fn a_sims_token_opens_only_its_own_reports() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, sims) = app.run(&[("SM90_H100", 2)]).await;
    let [own, other] = sims.as_slice() else {
        panic!("two sims")
    };
    let token = app.running.service.scoped_token(&own.as_str().into());
    let call = async |method: Method, path: String, body: &'static str| {
        let request = app.bare(method, &path).bearer_auth(token.expose());
        request.body(body).send().await.unwrap().status().as_u16()
    };
    let beat = r#"{"state": "running"}"#;
    assert_eq!(
        call(Method::POST, format!("/api/sims/{own}/heartbeat"), beat).await,
        200
    );
    assert_eq!(
        call(
            Method::POST,
            format!("/api/sims/{own}/logs"),
            r#"{"seq": 0, "lines": []}"#
        )
        .await,
        204
    );
    assert_eq!(
        call(Method::PUT, format!("/api/sims/{own}/files/a.txt"), "a").await,
        200
    );
    let timeline = r#"{"simulated": {"steps": [], "summary": {}}}"#;
    assert_eq!(
        call(Method::POST, format!("/api/sims/{own}/step-timeline"), timeline).await,
        204
    );
    assert_eq!(
        call(Method::POST, format!("/api/sims/{other}/heartbeat"), beat).await,
        401
    );
    assert_eq!(
        call(Method::PUT, format!("/api/sims/{other}/files/a.txt"), "a").await,
        401
    );
    assert_eq!(call(Method::GET, format!("/api/sims/{own}/log"), "").await, 401);
    assert_eq!(call(Method::GET, format!("/api/runs/{run}"), "").await, 401);
    assert_eq!(
        call(Method::POST, format!("/api/runs/{run}/cancel"), "").await,
        401
    );
}

#[tokio::test]
async fn the_stream_takes_the_token_in_its_address_and_then_no_other() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, _) = app.run(&[("SM90_H100", 1)]).await;
    let path = format!("/api/runs/{run}/events");
    let status = async |query: &str, header: Option<&str>| {
        let mut request = app.bare(Method::GET, &format!("{path}{query}"));
        if let Some(token) = header {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(&format!("?token={TOKEN}"), None).await, 200);
    assert_eq!(status("", Some(TOKEN)).await, 200);
    assert_eq!(status("?token=wrong", Some(TOKEN)).await, 401);
    assert_eq!(status("", None).await, 401);
}

#[tokio::test]
async fn a_browser_trades_the_token_for_a_session() {
    let app = TestApp::start().await;
    let login = async |token: &str, next: &str| {
        let form = format!("token={token}&next={next}");
        let request = app
            .bare(Method::POST, "/session")
            .header("content-type", "application/x-www-form-urlencoded");
        request.body(form).send().await.unwrap()
    };
    let answer = login("wrong", "/runs").await;
    assert_eq!(
        (answer.status(), answer.headers().get(SET_COOKIE)),
        (StatusCode::SEE_OTHER, None)
    );
    assert_eq!(answer.headers()[LOCATION], "/token?error=1&next=/runs");

    let answer = login(TOKEN, "//evil.example").await;
    assert_eq!(answer.headers()[LOCATION], "/");
    let answer = login(TOKEN, "/runs").await;
    assert_eq!(
        (answer.status(), &answer.headers()[LOCATION]),
        (StatusCode::SEE_OTHER, &"/runs".parse().unwrap())
    );
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains(TOKEN),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();

    let with = async |method: Method, path: &str, origin: Option<&str>| {
        let mut request = app.bare(method, path).header(COOKIE, cookie);
        if let Some(site) = origin {
            request = request.header("sec-fetch-site", site);
        }
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(with(Method::GET, "/api/runs", None).await, 200);
    assert_eq!(
        with(Method::POST, "/api/runs/run-1/cancel", Some("same-origin")).await,
        404
    );
    assert_eq!(
        with(Method::POST, "/api/runs/run-1/cancel", Some("cross-site")).await,
        403
    );

    let answer = app
        .bare(Method::POST, "/session/end")
        .header(COOKIE, cookie)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert!(
        answer.headers()[SET_COOKIE]
            .to_str()
            .unwrap()
            .contains("Max-Age=0")
    );
}

#[tokio::test]
async fn without_a_token_other_sites_still_cannot_change_anything() {
    let app = TestApp::with(&["--no-auth"]).await;
    let post = |site: &'static str| {
        app.bare(Method::POST, "/api/runs/run-1/cancel")
            .header("sec-fetch-site", site)
    };
    assert_eq!(
        post("cross-site").send().await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        post("same-origin").send().await.unwrap().status(),
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        app.bare(Method::GET, "/api/runs").send().await.unwrap().status(),
        StatusCode::OK
    );
}

#[tokio::test]
async fn metrics_want_the_token_unless_they_are_opened() {
    let app = TestApp::start().await;
    assert_eq!(
        app.bare(Method::GET, "/metrics").send().await.unwrap().status(),
        StatusCode::UNAUTHORIZED
    );
    let open = TestApp::with(&["--token", "t", "--open-metrics", "true"]).await;
    let page = open
        .bare(Method::GET, "/metrics")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        page.contains("# TYPE cascade_sims gauge\n") && page.contains("cascade_sims{state=\"running\"} 0\n")
    );
}
