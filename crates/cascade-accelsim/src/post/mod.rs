//! The trace post-processor: raw traces, whose warps are interleaved as they ran, to processed ones, block
//! by block and warp by warp.
//!
//! [`process_kernel`] works on one kernel with bounded memory: lines are gathered up to a budget, sorted
//! runs of them go to a [`TempStore`] and are merged at the end. What grows with the kernel is a counter
//! for each warp. [`processed_list`] writes the list that goes with the processed files. Neither touches a
//! file; the driver for a whole folder, `folder`, does, and exists only with the feature `fs`.

#[cfg(feature = "fs")]
pub mod folder;
mod kernel;
mod lists;
mod samples;
mod sort;

#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};

pub use kernel::process_kernel;
pub use lists::processed_list;

use crate::trace::{TraceError, TraceErrorKind, TraceFormat};

/// Memory for lines before a sorted run is written out, bytes.
pub const DEFAULT_MEMORY_BYTES: usize = 256 << 20;
/// Most thread blocks in a grid that is processed (CUDA allows 2^31 by 2^16 by 2^16).
pub const MAX_BLOCKS: u64 = 1 << 40;

/// Where sorted runs wait to be merged. Runs are numbered by the caller of these functions.
pub trait TempStore {
    /// A new, empty run.
    ///
    /// # Errors
    /// When it cannot be created.
    fn create(&mut self, run: u64) -> io::Result<Box<dyn Write + '_>>;

    /// A run from its start, once its writer is dropped.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&mut self, run: u64) -> io::Result<Box<dyn Read>>;

    /// Throws a run away.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&mut self, run: u64) -> io::Result<()>;
}

/// How a kernel is processed.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Format of the output: `Text`, `TextXz` or `Packed`.
    pub format: TraceFormat,
    /// Memory for lines, bytes.
    pub memory_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: TraceFormat::Packed,
            memory_bytes: DEFAULT_MEMORY_BYTES,
        }
    }
}

/// What came out of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelReport {
    /// Warp instructions written (the sum of all `insts =`).
    pub warp_instrs: u64,
    /// Thread instructions written (the sum of all active lanes).
    pub thread_instrs: u64,
    /// Lines left out because the tracer writes every `LDGSTS` twice.
    pub dropped_ldgsts: u64,
    /// Thread blocks written.
    pub blocks: u64,
    /// Thread blocks of the grid without a line, which are left out.
    pub empty_blocks: u64,
    /// Warps without a line in blocks that were written, as `insts = 0`.
    pub empty_warps: u64,
    /// Sorted runs written to the temporary store.
    pub runs: u64,
}

impl KernelReport {
    /// What people should know about `file`, one sentence each; `reported` is the number of warp
    /// instructions that the tracer's statistics give, if any.
    pub fn warnings(&self, file: &str, reported: Option<u64>) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.empty_blocks > 0 {
            warnings.push(format!(
                "{file}: {} thread blocks have no instructions and are left out",
                self.empty_blocks
            ));
        }
        if self.empty_warps > 0 {
            warnings.push(format!("{file}: {} warps have no instructions", self.empty_warps));
        }
        if let Some(reported) = reported
            && reported != self.warp_instrs
            && reported != self.warp_instrs + self.dropped_ldgsts
        {
            warnings.push(format!(
                "{file}: {} instructions, but the tracer's statistics say {reported}; the trace may be incomplete",
                self.warp_instrs
            ));
        }
        warnings
    }
}

/// Why a kernel could not be processed.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// The raw trace is damaged.
    #[error(transparent)]
    Input(#[from] TraceError),
    /// The processed trace cannot be written.
    #[error("{file}: cannot write the processed trace: {kind}")]
    Output {
        /// Name of the raw trace.
        file: String,
        /// What happened.
        kind: TraceErrorKind,
    },
    /// A temporary run cannot be written or read.
    #[error("{file}: temporary run: {error}; check the space left in the scratch folder")]
    Temp {
        /// Name of the raw trace.
        file: String,
        /// What happened.
        error: io::Error,
    },
    /// A grid beyond the limit.
    #[error("{file}: the grid has {blocks} thread blocks, the limit is {MAX_BLOCKS}")]
    GridTooLarge {
        /// Name of the raw trace.
        file: String,
        /// Blocks in the grid.
        blocks: u64,
    },
}
