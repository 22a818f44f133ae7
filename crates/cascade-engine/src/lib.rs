//! Cascade's own GPU timing engine: the kernels of a trace and a description of a GPU go in, cycles come
//! out, with the reasons for them.
//!
//! [`Level::L1`] simulates: SMs with their schedulers and scoreboards, caches, memory servers, barriers and
//! asynchronous copies, event by event. [`Level::L0`] computes analytic lower bounds (issue slots, execution units, tensor
//! cores, the load/store unit, L2, DRAM, the longest dependency chain) in one streaming pass over the
//! thread blocks and combines them; `docs/engine.md` gives the formulas and says what is validated.
//! Nothing here opens a file, reads a clock or draws a random number.

mod engine;
mod estimate;
pub mod gpu;
pub mod l0;
pub mod l1;
pub mod opcode;
pub mod report;
pub mod suite;
mod synthetic;
#[cfg(test)]
mod testing;

pub use engine::{ArchMismatch, Engine, EngineError, Level, Options};
pub use estimate::{Bound, BoundKind, KernelEstimate, L2Start, Limit, Occupancy, Provenance};
pub use gpu::GpuModel;
pub use l1::L2State;
