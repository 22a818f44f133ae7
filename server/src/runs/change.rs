//! Changing sims: under their run's turn, in one write, told to whoever watches.

use cascade_api::{SimId, SimState, Timestamp};

use super::{Service, SimEnded, logs};
use crate::clock;
use crate::db::{NewKernel, SimRecord};
use crate::error::Error;
use crate::events::Turn;

/// What is to be stored and told about one sim.
#[derive(Debug)]
pub(super) struct Change {
    /// The sim as it shall be.
    pub(super) sim: SimRecord,
    /// Kernels it finished.
    pub(super) kernels: Vec<NewKernel>,
    /// The log chunk that this takes, in case it was kept early.
    pub(super) taken_early: Option<u64>,
    /// New lines of its log.
    pub(super) lines: Option<Vec<String>>,
    /// Whether it just reached a terminal state.
    pub(super) ended: bool,
}

/// Moves a sim to `to` if the table of moves allows it.
pub(super) fn move_to(sim: &mut SimRecord, to: SimState, now: Timestamp) -> bool {
    if !sim.summary.state.can_become(to) {
        return false;
    }
    sim.summary.state = to;
    sim.state_since = now;
    if to.is_terminal() {
        sim.summary.finished_at = Some(now);
    }
    true
}

impl Service {
    /// Waits for the turn of a sim's run and reads the sim, which nobody else changes during the turn.
    pub(super) async fn sim_turn(&self, id: &SimId) -> Result<(Turn, SimRecord), Error> {
        let missing = || Error::NoSim(id.clone());
        let run = self.db.sim_run(id).await?.ok_or_else(missing)?;
        let turn = self.events.turn(&run).await;
        let sim = self.db.sim_get(id).await?.ok_or_else(missing)?;
        Ok((turn, sim))
    }

    /// Lets `change` work on a sim and stores the result if it says that something changed. Answers the sim
    /// as it then is, and whether it changed.
    ///
    /// It runs as a task of its own, so that a caller who hangs up cannot leave it half done.
    pub(super) async fn sim_change(
        &self,
        id: &SimId,
        change: impl FnOnce(&mut SimRecord, Timestamp) -> bool + Send + 'static,
    ) -> Result<(SimRecord, bool), Error> {
        let (service, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            let (turn, mut sim) = service.sim_turn(&id).await?;
            let mut after = sim.clone();
            if !change(&mut after, clock::now()) {
                return Ok((sim, false));
            }
            let change = service.with_log_ended(&turn, &mut sim, after).await?;
            let after = change.sim.clone();
            service.sims_store(&turn, vec![change]).await?;
            Ok((after, true))
        })
        .await?
    }

    /// The change from `sim` to `after`. If that ends the sim, its log is ended first, so that the terminal
    /// state is the last thing that is told.
    pub(super) async fn with_log_ended(
        &self,
        turn: &Turn,
        sim: &mut SimRecord,
        mut after: SimRecord,
    ) -> Result<Change, Error> {
        let ended = after.summary.state.is_terminal() && !sim.summary.state.is_terminal();
        let mut kernels = Vec::new();
        if ended {
            kernels = self.log_finish(turn, sim).await?;
            after.next_seq = sim.next_seq;
            after.log_bytes = sim.log_bytes;
            let (to, from) = (&mut after.summary, &sim.summary);
            to.log_tail.clone_from(&from.log_tail);
            to.kernels_done = from.kernels_done;
            to.latest = from.latest;
            to.current_kernel.clone_from(&from.current_kernel);
        }
        Ok(Change {
            sim: after,
            kernels,
            taken_early: None,
            lines: None,
            ended,
        })
    }

    /// Stores changes to sims of one run together, then tells them.
    pub(super) async fn sims_store(&self, turn: &Turn, changes: Vec<Change>) -> Result<(), Error> {
        let mut tx = self.db.write().await?;
        for change in &changes {
            for kernel in &change.kernels {
                tx.kernel_insert(kernel).await?;
            }
            if let Some(seq) = change.taken_early {
                tx.early_chunk_drop(&change.sim.summary.id, seq).await?;
            }
            tx.sim_put(&change.sim).await?;
        }
        tx.commit().await?;
        for change in changes {
            if change.ended {
                self.tell_ended(SimEnded {
                    sim_id: change.sim.summary.id.clone(),
                    launcher_ref: change.sim.summary.launcher_ref.clone(),
                    state: change.sim.summary.state,
                });
            }
            for event in logs::events(change) {
                self.events.publish(turn, &event);
            }
        }
        Ok(())
    }
}
