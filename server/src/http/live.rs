//! What a run's page follows, as server-sent events.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cascade_api::{LiveEvent, RunId, SimId};
use futures::stream;
use serde::Deserialize;

use super::caller::Watcher;
use super::events::KEEPALIVE;
use super::extract::Id;
use crate::app_state::AppState;
use crate::error::Error;
use crate::events::{Following, frame};

/// Changes of this time are told together.
const EVERY: Duration = Duration::from_millis(200);

/// What a page asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Ask {
    /// The sim whose log is followed.
    log: Option<SimId>,
}

/// The changes of a run as its page shows them: put together every 200 ms, each sim at most once, kernels without
/// `stats`, the log of one sim. Scripts that want every event as it happens take `events`.
#[utoipa::path(get, path = "/api/runs/{run_id}/live", tag = "runs",
    params(
        ("run_id" = String, Path, description = "The run's id."),
        ("log" = Option<String>, Query, description = "The sim whose log is followed; none by default."),
        ("token" = Option<String>, Query, description = "The token, for clients that cannot send headers.")),
    responses(
        (status = 200, description = "One `data:` line with a JSON object for each event.",
            body = LiveEvent, content_type = "text/event-stream"),
        (status = 401, response = crate::openapi::Unauthorized),
        (status = 404, response = crate::openapi::NotFound)))]
pub(crate) async fn stream(
    _: Watcher,
    Id(id): Id<RunId>,
    Query(ask): Query<Ask>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let (snapshot, follower) = state.service.run_follow(&id, ask.log).await?;
    let shutdown = state.shutdown.clone();
    let events = stream::unfold((Some(snapshot), follower), move |(first, follower)| {
        let shutdown = shutdown.clone();
        async move {
            if let Some(snapshot) = first {
                return Some((
                    Ok::<_, std::convert::Infallible>(frame(&snapshot)),
                    (None, follower),
                ));
            }
            tokio::select! {
                biased;
                () = shutdown.cancelled() => None,
                next = next(&follower) => next.map(|event| (Ok(event), (None, follower))),
            }
        }
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// The next thing to send. `None` ends the stream: the page comes again and starts from a new snapshot.
async fn next(follower: &Following) -> Option<Bytes> {
    match tokio::time::timeout(KEEPALIVE, follower.news()).await {
        Ok(()) => {
            tokio::time::sleep(EVERY).await;
            follower.take().map(|batch| frame(&LiveEvent::Batch(batch)))
        }
        Err(_elapsed) => Some(Bytes::from_static(b": keepalive\n\n")),
    }
}
