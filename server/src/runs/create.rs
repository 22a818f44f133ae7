//! Creating and cancelling runs.

use cascade_api::{Engine, RunCreate, RunDetail, RunId, SimId, SimState, TraceState, TraceSummary};

use super::Service;
use super::change::move_to;
use crate::clock;
use crate::db::{NewRun, SimRecord};
use crate::error::Error;
use crate::samples;

/// Most sims of one run: what a page can still show and one write can still store.
const MAX_RUN_SIMS: u64 = 10_000;

impl Service {
    /// Checks what a run asks for, stores it with every sim `pending` and rings for the launcher.
    pub async fn run_create(&self, ask: RunCreate) -> Result<RunDetail, Error> {
        let trace = self.trace(&ask.trace_id).await?.summary;
        self.check(&ask, &trace)?;
        let (id, now) = (RunId::from_bits(random_bits()?), clock::now());
        let (engine, total) = match samples::recorded(&trace.id).filter(|_| ask.replay) {
            Some(recorded) => (Engine::Replay, recorded.kernels),
            None => (self.settings.expected_engine(), trace.kernel_count),
        };
        let mut sims = Vec::new();
        for entry in &ask.entries {
            for replica in 0..entry.count {
                let sim = SimId::from_bits(random_bits()?);
                let gpu = entry.gpu_config.clone();
                sims.push(SimRecord::pending(
                    sim,
                    id.clone(),
                    gpu,
                    replica,
                    total,
                    engine,
                    now,
                ));
            }
        }
        let run = NewRun {
            id: id.clone(),
            trace_id: ask.trace_id,
            created_at: now,
            entries: ask.entries,
            sample: false,
            replay: ask.replay,
            sims,
        };
        let service = self.clone();
        tokio::spawn(async move {
            let mut tx = service.db.write().await?;
            tx.run_insert(&run).await?;
            tx.commit().await
        })
        .await??;
        // Read before the bell rings: nobody has touched the run yet.
        let detail = self.run(&id).await?;
        self.launch_wanted.notify_one();
        Ok(detail)
    }

    fn check(&self, ask: &RunCreate, trace: &TraceSummary) -> Result<(), Error> {
        match (trace.sample, ask.replay) {
            (true, false) => return Err(Error::SampleTrace(trace.id.clone())),
            (false, true) => return Err(Error::NotASample(trace.id.clone())),
            _ => {}
        }
        if trace.state != TraceState::Ready {
            return Err(Error::TraceNotReady {
                id: trace.id.clone(),
                state: trace.state,
            });
        }
        for entry in &ask.entries {
            let gpu = self.gpus.get(&entry.gpu_config);
            let gpu = gpu.ok_or_else(|| Error::UnknownGpu(entry.gpu_config.clone()))?;
            if let Some(recorded) = samples::recorded(&trace.id).filter(|_| ask.replay)
                && !recorded.has(&gpu.name)
            {
                return Err(Error::NothingRecorded {
                    trace: trace.id.clone(),
                    gpu: gpu.name.clone(),
                    recorded: recorded.gpus(),
                });
            }
            if gpu.arch != trace.trace_gpu_arch {
                return Err(Error::WrongArch {
                    gpu: gpu.name.clone(),
                    arch: gpu.arch.clone(),
                    trace: trace.id.clone(),
                    trace_arch: trace.trace_gpu_arch.clone(),
                });
            }
        }
        let asked = ask.entries.iter().map(|entry| u64::from(entry.count)).sum();
        if asked > MAX_RUN_SIMS {
            return Err(Error::TooManySims {
                asked,
                max: MAX_RUN_SIMS,
            });
        }
        Ok(())
    }

    /// Cancels every sim of a run that has not finished. Doing it again changes nothing.
    pub async fn run_cancel(&self, id: &RunId) -> Result<RunDetail, Error> {
        let (service, run) = (self.clone(), id.clone());
        tokio::spawn(async move { service.run_cancel_now(&run).await }).await??;
        self.run(id).await
    }

    async fn run_cancel_now(&self, id: &RunId) -> Result<(), Error> {
        let turn = self.events.turn(id).await;
        let (_, sims) = self.run_record(id).await?;
        let mut changes = Vec::new();
        for mut sim in sims {
            let mut after = sim.clone();
            if move_to(&mut after, SimState::Cancelled, clock::now()) {
                changes.push(self.with_log_ended(&turn, &mut sim, after).await?);
            }
        }
        self.sims_store(&turn, changes).await
    }
}

fn random_bits() -> Result<u64, Error> {
    getrandom::u64().map_err(|error| Error::Io {
        what: "cannot draw random bits for an id",
        source: error.into(),
    })
}
