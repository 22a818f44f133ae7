//! The kernels, one a file. Each states its counts in closed form, apart from the code that writes it, and
//! tests hold the two together.

mod copy;
mod decode;
mod fma_chain;
mod gemm;
mod layer_norm;
mod reduction;

pub use copy::Copy;
pub use decode::Decode;
pub use fma_chain::FmaChain;
pub use gemm::Gemm;
pub use layer_norm::LayerNorm;
pub use reduction::Reduction;

use super::program::WarpCode;
use super::{Arch, Counts, SynthError};
use crate::trace::Dim3;

/// Where the tensors of synthetic kernels lie, far enough apart never to meet.
pub(crate) const INPUT: u64 = 0x7e00_0000_0000;
pub(crate) const SECOND_INPUT: u64 = 0x7e10_0000_0000;
pub(crate) const THIRD_INPUT: u64 = 0x7e20_0000_0000;
pub(crate) const OUTPUT: u64 = 0x7e30_0000_0000;

/// A kernel: launch configuration, counts and the code of each warp.
pub(crate) trait Workload {
    /// Whether the extents make sense.
    fn check(&self) -> Result<(), SynthError>;
    /// Thread blocks, flat in z.
    fn grid(&self) -> Dim3;
    /// Threads in a block, a multiple of 32.
    fn threads(&self) -> u32;
    /// Shared memory of a block, bytes.
    fn shmem(&self) -> u32;
    /// Registers of a thread.
    fn registers(&self) -> u32;
    /// Exact number of instructions.
    fn counts(&self, arch: Arch) -> Counts;
    /// Writes one warp of a block, given by its linear index.
    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode);
}

/// Checks that a block has whole warps and that CUDA allows it.
fn check_threads(threads: u32) -> Result<(), SynthError> {
    match threads.is_multiple_of(32) && (32..=1024).contains(&threads) {
        true => Ok(()),
        false => Err(SynthError::BadShape(
            "threads must be a multiple of 32 from 32 to 1024",
        )),
    }
}

/// Checks that no extent is zero or so large that sizes overflow.
fn check_extents(extents: &[u64]) -> Result<(), SynthError> {
    match extents.iter().all(|extent| (1..=1 << 32).contains(extent)) {
        true => Ok(()),
        false => Err(SynthError::BadShape("every extent must be from 1 to 2^32")),
    }
}

/// A grid of `blocks` in one row.
fn row(blocks: u64) -> Dim3 {
    Dim3::new(u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1)
}
