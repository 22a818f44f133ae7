//! Replays step traces of the real vLLM scheduler and names the first difference.
//!
//! A trace says what arrived before which call of `schedule()` and what each call decided. Time does not enter.

mod replay;
mod trace;

pub use replay::{Difference, Summary, replay};
pub use trace::{MAX_REQUESTS, Trace, TraceError, TraceRequest};

#[cfg(test)]
mod tests;
