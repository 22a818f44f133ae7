//! Profiles of the sims that were asked about last, built from their step timelines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cascade_api::{GpuName, RunId, SimId, TraceSummary};
use cascade_serving::facts::ModelFacts;
use cascade_serving::profile::PerfProfile;

use crate::error::Error;
use crate::runs::Service;

/// Most profiles kept.
const MAX_PROFILES: usize = 128;
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
        let sheet = self.gpus.datasheet(gpu);
        let sheet = sheet.ok_or_else(|| failed(format!("there is no datasheet of {gpu}")))?;
        let metadata = self.db.trace_metadata(&trace.id).await?.unwrap_or_default();
        let records = self.scenario_records(&trace.id).await?;
        let build = move |timeline| cascade_scenario::profile(&timeline, &metadata, &records, model, sheet);
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

#[cfg(test)]
mod tests {
    use cascade_serving::datasheet::{Efficiency, datasheet};

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
