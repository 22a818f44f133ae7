//! The sim behind a scenario's step times: a finished one, else one that is under way, else a new one.

use std::sync::Arc;
use std::time::Duration;

use cascade_api::{
    GpuName, RunCreate, RunEntry, RunId, ScenarioBase, ScenarioCreate, SimId, SimState, SimSummary, TraceId,
    TraceState, TraceSummary,
};
use cascade_serving::facts::ModelFacts;
use cascade_serving::profile::PerfProfile;
use tokio::time::Instant;

use crate::error::Error;
use crate::gpus::TARGETS;
use crate::runs::Service;
use cascade_scenario::facts;

/// Longest time between two looks at a sim: its end may have been told while nobody listened.
const LOOK: Duration = Duration::from_secs(1);

/// What a scenario, or any other estimate of requests, rests on.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    trace_id: Option<TraceId>,
    model: Option<String>,
    gpu_config: Option<GpuName>,
    fresh: bool,
}

impl Wanted {
    pub(crate) fn named(
        trace_id: Option<TraceId>,
        model: Option<String>,
        gpu_config: Option<GpuName>,
    ) -> Self {
        Self {
            trace_id,
            model,
            gpu_config,
            fresh: false,
        }
    }

    pub(crate) fn of(ask: &ScenarioCreate) -> Self {
        Self {
            trace_id: ask.trace_id.clone(),
            model: ask.model.clone(),
            gpu_config: ask.gpu_config.clone(),
            fresh: ask.fresh,
        }
    }

    /// One trace, by its id.
    pub(crate) fn trace(id: TraceId, gpu_config: Option<GpuName>, fresh: bool) -> Self {
        Self {
            trace_id: Some(id),
            model: None,
            gpu_config,
            fresh,
        }
    }

    /// A model's newest ready trace.
    pub(crate) fn model(name: String, gpu_config: Option<GpuName>, fresh: bool) -> Self {
        Self {
            trace_id: None,
            model: Some(name),
            gpu_config,
            fresh,
        }
    }
}

/// A trace, GPU and model that fit together, before anything is launched.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) trace: TraceSummary,
    pub(crate) gpu: GpuName,
    pub(crate) model: ModelFacts,
    fresh: bool,
}

/// The sim that was chosen or launched, which may not have finished.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) run_id: RunId,
    pub(crate) sim_id: SimId,
    /// Whether it had finished before anybody asked.
    pub(crate) cached: bool,
}

/// A finished sim with its profile.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) trace_id: TraceId,
    pub(crate) gpu_config: GpuName,
    pub(crate) run_id: RunId,
    pub(crate) sim_id: SimId,
    /// Whether it had finished before anybody asked.
    pub(crate) cached: bool,
    pub(crate) profile: Arc<PerfProfile>,
}

impl Service {
    /// Finds, waits for or launches the sim, and builds its profile.
    pub(crate) async fn scenario_base(&self, wanted: &Wanted) -> Result<Base, Error> {
        let found = self.scenario_find(wanted).await?;
        let chosen = self.scenario_choose(&found).await?;
        self.scenario_finish(&found, chosen).await
    }

    /// Finds the trace, GPU and model, and checks that they fit: what is not covered never will be.
    pub(crate) async fn scenario_find(&self, wanted: &Wanted) -> Result<Found, Error> {
        let trace = self.scenario_trace(wanted).await?;
        let gpu = self.scenario_gpu(&trace, wanted)?;
        let model = self.scenario_model(&trace).await?;
        Ok(Found {
            trace,
            gpu,
            model,
            fresh: wanted.fresh,
        })
    }

    /// GPUs on which requests of a trace can be estimated; none where its model is not covered or nothing says how
    /// its steps are made up.
    pub(crate) async fn scenario_targets(&self, trace: &TraceSummary) -> Result<Vec<GpuName>, Error> {
        let fitting = self.gpus.targets().into_iter().filter(|name| {
            let gpu = self.gpus.get(name);
            gpu.is_some_and(|gpu| gpu.arch == trace.trace_gpu_arch)
        });
        let fitting: Vec<GpuName> = fitting.collect();
        if trace.state != TraceState::Ready || self.scenario_model(trace).await.is_err() {
            return Ok(Vec::new());
        }
        let mut targets = Vec::new();
        for gpu in fitting {
            if trace.has_step_timeline || self.db.base_finished(&trace.id, &gpu).await?.is_some() {
                targets.push(gpu);
            }
        }
        Ok(targets)
    }

    /// Finds or launches the sim.
    pub(crate) async fn scenario_choose(&self, found: &Found) -> Result<Chosen, Error> {
        let (run_id, sim_id, cached) = self.scenario_sim(&found.trace, &found.gpu, found.fresh).await?;
        Ok(Chosen {
            run_id,
            sim_id,
            cached,
        })
    }

    /// Waits for the sim if need be, and builds its profile.
    pub(crate) async fn scenario_finish(&self, found: &Found, chosen: Chosen) -> Result<Base, Error> {
        let Chosen {
            run_id,
            sim_id,
            cached,
        } = chosen;
        if !cached {
            self.scenario_wait(&run_id, &sim_id).await?;
        }
        let Found {
            trace, gpu, model, ..
        } = found;
        let profile = self
            .scenario_profile(trace, gpu, &run_id, &sim_id, model.clone())
            .await?;
        Ok(Base {
            trace_id: trace.id.clone(),
            gpu_config: gpu.clone(),
            run_id,
            sim_id,
            cached,
            profile,
        })
    }

    /// A finished sim with its profile; launches nothing and waits for nothing.
    pub(crate) async fn scenario_base_finished(&self, wanted: &Wanted) -> Result<Base, Error> {
        let trace = self.scenario_trace(wanted).await?;
        let gpu = self.scenario_gpu(&trace, wanted)?;
        let model = self.scenario_model(&trace).await?;
        let found = self.db.base_finished(&trace.id, &gpu).await?;
        let (run_id, sim_id) = found.ok_or_else(|| Error::NoBase {
            trace: trace.id.clone(),
            gpu: gpu.clone(),
        })?;
        let profile = self
            .scenario_profile(&trace, &gpu, &run_id, &sim_id, model)
            .await?;
        Ok(Base {
            trace_id: trace.id,
            gpu_config: gpu,
            run_id,
            sim_id,
            cached: true,
            profile,
        })
    }

    /// Every finished sim that scenarios can rest on.
    pub async fn scenario_bases(&self) -> Result<Vec<ScenarioBase>, Error> {
        let traces = self.db.traces_list().await?;
        let bases = self.db.bases().await?.into_iter();
        let known = bases.filter(|(_, gpu, ..)| self.gpus.datasheet(gpu).is_some());
        let base = |(trace_id, gpu_config, run_id, sim_id): (TraceId, GpuName, RunId, SimId)| {
            let trace = traces.iter().find(|trace| trace.id == trace_id)?;
            Some(ScenarioBase {
                model: trace.model.clone(),
                sample: trace.sample,
                synthetic: trace.synthetic,
                trace_id,
                gpu_config,
                run_id,
                sim_id,
            })
        };
        Ok(known.filter_map(base).collect())
    }

    async fn scenario_trace(&self, wanted: &Wanted) -> Result<TraceSummary, Error> {
        if let Some(id) = &wanted.trace_id {
            let trace = self.db.trace_get(id).await?;
            let trace = trace.ok_or_else(|| Error::NoTrace(id.clone()))?;
            if trace.state != TraceState::Ready {
                let state = trace.state;
                return Err(Error::TraceNotReady { id: trace.id, state });
            }
            return Ok(trace);
        }
        let model = wanted.model.clone().unwrap_or_default();
        // Newest first.
        let ready =
            self.db.traces_list().await?.into_iter().find(|trace| {
                trace.state == TraceState::Ready && trace.model.as_deref() == Some(model.as_str())
            });
        ready.ok_or(Error::NoModel(model))
    }

    fn scenario_gpu(&self, trace: &TraceSummary, wanted: &Wanted) -> Result<GpuName, Error> {
        let named = wanted.gpu_config.as_ref();
        let named = named.or(trace.suggested_sim_config.as_ref());
        let named = named.or(trace.real_gpu_config.as_ref());
        let named = named.ok_or_else(|| Error::NoTarget(trace.id.clone()))?;
        let gpu = self
            .gpus
            .get(named)
            .ok_or_else(|| Error::UnknownGpu(named.clone()))?;
        if self.gpus.datasheet(named).is_none() {
            return Err(Error::UnsupportedTarget {
                gpu: named.clone(),
                targets: TARGETS.join(", "),
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
        Ok(gpu.name.clone())
    }

    async fn scenario_model(&self, trace: &TraceSummary) -> Result<ModelFacts, Error> {
        let metadata = self.db.trace_metadata(&trace.id).await?.unwrap_or_default();
        let records = self.scenario_records(&trace.id).await?;
        facts(trace.model.as_deref().unwrap_or_default(), &metadata, &records).map_err(|problem| {
            Error::UnsupportedModel {
                trace: trace.id.clone(),
                problem: problem.to_string(),
            }
        })
    }

    /// The sim, and whether it has finished with step timing.
    async fn scenario_sim(
        &self,
        trace: &TraceSummary,
        gpu: &GpuName,
        fresh: bool,
    ) -> Result<(RunId, SimId, bool), Error> {
        let turn = self.scenarios.resolving.lock().await;
        if !fresh {
            if let Some((run, sim)) = self.db.base_finished(&trace.id, gpu).await? {
                return Ok((run, sim, true));
            }
            if let Some((run, sim)) = self.db.base_active(&trace.id, gpu).await? {
                return Ok((run, sim, false));
            }
            // Without timeline files of the trace another sim could send no step timing either: the answer names
            // the one there is instead of simulating again for each request.
            if !trace.has_step_timeline
                && let Some((run, sim)) = self.db.base_untimed(&trace.id, gpu).await?
            {
                return Ok((run, sim, false));
            }
        }
        let run = self.run_create(RunCreate {
            trace_id: trace.id.clone(),
            entries: vec![RunEntry {
                gpu_config: gpu.clone(),
                count: 1,
            }],
            replay: trace.sample,
        });
        let run = run.await?;
        drop(turn);
        let id = run.summary.id;
        let sim = run.sims.into_iter().next();
        let sim = sim.ok_or_else(|| Error::NoRun(id.clone()))?;
        Ok((id, sim.id, false))
    }

    /// Waits until a sim has succeeded. When the wait ends first, the sim goes on.
    async fn scenario_wait(&self, run: &RunId, sim: &SimId) -> Result<(), Error> {
        let wait = self.settings.openai_wait;
        let started = Instant::now();
        // From before the first look, so that no end is missed.
        let mut ended = self.sims_ended();
        loop {
            let now = self.sim(sim).await?;
            match now.state {
                SimState::Succeeded => return Ok(()),
                state if state.is_terminal() => return Err(failed(&now)),
                _ => {}
            }
            let left = wait.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(Error::BaseTimeout {
                    run: run.clone(),
                    sim: sim.clone(),
                    state: now.state,
                    seconds: wait.as_secs_f64(),
                });
            }
            // Whatever comes, or nothing: look again.
            drop(tokio::time::timeout(left.min(LOOK), ended.recv()).await);
        }
    }
}

fn failed(sim: &SimSummary) -> Error {
    let why = sim
        .error
        .as_deref()
        .map_or(String::new(), |error| format!(": {error}"));
    Error::BaseFailed {
        run: sim.run_id.clone(),
        sim: sim.id.clone(),
        problem: format!("{}{why}", sim.state),
    }
}
