//! Profiles: built from a sim's step timeline, kept for the sims that were asked about last.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cascade_api::{EfficiencyRange, GpuName, RunId, ScenarioEfficiency, SimId, TraceSummary};
use cascade_serving::datasheet::{Datasheet, Efficiency, Fraction, datasheet};
use cascade_serving::facts::{FactsError, ModelFacts};
use cascade_serving::profile::{PerfProfile, ProfileError};
use cascade_steps::Timeline;
use serde_json::{Map, Value};

use super::Refused;
use crate::error::Error;
use crate::runs::Service;

/// Most profiles kept.
const MAX_PROFILES: usize = 128;
/// Fields of a run that a timeline's `meta` may lack and the trace's metadata may have.
const RUN_FIELDS: [&str; 2] = ["gpu_memory_utilization", "max_model_len"];
/// Where metadata keeps them.
const RUN_PLACES: [&str; 3] = ["run", "workload", "model_config"];

/// Profiles by sim, the one used last at the end.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<VecDeque<(SimId, Arc<PerfProfile>)>>);

impl Cache {
    fn get(&self, sim: &SimId) -> Option<Arc<PerfProfile>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(id, _)| id == sim)?;
        let entry = kept.remove(at)?;
        let profile = Arc::clone(&entry.1);
        kept.push_back(entry);
        Some(profile)
    }

    fn put(&self, sim: &SimId, profile: &Arc<PerfProfile>) {
        self.forget(sim);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_PROFILES {
            kept.pop_front();
        }
        kept.push_back((sim.clone(), Arc::clone(profile)));
    }

    pub(super) fn forget(&self, sim: &SimId) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(id, _)| id != sim);
    }
}

/// The facts of a traced model, from the metadata of its trace or from the built-in table.
///
/// # Errors
/// A model that is neither described nor built in, or that is not covered.
pub fn facts(model: &str, metadata: &Map<String, Value>) -> Result<ModelFacts, FactsError> {
    ModelFacts::for_trace(model, metadata.get("model_config").and_then(Value::as_object))
}

/// The profile of a simulated timeline. What it does not say of its run, the trace's metadata may.
///
/// # Errors
/// A timeline that is not of repeats of one request.
pub fn profile(
    mut timeline: Timeline,
    metadata: &Map<String, Value>,
    model: ModelFacts,
    gpu: Datasheet,
) -> Result<PerfProfile, ProfileError> {
    supply(&mut timeline, metadata);
    PerfProfile::from_timeline(&timeline, model, gpu, Efficiency::default())
}

/// The profile with the efficiencies that were asked for.
///
/// # Errors
/// Shares that make no range.
pub fn with_efficiency(
    profile: &PerfProfile,
    ask: Option<ScenarioEfficiency>,
) -> Result<PerfProfile, Refused> {
    let Some(ask) = ask else {
        return Ok(profile.clone());
    };
    let Efficiency { compute, bandwidth } = profile.efficiency;
    let efficiency = Efficiency {
        compute: fraction(compute, ask.compute),
        bandwidth: fraction(bandwidth, ask.bandwidth),
    };
    let changed = profile.clone().with_efficiency(efficiency);
    changed.map_err(|error| Refused::field("efficiency", error))
}

fn fraction(default: Fraction, ask: Option<EfficiencyRange>) -> Fraction {
    ask.map_or(default, |ask| Fraction {
        low: ask.low.unwrap_or(default.low.min(ask.assumed)),
        assumed: ask.assumed,
        high: ask.high.unwrap_or(default.high.max(ask.assumed)),
    })
}

impl Service {
    /// The profile of a sim that has succeeded.
    pub(super) async fn scenario_profile(
        &self,
        trace: &TraceSummary,
        gpu: &GpuName,
        run: &RunId,
        sim: &SimId,
        model: ModelFacts,
    ) -> Result<Arc<PerfProfile>, Error> {
        if let Some(profile) = self.scenarios.profiles.get(sim) {
            return Ok(profile);
        }
        let failed = |problem: String| Error::BaseFailed {
            run: run.clone(),
            sim: sim.clone(),
            problem,
        };
        if !self.db.timeline_exists(sim).await? {
            return Err(failed("succeeded without a step timeline".to_owned()));
        }
        let sheet = datasheet(gpu.as_str());
        let sheet = sheet.ok_or_else(|| failed(format!("there is no datasheet of {gpu}")))?;
        let metadata = self.db.trace_metadata(&trace.id).await?.unwrap_or_default();
        let build = move |timeline| self::profile(timeline, &metadata, model, sheet);
        let built = self.timeline_read(sim, build).await?;
        let built =
            built.map_err(|problem| failed(format!("its step timeline cannot be read: {problem}")))?;
        let profile = Arc::new(built.map_err(|error| Error::NoProfile {
            sim: sim.clone(),
            problem: error.to_string(),
        })?);
        self.scenarios.profiles.put(sim, &profile);
        Ok(profile)
    }
}

/// Fills in what the timeline does not say of its run.
fn supply(timeline: &mut Timeline, metadata: &Map<String, Value>) {
    for field in RUN_FIELDS {
        let places = RUN_PLACES
            .iter()
            .filter_map(|place| metadata.get(*place)?.get(field));
        let found = metadata
            .get(field)
            .into_iter()
            .chain(places)
            .find(|value| value.is_number());
        if let (Some(value), false) = (found, timeline.meta.contains_key(field)) {
            timeline.meta.insert(field.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_used_longest_ago_goes_first() {
        let gpu = datasheet("SM90_H100").unwrap();
        let model = cascade_serving::facts::builtin("facebook/opt-125m").unwrap();
        let profile = PerfProfile::from_datasheet(
            model,
            gpu,
            Efficiency::default(),
            cascade_serving::profile::HostTime::default(),
        );
        let profile = Arc::new(profile.unwrap());
        let cache = Cache::default();
        let sim = |n: usize| SimId::from(format!("sim-{n}"));
        for n in 0..MAX_PROFILES {
            cache.put(&sim(n), &profile);
        }
        assert!(cache.get(&sim(0)).is_some());
        cache.put(&sim(MAX_PROFILES), &profile);
        assert!(cache.get(&sim(1)).is_none() && cache.get(&sim(0)).is_some());
        cache.forget(&sim(0));
        assert!(cache.get(&sim(0)).is_none());
    }
}
