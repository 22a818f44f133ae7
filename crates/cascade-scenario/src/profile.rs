//! Profiles as a scenario needs them: from a simulated timeline, with the efficiencies that were asked for.

use cascade_api::{EfficiencyRange, ScenarioEfficiency};
use cascade_serving::datasheet::{Datasheet, Efficiency, Fraction};
use cascade_serving::facts::{FactsError, ModelFacts};
use cascade_serving::profile::{PerfProfile, ProfileError};
use cascade_steps::Timeline;
use serde_json::{Map, Value};

use super::Refused;

/// Fields of a run that a timeline's `meta` may lack and the trace's metadata may have.
const RUN_FIELDS: [&str; 2] = ["gpu_memory_utilization", "max_model_len"];
/// Where metadata keeps them.
const RUN_PLACES: [&str; 3] = ["run", "workload", "model_config"];

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
