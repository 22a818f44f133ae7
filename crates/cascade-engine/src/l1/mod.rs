//! Level 1: an event-driven model of the SMs and the memory behind them, cycle by cycle where something
//! happens and nowhere else. `docs/engine.md` describes it, with the source of every constant.

mod bounds;
mod caches;
mod chip;
mod clusters;
mod consts;
mod cta;
mod deadlock;
mod image;
mod isa;
mod lsu;
mod mbarrier;
mod memory;
mod outcome;
mod params;
mod run;
mod sample;
mod sm;
mod stats;
mod subcore;
mod sync;
mod tiles;
mod touches;
mod warp;

pub use consts::MAX_CYCLES;
pub(crate) use consts::{BARRIER_LATENCY, COALESCER_SM};
pub use memory::L2State;
pub(crate) use run::simulate;
pub use sample::{MAX_DISAGREEMENT, MIN_WAVES};
pub use stats::{CycleStats, Stall};
pub use touches::{Recorded, Touches};

#[cfg(test)]
mod tests;
