//! Changing one sim: under its run's turn, in one write, told to whoever watches.

use cascade_api::{RunEvent, SimId, SimState, Timestamp};

use super::{Service, SimEnded};
use crate::clock;
use crate::db::SimRecord;
use crate::error::Error;

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
        tokio::spawn(async move { service.sim_change_now(&id, change).await }).await?
    }

    async fn sim_change_now(
        &self,
        id: &SimId,
        change: impl FnOnce(&mut SimRecord, Timestamp) -> bool,
    ) -> Result<(SimRecord, bool), Error> {
        let run = self
            .db
            .sim_run(id)
            .await?
            .ok_or_else(|| Error::NoSim(id.clone()))?;
        let turn = self.events.turn(&run).await;
        let mut tx = self.db.write().await?;
        let mut sim = tx.sim_get(id).await?.ok_or_else(|| Error::NoSim(id.clone()))?;
        let was_terminal = sim.summary.state.is_terminal();
        if !change(&mut sim, clock::now()) {
            return Ok((sim, false));
        }
        tx.sim_put(&sim).await?;
        tx.commit().await?;
        let summary = sim.summary.clone();
        if summary.state.is_terminal() && !was_terminal {
            self.tell_ended(SimEnded {
                sim_id: summary.id.clone(),
                launcher_ref: summary.launcher_ref.clone(),
                state: summary.state,
            });
        }
        let sim_event = RunEvent::Sim {
            sim: Box::new(summary),
        };
        self.events.publish(&turn, &sim_event);
        Ok((sim, true))
    }
}
