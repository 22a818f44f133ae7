//! Scenarios: run a request mix, and save what was asked.

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse;
use cascade_api::limits::MAX_JSON_BYTES;
use cascade_api::{
    GpuName, SavedScenario, ScenarioBase, ScenarioCreate, ScenarioProfile, ScenarioResult, ScenarioSave,
    ScenarioSearch, ScenarioSearchResult, TraceId,
};

use super::caller::Owner;
use super::extract::{Id, json};
use crate::app_state::AppState;
use crate::error::Error;
use crate::openapi::{
    BadBody, BaseFailed, BaseTimeout, Conflict, NotFound, TooLarge, Unauthorized, Unprocessable,
};

/// Runs a request mix through a scheduler, with step times from a finished sim of the trace on the GPU.
///
/// A sim that has finished with step timing is used; else one that is under way is waited for; else one is
/// launched. What comes out is a prediction, and is not stored.
#[utoipa::path(post, path = "/api/scenarios", tag = "scenarios", request_body = ScenarioCreate, responses(
    (status = 200, description = "What the mix comes to.", body = ScenarioResult),
    (status = 400, response = BadBody),
    (status = 401, response = Unauthorized),
    (status = 404, response = NotFound),
    (status = 409, response = Conflict),
    (status = 413, response = TooLarge),
    (status = 422, response = Unprocessable),
    (status = 502, response = BaseFailed),
    (status = 504, response = BaseTimeout)))]
pub(crate) async fn run(
    _: Owner,
    State(state): State<AppState>,
    body: Body,
) -> Result<Json<ScenarioResult>, Error> {
    let ask: ScenarioCreate = json(body, MAX_JSON_BYTES).await?;
    let result = state
        .shutdown
        .run_until_cancelled(state.service.scenario(ask))
        .await;
    Ok(Json(result.ok_or(Error::Stopping)??))
}

/// The JSON Schema of what `POST /api/scenarios` takes.
#[utoipa::path(get, path = "/api/scenarios/schema", tag = "scenarios", responses(
    (status = 200, description = "JSON Schema, draft 2020-12.", body = Object),
    (status = 401, response = Unauthorized)))]
pub(crate) async fn schema(_: Owner) -> impl IntoResponse {
    (
        [(CONTENT_TYPE, "application/json")],
        crate::openapi::json_schema("ScenarioCreate"),
    )
}

/// Runs a scenario many times: looks for the highest rate of requests that meets a goal, or for the settings and
/// GPUs of which none has more throughput at no more latency.
///
/// Each GPU's sim is found, waited for or launched as for one scenario. What comes out are predictions, and is not
/// stored.
#[utoipa::path(post, path = "/api/scenarios/search", tag = "scenarios", request_body = ScenarioSearch, responses(
    (status = 200, description = "What was found.", body = ScenarioSearchResult),
    (status = 400, response = BadBody),
    (status = 401, response = Unauthorized),
    (status = 404, response = NotFound),
    (status = 409, response = Conflict),
    (status = 413, response = TooLarge),
    (status = 422, response = Unprocessable),
    (status = 502, response = BaseFailed),
    (status = 504, response = BaseTimeout)))]
pub(crate) async fn search(
    _: Owner,
    State(state): State<AppState>,
    body: Body,
) -> Result<Json<ScenarioSearchResult>, Error> {
    let ask: ScenarioSearch = json(body, MAX_JSON_BYTES).await?;
    let found = state
        .shutdown
        .run_until_cancelled(state.service.scenario_search(ask))
        .await;
    Ok(Json(found.ok_or(Error::Stopping)??))
}

/// Every finished sim that scenarios can rest on, one for each trace and GPU; newest traces first.
#[utoipa::path(get, path = "/api/scenarios/bases", tag = "scenarios", responses(
    (status = 200, description = "Traces and GPUs with step times.", body = Vec<ScenarioBase>),
    (status = 401, response = Unauthorized)))]
pub(crate) async fn bases(_: Owner, State(state): State<AppState>) -> Result<Json<Vec<ScenarioBase>>, Error> {
    Ok(Json(state.service.scenario_bases().await?))
}

/// The step times of a finished sim, for running scenarios elsewhere: the explorer does so in the browser.
///
/// Nothing is launched and nothing waited for. Give exactly one of `trace_id` and `model`.
#[utoipa::path(get, path = "/api/scenarios/profile", tag = "scenarios",
    params(
        ("trace_id" = Option<String>, Query, description = "A trace in state `ready`."),
        ("model" = Option<String>, Query, description = "A model's name: stands for its newest ready trace."),
        ("gpu_config" = Option<String>, Query,
            description = "The GPU; by default the one that the trace suggests, else the one it was captured on.")),
    responses(
        (status = 200, description = "The profile of its newest finished sim.", body = ScenarioProfile),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound),
        (status = 409, response = Conflict),
        (status = 422, response = Unprocessable),
        (status = 502, response = BaseFailed)))]
pub(crate) async fn profile(
    _: Owner,
    State(state): State<AppState>,
    uri: Uri,
) -> Result<Json<ScenarioProfile>, Error> {
    // What is given twice counts once; what is not known is nothing, as in every other query here.
    let pairs =
        Query::<Vec<(String, String)>>::try_from_uri(&uri).map_or_else(|_| Vec::new(), |query| query.0);
    let named = |name: &str| {
        let found = pairs.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_empty())
    };
    let (trace, model) = (named("trace_id"), named("model"));
    if trace.is_some() == model.is_some() {
        return Err(Error::OneSelector);
    }
    let gpu = named("gpu_config").map(GpuName::from);
    let profile = state
        .service
        .scenario_profile_of(trace.map(TraceId::from), model, gpu);
    Ok(Json(profile.await?))
}

/// Runs a scenario and saves it, with its result in brief.
#[utoipa::path(post, path = "/api/scenarios/saved", tag = "scenarios", request_body = ScenarioSave, responses(
    (status = 201, description = "The saved scenario.", body = SavedScenario),
    (status = 400, response = BadBody),
    (status = 401, response = Unauthorized),
    (status = 404, response = NotFound),
    (status = 409, response = Conflict),
    (status = 413, response = TooLarge),
    (status = 422, response = Unprocessable),
    (status = 502, response = BaseFailed),
    (status = 504, response = BaseTimeout)))]
pub(crate) async fn save(
    _: Owner,
    State(state): State<AppState>,
    body: Body,
) -> Result<(StatusCode, Json<SavedScenario>), Error> {
    let ask: ScenarioSave = json(body, MAX_JSON_BYTES).await?;
    let saved = state
        .shutdown
        .run_until_cancelled(state.service.scenario_save(ask))
        .await;
    Ok((StatusCode::CREATED, Json(saved.ok_or(Error::Stopping)??)))
}

/// Every saved scenario, newest first.
#[utoipa::path(get, path = "/api/scenarios/saved", tag = "scenarios", responses(
    (status = 200, description = "Every saved scenario, newest first.", body = Vec<SavedScenario>),
    (status = 401, response = Unauthorized)))]
pub(crate) async fn list(_: Owner, State(state): State<AppState>) -> Result<Json<Vec<SavedScenario>>, Error> {
    Ok(Json(state.service.scenarios_saved().await?))
}

/// One saved scenario.
#[utoipa::path(get, path = "/api/scenarios/saved/{id}", tag = "scenarios",
    params(("id" = String, Path, description = "The saved scenario's id.")),
    responses(
        (status = 200, description = "The saved scenario.", body = SavedScenario),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn get(
    _: Owner,
    Id(id): Id<String>,
    State(state): State<AppState>,
) -> Result<Json<SavedScenario>, Error> {
    Ok(Json(state.service.scenario_saved(&id).await?))
}

/// Deletes a saved scenario.
#[utoipa::path(delete, path = "/api/scenarios/saved/{id}", tag = "scenarios",
    params(("id" = String, Path, description = "The saved scenario's id.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 401, response = Unauthorized),
        (status = 404, response = NotFound)))]
pub(crate) async fn delete(
    _: Owner,
    Id(id): Id<String>,
    State(state): State<AppState>,
) -> Result<StatusCode, Error> {
    state.service.scenario_delete(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}
