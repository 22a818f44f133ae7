//! Runs Cascade's engine over the kernels of a trace: several at once, reported in list order.

mod ahead;
mod cache;
mod error;
mod gpu;
mod groups;
mod kernel;
mod launch;
mod plan;
mod reuse;
mod stats_csv;
mod trace;
mod warm;

pub use cache::{Cache, ENGINE_VERSION, MAX_CACHE_BYTES};
pub use error::SimulateError;
pub use gpu::{Gpu, GpuDirs, GpuError, find_gpu, known_gpus, own_files, own_gpu, shadowed};
pub use groups::Check;
pub use plan::{Group, Plan, Planned};
pub use reuse::{Dedup, Reuse};
pub use stats_csv::StatsCsv;
pub use trace::Kernels;

use std::io;

use cascade_accelsim::list::Command;
use cascade_accelsim::trace::KernelHeader;
use cascade_accelsim::trace::identity::Key;
use cascade_engine::report::Origin;
use cascade_engine::{GpuModel, KernelEstimate, L2State, Options};

use groups::{Board, Groups};
use kernel::{Kept, relabel};
use launch::Launch;
use warm::Turns;

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
        /// How the kernel came by it.
        origin: Origin,
    },
    /// Members of a group were simulated to compare; after the last kernel.
    Checked(&'a Check),
    /// A remark for the log.
    Note(&'a str),
}

/// Simulates every kernel of `kernels` on `gpu`, `threads` at once, as far as no result can be reused. `stop`
/// is asked at every thread block.
///
/// # Errors
/// The first kernel in list order that fails; all before it were given to `on`.
pub fn simulate(
    kernels: &Kernels,
    gpu: &GpuModel,
    options: &Options,
    reuse: Reuse<'_>,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    on: &mut dyn FnMut(Step<'_>) -> io::Result<()>,
) -> Result<(), SimulateError> {
    let count = kernels.list.kernels().count();
    let options = &Options {
        // Kernels that are alone share their SMs out instead; it changes no bit.
        parallel: threads > count,
        ..*options
    };
    let board = Board::default();
    let turns = Turns::new(L2State::cold(gpu), Key::of(gpu.facts_hash().as_bytes()));
    let kept = reuse.cache.map(|cache| Kept {
        cache,
        setup: cache.setup(gpu, options),
    });
    let work = |index: usize, header: &mut dyn FnMut(&KernelHeader)| {
        let launch = Launch {
            gpu,
            options,
            reuse,
            kept: kept.as_ref(),
            board: &board,
            turns: &turns,
            stop,
        };
        launch.find(kernels, index, header)
    };
    let files: Vec<&str> = kernels.list.kernels().collect();
    let result = ahead::in_order(files.len(), threads, work, |results| {
        let mut groups = Groups::default();
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
            let settled = groups.settle(uid, results.result(index)?, reuse.verify);
            let (mut estimate, origin) = settled.ok_or(SimulateError::Broken { kernel: index + 1 })?;
            for note in reuse.cache.iter().flat_map(|cache| cache.take_notes()) {
                on(Step::Note(&note)).map_err(SimulateError::Write)?;
            }
            if let Some(header) = &read {
                relabel(&mut estimate, header);
                let estimate = &estimate;
                on(Step::Finished {
                    uid,
                    header,
                    estimate,
                    origin,
                })
                .map_err(SimulateError::Write)?;
            }
            index += 1;
        }
        for check in &groups.checks() {
            on(Step::Checked(check)).map_err(SimulateError::Write)?;
        }
        Ok(())
    });
    if let Some(cache) = reuse.cache {
        cache.trim();
    }
    result
}

#[cfg(test)]
mod tests;
