//! Accel-Sim's standard output, read as a stream.
//!
//! [`Parser`] takes bytes in any chunks (or lines) and calls a sink with [`LogEvent`]s; [`Parser::finish`]
//! says how the run ended. Nothing is kept but the block that is open, so a log may be of any length.
//!
//! ```
//! use cascade_accelsim::log::{LogEvent, Parser};
//! let mut parser = Parser::new();
//! let mut cycles = Vec::new();
//! let mut sink = |event| {
//!     if let LogEvent::Kernel(block) = event {
//!         cycles.push(block.gpu_sim_cycle);
//!     }
//! };
//! parser.push(b"kernel_name = k\ngpu_sim_cyc", &mut sink);
//! parser.push(b"le = 42\ngpgpu_silicon_slowdown = 7x\n", &mut sink);
//! let summary = parser.finish(&mut sink);
//! assert_eq!((cycles.as_slice(), summary.kernels_finished), (&[Some(42)][..], 1));
//! ```

mod block;
mod cumulative;
mod failure;
mod options;
mod parser;
mod stats;
mod types;
mod verdict;

pub use cumulative::{CUMULATIVE, CUMULATIVE_DRAM, is_cumulative, per_block};
pub use failure::{Failure, FailureKind};
pub use parser::{MAX_LINE_BYTES, MAX_NOTES, Parser, read_log};
pub use stats::{MAX_KEYS_PER_BLOCK, StatValue, Stats};
pub use types::{
    Banner, Ending, HeaderLoaded, KernelBlock, KernelLaunched, LogEvent, LogSummary, Mode, Note, Options,
    Totals,
};
pub use verdict::{Verdict, explain};

#[cfg(test)]
mod tests;
