//! Scenarios: request mixes run through a scheduler, with step times from a finished sim.
//!
//! [`base`] finds or makes the sim, `profile` turns its timeline into step times, `cascade_scenario` runs the mix.

pub(crate) mod base;
mod explored;
mod profile;
mod records;
mod saved;
mod search;

use cascade_api::{GpuName, ScenarioCreate, ScenarioProfile, ScenarioResult, TraceId};
use cascade_scenario::{evaluate, with_efficiency};

use crate::error::Error;
use crate::runs::Service;

/// What scenarios keep between requests.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Held while a base sim is looked up or launched, so that two callers do not launch one each.
    resolving: tokio::sync::Mutex<()>,
    profiles: profile::Cache,
    desk: explored::Desk,
}

impl Shared {
    /// Forgets a sim's profile: it has sent another timeline.
    pub(crate) fn forget(&self, sim: &cascade_api::SimId) {
        self.profiles.forget(sim);
    }
}

impl Service {
    /// A finished sim's profile, for running scenarios elsewhere.
    pub async fn scenario_profile_of(
        &self,
        trace_id: Option<TraceId>,
        model: Option<String>,
        gpu_config: Option<GpuName>,
    ) -> Result<ScenarioProfile, Error> {
        let wanted = base::Wanted::named(trace_id, model, gpu_config);
        let base = self.scenario_base_finished(&wanted).await?;
        let profile = match serde_json::to_value(&*base.profile) {
            Ok(serde_json::Value::Object(profile)) => profile,
            _ => serde_json::Map::new(),
        };
        Ok(ScenarioProfile {
            trace_id: base.trace_id,
            gpu_config: base.gpu_config,
            run_id: base.run_id,
            sim_id: base.sim_id,
            profile,
        })
    }

    /// Runs a scenario; waits for its base sim if need be.
    pub async fn scenario(&self, ask: ScenarioCreate) -> Result<ScenarioResult, Error> {
        let base = self.scenario_base(&base::Wanted::of(&ask)).await?;
        let profile = base.profile;
        let outcome = tokio::task::spawn_blocking(move || {
            let profile = with_efficiency(&profile, ask.efficiency)?;
            evaluate(&profile, &ask)
        });
        Ok(ScenarioResult {
            trace_id: base.trace_id,
            gpu_config: base.gpu_config,
            run_id: base.run_id,
            sim_id: base.sim_id,
            cached: base.cached,
            outcome: outcome.await??,
        })
    }
}
