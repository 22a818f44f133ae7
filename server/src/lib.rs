//! The server: S3 uploads, traces, runs, sims, their live events and the pages, in one process.

pub mod clock;
pub mod config;
pub mod db;
pub mod error;
pub mod events;
pub mod gpus;
pub mod runs;
