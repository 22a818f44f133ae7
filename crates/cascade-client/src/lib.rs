//! A typed client of Cascade's HTTP API and of its S3 endpoint.
//!
//! [`Client`] has one method for each route; [`Uploader`] puts a folder into the trace bucket, signed and
//! resumable. The worker, the command line and the tests speak to a server through nothing else.
//!
//! Calls that are safe to repeat are repeated on network errors and answers of 500 and above, with a pause
//! that doubles up to a cap (see [`Retry`]); an answer of 400 to 499 never is, because the same request would
//! get the same answer. Errors carry the server's own sentence and say what to check.

mod client;
mod error;
mod events;
mod retry;
mod routes;
mod s3;
mod scenarios;
mod simulator;

pub use client::Client;
pub use error::Error;
pub use events::{Events, MAX_EVENT_BYTES};
pub use retry::Retry;
pub use s3::{Local, Progress, Report, Target, Uploader, folder};

/// What every call returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;
