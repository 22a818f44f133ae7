//! Runs Cascade's engine over the kernels of a trace: several at once, reported in list order.

mod ahead;
mod cache;
mod error;
mod gpu;
mod groups;
mod kernel;
mod plan;
mod reuse;
mod stats_csv;
mod trace;

pub use cache::{Cache, ENGINE_VERSION, MAX_CACHE_BYTES};
pub use error::SimulateError;
pub use gpu::{Gpu, GpuError, find_gpu, known_gpus};
pub use groups::Check;
pub use plan::{Group, Plan, Planned};
pub use reuse::{Dedup, Reuse};
pub use stats_csv::StatsCsv;
pub use trace::Kernels;

use std::io;

use cascade_accelsim::list::Command;
use cascade_accelsim::trace::KernelHeader;
use cascade_accelsim::trace::identity::header_key;
use cascade_engine::report::Origin;
use cascade_engine::{GpuModel, KernelEstimate, Options};

use groups::{Board, Found, Groups};
use kernel::{Kept, Kernel, relabel};
use reuse::simulates_while_reading;

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
    let reuse = reuse.at(options.level);
    let board = Board::default();
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

/// What all kernels of a run have in common.
struct Launch<'a> {
    gpu: &'a GpuModel,
    options: &'a Options,
    reuse: Reuse<'a>,
    kept: Option<&'a Kept<'a>>,
    board: &'a Board,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Launch<'_> {
    /// Finds the result of kernel `index`, or that an earlier kernel of the run has it.
    fn find(
        &self,
        kernels: &Kernels,
        index: usize,
        on_header: &mut dyn FnMut(&KernelHeader),
    ) -> Result<Found, SimulateError> {
        let mut place = self.board.place(index);
        let shared = |group| Ok(Found { group, own: None });
        if self.reuse.dedup == Dedup::Header {
            // Members are neither read nor looked up.
            let mut kernel = Kernel::open(kernels, index, None, self.stop)?;
            let header = kernel.header()?;
            let group = Some(header_key(header));
            on_header(header);
            place.post(group);
            if place.rank() > self.reuse.verify {
                return shared(group);
            }
            let mut kernel = Kernel::open(kernels, index, self.reuse.cache, self.stop)?;
            let own = Some(self.own(&mut kernel, place.rank() > 0)?);
            return Ok(Found { group, own });
        }
        let mut kernel = Kernel::open(kernels, index, self.reuse.cache, self.stop)?;
        on_header(kernel.header()?);
        if self.reuse.dedup == Dedup::Off {
            place.post(None);
            let own = Some(self.own(&mut kernel, false)?);
            return Ok(Found { group: None, own });
        }
        if kernel.known().is_none() && simulates_while_reading(self.options.level) {
            let estimate = kernel.simulate(self.gpu, self.options, true, self.kept)?;
            let group = kernel.known().map(|identity| identity.content);
            place.post(group);
            let own = Some((estimate, false));
            return Ok(Found { group, own });
        }
        let group = Some(kernel.identify()?.content);
        place.post(group);
        if place.rank() > self.reuse.verify {
            return shared(group);
        }
        let own = Some(self.own(&mut kernel, place.rank() > 0)?);
        Ok(Found { group, own })
    }

    /// The kernel's own result, and whether it was kept from an earlier run. One that is to check another is
    /// simulated in any case: a kept result would be compared with itself.
    fn own(&self, kernel: &mut Kernel<'_>, check: bool) -> Result<(KernelEstimate, bool), SimulateError> {
        if let Some(kept) = self.kept.filter(|_| !check)
            && let Some(estimate) = kernel.kept(kept)?
        {
            return Ok((estimate, true));
        }
        let estimate = kernel.simulate(self.gpu, self.options, false, self.kept)?;
        Ok((estimate, false))
    }
}

#[cfg(test)]
mod tests;
