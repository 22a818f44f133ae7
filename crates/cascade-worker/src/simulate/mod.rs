//! Runs Cascade's engine over the kernels of a trace: several at once, reported in list order.

mod ahead;
mod error;
mod gpu;
mod stats_csv;
mod trace;

pub use error::SimulateError;
pub use gpu::{Gpu, GpuError, find_gpu, known_gpus};
pub use stats_csv::StatsCsv;
pub use trace::Kernels;

use std::io;

use cascade_accelsim::list::Command;
use cascade_accelsim::trace::{BlockSource, KernelHeader};
use cascade_engine::{GpuModel, KernelEstimate, Options};

/// One thing that happened, in list order.
#[derive(Debug)]
pub enum Step<'a> {
    /// The list copies memory to the GPU here.
    Memcpy {
        /// Destination on the GPU.
        address: u64,
        /// Bytes copied.
        bytes: u64,
    },
    /// A kernel's header was read and all kernels before it are done.
    Started {
        /// Its trace file as the list names it.
        file: &'a str,
        /// Its number in the run, from 1.
        uid: u64,
        /// Its header.
        header: &'a KernelHeader,
    },
    /// A kernel is done.
    Finished {
        /// Its number in the run, from 1.
        uid: u64,
        /// Its header.
        header: &'a KernelHeader,
        /// The engine's result.
        estimate: &'a KernelEstimate,
    },
}

/// Simulates every kernel of `kernels` on `gpu`, `threads` at once. `stop` is asked at every thread block.
///
/// # Errors
/// The first kernel in list order that fails; all before it were given to `on`.
pub fn simulate(
    kernels: &Kernels,
    gpu: &GpuModel,
    options: &Options,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    on: &mut dyn FnMut(Step<'_>) -> io::Result<()>,
) -> Result<(), SimulateError> {
    let work = |index: usize, header: &mut dyn FnMut(&KernelHeader)| {
        let mut source = kernels.source(index, stop)?;
        header(source.header());
        cascade_engine::Engine::simulate_kernel(&mut source, gpu, options).map_err(|error| {
            if stop() {
                SimulateError::Stopped
            } else {
                error.into()
            }
        })
    };
    let files: Vec<&str> = kernels.list.kernels().collect();
    ahead::in_order(files.len(), threads, work, |results| {
        let mut index = 0;
        for command in &kernels.list.commands {
            let file = match command {
                Command::MemcpyHtoD { address, bytes } => {
                    let (address, bytes) = (*address, *bytes);
                    on(Step::Memcpy { address, bytes }).map_err(SimulateError::Write)?;
                    continue;
                }
                Command::Kernel(file) => file,
            };
            let uid = index as u64 + 1;
            let mut read = None;
            if let Some(header) = results.header(index) {
                let header = read.insert(header);
                on(Step::Started { file, uid, header }).map_err(SimulateError::Write)?;
            }
            let estimate = results.result(index)?;
            if let Some(header) = &read {
                let estimate = &estimate;
                on(Step::Finished {
                    uid,
                    header,
                    estimate,
                })
                .map_err(SimulateError::Write)?;
            }
            index += 1;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
