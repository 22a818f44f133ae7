//! The OpenAPI document of the HTTP API.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use cascade_api as api;
use serde_json::Value;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToResponse, ToSchema};

use crate::http::{events, gpus, health, live, runs, scenarios, session, sims, traces};
use crate::openai::http as openai;

macro_rules! errors {
    ($body:ty; $($(#[$doc:meta])* $name:ident = $description:literal;)+) => {$(
        $(#[$doc])*
        #[derive(ToResponse)]
        #[response(description = $description)]
        #[expect(dead_code, reason = "only its description is used")]
        pub(crate) struct $name($body);
    )+};
}

errors! {
    api::ErrorBody;
    /// 400.
    BadBody = "The body broke off or is no request body at all.";
    /// 401.
    Unauthorized = "The token is missing or wrong.";
    /// 403.
    CrossSite = "A browser sent this on behalf of another site.";
    /// 404.
    NotFound = "What the path or the body names does not exist.";
    /// 409.
    Conflict = "The trace is not `ready`, or is a sample.";
    /// 413.
    TooLarge = "The body is over its limit, which the answer states.";
    /// 416.
    NoSuchRange = "The range begins after the last byte; the answer says how many there are.";
    /// 422.
    Unprocessable = "The body does not fit: a sentence, or a list with one entry for each problem.";
    /// 502.
    BaseFailed = "The sim behind the step times failed or sent no step timing; the answer names it and its run.";
    /// 504.
    BaseTimeout = "The sim behind the step times has not finished in time and goes on; the answer names it and its run.";
}

errors! {
    api::OpenAiErrorBody;
    /// 400.
    OpenAiRejected = "The body is no JSON, does not fit, or asks for more tokens than the model takes.";
    /// 401.
    OpenAiUnauthorized = "The API key is not the app's token.";
    /// 404.
    OpenAiNotFound = "`model` is neither the id of a trace nor the model of a ready one.";
    /// 409.
    OpenAiConflict = "The trace is not `ready`.";
    /// 413.
    OpenAiTooLarge = "The body is over its limit, which the answer states.";
    /// 422.
    OpenAiUnsupported = "Requests of this model on this GPU cannot be estimated.";
    /// 502.
    OpenAiBaseFailed = "The sim behind the step times failed or sent no step timing.";
    /// 504.
    OpenAiBaseTimeout = "The sim behind the step times has not finished in time and goes on.";
}

/// Raw bytes.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct FileBytes(Vec<u8>);

/// A Chrome trace: `traceEvents`, `displayTimeUnit` and `otherData`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[expect(non_snake_case, reason = "the format's own names")]
pub(crate) struct ChromeTrace {
    #[schema(value_type = Vec<Object>)]
    traceEvents: (),
    #[schema(value_type = String)]
    displayTimeUnit: (),
    #[schema(value_type = Object)]
    otherData: (),
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Cascade", description = "Traces, runs and sims over HTTP."),
    modifiers(&Security),
    security(("token" = []), ("session" = [])),
    components(
        responses(BadBody, Unauthorized, CrossSite, NotFound, Conflict, TooLarge, NoSuchRange, Unprocessable, BaseFailed, BaseTimeout,
            OpenAiRejected, OpenAiUnauthorized, OpenAiNotFound, OpenAiConflict, OpenAiTooLarge, OpenAiUnsupported,
            OpenAiBaseFailed, OpenAiBaseTimeout),
        schemas(api::ErrorBody, api::OpenAiErrorBody)
    ),
    paths(
        health::health,
        health::metrics,
        document,
        traces::list,
        traces::get,
        traces::synthetic,
        gpus::list,
        gpus::create,
        gpus::get,
        gpus::delete,
        runs::create,
        runs::list,
        runs::get,
        runs::cancel,
        runs::comparison,
        runs::kernels,
        runs::kernel_columns,
        runs::timeline,
        runs::kernel_rows,
        runs::step_timelines,
        runs::step_digests,
        runs::results,
        runs::files,
        runs::files_zip,
        runs::perfetto,
        events::stream,
        live::stream,
        sims::results,
        sims::kernel,
        sims::log,
        sims::files,
        sims::file,
        sims::file_preview,
        sims::put_file,
        sims::heartbeat,
        sims::logs,
        sims::step_timeline,
        scenarios::run,
        scenarios::schema,
        scenarios::search,
        scenarios::bases,
        scenarios::profile,
        scenarios::save,
        scenarios::list,
        scenarios::get,
        scenarios::delete,
        openai::models,
        openai::model,
        openai::completions,
        openai::chat,
        session::start,
        session::end,
    )
)]
struct Document;

struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
        let cookie = ApiKey::Cookie(ApiKeyValue::new(crate::auth::SESSION_COOKIE));
        components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    }
}

/// This document. Needs no token.
#[utoipa::path(get, path = "/api/openapi.json", tag = "app", security(()), responses(
    (status = 200, description = "OpenAPI 3.1.", body = Object)))]
pub(crate) async fn document() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], json())
}

/// The document as JSON.
pub fn json() -> String {
    serde_json::to_string_pretty(&Document::openapi()).unwrap_or_default()
}

/// One of the document's types as a JSON Schema that stands alone.
pub fn json_schema(name: &str) -> String {
    /// Moves every reference to `$defs` and notes what is referred to.
    fn moved(value: &mut Value, wanted: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    let target = field
                        .as_str()
                        .and_then(|text| text.strip_prefix("#/components/schemas/"));
                    match target.filter(|_| key == "$ref").map(str::to_owned) {
                        Some(target) => {
                            *field = Value::from(format!("#/$defs/{target}"));
                            wanted.push(target);
                        }
                        None => moved(field, wanted),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| moved(item, wanted)),
            _ => {}
        }
    }
    let document = serde_json::to_value(Document::openapi()).unwrap_or_default();
    let mut defs = serde_json::Map::new();
    let mut wanted = vec![name.to_owned()];
    while let Some(next) = wanted.pop() {
        let found = document.pointer(&format!("/components/schemas/{next}"));
        if let (Some(found), false) = (found, defs.contains_key(&next)) {
            let mut schema = found.clone();
            moved(&mut schema, &mut wanted);
            defs.insert(next, schema);
        }
    }
    let schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#/$defs/{name}"),
        "$defs": defs,
    });
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}
