//! Whole-request time: step timelines, simulated times put in place of measured ones, and what they say
//! beside each other; and the Perfetto export.
//!
//! Everything here works on values handed in; nothing is read from anywhere.

pub mod calibrate;
mod columns;
mod compare;
pub mod compare_steps;
pub mod digest;
pub mod durations;
mod from_kernels;
mod group;
mod launches;
pub mod mapping;
pub mod perfetto;
mod propagate;
mod provenance;
mod real;
mod same_gpu;
pub mod simulate;
mod stats;
#[cfg(test)]
mod testing;
pub mod timeline;
mod traced;

pub use calibrate::{Correction, Sample, calibrate, fit_constant_ns};
pub use columns::columns;
pub use compare::{SimTimes, compare};
pub use compare_steps::{StepComparison, compare_steps, real_sim};
pub use digest::{DigestOptions, digest};
pub use durations::{SimDuration, SimDurations};
pub use from_kernels::{ImportError, PROVENANCE_KEY, Source, from_kernels};
pub use group::Role;
pub use mapping::{MappedKernel, parse_mapping};
pub use propagate::{AGREEMENT, Propagate, propagate};
pub use provenance::{Provenance, ProvenanceError};
pub use real::{RealTimingError, parse_real_timing};
pub use same_gpu::same_gpu;
pub use simulate::{SimulateError, simulate};
pub use timeline::{Kernel, Request, Shape, Stamp, Step, Timeline, TimelineError};
pub use traced::Traced;
