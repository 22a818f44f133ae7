//! Saved scenarios: a name, what was asked, and what it came to when it was saved.

use cascade_api::{SavedScenario, ScenarioSave};

use crate::clock;
use crate::error::Error;
use crate::runs::Service;

/// Most saved scenarios of a workspace.
pub(crate) const MAX_SAVED: u64 = 1_000;
/// Longest saved scenario, as JSON: a short request trace fits.
const MAX_SAVED_BYTES: usize = 1 << 20;

impl Service {
    /// Runs a scenario and saves it with its result in brief.
    pub async fn scenario_save(&self, ask: ScenarioSave) -> Result<SavedScenario, Error> {
        if self.db.scenarios_count().await? >= MAX_SAVED {
            return Err(Error::TooManySaved(MAX_SAVED));
        }
        let length = serde_json::to_vec(&ask.scenario).map_or(usize::MAX, |json| json.len());
        if length > MAX_SAVED_BYTES {
            return Err(Error::BodyTooBig {
                limit: MAX_SAVED_BYTES as u64,
            });
        }
        let result = self.scenario(ask.scenario.clone()).await?.summary();
        let bits = getrandom::u64().map_err(|error| Error::Io {
            what: "cannot draw random bits for an id",
            source: error.into(),
        })?;
        let saved = SavedScenario {
            id: format!("scn-{:012x}", bits & 0xffff_ffff_ffff),
            name: ask.name,
            created_at: clock::now(),
            // What is run again later rests on what there is then.
            scenario: cascade_api::ScenarioCreate {
                fresh: false,
                ..ask.scenario
            },
            result,
        };
        self.db.scenario_insert(&saved).await?;
        Ok(saved)
    }

    /// Every saved scenario, newest first.
    pub async fn scenarios_saved(&self) -> Result<Vec<SavedScenario>, Error> {
        Ok(self.db.scenarios_list().await?)
    }

    /// One saved scenario.
    pub async fn scenario_saved(&self, id: &str) -> Result<SavedScenario, Error> {
        let saved = self.db.scenario_get(id).await?;
        saved.ok_or_else(|| Error::NoScenario(id.to_owned()))
    }

    /// Deletes a saved scenario.
    pub async fn scenario_delete(&self, id: &str) -> Result<(), Error> {
        match self.db.scenario_delete(id).await? {
            true => Ok(()),
            false => Err(Error::NoScenario(id.to_owned())),
        }
    }
}
