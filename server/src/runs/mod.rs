//! The service: what can be done with traces, runs and sims. HTTP handlers, pages, the launcher and the
//! monitor all come through here.

mod archive;
mod change;
mod create;
mod digests;
mod download;
mod files;
mod heartbeat;
mod kernel;
mod lanes;
mod launch;
mod log_file;
mod logs;
mod pages;
mod read;
mod sample;
mod service;
mod slices;
mod steps_lane;
mod timelines;

pub use download::{Download, LogRange};
pub use files::Upload;
pub(crate) use files::write_durably;
pub(crate) use sample::{FinishedRun, FinishedSim};
pub use service::{Service, SimEnded, Urls};
