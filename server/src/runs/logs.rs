//! Taking log chunks in: stored, parsed, and told in order.

use cascade_accelsim::log::{self, KernelBlock};
use cascade_api::{KernelStat, LogChunk, RunEvent, SimId, StatValue};

use super::Service;
use super::change::Change;
use super::log_file::{Grown, OpenLog, new_tail, one_line};
use crate::db::{NewKernel, SimRecord};
use crate::error::Error;
use crate::events::Turn;

/// Chunks kept while an earlier one is missing. When more wait, the log goes on without it.
const MAX_EARLY_CHUNKS: u64 = 256;
/// The same for their bytes, 64 MiB: a download of the log reads them as a whole.
const MAX_EARLY_BYTES: u64 = 64 << 20;

impl Service {
    /// Appends a chunk to a sim's log. It is acknowledged once its lines are in the file and its kernels in
    /// the database. A number that was taken before is ignored; one that is ahead waits for its turn.
    pub async fn log_append(&self, id: &SimId, chunk: LogChunk) -> Result<(), Error> {
        let (service, id) = (self.clone(), id.clone());
        tokio::spawn(async move { service.log_append_now(&id, chunk).await }).await?
    }

    async fn log_append_now(&self, id: &SimId, chunk: LogChunk) -> Result<(), Error> {
        let (turn, mut sim) = self.sim_turn(id).await?;
        let lines: Vec<String> = chunk.lines.into_iter().map(one_line).collect();
        if chunk.seq < sim.next_seq {
            return Ok(());
        }
        if chunk.seq == sim.next_seq {
            self.log_grow(&turn, &mut sim, chunk.seq, lines).await?;
            return self.early_chunks_take(&turn, &mut sim, false).await;
        }
        let mut tx = self.db.write().await?;
        tx.early_chunk_keep(id, chunk.seq, &lines).await?;
        tx.commit().await?;
        let (chunks, bytes) = self.db.early_chunks_size(id).await?;
        let full = chunks > MAX_EARLY_CHUNKS || bytes > MAX_EARLY_BYTES;
        if full || sim.summary.state.is_terminal() {
            tracing::warn!(sim = %id, missing = sim.next_seq, "a log chunk never came; going on without it");
            self.early_chunks_take(&turn, &mut sim, true).await?;
        }
        Ok(())
    }

    /// Takes chunks that came early and are due now; over gaps as well if `all`.
    pub(super) async fn early_chunks_take(
        &self,
        turn: &Turn,
        sim: &mut SimRecord,
        all: bool,
    ) -> Result<(), Error> {
        while let Some((seq, lines)) = self.db.early_chunk_first(&sim.summary.id).await? {
            if seq > sim.next_seq && !all {
                break;
            }
            self.log_grow(turn, sim, seq, lines).await?;
        }
        Ok(())
    }

    /// Stores one chunk that is due.
    async fn log_grow(
        &self,
        turn: &Turn,
        sim: &mut SimRecord,
        seq: u64,
        lines: Vec<String>,
    ) -> Result<(), Error> {
        // A chunk kept early whose number was then skipped over must not come twice.
        let parse = !sim.summary.state.is_terminal();
        let (lines, grown, kernels) = {
            let (service, before) = (self.clone(), sim.clone());
            tokio::task::spawn_blocking(move || {
                let grown = service.logs.take(&before)?.append(&lines, parse)?;
                let kernels = service.pack(&before, &grown.blocks)?;
                Ok((lines, grown, kernels))
            })
            .await?
            .map_err(Error::io("cannot write a sim's log"))?
        };
        sim.next_seq = seq.saturating_add(1);
        sim.summary.log_tail = new_tail(&sim.summary.log_tail, &lines);
        let log = note(sim, grown, parse);
        let change = Change {
            sim: sim.clone(),
            kernels,
            taken_early: Some(seq),
            lines: Some(lines),
            ended: false,
        };
        self.sims_store(turn, vec![change]).await?;
        if let Some(log) = log.filter(|_| parse) {
            self.logs.give_back(&sim.summary.id, log);
        }
        Ok(())
    }

    /// Ends the log of a sim that is about to finish: takes what came early, closes the open block. Answers
    /// the kernels that this finished, which are to be stored with the sim's last state.
    pub(super) async fn log_finish(&self, turn: &Turn, sim: &mut SimRecord) -> Result<Vec<NewKernel>, Error> {
        self.early_chunks_take(turn, sim, true).await?;
        if sim.log_bytes == 0 {
            return Ok(Vec::new());
        }
        let (service, before) = (self.clone(), sim.clone());
        let (grown, kernels) = tokio::task::spawn_blocking(move || {
            let grown = service.logs.take(&before)?.finish()?;
            let kernels = service.pack(&before, &grown.blocks)?;
            Ok((grown, kernels))
        })
        .await?
        .map_err(Error::io("cannot finish a sim's log"))?;
        drop(note(sim, grown, true));
        Ok(kernels)
    }

    /// Blocks as they are stored, numbered on from what the sim has.
    fn pack(&self, sim: &SimRecord, blocks: &[KernelBlock]) -> std::io::Result<Vec<NewKernel>> {
        let gpu = self.gpus.get(&sim.summary.gpu_config);
        let time = |cycles: u64| gpu.as_ref().and_then(|gpu| gpu.time_ns(cycles as f64));
        pack(&sim.summary.id, sim.summary.kernels_done, blocks, time)
    }
}

/// Blocks as they are stored, numbered from `first`; `time` turns cycles into ns.
pub(super) fn pack(
    sim: &SimId,
    first: u64,
    blocks: &[KernelBlock],
    time: impl Fn(u64) -> Option<f64>,
) -> std::io::Result<Vec<NewKernel>> {
    let kernel = |(index, block): (u64, &KernelBlock)| {
        let cycles = block.gpu_sim_cycle;
        let stats = block.stats.iter();
        NewKernel::pack(KernelStat {
            sim_id: sim.clone(),
            kernel_index: index,
            kernel_name: kernel_name(block),
            kernel_launch_uid: block.finished_uid.or_else(|| block.uids.first().copied()),
            gpu_sim_cycle: cycles,
            gpu_sim_insn: block.gpu_sim_insn,
            gpu_ipc: block.gpu_ipc,
            sim_time_ns: cycles.and_then(&time),
            stats: stats
                .map(|(key, value)| (key.clone(), stat_value(value)))
                .collect(),
        })
    };
    (first..).zip(blocks).map(kernel).collect()
}

/// The block's name; where several kernels shared its window, the one that finished, else all of them.
fn kernel_name(block: &KernelBlock) -> String {
    match (block.names.as_slice(), &block.finished_name) {
        ([name], _) => name.clone(),
        (_, Some(name)) => name.clone(),
        (names, None) => names.join(" "),
    }
}

fn stat_value(value: &log::StatValue) -> StatValue {
    match value {
        log::StatValue::Number(number) => StatValue::Number(*number),
        log::StatValue::Text(text) => StatValue::Text(text.clone()),
    }
}

/// Notes what the log brought in the sim; answers the log itself.
fn note(sim: &mut SimRecord, grown: Grown, parsed: bool) -> Option<OpenLog> {
    sim.log_bytes = grown.bytes;
    if parsed {
        sim.summary.kernels_done += grown.blocks.len() as u64;
        sim.summary.latest = grown.latest;
        sim.summary.current_kernel = grown.current_kernel;
    }
    grown.log
}

/// The events of one change, in the order in which they are told.
pub(super) fn events(change: Change) -> Vec<RunEvent> {
    let id = change.sim.summary.id.clone();
    let log = change.lines.map(|lines| RunEvent::Log { sim_id: id, lines });
    let kernels = change.kernels.into_iter().map(|kernel| RunEvent::Kernel {
        stat: Box::new(kernel.stat),
    });
    let sim = RunEvent::Sim {
        sim: Box::new(change.sim.summary),
    };
    log.into_iter().chain(kernels).chain([sim]).collect()
}
