//! The engine's results as an Accel-Sim log, so that one parser and one page serve every simulator.
//!
//! The layout is Accel-Sim's; the banner says which engine wrote it, and everything that only this engine
//! knows has keys that start with `cascade_engine_`. Where Accel-Sim prints wall-clock time, the caller
//! hands the elapsed seconds in.

mod block;
mod options;
mod origin;

use std::io::{self, Write};

use cascade_accelsim::trace::KernelHeader;

use crate::engine::{Level, Options};
use crate::estimate::KernelEstimate;
use crate::gpu::GpuModel;

pub use block::kernel_stats;
pub use origin::Origin;

/// Name of the engine in the banner, which log readers report as the simulator.
pub const SIMULATOR: &str = "cascade-engine";

/// Writes one run's log.
#[derive(Debug)]
pub struct LogWriter<W: Write> {
    out: W,
    totals: Totals,
}

/// Sums over the run so far.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    kernels: u64,
    cycles: u64,
    thread_insts: u64,
    warp_insts: u64,
    ctas: u64,
}

impl<W: Write> LogWriter<W> {
    /// Starts a log: banner, notice, effective options. `trace` is the kernel list as the caller names it.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(mut out: W, gpu: &GpuModel, options: &Options, trace: &str) -> io::Result<Self> {
        let (version, level) = (env!("CARGO_PKG_VERSION"), options.level.as_str());
        writeln!(
            out,
            "        *** {SIMULATOR} Simulator Version {version}  [build {SIMULATOR}-{version}_level-{level}] ***"
        )?;
        writeln!(out)?;
        writeln!(
            out,
            "Cascade engine {version}: level {level} {}.",
            match options.level {
                Level::L0 => "computes analytic bounds and is not a cycle-level simulation",
                Level::L1 => "simulates SMs, caches and memory cycle by cycle, skipping idle ones",
            }
        )?;
        writeln!(
            out,
            "Cascade engine: {} ({}), {}. {}",
            gpu.name,
            gpu.title,
            gpu.status.as_str(),
            gpu.status_note
        )?;
        writeln!(out)?;
        // The line that announces the dump is GPGPU-Sim's, because readers look for it.
        writeln!(out, "GPGPU-Sim: Configuration options:")?;
        writeln!(out)?;
        options::write(&mut out, gpu, options, trace)?;
        writeln!(out)?;
        Ok(Self {
            out,
            totals: Totals::default(),
        })
    }

    /// Repeats a memory copy of the kernel list, such as `MemcpyHtoD,0x00007fb0fc400000,200000`.
    ///
    /// # Errors
    /// The writer's.
    pub fn memcpy(&mut self, command: &str) -> io::Result<()> {
        writeln!(self.out, "launching memcpy command : {command}")
    }

    /// Announces a kernel whose trace `file` was opened. `uid` counts kernels of the run from 1.
    ///
    /// # Errors
    /// The writer's.
    pub fn kernel_started(&mut self, file: &str, header: &KernelHeader, uid: u64) -> io::Result<()> {
        let out = &mut self.out;
        writeln!(out, "Processing kernel {file}")?;
        writeln!(out, "-kernel name = {}", header.name)?;
        writeln!(out, "-kernel id = {}", header.id)?;
        writeln!(out, "-grid dim = {}", header.grid)?;
        writeln!(out, "-block dim = {}", header.block)?;
        writeln!(out, "-shmem = {}", header.shmem_bytes)?;
        writeln!(out, "-nregs = {}", header.nregs)?;
        writeln!(out, "-binary version = {}", header.binary_version)?;
        writeln!(out, "-cuda stream id = {}", header.stream_id)?;
        writeln!(out, "Header info loaded for kernel command : {file}")?;
        writeln!(
            out,
            "launching kernel name: {} uid: {uid} cuda_stream_id: {}",
            header.name, header.stream_id
        )?;
        out.flush()
    }

    /// A remark that belongs to no kernel's statistics.
    ///
    /// # Errors
    /// The writer's.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "Cascade engine: {}", text.replace('\n', " "))
    }

    /// Prints a finished kernel's statistics and where they come from. `elapsed_s` is the wall-clock time of the run so far, seconds.
    ///
    /// # Errors
    /// The writer's.
    pub fn kernel_finished(
        &mut self,
        estimate: &KernelEstimate,
        uid: u64,
        origin: Origin,
        elapsed_s: f64,
    ) -> io::Result<()> {
        let totals = &mut self.totals;
        totals.kernels += 1;
        totals.cycles += estimate.cycles;
        totals.thread_insts += estimate.thread_insts;
        totals.warp_insts += estimate.warp_insts;
        totals.ctas += estimate.blocks;
        block::write(&mut self.out, estimate, (uid, origin), &self.totals, elapsed_s)?;
        self.out.flush()
    }

    /// Ends the log of a run that finished every kernel.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.out, "GPGPU-Sim: *** simulation thread exiting ***")?;
        writeln!(self.out, "GPGPU-Sim: *** exit detected ***")?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Ends the log of a run that stopped, with the reason in one line; no exit line follows.
    ///
    /// # Errors
    /// The writer's.
    pub fn fail(mut self, reason: &str) -> io::Result<W> {
        writeln!(self.out, "Cascade engine: ERROR: {}", reason.replace('\n', " "))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests;
