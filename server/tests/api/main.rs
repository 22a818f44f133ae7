//! The HTTP API as its callers see it: one server for each test, in this process, on free ports.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod app;
mod auth;
mod docs;
mod downloads;
mod errors;
mod events;
mod files;
mod gpus;
mod kernel;
mod logs;
mod openai;
mod openapi;
mod page;
mod pages;
mod runs;
mod samples;
mod scenarios;
mod steps;
mod traces;
