//! What the launcher and the monitor report about sims.

use cascade_api::{SimId, SimState};

use super::Service;
use super::change::move_to;
use crate::db::{DbResult, LaunchedSim, SimLaunch};
use crate::error::Error;

impl Service {
    /// Sims that wait to be launched, first come first.
    pub async fn sims_pending(&self) -> DbResult<Vec<SimLaunch>> {
        self.db.sims_pending().await
    }

    /// Sims that were taken up and have not finished, with the launcher's handle.
    pub async fn sims_with_launcher(&self) -> DbResult<Vec<(SimId, SimState, Option<String>)>> {
        self.db.sims_with_launcher().await
    }

    /// Sims that were launched and have not finished, each with its last sign of life.
    pub async fn sims_launched(&self) -> DbResult<Vec<LaunchedSim>> {
        self.db.sims_launched().await
    }

    /// Takes a sim up for launching. False when it no longer waits: leave it alone then.
    pub async fn sim_launching(&self, id: &SimId) -> Result<bool, Error> {
        let moved = self.sim_change(id, |sim, now| {
            let moved = move_to(sim, SimState::Launching, now);
            if moved {
                sim.launched_at = Some(now);
            }
            moved
        });
        Ok(moved.await?.1)
    }

    /// Notes the launcher's handle of a sim that it started. False when the sim finished meanwhile: stop
    /// what was started.
    pub async fn sim_launched(&self, id: &SimId, launcher_ref: String) -> Result<bool, Error> {
        let changed = self.sim_change(id, |sim, _| {
            sim.summary.launcher_ref = Some(launcher_ref);
            true
        });
        Ok(!changed.await?.0.summary.state.is_terminal())
    }

    /// The launcher could not start a sim.
    pub async fn sim_launch_failed(&self, id: &SimId, error: String) -> Result<bool, Error> {
        self.sim_failed(id, error).await
    }

    /// A sim has been silent for too long. False when it is in no state to be lost.
    pub async fn sim_lost(&self, id: &SimId, error: String) -> Result<bool, Error> {
        self.sim_end(id, SimState::Lost, error).await
    }

    /// A sim is given up. False when it has finished already.
    pub async fn sim_failed(&self, id: &SimId, error: String) -> Result<bool, Error> {
        self.sim_end(id, SimState::Failed, error).await
    }

    async fn sim_end(&self, id: &SimId, to: SimState, error: String) -> Result<bool, Error> {
        let moved = self.sim_change(id, move |sim, now| {
            let moved = move_to(sim, to, now);
            if moved {
                sim.summary.error = Some(error);
            }
            moved
        });
        Ok(moved.await?.1)
    }
}
