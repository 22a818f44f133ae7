//! Traces.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cascade_api::{TraceDetail, TraceId, TraceMade, TraceSummary};

use super::caller::Owner;
use super::extract::Id;
use crate::app_state::AppState;
use crate::error::Error;

/// Every trace in every state, newest first.
#[utoipa::path(get, path = "/api/traces", tag = "traces", responses(
    (status = 200, description = "Every trace, newest first.", body = Vec<TraceSummary>),
    (status = 401, response = crate::openapi::Unauthorized)))]
pub(crate) async fn list(_: Owner, State(state): State<AppState>) -> Result<Json<Vec<TraceSummary>>, Error> {
    Ok(Json(state.service.traces().await?))
}

/// One trace with its metadata and kernels; `kernels` stays empty until the trace is `ready`.
#[utoipa::path(get, path = "/api/traces/{trace_id}", tag = "traces",
    params(("trace_id" = String, Path, description = "The trace's id, which is the profiler's run name.")),
    responses(
        (status = 200, description = "The trace.", body = TraceDetail),
        (status = 401, response = crate::openapi::Unauthorized),
        (status = 404, response = crate::openapi::NotFound)))]
pub(crate) async fn get(
    _: Owner,
    Id(id): Id<TraceId>,
    State(state): State<AppState>,
) -> Result<Json<TraceDetail>, Error> {
    Ok(Json(state.service.trace(&id).await?))
}

/// Makes a small synthetic trace, like one prefill and one decode step of OPT-125m on `sm_90`, to try the app with.
/// Safe to repeat: it is made once. Nothing in it was recorded on a GPU, and it is marked so everywhere.
#[utoipa::path(post, path = "/api/synthetic-trace", tag = "traces", responses(
    (status = 200, description = "It was there.", body = TraceMade),
    (status = 201, description = "It was made; the app takes it in within seconds.", body = TraceMade),
    (status = 401, response = crate::openapi::Unauthorized)))]
pub(crate) async fn synthetic(
    _: Owner,
    State(state): State<AppState>,
) -> Result<(StatusCode, Json<TraceMade>), Error> {
    let made = state.service.synthetic_trace().await?;
    let status = if made.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(made)))
}
