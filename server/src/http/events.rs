//! One run's live events as server-sent events.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cascade_api::{RunEvent, RunId};
use futures::stream;

use super::caller::Watcher;
use super::extract::Id;
use crate::app_state::AppState;
use crate::error::Error;
use crate::events::{Subscription, frame};

/// A comment goes out after this long without an event, so that proxies keep the connection.
pub(super) const KEEPALIVE: Duration = Duration::from_secs(15);

/// A stream of events: first a `snapshot`, then `sim`, `log` and `kernel` events as they happen. It stays
/// open after the run finishes.
#[utoipa::path(get, path = "/api/runs/{run_id}/events", tag = "runs",
    params(
        ("run_id" = String, Path, description = "The run's id."),
        ("token" = Option<String>, Query, description = "The token, for clients that cannot send headers.")),
    responses(
        (status = 200, description = "One `data:` line with a JSON object for each event.",
            body = RunEvent, content_type = "text/event-stream"),
        (status = 401, response = crate::openapi::Unauthorized),
        (status = 404, response = crate::openapi::NotFound)))]
pub(crate) async fn stream(
    _: Watcher,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let (snapshot, subscription) = state.service.run_events(&id).await?;
    let start = Place::Start(snapshot, subscription);
    let shutdown = state.shutdown.clone();
    let events = stream::unfold(start, move |place| {
        let shutdown = shutdown.clone();
        async move {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => None,
                next = place.next() => next,
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

/// Where a stream is.
enum Place {
    Start(Bytes, Subscription),
    Open(Subscription),
    Lagged,
}

impl Place {
    async fn next(self) -> Option<(Result<Bytes, std::convert::Infallible>, Self)> {
        match self {
            Self::Start(snapshot, subscription) => Some((Ok(snapshot), Self::Open(subscription))),
            Self::Open(mut subscription) => {
                match tokio::time::timeout(KEEPALIVE, subscription.next()).await {
                    Ok(Ok(event)) => Some((Ok(event), Self::Open(subscription))),
                    Ok(Err(missed)) => Some((Ok(frame(&RunEvent::Lagged { missed })), Self::Lagged)),
                    Err(_elapsed) => Some((
                        Ok(Bytes::from_static(b": keepalive\n\n")),
                        Self::Open(subscription),
                    )),
                }
            }
            Self::Lagged => None,
        }
    }
}
