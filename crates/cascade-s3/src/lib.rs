//! Cascade's S3 endpoint: profilers and S3 clients put traces here, ingest reads them as plain files.
//!
//! [`S3Endpoint`] serves a fixed set of buckets on its own port. An object is a plain file at
//! `<root>/<bucket>/<key>`; a PUT is answered after the file is synced, renamed into place and its folder
//! synced. [`s3s`] parses requests and checks signatures; the modules here do the rest:
//!
//! - `front` stands before s3s: limits, anonymous access, error messages;
//! - `upload` takes bodies in: aws-chunked framing, lengths, digests;
//! - `store` keeps the files;
//! - `ops` are the S3 operations.

mod auth;
mod config;
mod endpoint;
mod error;
mod front;
mod key;
mod ops;
mod store;
mod upload;

pub use config::S3Config;
pub use endpoint::S3Endpoint;
pub use error::StoreError;
pub use key::{Key, KeyError};
pub use ops::{ObjectEvent, ObjectEventKind};
