//! Liveness and metrics.

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cascade_api::Health;

use super::caller::Owner;
use crate::app_state::AppState;
use crate::error::Error;
use crate::metrics;

/// Says that the process serves requests; checks nothing else. Needs no token.
#[utoipa::path(get, path = "/api/health", tag = "app", security(()),
    responses((status = 200, description = "The process is serving requests.", body = Health)))]
pub(crate) async fn health(State(state): State<AppState>) -> Json<Health> {
    Json(state.service.health())
}

/// Numbers for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "app", responses(
    (status = 200, description = "Prometheus text format.", body = String, content_type = "text/plain"),
    (status = 401, response = crate::openapi::Unauthorized)))]
pub(crate) async fn metrics(State(state): State<AppState>, parts: Parts) -> Result<Response, Error> {
    if !state.service.settings.open_metrics {
        use axum::extract::FromRequestParts;
        let mut parts = parts;
        Owner::from_request_parts(&mut parts, &state).await?;
    }
    let page = metrics::page(&state.service, &state.requests).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], page).into_response())
}
