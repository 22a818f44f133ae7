//! Who is calling: extractors that let a handler run only for those who may call it.

use axum::extract::{FromRequestParts, Query};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use cascade_api::SimId;

use super::extract::Id;
use crate::app_state::AppState;
use crate::auth::SESSION_COOKIE;
use crate::clock;
use crate::error::Error;

/// Someone with the app's token, or a browser with a session made from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner;

/// The owner, who may also send the token as `?token=`, for clients that cannot send headers. If it is
/// there, it alone counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watcher;

/// The owner, or the sim that the path names with its own token.
#[derive(Clone, Debug)]
pub(crate) struct Reporter(pub(crate) SimId);

impl FromRequestParts<AppState> for Owner {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Error> {
        check(parts, state).map(|()| Self)
    }
}

impl FromRequestParts<AppState> for Watcher {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Error> {
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let given = query
            .ok()
            .and_then(|Query(pairs)| pairs.into_iter().find(|(key, _)| key == "token"));
        match given {
            Some((_, token)) if state.auth.is_token(&token) => Ok(Self),
            Some(_) => Err(Error::Unauthorized),
            None => check(parts, state).map(|()| Self),
        }
    }
}

impl FromRequestParts<AppState> for Reporter {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Error> {
        let Id(sim) = Id::<SimId>::named(parts, "sim_id").await?;
        let own = bearer(&parts.headers).is_some_and(|token| state.auth.is_sim_token(&sim, token));
        if !own {
            check(parts, state)?;
        }
        Ok(Self(sim))
    }
}

/// Lets the owner pass. A session counts only for requests that our own pages made.
fn check(parts: &Parts, state: &AppState) -> Result<(), Error> {
    let headers = &parts.headers;
    let token = bearer(headers);
    if state.auth.is_on() && token.is_some_and(|token| state.auth.is_token(token)) {
        return Ok(());
    }
    if !state.auth.is_on() || (token.is_none() && has_session(headers, state)) {
        let safe = matches!(parts.method, Method::GET | Method::HEAD);
        return if safe || is_same_origin(headers) {
            Ok(())
        } else {
            Err(Error::CrossSite)
        };
    }
    Err(Error::Unauthorized)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the request carries a session of ours.
pub(crate) fn has_session(headers: &HeaderMap, state: &AppState) -> bool {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .any(|(name, value)| name == SESSION_COOKIE && state.auth.is_session(value, clock::now()))
}

/// Whether a page of ours, or no page at all, made the request: browsers say where a request comes from, and
/// a page of another site cannot keep them from it.
pub(super) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(axum::http::HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    match (text(ORIGIN), text(HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, at)| at == host),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests;
