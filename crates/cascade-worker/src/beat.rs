//! The sign of life, in a task of its own: it goes on while other calls are repeated.

use std::time::Duration;

use cascade_api::{Engine, Heartbeat, HeartbeatAck, SimId};
use cascade_client::{Client, Retry};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::stop::{Stop, Why};

/// Pause between heartbeats.
const EVERY: Duration = Duration::from_secs(5);
/// Longest a heartbeat may take before the next one is tried.
const PATIENCE: Duration = Duration::from_secs(10);

/// A `running` heartbeat that names the engine.
pub(crate) fn running(engine: Engine) -> Heartbeat {
    Heartbeat {
        engine: Some(engine),
        ..Heartbeat::running()
    }
}

/// Heeds what the app answered.
pub(crate) fn heed(ack: HeartbeatAck, stop: &Stop) {
    if ack.cancel {
        stop.because(Why::Cancelled);
    } else if ack.state.is_terminal() {
        stop.because(Why::Ended(ack.state));
    }
}

/// Heartbeats until told to end.
pub(crate) struct Beats {
    over: CancellationToken,
    task: JoinHandle<()>,
}

impl Beats {
    pub(crate) fn start(client: &Client, sim: SimId, engine: Engine, stop: Stop) -> Self {
        let client = client.clone().with_retry(Retry::NEVER);
        let over = CancellationToken::new();
        let ended = over.clone();
        let task = tokio::spawn(async move {
            let beat = running(engine);
            let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
            // After a stall one heartbeat is enough.
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = ended.cancelled() => return,
                    _ = ticks.tick() => {}
                }
                match tokio::time::timeout(PATIENCE, client.heartbeat(&sim, &beat)).await {
                    Ok(Ok(ack)) => heed(ack, &stop),
                    Ok(Err(error)) if error.status().is_some_and(|status| status < 500) => {
                        stop.because(Why::Refused(error.to_string()));
                        return;
                    }
                    Ok(Err(error)) => tracing::warn!(%error, "heartbeat failed"),
                    Err(_) => tracing::warn!("heartbeat got no answer in {PATIENCE:?}"),
                }
            }
        });
        Self { over, task }
    }

    /// Stops and waits for a heartbeat that is on its way, so that none arrives after the last one.
    pub(crate) async fn end(self) {
        self.over.cancel();
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the heartbeat task failed");
        }
    }
}
