//! Settings of `/v1`: whether requests are estimated alone or share an engine, and that engine's scheduler.

use std::fmt;
use std::str::FromStr;

use cascade_api::validate::Validate;
use cascade_api::{Loc, ScenarioCreate, ScenarioScheduler, SchedulingRules};
use serde_json::{Map, Value, json};

use super::value::{NotAChoice, choices};

/// Most requests that wait for one engine unless set: as many as a scenario has.
pub(super) const DEFAULT_QUEUED: usize = cascade_api::MAX_SCENARIO_REQUESTS as usize;

/// How `/v1` times requests.
#[derive(Clone, Debug, PartialEq)]
pub struct V1 {
    /// Alone and told at once, or together and in real time.
    pub mode: V1Mode,
    /// Whose rules decide what runs in a step, in live mode.
    pub policy: V1Policy,
    /// Settings of the engine in live mode.
    pub scheduler: V1Scheduler,
    /// Most requests that wait for one engine.
    pub max_num_queued_reqs: usize,
}

choices!(
    /// How `/v1` times requests.
    V1Mode, "estimate or live" {
        /// Each alone, told at once.
        Estimate = "estimate",
        /// Together, in real time.
        Live = "live",
    }
);

choices!(
    /// Whose rules decide what runs in a step.
    V1Policy, "vllm-v1 or reference" {
        /// vLLM's v1 scheduler.
        VllmV1 = "vllm-v1",
        /// The plainer rules of scenarios.
        Reference = "reference",
    }
);

impl V1Policy {
    /// The rules by the name that scenarios give them.
    pub fn rules(self) -> SchedulingRules {
        match self {
            Self::VllmV1 => SchedulingRules::VllmV1,
            Self::Reference => SchedulingRules::Reference,
        }
    }
}

/// Settings of a scheduler, such as `max_num_seqs=64,enable_prefix_caching=false`: those of a scenario's `scheduler`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct V1Scheduler(pub ScenarioScheduler);

impl FromStr for V1Scheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut settings = Map::new();
        for entry in text.split(',').filter(|entry| !entry.trim().is_empty()) {
            let (name, value) = entry
                .split_once('=')
                .ok_or_else(|| format!("{entry:?} must look like max_num_seqs=64"))?;
            let value = value.trim();
            let value = serde_json::from_str(value).unwrap_or_else(|_no_json| Value::from(value));
            settings.insert(name.trim().to_owned(), value);
        }
        // Held to the same rules as a scenario's.
        let scenario = json!({
            "model": "any", "num_requests": 1, "prompt_tokens": 1, "output_tokens": 1, "scheduler": settings,
        });
        let scenario = ScenarioCreate::validate(scenario).map_err(|problems| {
            let told = problems.iter().map(|problem| match problem.loc.last() {
                Some(Loc::Name(name)) => format!("{name}: {}", problem.msg),
                _ => problem.msg.clone(),
            });
            told.collect::<Vec<_>>().join("; ")
        })?;
        Ok(Self(scenario.scheduler))
    }
}

impl fmt::Display for V1Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(Value::Object(settings)) = serde_json::to_value(&self.0) else {
            return Ok(());
        };
        let entry = |(name, value): (&String, &Value)| match value.as_str() {
            Some(text) => format!("{name}={text}"),
            None => format!("{name}={value}"),
        };
        let entries: Vec<String> = settings.iter().map(entry).collect();
        f.write_str(&entries.join(","))
    }
}
