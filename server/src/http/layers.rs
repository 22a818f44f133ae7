//! What happens to every request: logging, counting, compression, and an answer even when we panic.

use std::any::Any;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use cascade_api::ErrorBody;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};
use tower_http::compression::{CompressionLayer, CompressionLevel};

use super::answer::AsStored;
use crate::app_state::AppState;

/// Requests that take longer than this are logged one level up.
const SLOW: Duration = Duration::from_secs(2);

/// Puts the layers around the app, innermost first.
pub(super) fn wrap(app: Router, state: AppState) -> Router {
    // The default predicate leaves event streams alone, which compression would hold back.
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(DefaultPredicate::new().and(NotAsStored));
    app.layer(CatchPanicLayer::custom(panicked))
        .layer(compression)
        .layer(from_fn_with_state(state, watch))
}

#[derive(Clone, Copy, Debug)]
struct NotAsStored;

impl Predicate for NotAsStored {
    fn should_compress<B: axum::body::HttpBody>(&self, answer: &Response<B>) -> bool {
        answer.extensions().get::<AsStored>().is_none()
    }
}

fn panicked(_: Box<dyn Any + Send + 'static>) -> Response<Body> {
    // The panic itself is in the log already, by the hook.
    let body = axum::Json(ErrorBody::text("Internal Server Error"));
    (StatusCode::INTERNAL_SERVER_ERROR, body).into_response()
}

async fn watch(State(state): State<AppState>, request: Request, next: Next) -> axum::response::Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = Instant::now();
    let mut answer = next.run(request).await;
    let (status, took) = (answer.status().as_u16(), started.elapsed());
    state.requests.count(status);
    let took_ms = took.as_millis();
    if took > SLOW {
        tracing::info!(%method, path, status, took_ms, "slow request");
    } else {
        tracing::debug!(%method, path, status, took_ms, "request");
    }
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    // Nobody may show our pages in a frame: a click there could cancel a run.
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("frame-ancestors 'none'"),
    );
    answer
}
