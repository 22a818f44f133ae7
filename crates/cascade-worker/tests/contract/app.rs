//! A stand-in for the app that keeps what a worker sends and can fail on purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{post, put};
use cascade_api::{Heartbeat, HeartbeatAck, LogChunk, ReportedState, SimFile, SimState, Timestamp};
use cascade_client::Client;

/// What happens to the n-th call, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// 500 without carrying the call out.
    Refuse,
    /// Carried out, then 500.
    LateError,
    /// Carried out, then the connection is dropped without an answer.
    Drop,
}

/// One thing that a worker sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Beat(Heartbeat),
    Chunk(u64),
    File(String),
    Steps(serde_json::Value),
}

#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) calls: Vec<Call>,
    pub(crate) chunks: BTreeMap<u64, Vec<String>>,
    pub(crate) files: BTreeMap<String, Bytes>,
    count: u64,
    /// Cancel from the n-th heartbeat on.
    pub(crate) cancel_at: Option<usize>,
    /// Files are kept but never acknowledged.
    pub(crate) mute_files: bool,
}

type Shared = Arc<Mutex<Kept>>;
type Faults = Arc<dyn Fn(u64) -> Fault + Send + Sync>;

pub(crate) struct App {
    pub(crate) kept: Shared,
    pub(crate) url: String,
}

impl App {
    pub(crate) async fn start(faults: impl Fn(u64) -> Fault + Send + Sync + 'static) -> Self {
        let kept = Shared::default();
        let faults: Faults = Arc::new(faults);
        let router = Router::new()
            .route("/api/sims/{sim}/heartbeat", post(heartbeat))
            .route("/api/sims/{sim}/logs", post(logs))
            .route("/api/sims/{sim}/files/{name}", put(file))
            .route("/api/sims/{sim}/step-timeline", post(steps))
            .layer(from_fn_with_state((kept.clone(), faults), fail))
            .layer(DefaultBodyLimit::max(128 << 20))
            .with_state(kept.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { kept, url }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, "secret").unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.kept
            .lock()
            .unwrap()
            .chunks
            .values()
            .flatten()
            .cloned()
            .collect()
    }

    pub(crate) fn file_names(&self) -> Vec<String> {
        let files = |call: &Call| match call {
            Call::File(name) => Some(name.clone()),
            _ => None,
        };
        self.kept.lock().unwrap().calls.iter().filter_map(files).collect()
    }

    /// The step timelines that were sent.
    pub(crate) fn steps(&self) -> Vec<serde_json::Value> {
        let steps = |call: &Call| match call {
            Call::Steps(body) => Some(body.clone()),
            _ => None,
        };
        self.kept.lock().unwrap().calls.iter().filter_map(steps).collect()
    }

    pub(crate) fn last_beat(&self) -> Heartbeat {
        match self.kept.lock().unwrap().calls.last() {
            Some(Call::Beat(beat)) => beat.clone(),
            other => panic!("the last call was {other:?}, not a heartbeat"),
        }
    }
}

async fn fail(State((kept, faults)): State<(Shared, Faults)>, request: Request, next: Next) -> Response {
    assert_eq!(request.headers()["authorization"], "Bearer secret");
    let n = {
        let mut kept = kept.lock().unwrap();
        kept.count += 1;
        kept.count - 1
    };
    let fault = faults(n);
    if fault == Fault::Refuse {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let answer = next.run(request).await;
    match fault {
        // Ends the connection's task, so the worker sees it close.
        Fault::Drop => std::panic::resume_unwind(Box::new("dropped on purpose")),
        Fault::LateError => StatusCode::BAD_GATEWAY.into_response(),
        _ => answer,
    }
}

async fn heartbeat(State(kept): State<Shared>, Json(beat): Json<Heartbeat>) -> Json<HeartbeatAck> {
    let mut kept = kept.lock().unwrap();
    let beats = kept
        .calls
        .iter()
        .filter(|call| matches!(call, Call::Beat(_)))
        .count();
    let cancel = kept.cancel_at.is_some_and(|at| beats >= at);
    let state = match beat.state {
        _ if cancel => SimState::Cancelled,
        ReportedState::Running => SimState::Running,
        other => other.into(),
    };
    kept.calls.push(Call::Beat(beat));
    Json(HeartbeatAck { state, cancel })
}

async fn logs(State(kept): State<Shared>, Json(chunk): Json<LogChunk>) -> StatusCode {
    let mut kept = kept.lock().unwrap();
    kept.calls.push(Call::Chunk(chunk.seq));
    kept.chunks.entry(chunk.seq).or_insert(chunk.lines);
    StatusCode::NO_CONTENT
}

async fn steps(State(kept): State<Shared>, Json(body): Json<serde_json::Value>) -> StatusCode {
    kept.lock().unwrap().calls.push(Call::Steps(body));
    StatusCode::NO_CONTENT
}

async fn file(
    State(kept): State<Shared>,
    Path((_, name)): Path<(String, String)>,
    body: Bytes,
) -> Json<SimFile> {
    let size = body.len() as u64;
    let mute = {
        let mut kept = kept.lock().unwrap();
        kept.calls.push(Call::File(name.clone()));
        kept.files.insert(name.clone(), body);
        kept.mute_files
    };
    if mute {
        std::future::pending::<()>().await;
    }
    Json(SimFile {
        name,
        size,
        content_type: "application/octet-stream".to_owned(),
        created_at: Timestamp::default(),
    })
}
