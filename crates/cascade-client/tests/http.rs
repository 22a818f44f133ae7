//! What the client does with servers that fail, refuse, break off or are not there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use cascade_api::{RunCreate, RunEvent};
use cascade_client::{Client, Error, Retry};
use futures::StreamExt;

const QUICK: Retry = Retry {
    first: Duration::from_millis(5),
    cap: Duration::from_millis(20),
    give_up_after: Duration::from_secs(5),
};

async fn client(router: Router) -> Client {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    Client::new(&url, "token").unwrap().with_retry(QUICK)
}

/// Answers the n-th call, counted from 0, with `answer(n)`.
fn counted<F>(
    answer: F,
) -> (
    Arc<AtomicU32>,
    impl Fn() -> std::future::Ready<Response> + Clone + Send + Sync + 'static,
)
where
    F: Fn(u32) -> Response + Clone + Send + Sync + 'static,
{
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    (calls, move || {
        std::future::ready(answer(count.fetch_add(1, Ordering::SeqCst)))
    })
}

#[tokio::test]
async fn failures_of_the_server_are_repeated_and_refusals_are_not() {
    let (calls, traces) = counted(|n| match n {
        0 => StatusCode::BAD_GATEWAY.into_response(),
        1 => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        _ => ([(header::CONTENT_TYPE, "application/json")], "[]").into_response(),
    });
    let refuse = || async { (StatusCode::NOT_FOUND, r#"{"detail": "trace x y not found"}"#) };
    let client = client(
        Router::new()
            .route("/api/traces", get(traces))
            .route("/api/traces/{id}", get(refuse)),
    )
    .await;
    assert!(client.traces().await.unwrap().is_empty());
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let error = client.trace("x y").await.unwrap_err();
    assert!(matches!(error, Error::Refused { status: 404, .. }));
    let text = error.to_string();
    assert!(
        text.contains("/api/traces/x%20y answered 404: trace x y not found"),
        "{text}"
    );
}

#[tokio::test]
async fn a_run_is_not_created_twice() {
    let (calls, create) = counted(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response());
    let client = client(Router::new().route("/api/runs", post(create))).await;
    let run = RunCreate {
        trace_id: "t".into(),
        entries: Vec::new(),
        replay: false,
    };
    assert!(matches!(
        client.create_run(&run).await,
        Err(Error::Failed {
            status: 500,
            tries: 1,
            ..
        })
    ));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_list_of_problems_becomes_a_sentence() {
    let refuse = || async {
        let problem = r#"{"type": "greater_than_equal", "loc": ["body", "entries", 0, "count"],
                          "msg": "Input should be greater than or equal to 1", "input": 0, "ctx": {"ge": 1}}"#;
        (
            StatusCode::UNPROCESSABLE_ENTITY,
            format!(r#"{{"detail": [{problem}]}}"#),
        )
    };
    let client = client(Router::new().route("/api/runs", get(refuse))).await;
    let text = client.runs().await.unwrap_err().to_string();
    assert!(
        text.contains("body.entries.0.count: Input should be greater than or equal to 1"),
        "{text}"
    );
}

#[test]
fn a_token_that_no_header_carries_is_named() {
    let error = Client::new("http://127.0.0.1:1", "a\nb").unwrap_err();
    assert!(error.to_string().contains("--token"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_with_its_address() {
    let client = Client::new("http://127.0.0.1:1", "")
        .unwrap()
        .with_retry(Retry::NEVER);
    let error = client.health().await.unwrap_err();
    assert!(error.is_unreachable());
    let text = error.to_string();
    assert!(
        text.contains("http://127.0.0.1:1/api/health") && text.contains("refused"),
        "{text}"
    );
}

#[tokio::test]
async fn a_download_that_breaks_off_is_an_error() {
    let results = || async {
        // A pause, so that the start of the answer is on its way before the end is missed.
        let broken = futures::stream::unfold(0, async |n| match n {
            0 => Some((Ok("{\"run\":"), 1)),
            _ => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Some((Err(std::io::Error::other("cut")), 2))
            }
        });
        Body::from_stream(broken)
    };
    let client = client(Router::new().route("/api/runs/{id}/results", get(results))).await;
    let mut bytes = Vec::new();
    let error = client.copy_results("run-0", &mut bytes).await.unwrap_err();
    assert!(matches!(error, Error::Answer { .. }), "{error}");
    assert!(error.to_string().contains("broke off after 7 bytes"), "{error}");
}

#[tokio::test]
async fn events_go_on_after_the_connection_is_lost() {
    let event = |missed: u32| format!("data: {{\"type\":\"lagged\",\"missed\":{missed}}}\n\n");
    let (calls, events) = counted(move |n| match n {
        0 => format!(": keepalive\n\n{}data: {{\"type\":", event(1)).into_response(),
        1 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        2 => event(2).into_response(),
        _ => (StatusCode::NOT_FOUND, r#"{"detail": "run run-0 not found"}"#).into_response(),
    });
    let client = client(Router::new().route("/api/runs/{id}/events", get(events))).await;
    let mut events = client.events("run-0");
    for expected in [1, 2] {
        let event = events.next().await.unwrap().unwrap();
        assert!(
            matches!(event, RunEvent::Lagged { missed } if missed == expected),
            "{event:?}"
        );
    }
    assert!(matches!(
        events.next().await,
        Some(Err(Error::Refused { status: 404, .. }))
    ));
    assert!(events.next().await.is_none());
    assert_eq!(calls.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_takes_minutes_arrives() {
    const BYTES: usize = 32 << 20;
    const PIECE: usize = 512 << 10;
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(BYTES as u64).unwrap();
    // A slow link: two seconds for each half MiB.
    let take = |body: Body| async move {
        let mut pieces = body.into_data_stream();
        let (mut got, mut slept) = (0, 0);
        while let Some(piece) = pieces.next().await {
            got += piece.unwrap().len();
            while slept < got / PIECE {
                tokio::time::sleep(Duration::from_secs(2)).await;
                slept += 1;
            }
        }
        let stored = serde_json::json!({
            "name": "a.bin", "size": got, "content_type": "x/y", "created_at": "2026-01-01T00:00:00Z",
        });
        axum::Json(stored)
    };
    let router = Router::new()
        .route("/api/sims/{id}/files/{name}", axum::routing::put(take))
        .layer(axum::extract::DefaultBodyLimit::disable());
    let client = client(router).await.with_retry(Retry::NEVER);
    let started = tokio::time::Instant::now();
    let stored = client
        .put_file(&"sim-1".into(), "a.bin", file.path())
        .await
        .unwrap();
    assert_eq!(stored.size, BYTES as u64);
    assert!(
        started.elapsed() > Duration::from_secs(120),
        "the test is slow enough"
    );
}
