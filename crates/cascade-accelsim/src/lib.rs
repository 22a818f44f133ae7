//! Accel-Sim's files, both ways: run logs, kernel traces, kernel lists, launch statistics and
//! configurations, plus a post-processor and a small synthesiser of traces.
//!
//! Nothing here opens a file, reads a clock or starts a thread: callers hand in `Read`/`Write` values and
//! get back what could be understood together with positioned errors. The one exception is the driver
//! `post::folder`, which exists only with the feature `fs`.

pub mod config;
pub mod list;
pub mod log;
pub mod post;
pub mod synth;
pub mod trace;

#[cfg(test)]
mod testdata;
