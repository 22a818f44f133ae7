//! GPUs: those a run can simulate, and hypothetical ones of the user's own.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use cascade_api::limits::MAX_JSON_BYTES;
use cascade_api::{GpuConfig, GpuConfigCreate, GpuDetail, GpuName};

use super::caller::Owner;
use super::extract::{Id, json};
use crate::app_state::AppState;
use crate::error::Error;
use crate::openapi::{BadBody, Conflict, NotFound, TooLarge, Unauthorized, Unprocessable};

/// The GPUs a run can simulate, by name.
#[utoipa::path(get, path = "/api/gpu-configs", tag = "gpus", responses(
    (status = 200, description = "The GPUs, by name.", body = Vec<GpuConfig>),
    (status = 401, response = Unauthorized)))]
pub(crate) async fn list(_: Owner, State(state): State<AppState>) -> Json<Vec<GpuConfig>> {
    Json(state.service.gpus.list())
}

/// Makes a hypothetical GPU from a known one by changing values, or one GPU for each value of a sweep.
///
/// All of them are made or none. A GPU that is there already with the same values counts as made.
#[utoipa::path(post, path = "/api/gpu-configs", tag = "gpus", request_body = GpuConfigCreate, responses(
    (status = 201, description = "The GPUs that were asked for, in the order of the sweep.", body = Vec<GpuConfig>),
    (status = 400, response = BadBody),
    (status = 401, response = Unauthorized),
    (status = 409, response = Conflict),
    (status = 413, response = TooLarge),
    (status = 422, response = Unprocessable)))]
pub(crate) async fn create(
    _: Owner,
    State(state): State<AppState>,
    body: Body,
) -> Result<(StatusCode, Json<Vec<GpuConfig>>), Error> {
    let ask: GpuConfigCreate = json(body, MAX_JSON_BYTES).await?;
    Ok((StatusCode::CREATED, Json(state.service.gpu_create(ask).await?)))
}

/// One GPU with every value that Cascade's engine knows of it, each with its source.
#[utoipa::path(get, path = "/api/gpu-configs/{name}", tag = "gpus",
    params(("name" = String, Path, description = "The GPU's name.")),
    responses(
        (status = 200, description = "The GPU.", body = GpuDetail),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn get(
    _: Owner,
    Id(name): Id<GpuName>,
    State(state): State<AppState>,
) -> Result<Json<GpuDetail>, Error> {
    Ok(Json(state.service.gpu_detail(&name).await?))
}

/// Deletes a hypothetical GPU on which no sim ran.
#[utoipa::path(delete, path = "/api/gpu-configs/{name}", tag = "gpus",
    params(("name" = String, Path, description = "The GPU's name.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 409, response = Conflict)))]
pub(crate) async fn delete(
    _: Owner,
    Id(name): Id<GpuName>,
    State(state): State<AppState>,
) -> Result<StatusCode, Error> {
    state.service.gpu_delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}
