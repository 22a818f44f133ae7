//! `/v1` in live mode: requests share one engine, which computes on the wall clock what the simulation would.
//!
//! [`engine`] lets the request layer's own loop run in real time, [`inbox`] is how requests reach it, and [`page`]
//! shows what it counts by vLLM's names.

mod engine;
mod inbox;
mod page;
mod stats;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cascade_api::{GpuName, SimId};
use cascade_serving::datasheet::Bound;
use cascade_serving::profile::PerfProfile;
use cascade_serving::roofline::Roofline;
use cascade_serving::scheduler::{ConfigError, SchedulerConfig};

pub(crate) use engine::{Engine, Ticket, Told};
pub(crate) use inbox::{QueueFull, Sequence};

/// Most engines at once. Beyond it the one that was used longest ago makes room, if it is idle.
const MAX_ENGINES: usize = 8;

/// Why there is no engine for a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// Its settings are not possible.
    #[error("CASCADE_V1_SCHEDULER: {0}")]
    Config(ConfigError),
    /// All engines are busy.
    #[error("{MAX_ENGINES} engines are busy, the most that run at once")]
    AllBusy,
    /// The system gives no thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// An engine, and what it stands for.
#[derive(Debug)]
struct Entry {
    sim: SimId,
    model: String,
    gpu: GpuName,
    /// Tells engines of one model and GPU apart in metrics.
    number: u64,
    engine: Arc<Engine>,
}

/// The engines that run, the one used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Engines {
    running: Mutex<Vec<Entry>>,
    started: AtomicU64,
}

impl Engines {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine whose step times come from this sim; starts it if need be. `config` is asked for then.
    pub(crate) fn get<E: From<StartError>>(
        &self,
        sim: &SimId,
        (model, gpu): (&str, &GpuName),
        profile: &PerfProfile,
        limit: usize,
        config: impl FnOnce() -> Result<SchedulerConfig, E>,
    ) -> Result<Arc<Engine>, E> {
        let mut running = self.lock();
        if let Some(at) = running.iter().position(|entry| entry.sim == *sim) {
            let entry = running.remove(at);
            let engine = Arc::clone(&entry.engine);
            running.push(entry);
            return Ok(engine);
        }
        if running.len() >= MAX_ENGINES {
            let idle = running.iter().position(|entry| !entry.engine.is_busy());
            running.remove(idle.ok_or(StartError::AllBusy)?);
        }
        let roofline = Roofline::new(profile, Bound::Assumed);
        let engine = Arc::new(Engine::start(config()?, roofline, limit)?);
        running.push(Entry {
            sim: sim.clone(),
            model: model.to_owned(),
            gpu: gpu.clone(),
            number: self.started.fetch_add(1, Ordering::Relaxed),
            engine: Arc::clone(&engine),
        });
        Ok(engine)
    }

    /// Starts no further request on this sim's engine: its step times have changed.
    pub(crate) fn forget(&self, sim: &SimId) {
        self.lock().retain(|entry| entry.sim != *sim);
    }
}
