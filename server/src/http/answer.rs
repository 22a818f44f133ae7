//! Answers: errors, JSON, downloads.

use axum::Json;
use axum::body::Body;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::error::Error;

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::error!(error = self.chain(), "a request failed");
        }
        let mut answer = (status, Json(self.body())).into_response();
        if status == StatusCode::UNAUTHORIZED {
            answer
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        answer
    }
}

/// Marks an answer whose bytes must go out as they are, without `Content-Encoding`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsStored;

/// A body that is saved under `name`. Names hold only characters that a header may carry.
pub(super) fn attachment(name: &str, content_type: &str, body: Body) -> Response {
    let mut answer = body.into_response();
    let headers = answer.headers_mut();
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    headers.insert(
        CONTENT_DISPOSITION,
        disposition.unwrap_or(HeaderValue::from_static("attachment")),
    );
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::try_from(content_type).unwrap_or(HeaderValue::from_static("application/octet-stream")),
    );
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

#[cfg(test)]
mod tests;
