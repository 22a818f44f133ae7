//! The live stream of a run.

use std::time::Duration;

use futures::{Stream, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, kernel, text};

/// The events of a stream, one by one.
pub(crate) struct Events {
    bytes: std::pin::Pin<Box<dyn Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>,
    buffer: String,
}

impl Events {
    async fn open(app: &TestApp, run: &str) -> Self {
        Self::at(app, &format!("/api/runs/{run}/events")).await
    }

    /// The stream at a path.
    pub(crate) async fn at(app: &TestApp, path: &str) -> Self {
        let answer = app
            .request(Method::GET, path)
            .header("accept-encoding", "gzip, br")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        assert_eq!(answer.headers()["cache-control"], "no-cache");
        assert_eq!(answer.headers()["x-accel-buffering"], "no");
        assert!(
            !answer.headers().contains_key("content-encoding"),
            "compression would hold events back"
        );
        Self {
            bytes: Box::pin(answer.bytes_stream()),
            buffer: String::new(),
        }
    }

    /// The next event; `None` at the stream's end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let json = event.strip_prefix("data: ").unwrap();
                let event = serde_json::from_str(json).unwrap();
                self.buffer = rest.to_owned();
                return Some(event);
            }
            let bytes = tokio::time::timeout(Duration::from_secs(10), self.bytes.next())
                .await
                .unwrap()?;
            self.buffer.push_str(std::str::from_utf8(&bytes.ok()?).unwrap());
        }
    }

    async fn kinds(&mut self, count: usize) -> Vec<String> {
        let mut kinds = Vec::new();
        for _ in 0..count {
            kinds.push(text(&self.next().await.unwrap()["type"]));
        }
        kinds
    }
}

#[tokio::test]
async fn a_chunk_is_told_as_log_kernels_sim() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    app.log(&sim, 0, &kernel(1)).await;
    let mut events = Events::open(&app, &run).await;
    let snapshot = events.next().await.unwrap();
    assert_eq!(
        (&snapshot["type"], &snapshot["run"]),
        (&json!("snapshot"), &app.get(&format!("/api/runs/{run}")).await)
    );
    assert_eq!(snapshot["kernels"][0]["stats"], json!({}));
    assert_eq!(snapshot["kernels"].as_array().unwrap().len(), 1);

    app.log(&sim, 1, &[kernel(2), kernel(3)].concat()).await;
    let log = events.next().await.unwrap();
    let lines = [kernel(2), kernel(3)].concat();
    assert_eq!(log, json!({"type": "log", "sim_id": sim, "lines": lines}));
    let first = events.next().await.unwrap();
    assert_eq!(
        (&first["type"], &first["stat"]["kernel_index"]),
        (&json!("kernel"), &json!(1))
    );
    assert_eq!(
        first["stat"]["stats"]["gpu_sim_cycle"], 2000.0,
        "live kernels carry their stats"
    );
    assert_eq!(events.kinds(2).await, ["kernel", "sim"]);

    // A repeat tells nothing; the end of the sim tells its last kernel first and its state last.
    app.log(&sim, 1, &kernel(9)).await;
    app.log(&sim, 2, &kernel(4)[..6]).await;
    app.heartbeat(&sim, "succeeded").await;
    assert_eq!(events.kinds(3).await, ["log", "sim", "kernel"]);
    let last = events.next().await.unwrap();
    assert_eq!(
        (&last["sim"]["state"], &last["sim"]["kernels_done"]),
        (&json!("succeeded"), &json!(4))
    );
}

#[tokio::test]
async fn no_event_tells_what_the_snapshot_told() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let writer = async {
        for seq in 0..60 {
            app.log(&sim, seq, &kernel(seq + 1)).await;
        }
    };
    let watcher = async {
        for _ in 0..12 {
            let mut events = Events::open(&app, &run).await;
            let snapshot = events.next().await.unwrap();
            let known = snapshot["kernels"].as_array().unwrap().len();
            assert_eq!(json!(known), snapshot["run"]["sims"][0]["kernels_done"]);
            if known >= 55 {
                break;
            }
            let next = loop {
                let event = events.next().await.unwrap();
                if event["type"] == "kernel" {
                    break event["stat"]["kernel_index"].clone();
                }
            };
            assert_eq!(next, json!(known), "neither doubled nor lost");
        }
    };
    tokio::join!(writer, watcher);
}

#[tokio::test]
async fn who_falls_too_far_behind_is_told_and_the_stream_ends() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    // Nobody reads this stream while events pile up past what sockets buffer.
    let mut events = Events::open(&app, &run).await;
    let long = vec!["x".repeat(16 * 1024)];
    for seq in 0..1_500 {
        app.log(&sim, seq, &long).await;
    }
    let (mut last, mut count) = (Value::Null, 0_u64);
    while let Some(event) = events.next().await {
        last = event;
        count += 1;
    }
    assert_eq!(last["type"], "lagged");
    let missed = last["missed"].as_u64().unwrap();
    assert_eq!(
        count + missed,
        3_000 + 2,
        "snapshot and lagged, and every event is either sent or counted"
    );
    assert!(missed > 2_000);
}

#[tokio::test]
async fn open_streams_do_not_hold_the_server_up() {
    let app = TestApp::start().await;
    let (run, _) = app.running_sim().await;
    let mut streams = Vec::new();
    for _ in 0..5 {
        let mut events = Events::open(&app, &run).await;
        events.next().await.unwrap();
        streams.push(events);
    }
    let started = std::time::Instant::now();
    app.running.stop().await;
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    for mut events in streams {
        assert_eq!(events.next().await, None);
    }
}

#[tokio::test]
async fn a_run_that_does_not_exist_has_no_stream() {
    let app = TestApp::start().await;
    let answer = app
        .request(Method::GET, "/api/runs/run-000000000000/events")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 404);
    assert_eq!(
        answer.json::<Value>().await.unwrap(),
        json!({"detail": "run run-000000000000 not found"})
    );
}
