//! A run's table of kernels, slice by slice and by columns, as its page reads it.

use cascade_api::{GpuTotal, KernelSlice, LiveEvent, RunDetail, RunId, SimColumn, SimId};
use cascade_scene::kernels::Kernels;
use indexmap::IndexSet;

use super::Service;
use crate::error::Error;
use crate::events::{Follower, Following};

/// Times in one slice at most, whatever is asked for.
const MAX_CELLS: u64 = 40_000;
/// Kernels of a run up to which its GPUs' totals come with the first slice.
const MAX_TOTALS: u64 = 8_000;

impl Service {
    /// Up to `rows` rows of a run's table from `from` on; fewer where its sims are many.
    pub async fn run_slice(&self, id: &RunId, from: u64, rows: u64) -> Result<KernelSlice, Error> {
        let run = self.run(id).await?;
        self.slice(&run, from, rows).await
    }

    /// The same for a run that is at hand.
    pub(super) async fn slice(&self, run: &RunDetail, from: u64, rows: u64) -> Result<KernelSlice, Error> {
        let cells = run.sims.iter().map(|sim| sim.kernels_done).sum::<u64>();
        if from == 0 && cells <= MAX_TOTALS {
            // A small run is read whole, so that its totals are those of all of its rows.
            let whole = self.rows(run, 0, MAX_TOTALS).await?;
            let mut kernels = Kernels::new(run);
            kernels.put(&whole);
            let totals = kernels.totals().into_iter().map(|total| GpuTotal {
                gpu_config: total.gpu,
                kernels: total.kernels as u64,
                sim_ns: total.sim_ns,
                mean_abs_error: total.mean_abs_error,
            });
            return Ok(KernelSlice {
                totals: totals.collect(),
                ..cut(whole, rows)
            });
        }
        let most = (MAX_CELLS / (run.sims.len() as u64).max(1)).max(1);
        self.rows(run, from, rows.clamp(1, most)).await
    }

    async fn rows(&self, run: &RunDetail, from: u64, rows: u64) -> Result<KernelSlice, Error> {
        let to = from.saturating_add(rows);
        let found = self.db.kernels_between(&run.summary.id, from, to).await?;
        let real = self.real_timing(&run.trace).await?.unwrap_or_default();
        let done = run.sims.iter().map(|sim| sim.kernels_done).max().unwrap_or(0);
        let all = done.max(real.len() as u64);
        let length = usize::try_from(to.min(all).saturating_sub(from)).unwrap_or(0);
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let real: Vec<_> = real.into_iter().skip(start).take(length).collect();

        let mut names = IndexSet::new();
        let mut intern = |name: &str| {
            let at = names
                .get_index_of(name)
                .unwrap_or_else(|| names.insert_full(name.to_owned()).0);
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        let mut name: Vec<Option<u32>> = vec![None; length];
        for (slot, real) in name.iter_mut().zip(&real) {
            *slot = (!real.kernel_name.is_empty()).then(|| intern(&real.kernel_name));
        }
        let mut sims: Vec<SimColumn> = run
            .sims
            .iter()
            .map(|sim| SimColumn {
                sim_id: sim.id.clone(),
                ns: Vec::new(),
            })
            .collect();
        let mut at = 0;
        for kernel in found {
            // Rows come sim by sim, in the order of the run's sims.
            while sims.get(at).is_some_and(|sim| sim.sim_id != kernel.sim_id) {
                at += 1;
            }
            let row = usize::try_from(kernel.kernel_index.saturating_sub(from)).unwrap_or(usize::MAX);
            let (Some(sim), Some(slot)) = (sims.get_mut(at), name.get_mut(row)) else {
                continue;
            };
            if slot.is_none() {
                *slot = Some(intern(&kernel.kernel_name));
            }
            sim.ns.resize(row, None);
            sim.ns.push(kernel.sim_time_ns);
        }
        let name = name
            .into_iter()
            .map(|name| name.unwrap_or_else(|| intern("")))
            .collect();
        Ok(KernelSlice {
            rows: all,
            from,
            has_real_timing: run.trace.has_real_timing,
            names: names.into_iter().collect(),
            name,
            real_ns: real.into_iter().map(|real| Some(real.duration_ns)).collect(),
            sims,
            totals: Vec::new(),
        })
    }

    /// The run as it is, and a page that follows it from there on.
    pub async fn run_follow(&self, id: &RunId, log: Option<SimId>) -> Result<(LiveEvent, Following), Error> {
        let turn = self.events.turn(id).await;
        let (_, records) = self.run_record(id).await?;
        let mut run = self.run(id).await?;
        let log_bytes = records.iter().find(|sim| Some(&sim.summary.id) == log.as_ref());
        let log_bytes = log_bytes.map_or(0, |sim| sim.log_bytes);
        let follower = Follower::new(run.sims.iter().map(|sim| sim.id.clone()), log);
        let follower = turn.follow(follower);
        drop(turn);
        without_tails(&mut run);
        let snapshot = LiveEvent::Snapshot {
            run: Box::new(run),
            log_bytes,
        };
        Ok((snapshot, follower))
    }
}

/// A page reads logs by range; the ends of 64 of them would be most of what it loads.
pub(super) fn without_tails(run: &mut RunDetail) {
    for sim in &mut run.sims {
        sim.log_tail = Vec::new();
    }
}

/// The first `rows` rows of a slice.
fn cut(mut slice: KernelSlice, rows: u64) -> KernelSlice {
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    slice.name.truncate(rows);
    slice.real_ns.truncate(rows);
    for sim in &mut slice.sims {
        sim.ns.truncate(rows);
    }
    let used = slice.name.iter().max().map_or(0, |name| *name as usize + 1);
    // Names are numbered as they occur, so those of the rows that are left come first.
    slice.names.truncate(used);
    slice
}
