//! Runs: create, read, cancel, and what their sims produced.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use cascade_api::limits::MAX_JSON_BYTES;
use cascade_api::{
    Comparison, FieldError, KernelColumns, KernelSlice, KernelStat, Loc, RunCreate, RunDetail, RunFile,
    RunId, RunResults, RunSummary, RunTimeline, SimStepDigest, SimStepTimeline, TimelineLevel,
};
use serde::Deserialize;

use super::answer::{AsStored, attachment};
use super::caller::Owner;
use super::extract::{Id, json};
use crate::app_state::AppState;
use crate::error::Error;
use crate::openapi::{
    BadBody, ChromeTrace, Conflict, FileBytes, NotFound, TooLarge, Unauthorized, Unprocessable,
};

/// Rows that are given where none are asked for.
const ROWS: u64 = 1_000;
/// Rows that may be asked for at once.
const MOST_ROWS: u64 = 10_000;

/// Creates a run and starts launching its sims in the background.
#[utoipa::path(post, path = "/api/runs", tag = "runs", request_body = RunCreate, responses(
    (status = 201, description = "The new run; every sim is `pending` or `launching`.", body = RunDetail),
    (status = 400, response = BadBody),
    (status = 401, response = Unauthorized),
    (status = 404, response = NotFound),
    (status = 409, response = Conflict),
    (status = 413, response = TooLarge),
    (status = 422, response = Unprocessable)))]
pub(crate) async fn create(
    _: Owner,
    State(state): State<AppState>,
    body: Body,
) -> Result<(StatusCode, Json<RunDetail>), Error> {
    let ask: RunCreate = json(body, MAX_JSON_BYTES).await?;
    let run = state.service.run_create(ask).await?;
    Ok((StatusCode::CREATED, Json(run)))
}

/// Every run, newest first.
#[utoipa::path(get, path = "/api/runs", tag = "runs", responses(
    (status = 200, description = "Every run, newest first.", body = Vec<RunSummary>),
    (status = 401, response = Unauthorized)))]
pub(crate) async fn list(_: Owner, State(state): State<AppState>) -> Result<Json<Vec<RunSummary>>, Error> {
    Ok(Json(state.service.runs().await?))
}

/// One run with its trace and every sim.
#[utoipa::path(get, path = "/api/runs/{run_id}", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "The run.", body = RunDetail),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn get(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<RunDetail>, Error> {
    Ok(Json(state.service.run(&id).await?))
}

/// Cancels every sim that has not finished. Safe to repeat.
#[utoipa::path(post, path = "/api/runs/{run_id}/cancel", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "The run after cancelling.", body = RunDetail),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn cancel(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<RunDetail>, Error> {
    Ok(Json(state.service.run_cancel(&id).await?))
}

/// Real against simulated time, kernel by kernel.
#[utoipa::path(get, path = "/api/runs/{run_id}/comparison", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "The comparison.", body = Comparison),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn comparison(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<Comparison>, Error> {
    Ok(Json(state.service.comparison(&id).await?))
}

/// Kernel times column by column: each distinct kernel once with its launch shape and role, then each GPU's median
/// at every position. What a comparison of runs reads.
#[utoipa::path(get, path = "/api/runs/{run_id}/kernel-columns", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "The columns.", body = KernelColumns),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn kernel_columns(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<KernelColumns>, Error> {
    Ok(Json(state.service.kernel_columns(&id).await?))
}

/// Every finished kernel of every sim, `stats` left empty, by GPU, replica and kernel.
#[utoipa::path(get, path = "/api/runs/{run_id}/kernels", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "The kernels.", body = Vec<KernelStat>),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn kernels(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<Vec<KernelStat>>, Error> {
    Ok(Json(state.service.run_kernels(&id).await?))
}

/// The kernels of every sim as columns, for a timeline: kinds once, then numbers. Small enough for a million kernels.
#[utoipa::path(get, path = "/api/runs/{run_id}/timeline", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id."),
        ("level" = Option<TimelineLevel>, Query,
            description = "`kernels` (if not given): each sim's kernels end to end. `steps`: the steps of the \
                profiled workload with every launch, for sims that sent a step timeline.")),
    responses(
        (status = 200, description = "The lanes.", body = RunTimeline),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 422, response = Unprocessable)))]
pub(crate) async fn timeline(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
    uri: Uri,
) -> Result<Response, Error> {
    let pairs =
        Query::<Vec<(String, String)>>::try_from_uri(&uri).map_or_else(|_| Vec::new(), |query| query.0);
    let asked = pairs
        .iter()
        .find(|(key, value)| key == "level" && !value.is_empty());
    let level = match asked {
        Some((_, name)) => TimelineLevel::parse(name).ok_or_else(|| bad_level(name))?,
        None => TimelineLevel::default(),
    };
    let body = Body::from_stream(state.service.run_timeline(&id, level).await?);
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

/// The answer to a level that there is not.
fn bad_level(name: &str) -> Error {
    Error::Invalid(vec![FieldError {
        kind: "enum".to_owned(),
        loc: ["query", "level"].map(|part| Loc::Name(part.to_owned())).to_vec(),
        msg: "Input should be 'kernels' or 'steps'".to_owned(),
        input: name.into(),
        ctx: None,
    }])
}

/// Which rows of a table.
#[derive(Debug, Deserialize)]
pub(crate) struct Rows {
    /// Position of the first.
    #[serde(default)]
    from: u32,
    /// How many at most.
    rows: Option<u64>,
}

/// Rows of a run's table of kernels, by columns and compact: what its page reads. `comparison` has the same as rows.
#[utoipa::path(get, path = "/api/runs/{run_id}/kernel-rows", tag = "runs",
    params(
        ("run_id" = String, Path, description = "The run's id."),
        ("from" = Option<u64>, Query, maximum = 4_294_967_295_u64, description = "Position of the first row; 0 by default."),
        ("rows" = Option<u64>, Query, maximum = 10_000,
            description = "How many rows at most, 1,000 by default; there are fewer where the run's sims are many.")),
    responses(
        (status = 200, description = "The rows.", body = KernelSlice),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 422, response = Unprocessable)))]
pub(crate) async fn kernel_rows(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
    rows: Result<Query<Rows>, QueryRejection>,
) -> Result<Json<KernelSlice>, Error> {
    let Query(rows) = rows.map_err(|error| Error::Query(error.body_text()))?;
    let most = rows.rows.unwrap_or(ROWS);
    if most > MOST_ROWS {
        return Err(Error::Query(format!(
            "rows: at most {MOST_ROWS} at once, not {most}"
        )));
    }
    Ok(Json(state.service.run_slice(&id, rows.from.into(), most).await?))
}

/// What sims sent about whole steps and requests, by GPU and replica.
#[utoipa::path(get, path = "/api/runs/{run_id}/step-timelines", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "One entry for each sim that sent one.", body = Vec<SimStepTimeline>),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn step_timelines(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let body = Body::from_stream(state.service.run_timelines(&id).await?);
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

/// What sims sent about whole steps and requests, in brief: its size does not grow with the kernels.
#[utoipa::path(get, path = "/api/runs/{run_id}/step-digests", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "One entry for each sim that sent a step timeline, by GPU and replica.",
            body = Vec<SimStepDigest>),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn step_digests(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<Vec<SimStepDigest>>, Error> {
    Ok(Json(state.service.run_digests(&id).await?))
}

/// Everything about a run as one JSON download, with every kernel's full `stats`.
#[utoipa::path(get, path = "/api/runs/{run_id}/results", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "`<run_id>-results.json`.", body = RunResults),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn results(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let body = Body::from_stream(state.service.run_results(&id).await?);
    Ok(attachment(
        &format!("{id}-results.json"),
        "application/json",
        body,
    ))
}

/// Every output file the run's sims uploaded, by GPU, replica and name.
#[utoipa::path(get, path = "/api/runs/{run_id}/files", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "The files.", body = Vec<RunFile>),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn files(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Json<Vec<RunFile>>, Error> {
    Ok(Json(state.service.run_files(&id).await?))
}

/// Every output file of a run as one zip archive, in folders by GPU and replica.
#[utoipa::path(get, path = "/api/runs/{run_id}/files.zip", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "`<run_id>-files.zip`.", content((FileBytes = "application/zip"))),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn files_zip(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let body = Body::from_stream(state.service.run_zip(&id).await?);
    let mut answer = attachment(&format!("{id}-files.zip"), "application/zip", body);
    answer.extensions_mut().insert(AsStored);
    Ok(answer)
}

/// The run's simulated kernels as a Chrome trace for ui.perfetto.dev.
#[utoipa::path(get, path = "/api/runs/{run_id}/perfetto", tag = "runs",
    params(("run_id" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, description = "`<run_id>-perfetto.json`.", body = ChromeTrace),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn perfetto(
    _: Owner,
    Id(id): Id<RunId>,
    State(state): State<AppState>,
) -> Result<Response, Error> {
    let body = Body::from_stream(state.service.run_perfetto(&id).await?);
    Ok(attachment(
        &format!("{id}-perfetto.json"),
        "application/json",
        body,
    ))
}
