//! Handlers of `/v1`.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use cascade_api::limits::MAX_JSON_BYTES;
use cascade_api::{
    ChatCompletion, ChatCreate, Completion, CompletionCreate, GenerationOptions, Model, ModelList,
};

use super::ask::Ask;
use super::problem::Problem;
use super::reply::{Reply, Shape};
use super::{estimate, live, stream, whole};
use crate::app_state::AppState;
use crate::config::V1Mode;
use crate::error::Error;
use crate::http::caller::Owner;
use crate::http::extract::{Id, json};
use crate::openapi::{
    OpenAiBaseFailed, OpenAiBaseTimeout, OpenAiConflict, OpenAiNotFound, OpenAiRejected, OpenAiTooLarge,
    OpenAiUnauthorized, OpenAiUnsupported,
};

/// The owner, refused in OpenAI's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller;

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        Owner::from_request_parts(parts, state).await?;
        Ok(Self)
    }
}

/// What can be given as `model`: ready traces and models whose requests can be estimated.
#[utoipa::path(get, path = "/v1/models", tag = "openai", responses(
    (status = 200, description = "Ids of traces, then names of models.", body = ModelList),
    (status = 401, response = OpenAiUnauthorized)))]
pub(crate) async fn models(_: Caller, State(state): State<AppState>) -> Result<Json<ModelList>, Problem> {
    Ok(Json(super::models::list(&state.service).await?))
}

/// One of them. The id may hold slashes, escaped or not.
#[utoipa::path(get, path = "/v1/models/{id}", tag = "openai",
    params(("id" = String, Path, description = "A trace's id or a model's name.")),
    responses(
        (status = 200, description = "The trace or model.", body = Model),
        (status = 401, response = OpenAiUnauthorized),
        (status = 404, response = OpenAiNotFound)))]
pub(crate) async fn model(
    _: Caller,
    id: Result<Id<String>, Error>,
    State(state): State<AppState>,
) -> Result<Json<Model>, Problem> {
    let Id(id) = id?;
    Ok(Json(super::models::get(&state.service, &id).await?))
}

/// Estimates what a completion would take; the text is drawn at random.
///
/// The answer has OpenAI's shape, and the prediction under `cascade`. Nothing is batched across requests. With
/// `"stream": true` it comes as server-sent events.
#[utoipa::path(post, path = "/v1/completions", tag = "openai", request_body = CompletionCreate, responses(
    (status = 200, description = "The completion; a stream has the same object in chunks, and ends with `[DONE]`.",
        content((Completion = "application/json"), (String = "text/event-stream"))),
    (status = 400, response = OpenAiRejected),
    (status = 401, response = OpenAiUnauthorized),
    (status = 404, response = OpenAiNotFound),
    (status = 409, response = OpenAiConflict),
    (status = 413, response = OpenAiTooLarge),
    (status = 422, response = OpenAiUnsupported),
    (status = 502, response = OpenAiBaseFailed),
    (status = 504, response = OpenAiBaseTimeout)))]
pub(crate) async fn completions(
    _: Caller,
    State(state): State<AppState>,
    body: Body,
) -> Result<Response, Problem> {
    let body: CompletionCreate = json(body, MAX_JSON_BYTES).await?;
    let received = Instant::now();
    let options = body.options.clone();
    let ask = Ask::completion(&state.service, body).await?;
    answer(&state, Shape::Completion, options, ask, received).await
}

/// Estimates what an answer in a chat would take; the text is drawn at random.
///
/// As for completions. The prompt is what the model's chat template makes of the messages, or their texts joined by
/// newlines where it has none.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = ChatCreate, responses(
    (status = 200, description = "The answer; a stream has it in chunks, and ends with `[DONE]`.",
        content((ChatCompletion = "application/json"), (String = "text/event-stream"))),
    (status = 400, response = OpenAiRejected),
    (status = 401, response = OpenAiUnauthorized),
    (status = 404, response = OpenAiNotFound),
    (status = 409, response = OpenAiConflict),
    (status = 413, response = OpenAiTooLarge),
    (status = 422, response = OpenAiUnsupported),
    (status = 502, response = OpenAiBaseFailed),
    (status = 504, response = OpenAiBaseTimeout)))]
pub(crate) async fn chat(_: Caller, State(state): State<AppState>, body: Body) -> Result<Response, Problem> {
    let body: ChatCreate = json(body, MAX_JSON_BYTES).await?;
    let received = Instant::now();
    let options = body.options.clone();
    let ask = Ask::chat(&state.service, body).await?;
    answer(&state, Shape::Chat, options, ask, received).await
}

async fn answer(
    state: &AppState,
    shape: Shape,
    options: GenerationOptions,
    ask: Ask,
    received: Instant,
) -> Result<Response, Problem> {
    let ask = Arc::new(ask);
    let reply = Reply::new(shape, options.model, Arc::clone(&ask))?;
    let beats = match state.service.settings.v1.mode {
        V1Mode::Estimate => estimate::beats(&state.service, ask),
        V1Mode::Live => live::beats(&state.service, ask, received),
    };
    let shutdown = state.shutdown.clone();
    let answered = async {
        match options.stream {
            true => {
                let usage = options.stream_options.is_some_and(|stream| stream.include_usage);
                stream::write(reply, usage, beats, shutdown.clone()).await
            }
            false => whole::write(reply, beats).await,
        }
    };
    let answered = shutdown.run_until_cancelled(answered).await;
    answered.ok_or(Error::Stopping)?
}
