//! The routes of scenarios, run and saved.

use std::time::Duration;

use cascade_api::{
    SavedScenario, ScenarioCreate, ScenarioResult, ScenarioSave, ScenarioSearch, ScenarioSearchResult,
};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::{Repeat, json};
use crate::{Client, Result};

/// Longest wait for a scenario: twice what the server waits by default.
const SCENARIO_PATIENCE: Duration = Duration::from_secs(7_200);

/// Every method fails as [`crate::Error`] tells.
impl Client {
    /// Runs a scenario. The server may have to simulate first, for which it waits up to an hour by default.
    ///
    /// # Errors
    /// 404 for an unknown trace or model, 422 for what cannot be estimated, 502 and 504 when the base sim failed
    /// or is not done.
    pub async fn scenario(&self, scenario: &ScenarioCreate) -> Result<ScenarioResult> {
        self.ask(&["scenarios"], scenario).await
    }

    /// Searches for the highest rate, or for a pareto front.
    ///
    /// # Errors
    /// Those of [`Client::scenario`].
    pub async fn search_scenarios(&self, search: &ScenarioSearch) -> Result<ScenarioSearchResult> {
        self.ask(&["scenarios", "search"], search).await
    }

    /// Runs a scenario and saves it with its result in brief.
    ///
    /// # Errors
    /// Those of [`Client::scenario`]; 409 when as many are saved as may be, 413 for one that is too long.
    pub async fn save_scenario(&self, save: &ScenarioSave) -> Result<SavedScenario> {
        self.ask(&["scenarios", "saved"], save).await
    }

    /// Every saved scenario, newest first.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn saved_scenarios(&self) -> Result<Vec<SavedScenario>> {
        self.get(&["scenarios", "saved"]).await
    }

    /// One saved scenario.
    ///
    /// # Errors
    /// 404 for an id that names none.
    pub async fn saved_scenario(&self, id: &str) -> Result<SavedScenario> {
        self.get(&["scenarios", "saved", id]).await
    }

    /// Deletes a saved scenario.
    ///
    /// # Errors
    /// 404 for an id that names none.
    pub async fn delete_scenario(&self, id: &str) -> Result<()> {
        let url = self.url(&["scenarios", "saved", id]);
        // Not repeated when the server may have done it: the second answer would be 404.
        self.send(Repeat::Unseen, |c| Ok(c.request(Method::DELETE, url.clone())))
            .await?;
        Ok(())
    }

    /// Posts what may need a sim first.
    async fn ask<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        let url = self.url(path);
        let make = |c: &Self| Ok(c.slow(Method::POST, url.clone(), SCENARIO_PATIENCE).json(body));
        json(self.send(Repeat::Unseen, make).await?).await
    }
}
