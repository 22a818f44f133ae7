//! Synthetic traces: small kernels with a known instruction stream, for tests, the demo and users without
//! a GPU.
//!
//! A [`KernelShape`] says everything; its trace and its exact instruction counts are pure functions of it.
//! [`model_like`] puts shapes together like the kernels of a model's forward passes. The code is written
//! here after what compilers emit for such kernels; no trace of a real GPU is reproduced, and everything
//! that is written says so.

mod kernels;
mod model;
mod program;

#[cfg(test)]
mod tests;

use std::io::Write;

pub use kernels::{Copy, Decode, FmaChain, Gemm, LayerNorm, Reduction};
pub use model::{MAX_STEPS, MODELS, ModelPreset, NO_GPU, PROMPT, SynthTrace, model_like};

use kernels::Workload;
use program::WarpCode;

use crate::trace::{Dim3, TraceErrorKind, TraceFormat, create};

/// Most thread blocks in a synthetic kernel: they are meant to be small.
pub const MAX_BLOCKS: u64 = 1 << 20;
/// Most warp instructions in a synthetic kernel.
pub const MAX_INSTRS: u64 = 1 << 32;

/// A GPU architecture that traces can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    binary: u32,
    config: &'static str,
}

impl Arch {
    /// Every architecture, with the GPU config that suits it.
    pub const ALL: [Self; 6] = [
        Self {
            binary: 70,
            config: "SM7_QV100",
        },
        Self {
            binary: 75,
            config: "SM75_RTX2060",
        },
        Self {
            binary: 80,
            config: "SM80_A100",
        },
        Self {
            binary: 86,
            config: "SM86_RTX3070",
        },
        Self {
            binary: 89,
            config: "SM89_RTX4090",
        },
        Self {
            binary: 90,
            config: "SM90_H100",
        },
    ];

    /// The architecture of an SM number such as 80.
    ///
    /// # Errors
    /// When it is none of those in [`Arch::ALL`].
    pub fn new(binary: u32) -> Result<Self, SynthError> {
        Self::ALL
            .into_iter()
            .find(|arch| arch.binary == binary)
            .ok_or(SynthError::UnknownArch(binary))
    }

    /// The SM number, as in `-binary version`.
    pub fn binary(self) -> u32 {
        self.binary
    }

    /// Name of a GPU config of this architecture.
    pub fn config(self) -> &'static str {
        self.config
    }
}

/// Why nothing can be synthesised.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SynthError {
    /// No such architecture.
    #[error("no synthetic code for sm_{0}; choose sm_70, sm_75, sm_80, sm_86, sm_89 or sm_90")]
    UnknownArch(u32),
    /// No such model.
    #[error("no synthetic kernels like model `{0}`; choose one of: {known}", known = model::known())]
    UnknownModel(String),
    /// A number of forward passes that makes no sense.
    #[error("{0} steps; choose 1 to {max}", max = MAX_STEPS)]
    BadSteps(u32),
    /// A shape that cannot be a kernel.
    #[error("{0}")]
    BadShape(&'static str),
}

/// Exact number of instructions that a kernel executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Warp instructions: lines of the trace.
    pub warp_instrs: u64,
    /// Thread instructions: active lanes of these lines.
    pub thread_instrs: u64,
}

/// What a kernel does and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelShape {
    /// Streaming copy.
    Copy(Copy),
    /// Chains of dependent multiply-adds.
    FmaChain(FmaChain),
    /// Tiled matrix multiply on tensor cores.
    Gemm(Gemm),
    /// Sum of an array.
    Reduction(Reduction),
    /// Layer normalisation of rows.
    LayerNorm(LayerNorm),
    /// Attention of one query for each sequence over a paged key-value cache.
    Decode(Decode),
}

impl KernelShape {
    fn workload(&self) -> &dyn Workload {
        match self {
            Self::Copy(shape) => shape,
            Self::FmaChain(shape) => shape,
            Self::Gemm(shape) => shape,
            Self::Reduction(shape) => shape,
            Self::LayerNorm(shape) => shape,
            Self::Decode(shape) => shape,
        }
    }
}

/// A kernel that can be written as a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthKernel {
    name: String,
    shape: KernelShape,
    arch: Arch,
}

impl SynthKernel {
    /// A kernel of a shape, under a name.
    ///
    /// # Errors
    /// When the shape has a zero extent or is beyond a limit.
    pub fn new(name: &str, shape: KernelShape, arch: Arch) -> Result<Self, SynthError> {
        let workload = shape.workload();
        workload.check()?;
        if workload.grid().count() > MAX_BLOCKS {
            return Err(SynthError::BadShape(
                "more than 1,048,576 thread blocks in a synthetic kernel",
            ));
        }
        let kernel = Self {
            name: name.chars().filter(|c| !c.is_control()).collect(),
            shape,
            arch,
        };
        if kernel.counts().warp_instrs > MAX_INSTRS {
            return Err(SynthError::BadShape(
                "more than 2^32 instructions in a synthetic kernel",
            ));
        }
        Ok(kernel)
    }

    /// Kernel name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Thread blocks in the grid.
    pub fn grid(&self) -> Dim3 {
        self.shape.workload().grid()
    }

    /// Threads in a block.
    pub fn threads(&self) -> u32 {
        self.shape.workload().threads()
    }

    /// Exact number of instructions.
    pub fn counts(&self) -> Counts {
        self.shape.workload().counts(self.arch)
    }

    /// Writes the trace in a processed `format` as launch number `id`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&self, id: u64, output: impl Write, format: TraceFormat) -> Result<(), TraceErrorKind> {
        let workload = self.shape.workload();
        let (grid, warps) = (self.grid(), self.threads() / 32);
        let mut sink = create(output, format, self.header(id).as_bytes(), Vec::new())?;
        let mut code = WarpCode::new(self.arch);
        for block in 0..u32::try_from(grid.count()).unwrap_or(u32::MAX) {
            // Synthetic grids are flat in z, so rows of x and y are all there is.
            sink.begin_block(Dim3::new(block % grid.x.max(1), block / grid.x.max(1), 0), None)?;
            for warp in 0..warps {
                code.clear();
                workload.warp(block, warp, &mut code);
                sink.begin_warp(warp, code.len())?;
                for line in code.lines() {
                    sink.instr(line)?;
                }
            }
            sink.end_block()?;
        }
        sink.finish()
    }

    fn header(&self, id: u64) -> String {
        let workload = self.shape.workload();
        format!(
            "-kernel name = {}\n-kernel id = {id}\n-grid dim = {}\n-block dim = ({},1,1)\n-shmem = {}\n\
             -nregs = {}\n-binary version = {}\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n\
             -local mem base_addr = 0x00007f1000000000\n-nvbit version = 1.7.4\n-accelsim tracer version = 5\n\
             -enable lineinfo = 0\n-synthetic = 1\n\n#traces format = [line_num] PC mask dest_num [reg_dests] \
             opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n",
            self.name,
            self.grid(),
            self.threads(),
            workload.shmem(),
            workload.registers(),
            self.arch.binary,
        )
    }
}
