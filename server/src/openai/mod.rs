//! The OpenAI-compatible `/v1`: requests of a size, answered with what they would take on a GPU one does not have.
//!
//! A request passes four places, and a way of timing it is a module of its own between the second and the last:
//!
//! 1. [`http`] reads and checks the body.
//! 2. [`ask`] finds the trace and the GPU, counts the prompt's tokens and makes an [`ask::Ask`]: a list of sequences,
//!    each of so many prompt and output tokens.
//! 3. A timing source turns the ask into [`beat::Beats`]: what is waited for, that further tokens of a choice are
//!    out, and at the end what is told of the times. [`estimate`] is one: it gives all tokens at once, since nothing
//!    is gained by waiting. [`live`] shares an engine with other requests and gives each token when it is due.
//! 4. [`whole`] or [`stream`] puts text to the tokens and writes the answer.

mod ask;
mod beat;
mod estimate;
pub(crate) mod http;
mod live;
mod models;
mod problem;
mod prompts;
mod reply;
mod stream;
mod text;
mod tokens;
mod told;
mod wait;
mod whole;

pub(crate) use tokens::Shelf;

use axum::Router;
use axum::routing::{any, get, post};

use crate::app_state::AppState;

/// Routes under `/v1`.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/models", get(http::models))
        .route("/models/{*id}", get(http::model))
        .route("/completions", post(http::completions))
        .route("/chat/completions", post(http::chat))
        .method_not_allowed_fallback(problem::bad_method)
        .route("/", any(problem::no_route))
        .route("/{*rest}", any(problem::no_route))
}
