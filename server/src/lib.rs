//! The server: S3 uploads, traces, runs, sims, their live events and the pages, in one process.

pub mod app_state;
pub mod auth;
pub mod clock;
pub mod config;
pub mod db;
mod docs;
pub mod error;
pub mod events;
pub mod gpus;
pub mod http;
pub mod ingest;
pub mod launcher;
pub(crate) mod live;
pub mod metrics;
pub mod monitor;
mod openai;
pub mod openapi;
pub mod pages;
pub mod runs;
pub mod samples;
pub mod scenarios;
pub mod serve;
pub mod synthetic;
