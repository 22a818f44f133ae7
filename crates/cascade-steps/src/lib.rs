//! Whole-request time: step timelines, simulated times put in place of measured ones, and what they say
//! beside each other; and the Perfetto export.
//!
//! Everything here works on values handed in; nothing is read from anywhere.

mod compare;
pub mod compare_steps;
pub mod durations;
pub mod mapping;
pub mod perfetto;
mod provenance;
mod real;
pub mod simulate;
mod stats;
#[cfg(test)]
mod testing;
pub mod timeline;

pub use compare::{SimTimes, compare};
pub use compare_steps::{StepComparison, compare_steps, real_sim};
pub use durations::{SimDuration, SimDurations};
pub use mapping::{MappedKernel, parse_mapping};
pub use provenance::{Provenance, ProvenanceError};
pub use real::{RealTimingError, parse_real_timing};
pub use simulate::{SimulateError, simulate};
pub use timeline::{Kernel, Request, Shape, Stamp, Step, Timeline, TimelineError};
