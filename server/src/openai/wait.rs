//! Waiting for a base sim, with a word on it now and then.

use std::time::Duration;

use cascade_api::SimId;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::problem::Problem;
use crate::runs::Service;

/// How long a sim may take before the caller is told of it: a failure until then has a status of its own.
const FIRST_WORD: Duration = Duration::from_millis(400);
/// Time between two words on a sim that is waited for: proxies keep a connection on which something comes.
const NEXT_WORD: Duration = Duration::from_secs(5);

/// Something that needs a sim to end.
pub(super) struct Wait<T> {
    sim: SimId,
    patience: Duration,
    done: BoxFuture<'static, Result<T, Problem>>,
}

/// What comes of waiting.
pub(super) enum Waited<T> {
    /// How far the sim is.
    Word(String),
    /// It has ended.
    Done(T),
}

impl<T> Wait<T> {
    pub(super) fn new(sim: SimId, done: impl Future<Output = Result<T, Problem>> + Send + 'static) -> Self {
        Self {
            sim,
            patience: FIRST_WORD,
            done: done.boxed(),
        }
    }

    /// What comes next.
    pub(super) async fn next(&mut self, service: &Service) -> Result<Waited<T>, Problem> {
        tokio::select! {
            done = &mut self.done => Ok(Waited::Done(done?)),
            () = tokio::time::sleep(self.patience) => {
                self.patience = NEXT_WORD;
                let sim = service.sim(&self.sim).await?;
                Ok(Waited::Word(format!(
                    "waiting for sim {} of run {} on {}: {}, {} of {} kernels",
                    sim.id, sim.run_id, sim.gpu_config, sim.state, sim.kernels_done, sim.kernels_total
                )))
            }
        }
    }
}
