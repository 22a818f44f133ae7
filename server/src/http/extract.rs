//! Extractors for paths and bodies that answer with our own errors.

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use bytes::Bytes;
use cascade_api::validate::{Validate, from_slice};

use crate::error::Error;

/// An id from the path's only or first parameter. A path that is not UTF-8 names nothing we have.
#[derive(Clone, Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: From<String>> Id<T> {
    /// The parameter of this name.
    pub(super) async fn named(parts: &mut Parts, name: &str) -> Result<Self, Error> {
        let params = RawPathParams::from_request_parts(parts, &())
            .await
            .map_err(|_rejection| Error::NoRoute)?;
        let value = params
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value);
        value
            .map(|value| Self(T::from(value.to_owned())))
            .ok_or(Error::NoRoute)
    }
}

impl<T: From<String>, S: Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let params = RawPathParams::from_request_parts(parts, &())
            .await
            .map_err(|_rejection| Error::NoRoute)?;
        let first = params.iter().next().map(|(_, value)| value.to_owned());
        first.map(|value| Self(T::from(value))).ok_or(Error::NoRoute)
    }
}

/// A file's name, from the path.
#[derive(Clone, Debug)]
pub(crate) struct FileName(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for FileName {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Id::<String>::named(parts, "name")
            .await
            .map(|Id(name)| Self(name))
    }
}

/// A kernel's index, from the path, as it stands there.
#[derive(Clone, Debug)]
pub(crate) struct KernelIndex(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for KernelIndex {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Id::<String>::named(parts, "index")
            .await
            .map(|Id(index)| Self(index))
    }
}

/// Reads a whole body of at most `limit` bytes.
pub(super) async fn read(body: Body, limit: usize) -> Result<Bytes, Error> {
    to_bytes(body, limit).await.map_err(|error| {
        let too_long = std::error::Error::source(&error)
            .is_some_and(|source| source.is::<http_body_util::LengthLimitError>());
        if too_long {
            Error::BodyTooBig { limit: limit as u64 }
        } else {
            Error::BodyUnread(error.to_string())
        }
    })
}

/// Reads and validates a JSON body.
///
/// Its media type is not asked for: what counts is whether it is what it should be.
pub(crate) async fn json<T: Validate + Send + 'static>(body: Body, limit: usize) -> Result<T, Error> {
    /// Bodies above this are parsed beside the other requests' work.
    const LONG: usize = 256 * 1024;
    let bytes = read(body, limit).await?;
    let parsed = if bytes.len() > LONG {
        tokio::task::spawn_blocking(move || from_slice(&bytes)).await?
    } else {
        from_slice(&bytes)
    };
    parsed.map_err(Error::Invalid)
}
