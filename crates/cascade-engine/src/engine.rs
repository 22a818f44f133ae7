//! The engine's front door: options, the architecture check and the run over one kernel.

use cascade_accelsim::trace::{BlockSource, KernelHeader, ThreadBlock, TraceError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::estimate::{KernelEstimate, Limit};
use crate::gpu::GpuModel;
use crate::l0::KernelPass;
use crate::l1::{self, L2State};

/// How closely a kernel is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Level {
    /// Analytic bounds in one pass over the trace.
    L0,
    /// Event-driven, cycle by cycle where something happens.
    #[default]
    L1,
}

impl Level {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
        }
    }
}

/// What a caller may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How closely to model.
    pub level: Level,
    /// Accept a trace of another architecture. Its instructions are then timed as if this GPU ran them,
    /// which no real GPU does; results are marked.
    pub allow_other_arch: bool,
    /// Empty L2 before each kernel instead of keeping what the kernels before left there. Level 0 always does.
    pub cold: bool,
    /// Level 1: leave out the middle of long grids whose pace is steady. Grids below [`crate::l1::MIN_WAVES`]
    /// waves are simulated whole; [`EngineError::Unsteady`] says that a kernel has to be.
    pub sample: bool,
    /// Level 1: simulate only the blocks of every n-th SM, twice, from a cold L2; [`EngineError::Unsteady`] when the two
    /// differ by more than 3 %. Kernels with clusters and GPUs with few SMs are simulated whole.
    pub sample_sms: Option<u32>,
    /// Level 1: simulate the SMs of a kernel on the threads of rayon's pool, with the same result to the bit.
    /// Without the feature `parallel` it does nothing.
    pub parallel: bool,
}

/// A trace of one architecture was to run on a GPU of another.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "kernel `{kernel}` was traced for sm_{trace} but {gpu} is sm_{sm}: instructions of one architecture do not run on \
     another. Simulate it on an sm_{trace} GPU, or trace the workload again on {gpu}'s architecture"
)]
pub struct ArchMismatch {
    /// Kernel name.
    pub kernel: String,
    /// Binary version of the trace (0 when its header has none).
    pub trace: u32,
    /// Config name of the GPU.
    pub gpu: String,
    /// SM number of the GPU.
    pub sm: u32,
}

/// Why a kernel could not be simulated.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Wrong architecture.
    #[error(transparent)]
    Arch(#[from] ArchMismatch),
    /// Not one CTA fits on an SM.
    #[error(
        "kernel `{kernel}` cannot run on {gpu}: one thread block of {threads} threads, {registers} registers a thread and \
         {shared} bytes of shared memory exceeds an SM's {limit}. Simulate it on a GPU with larger SMs"
    )]
    DoesNotFit {
        /// Kernel name.
        kernel: String,
        /// Config name of the GPU.
        gpu: String,
        /// Threads of a block.
        threads: u64,
        /// Registers of a thread.
        registers: u32,
        /// Shared memory of a block, bytes.
        shared: u64,
        /// Which limit it breaks.
        limit: &'static str,
    },
    /// A block names an opcode that the source's table lacks.
    #[error("kernel `{kernel}`: block {block} refers to opcode {id}, which its opcode table lacks")]
    Opcode {
        /// Kernel name.
        kernel: String,
        /// The block's coordinates.
        block: String,
        /// The opcode id.
        id: u16,
    },
    /// No warp can go on.
    #[error(
        "kernel `{kernel}` is deadlocked at cycle {cycle}: warp {warp} of block {block} waits at PC {pc:#06x} for \
         {waits_for}, and nothing that runs can end that (warps that wait: {blocked}). The trace is incomplete or was cut; trace \
         the kernel again, or use level 0"
    )]
    Deadlock {
        /// Kernel name.
        kernel: String,
        /// When, core cycles from the kernel's start.
        cycle: u32,
        /// Coordinates of the first blocked warp's block.
        block: String,
        /// Its index in the block.
        warp: u32,
        /// The instruction at which it waits.
        pc: u32,
        /// What it waits for.
        waits_for: String,
        /// Warps that wait in all.
        blocked: usize,
    },
    /// Longer than times can count.
    #[error(
        "kernel `{kernel}` runs for more than {limit} cycles, the most that level 1 simulates; use level 0"
    )]
    TooLong {
        /// Kernel name.
        kernel: String,
        /// The limit, core cycles.
        limit: u32,
    },
    /// The parts that sampling simulated do not agree.
    #[error(
        "kernel `{kernel}` cannot be sampled: its pace before and after the blocks left out differs by {percent:.1} %, more \
         than {} %. Simulate it without sampling",
        l1::MAX_DISAGREEMENT * 100.0
    )]
    Unsteady {
        /// Kernel name.
        kernel: String,
        /// Difference, percent.
        percent: f64,
    },
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// The timing engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engine;

impl Engine {
    /// Whether a kernel's instructions are those of the GPU's architecture: the trace's binary version must
    /// equal the GPU's SM number. Even neighbours such as sm_80 and sm_86 differ in what instructions cost.
    ///
    /// # Errors
    /// Names both and says what to do.
    pub fn check(header: &KernelHeader, gpu: &GpuModel) -> Result<(), ArchMismatch> {
        if header.binary_version == gpu.sm {
            return Ok(());
        }
        Err(ArchMismatch {
            kernel: header.name.clone(),
            trace: header.binary_version,
            gpu: gpu.name.clone(),
            sm: gpu.sm,
        })
    }

    /// Reads a kernel to its end and says how long it takes on `gpu`.
    ///
    /// # Errors
    /// A wrong architecture, a block that does not fit, or the source's own error.
    pub fn simulate_kernel<S: BlockSource + ?Sized>(
        source: &mut S,
        gpu: &GpuModel,
        options: &Options,
    ) -> Result<KernelEstimate, EngineError> {
        match options.level {
            Level::L0 => Self::bounds(source, gpu, options),
            Level::L1 => l1::simulate(source, gpu, options, &mut L2State::cold(gpu)),
        }
    }

    /// The same after other kernels: at level 1 it finds in L2 what they left in `state`, and leaves its own
    /// lines there, unless [`Options::cold`] is set.
    ///
    /// # Errors
    /// As [`Engine::simulate_kernel`]; `state` is then unspecified and should be made anew.
    pub fn simulate_next_kernel<S: BlockSource + ?Sized>(
        source: &mut S,
        gpu: &GpuModel,
        options: &Options,
        state: &mut L2State,
    ) -> Result<KernelEstimate, EngineError> {
        match options.level {
            Level::L0 => Self::bounds(source, gpu, options),
            Level::L1 => l1::simulate(source, gpu, options, state),
        }
    }

    fn bounds<S: BlockSource + ?Sized>(
        source: &mut S,
        gpu: &GpuModel,
        options: &Options,
    ) -> Result<KernelEstimate, EngineError> {
        let mut pass = KernelPass::new(source.header(), gpu, options)?;
        let mut block = ThreadBlock::default();
        while source.next_block(&mut block)? {
            pass.block(&block, source.opcodes())?;
        }
        Ok(pass.finish(source.opcodes()))
    }

    pub(crate) fn does_not_fit(header: &KernelHeader, gpu: &GpuModel, limit: Limit) -> EngineError {
        EngineError::DoesNotFit {
            kernel: header.name.clone(),
            gpu: gpu.name.clone(),
            threads: header.block.count(),
            registers: header.nregs,
            shared: header.shmem_bytes,
            limit: match limit {
                Limit::Warps => "warp slots",
                Limit::Registers => "registers",
                Limit::SharedMemory => "shared memory",
                Limit::Ctas | Limit::Grid => "CTA slots",
            },
        }
    }
}
