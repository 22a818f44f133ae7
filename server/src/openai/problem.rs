//! Errors in OpenAI's shape, so that clients written for OpenAI raise the right exception.

use axum::Json;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use cascade_api::{FieldError, Loc, OpenAiError, OpenAiErrorBody};

use crate::error::Error;
use cascade_scenario::Refused;

/// Tells OpenAI's clients not to send a request again: it would wait for the same sim, or launch another.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// A failed request of `/v1`.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: u16,
    error: OpenAiError,
}

impl Problem {
    /// What the caller can change.
    pub(crate) fn request(status: u16, code: &str, param: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            status,
            error: OpenAiError {
                message: message.into(),
                kind: "invalid_request_error".to_owned(),
                param: param.map(str::to_owned),
                code: Some(code.to_owned()),
            },
        }
    }

    /// More tokens than fit the model.
    pub(crate) fn too_long(most: u64, prompt: u64, output: u64) -> Self {
        let message = format!(
            "this model's maximum context length is {most} tokens, but {} were asked for: {prompt} in the prompt and \
             {output} in the completion; shorten the prompt or give a smaller max_tokens",
            prompt + output
        );
        Self::request(400, "context_length_exceeded", Some("max_tokens"), message)
    }

    /// What passes by itself: the same request can be sent again.
    pub(crate) fn unavailable(code: &str, message: String) -> Self {
        let mut problem = Self::request(503, code, None, message);
        "server_error".clone_into(&mut problem.error.kind);
        problem
    }

    /// The body of the answer, or of the event that ends a stream.
    pub(crate) fn body(&self) -> OpenAiErrorBody {
        OpenAiErrorBody {
            error: self.error.clone(),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = error.status();
        if status >= 500 {
            tracing::error!(error = error.chain(), "a request of /v1 failed");
        }
        let (code, param) = code(&error);
        let message = match &error {
            Error::Invalid(fields) => return invalid(fields),
            _ if status == 500 => "Internal Server Error".to_owned(),
            Error::Unauthorized => {
                "missing or wrong token: give CASCADE_TOKEN's value as the API key".to_owned()
            }
            _ => error.to_string(),
        };
        let mut problem = Self::request(status, code, param, message);
        if status >= 500 {
            "server_error".clone_into(&mut problem.error.kind);
        }
        problem
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        Self::from(Error::from(refused))
    }
}

/// A word for programs, and the field that it is about.
fn code(error: &Error) -> (&'static str, Option<&'static str>) {
    match error {
        Error::Unauthorized => ("invalid_api_key", None),
        Error::CrossSite => ("cross_site", None),
        Error::NoModel(_) | Error::NoTrace(_) => ("model_not_found", Some("model")),
        Error::TraceNotReady { .. } => ("model_not_ready", Some("model")),
        Error::UnsupportedModel { .. } | Error::NoProfile { .. } => ("unsupported_model", Some("model")),
        Error::UnknownGpu(_) => ("gpu_config_not_found", Some("gpu_config")),
        Error::UnsupportedTarget { .. } | Error::NothingRecorded { .. } => {
            ("unsupported_gpu_config", Some("gpu_config"))
        }
        Error::NoTarget(_) => ("gpu_config_missing", Some("gpu_config")),
        Error::WrongArch { .. } => ("architecture_mismatch", Some("gpu_config")),
        Error::BodyTooBig { .. } => ("body_too_large", None),
        Error::BodyUnread(_) => ("body_unread", None),
        Error::BaseFailed { .. } => ("base_sim_failed", None),
        Error::BaseTimeout { .. } => ("base_sim_timeout", None),
        Error::Stopping => ("server_stopping", None),
        _ if error.status() >= 500 => ("internal_error", None),
        _ => ("invalid_request", None),
    }
}

/// A body that does not fit: the first problem, and how many more there are.
fn invalid(fields: &[FieldError]) -> Problem {
    let Some(first) = fields.first() else {
        return Problem::request(400, "invalid_request", None, "the body does not fit");
    };
    let mut param = String::new();
    for step in first.loc.iter().skip(1) {
        match step {
            Loc::Name(name) if param.is_empty() => param.push_str(name),
            Loc::Name(name) => param.extend([".", name]),
            Loc::Index(index) => param.push_str(&format!("[{index}]")),
        }
    }
    let why = first.ctx.as_ref().and_then(|ctx| ctx.get("error")?.as_str());
    if first.kind == "json_invalid" {
        let message = format!(
            "the body is no JSON: {} at byte {}",
            why.unwrap_or("it breaks off"),
            param.trim_matches(['[', ']'])
        );
        return Problem::request(400, "invalid_json", None, message);
    }
    let place = if param.is_empty() { "the body" } else { &param };
    let more = match fields.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let message = format!("{place}: {}{more}", first.msg);
    let code = if first.kind == "missing" {
        "missing_required_parameter"
    } else {
        "invalid_value"
    };
    Problem::request(400, code, (!param.is_empty()).then_some(param.as_str()), message)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut answer = (status, Json(self.body())).into_response();
        let headers = answer.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(self.status, 409 | 502 | 504) {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        answer
    }
}

/// A path under `/v1` that is not ours.
pub(super) async fn no_route(method: Method, uri: Uri) -> Problem {
    let message = format!(
        "there is no {method} /v1{}; there are models, completions and chat/completions",
        uri.path()
    );
    Problem::request(404, "unknown_url", None, message)
}

/// A path of ours that does not take this method.
pub(super) async fn bad_method(method: Method, uri: Uri) -> Problem {
    let message = format!("/v1{} does not take {method}", uri.path());
    Problem::request(405, "method_not_allowed", None, message)
}
