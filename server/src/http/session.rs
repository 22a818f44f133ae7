//! Logging a browser in and out: the token is traded for a cookie that scripts cannot read.

use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::caller::is_same_origin;
use crate::app_state::AppState;
use crate::auth::{SESSION_COOKIE, SESSION_SECONDS};
use crate::clock;
use crate::error::Error;

/// What the token screen sends.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct Login {
    /// The app's token.
    token: String,
    /// Where to go on, on this site.
    #[serde(default)]
    next: String,
}

/// Trades the token for a session cookie and goes on to `next`; a wrong token goes back to the token screen.
#[utoipa::path(post, path = "/session", tag = "pages", security(()),
    request_body(content = Login, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Logged in and on to `next`, or back to the token screen."),
        (status = 400, response = crate::openapi::BadBody),
        (status = 403, response = crate::openapi::CrossSite)))]
pub(crate) async fn start(
    State(state): State<AppState>,
    headers: HeaderMap,
    form: Result<Form<Login>, FormRejection>,
) -> Result<Response, Error> {
    let Form(login) = form.map_err(|error| Error::BodyUnread(error.to_string()))?;
    if !is_same_origin(&headers) {
        return Err(Error::CrossSite);
    }
    let next = on_this_site(&login.next);
    // Browsers and people add blanks around what they paste.
    if !state.auth.is_token(login.token.trim()) {
        tracing::warn!("a wrong token was entered on the token screen");
        return Ok(see_other(&token_screen(next, true), None));
    }
    let cookie = state.auth.is_on().then(|| {
        let secure = if state.service.urls.main.starts_with("https://") {
            "; Secure"
        } else {
            ""
        };
        let session = state.auth.session(clock::now());
        format!(
            "{SESSION_COOKIE}={session}; Path=/; Max-Age={SESSION_SECONDS}; HttpOnly; SameSite=Strict{secure}"
        )
    });
    Ok(see_other(next, cookie))
}

/// Ends the session.
#[utoipa::path(post, path = "/session/end", tag = "pages", security(()), responses(
    (status = 303, description = "Logged out, at the token screen."),
    (status = 403, response = crate::openapi::CrossSite)))]
pub(crate) async fn end(headers: HeaderMap) -> Result<Response, Error> {
    if !is_same_origin(&headers) {
        return Err(Error::CrossSite);
    }
    let cookie = format!("{SESSION_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    Ok(see_other(&token_screen("/", false), Some(cookie)))
}

/// The token screen's address, to go on to `next` afterwards.
pub(crate) fn token_screen(next: &str, wrong: bool) -> String {
    let mut address = String::from("/token?");
    if wrong {
        address.push_str("error=1&");
    }
    address.push_str("next=");
    for byte in next.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

/// `next` if it is a path on this site, else the start page: a login must not lead elsewhere.
fn on_this_site(next: &str) -> &str {
    let path = next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\t', '\n', '\r']);
    if path && next.bytes().all(|b| b.is_ascii_graphic()) {
        next
    } else {
        "/"
    }
}

fn see_other(to: &str, cookie: Option<String>) -> Response {
    let mut answer = (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response();
    if let Some(Ok(cookie)) = cookie.map(TryInto::try_into) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::{on_this_site, token_screen};

    #[test]
    fn a_login_never_leads_to_another_site() {
        for good in ["/", "/runs/run-1?x=1&y=%20", "/traces/a"] {
            assert_eq!(on_this_site(good), good);
        }
        for bad in [
            "",
            "//evil.example",
            "/\\evil",
            "https://evil.example",
            "runs",
            "/a\r\nSet-Cookie: x",
            "/\t/e",
            "/é",
        ] {
            assert_eq!(on_this_site(bad), "/", "{bad:?}");
        }
    }

    #[test]
    fn the_place_to_go_on_to_is_escaped() {
        assert_eq!(
            token_screen("/a?b=c&d", true),
            "/token?error=1&next=/a%3Fb%3Dc%26d"
        );
    }
}
