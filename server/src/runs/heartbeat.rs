//! Signs of life.

use cascade_api::{Heartbeat, HeartbeatAck, ReportedState, SimId, SimState, Timestamp};

use super::Service;
use super::change::move_to;
use crate::db::SimRecord;
use crate::error::Error;

/// Bytes kept of a simulator's error.
const MAX_ERROR_BYTES: usize = 16 * 1024;

impl Service {
    /// Notes that a sim is alive and what it says about itself; the answer tells it whether to stop.
    pub async fn heartbeat(&self, id: &SimId, heartbeat: Heartbeat) -> Result<HeartbeatAck, Error> {
        let (sim, _) = self
            .sim_change(id, move |sim, now| apply(sim, heartbeat, now))
            .await?;
        let state = sim.summary.state;
        Ok(HeartbeatAck {
            state,
            cancel: state == SimState::Cancelled,
        })
    }
}

/// What a heartbeat does to a sim. A finished sim stays as it is; a move that the table does not allow is
/// ignored, but the sign of life still counts.
fn apply(sim: &mut SimRecord, heartbeat: Heartbeat, now: Timestamp) -> bool {
    if sim.summary.state.is_terminal() {
        return false;
    }
    let to = SimState::from(heartbeat.state);
    let in_state = sim.summary.state == to || move_to(sim, to, now);
    let s = &mut sim.summary;
    s.last_heartbeat_at = Some(now);
    s.engine = heartbeat.engine.unwrap_or(s.engine);
    if in_state {
        match heartbeat.state {
            ReportedState::Running => {
                s.error = None;
                s.started_at.get_or_insert(now);
            }
            ReportedState::Succeeded | ReportedState::Failed => {
                s.exit_code = heartbeat.exit_code;
                s.error = heartbeat.error.map(|mut error| {
                    error.truncate(error.floor_char_boundary(MAX_ERROR_BYTES));
                    error
                });
            }
        }
    }
    true
}

#[cfg(test)]
mod tests;
