//! Level 0: analytic bounds, computed in one streaming pass over a kernel's thread blocks.
//!
//! The pass keeps sums and maxima per block, a footprint of bounded size and nothing else, so a kernel of
//! any length runs in constant memory. `docs/engine.md` has the formulas.

mod bounds;
mod chain;
mod coalesce;
pub(crate) mod costs;
mod footprint;
mod memory;
mod occupancy;
mod pass;

pub use bounds::{P_NORM, p_norm};
pub use coalesce::{LINE_BYTES, Lines, SECTOR_BYTES, bank_passes};
pub use footprint::{Footprint, MAX_EXACT_LINES};
pub use occupancy::occupancy;
pub use pass::KernelPass;

#[cfg(test)]
mod tests;
