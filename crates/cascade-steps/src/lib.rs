//! What a run's numbers say beside each other: simulated against measured time, and the Perfetto export.
//!
//! Everything here works on values handed in; nothing is read from anywhere.

mod compare;
pub mod perfetto;
mod real;

pub use compare::{SimTimes, compare};
pub use real::{RealTimingError, parse_real_timing};
