//! A simulator as Cascade's contract wants it: runs an engine on one trace and one GPU, and reports.
//!
//! [`run`] sends a `running` heartbeat at once and every 5 seconds, the engine's output in numbered chunks,
//! the files the engine wrote, and one last heartbeat that says how it ended. Every call is repeated while
//! the app is away, so a restart of the app loses nothing. Three engines speak through the same contract:
//! Accel-Sim as a child process, Cascade's own engine, and the playback of a recorded log.
//!
//! Step timing (`corrected_timeline.json` in the trace) would run between the engine's end and the upload of
//! its files, in `work`; it is not part of this crate yet.

mod beat;
mod chunk;
mod engine;
mod job;
mod outputs;
mod pump;
mod rundir;
pub mod simulate;
mod stop;
mod timing;
mod work;

pub use job::{EngineChoice, Job, Replay};
pub use timing::Seen;
pub use work::{Outcome, run};
