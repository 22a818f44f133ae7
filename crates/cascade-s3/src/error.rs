//! What can go wrong in the store, and the S3 error a client sees for it.

use std::io;

use http::StatusCode;
use s3s::{S3Error, S3ErrorCode};

use crate::key::KeyError;
use crate::upload::chunked::ChunkError;

/// An error of the store or of an upload.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The bucket does not exist.
    #[error("the bucket '{asked}' does not exist here; use '{known}'")]
    NoSuchBucket {
        /// The bucket the client named.
        asked: String,
        /// The buckets that exist.
        known: String,
    },
    /// No object has this key.
    #[error("no object has the key '{0}'; list the bucket to see which exist")]
    NoSuchKey(String),
    /// The key cannot be stored.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A folder stands where the object should go, or an object where a folder should go.
    #[error(
        "'{key}' cannot be stored: '{at}' already exists as {is}; an object cannot also be a folder of others, so choose another key or delete it first"
    )]
    Clash {
        /// The key of the request.
        key: String,
        /// The path that is in the way.
        at: String,
        /// What it is.
        is: &'static str,
    },
    /// A symbolic link lies on the path. Links are never followed.
    #[error("'{0}' passes through a symbolic link on the server, and links are never followed")]
    Symlink(String),
    /// The body is larger than allowed.
    #[error("the body is larger than {limit} bytes, the most one {what} may have here")]
    TooLarge {
        /// What is limited: `object` or `part`.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// The body ended early or ran over the length that was announced.
    #[error("the body has {got} bytes but {expected} were announced: nothing was stored, send it again")]
    Length {
        /// Announced bytes.
        expected: u64,
        /// Received bytes.
        got: u64,
    },
    /// A digest that was sent does not fit the body.
    #[error(
        "the {what} of the received bytes is {got} but {sent} was sent: nothing was stored, send it again"
    )]
    Digest {
        /// Header or trailer name.
        what: &'static str,
        /// What the client sent.
        sent: String,
        /// What the received bytes give.
        got: String,
    },
    /// A header of the request cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// The aws-chunked framing is broken.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// The connection broke, or nothing came for too long.
    #[error("the upload stopped: {0}; nothing was stored, send it again")]
    Aborted(String),
    /// Nothing arrived for the idle limit.
    #[error("no byte of the body arrived for {0} seconds; nothing was stored, send it again")]
    Idle(u64),
    /// A condition header (If-Match, If-None-Match) does not hold.
    #[error("the condition {0} does not hold for the stored object")]
    Precondition(&'static str),
    /// The multipart upload does not exist (any more).
    #[error("the multipart upload '{0}' does not exist: it was completed or aborted, so start a new one")]
    NoSuchUpload(String),
    /// A part named on completion was not uploaded as said.
    #[error("part {number}: {why}")]
    Part {
        /// Part number.
        number: i32,
        /// What is wrong with it.
        why: String,
    },
    /// Part numbers on completion do not rise.
    #[error("the parts are not in rising order: part {0} comes after a part with a larger or equal number")]
    PartOrder(i32),
    /// A part other than the last is too small.
    #[error("part {number} has {size} bytes; every part but the last needs at least {min}")]
    PartTooSmall {
        /// Part number.
        number: i32,
        /// Its size in bytes.
        size: u64,
        /// The least size in bytes.
        min: u64,
    },
    /// User metadata is larger than what is kept.
    #[error("the object's metadata takes {got} bytes; at most {limit} are kept: send less")]
    MetadataTooLarge {
        /// Bytes sent.
        got: usize,
        /// The limit.
        limit: usize,
    },
    /// The range lies outside the object.
    #[error("the range lies outside the object, which has {0} bytes")]
    Range(u64),
    /// The filesystem failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// Shorthand for results of the store.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// Names the action in an IO error.
pub(crate) fn io<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> StoreError {
    move |source| StoreError::Io {
        what,
        source: source.into(),
    }
}

impl StoreError {
    fn code(&self) -> S3ErrorCode {
        match self {
            Self::NoSuchBucket { .. } => S3ErrorCode::NoSuchBucket,
            Self::NoSuchKey(_) => S3ErrorCode::NoSuchKey,
            Self::Key(KeyError::TooLong(_) | KeyError::SegmentTooLong(_)) => S3ErrorCode::KeyTooLongError,
            Self::Key(_) | Self::Invalid(_) => S3ErrorCode::InvalidArgument,
            Self::Clash { .. } => S3ErrorCode::OperationAborted,
            Self::Symlink(_) => S3ErrorCode::AccessDenied,
            Self::TooLarge { .. } => S3ErrorCode::EntityTooLarge,
            Self::Length { .. } => S3ErrorCode::IncompleteBody,
            Self::Digest {
                what: "x-amz-content-sha256",
                ..
            } => S3ErrorCode::Custom("XAmzContentSHA256Mismatch".into()),
            Self::Digest { .. } => S3ErrorCode::BadDigest,
            Self::Chunk(ChunkError::Signature) => S3ErrorCode::SignatureDoesNotMatch,
            Self::Chunk(_) => S3ErrorCode::InvalidRequest,
            Self::Aborted(_) => S3ErrorCode::IncompleteBody,
            Self::Idle(_) => S3ErrorCode::RequestTimeout,
            Self::Precondition(_) => S3ErrorCode::PreconditionFailed,
            Self::NoSuchUpload(_) => S3ErrorCode::NoSuchUpload,
            Self::Part { .. } => S3ErrorCode::InvalidPart,
            Self::PartOrder(_) => S3ErrorCode::InvalidPartOrder,
            Self::PartTooSmall { .. } => S3ErrorCode::EntityTooSmall,
            Self::MetadataTooLarge { .. } => S3ErrorCode::MetadataTooLarge,
            Self::Range(_) => S3ErrorCode::InvalidRange,
            Self::Io { source, .. } if is_full(source) => S3ErrorCode::Custom("InsufficientStorage".into()),
            Self::Io { .. } => S3ErrorCode::InternalError,
        }
    }
}

/// True where the disk, or the user's share of it, is full.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

impl From<StoreError> for S3Error {
    fn from(error: StoreError) -> Self {
        let message = match &error {
            StoreError::Io { source, .. } if is_full(source) => {
                "the server's disk is full: free space or delete old traces, then send it again".to_owned()
            }
            // The system's own words may hold paths; they go to the log only.
            StoreError::Io { what, source } => {
                tracing::error!(what, error = %source, "the object store failed");
                format!("the server failed while {what}; its log has the reason")
            }
            other => other.to_string(),
        };
        let status = match &error {
            StoreError::Io { source, .. } if is_full(source) => Some(StatusCode::INSUFFICIENT_STORAGE),
            StoreError::Clash { .. } => Some(StatusCode::CONFLICT),
            StoreError::Digest { .. } => Some(StatusCode::BAD_REQUEST),
            _ => None,
        };
        let mut out = S3Error::with_message(error.code(), message);
        if let Some(status) = status {
            out.set_status_code(status);
        }
        out
    }
}
