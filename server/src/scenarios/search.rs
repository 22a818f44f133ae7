//! Searches over scenarios, each GPU on the sim of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use cascade_api::{GpuName, ScenarioSearch, ScenarioSearchResult, SearchBase};
use cascade_scenario::{plan, search};
use cascade_serving::profile::PerfProfile;

use super::base::{Base, Wanted};
use crate::error::Error;
use crate::runs::Service;

impl Service {
    /// Runs a search; waits for the base sims if need be.
    pub async fn scenario_search(&self, ask: ScenarioSearch) -> Result<ScenarioSearchResult, Error> {
        let planned = plan(&ask)?;
        let mut bases: BTreeMap<Option<GpuName>, Base> = BTreeMap::new();
        let mut profiles: Vec<Arc<PerfProfile>> = Vec::with_capacity(planned.len());
        for point in &planned {
            let gpu = &point.scenario.gpu_config;
            let base = match bases.remove(gpu) {
                Some(base) => base,
                None => self.scenario_base(&Wanted::of(&point.scenario)).await?,
            };
            profiles.push(Arc::clone(&base.profile));
            bases.insert(gpu.clone(), base);
        }
        let found = tokio::task::spawn_blocking(move || {
            let profiles: Vec<&PerfProfile> = profiles.iter().map(Arc::as_ref).collect();
            search(&ask, planned, &profiles)
        });
        let bases = bases.into_values().map(|base| SearchBase {
            trace_id: base.trace_id,
            gpu_config: base.gpu_config,
            run_id: base.run_id,
            sim_id: base.sim_id,
            cached: base.cached,
        });
        Ok(ScenarioSearchResult {
            bases: bases.collect(),
            ..found.await??
        })
    }
}
