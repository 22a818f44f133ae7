//! The REST API as the browser calls it: same origin, with the session cookie.

use cascade_api::ErrorBody;
use gloo_net::http::{Request, Response};
use send_wrapper::SendWrapper;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::DataError;

/// What is shown when the server does not answer.
const UNREACHABLE: &str = "The app could not be reached. Check your connection and try again.";

/// Reads `path`.
pub(super) async fn get<T: DeserializeOwned>(path: &str) -> Result<T, DataError> {
    let request = Request::get(path);
    SendWrapper::new(async move { answer(request.send().await).await }).await
}

/// Reads `path` as text.
pub(super) async fn get_text(path: &str) -> Result<String, DataError> {
    let request = Request::get(path);
    SendWrapper::new(async move {
        let response = checked(request.send().await).await?;
        let text = response.text().await;
        text.map_err(|error| DataError::text(0, error.to_string()))
    })
    .await
}

/// Reads a range of the text at `path`, and the place where it begins. A range of nothing is empty.
pub(super) async fn get_range(path: &str, range: &str) -> Result<(String, u64), DataError> {
    let request = Request::get(path).header("Range", range);
    SendWrapper::new(async move {
        let response = match checked(request.send().await).await {
            Err(error) if error.status == 416 => return Ok((String::new(), 0)),
            response => response?,
        };
        // `bytes 100-199/1000`; an answer without it is the whole.
        let place = response.headers().get("Content-Range").unwrap_or_default();
        let from = place.trim_start_matches("bytes ").split('-').next();
        let from = from.and_then(|from| from.parse().ok()).unwrap_or(0);
        let bytes = response
            .binary()
            .await
            .map_err(|error| DataError::text(0, error.to_string()))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), from))
    })
    .await
}

/// Sends `body` to `path`.
pub(super) async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, DataError> {
    let request = Request::post(path)
        .json(body)
        .map_err(|error| DataError::text(0, error.to_string()));
    SendWrapper::new(async move { answer(request?.send().await).await }).await
}

/// Deletes what is at `path`.
pub(super) async fn delete(path: &str) -> Result<(), DataError> {
    let request = Request::delete(path);
    SendWrapper::new(async move { checked(request.send().await).await.map(drop) }).await
}

/// Turns an answer into its value or its error.
async fn answer<T: DeserializeOwned>(response: Result<Response, gloo_net::Error>) -> Result<T, DataError> {
    let response = checked(response).await?;
    response.json().await.map_err(|error| {
        DataError::text(
            response.status(),
            format!("The app's answer could not be read: {error}"),
        )
    })
}

/// An answer that is no error.
async fn checked(response: Result<Response, gloo_net::Error>) -> Result<Response, DataError> {
    let response = response.map_err(|error| {
        leptos::logging::warn!("request failed: {error}");
        DataError::text(0, UNREACHABLE)
    })?;
    let status = response.status();
    if response.ok() {
        return Ok(response);
    }
    if status == 401 {
        ask_for_token();
    }
    let body = response.json::<ErrorBody>().await;
    Err(DataError {
        status,
        body: body.unwrap_or_else(|_| ErrorBody::text(format!("The app answered with status {status}."))),
    })
}

/// The session is over: go and ask for the token, then come back here.
fn ask_for_token() {
    let location = leptos::prelude::window().location();
    let here = location.pathname().unwrap_or_default() + &location.search().unwrap_or_default();
    if !here.starts_with("/token") {
        // The browser leaves the page; there is nobody to tell if it refuses.
        _ = location.set_href(&format!("/token?next={}", super::segment(&here)));
    }
}
