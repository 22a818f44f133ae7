//! Profiles as a scenario needs them: from a simulated timeline, with the efficiencies that were asked for.

use cascade_api::{EfficiencyRange, ScenarioEfficiency};
use cascade_serving::datasheet::{Datasheet, Efficiency, Fraction};
use cascade_serving::facts::{FactsError, ModelFacts};
use cascade_serving::profile::{PerfProfile, ProfileError, RunDocument};
use cascade_steps::Timeline;
use serde_json::{Map, Value};

use super::Refused;

/// The trace's metadata, as a record of its run.
const METADATA_FILE: &str = "metadata.json";

/// The facts of a traced model: from the metadata of its trace, else from `run.json` or `workload.json` among
/// `records`, else from the built-in table.
///
/// # Errors
/// A model that is neither described nor built in, or that is not covered.
pub fn facts(
    model: &str,
    metadata: &Map<String, Value>,
    records: &[RunDocument],
) -> Result<ModelFacts, FactsError> {
    let config = |fields: Option<&Value>| fields.and_then(Value::as_object).cloned();
    if let Some(own) = config(metadata.get("model_config")) {
        return ModelFacts::for_trace(model, Some(&own));
    }
    let recorded = records
        .iter()
        .find_map(|record| Some((record, config(record.field("model_config"))?)));
    let Some((record, config)) = recorded else {
        return ModelFacts::for_trace(model, None);
    };
    let mut facts = ModelFacts::for_trace(model, Some(&config))?;
    facts.assumptions.push(format!(
        "The model's dimensions are those that {} gives.",
        record.name
    ));
    Ok(facts)
}

/// The profile of a simulated timeline. What it does not say of its run, `records` and the trace's metadata may,
/// in this order.
///
/// # Errors
/// A timeline that is not of repeats of one request.
pub fn profile(
    timeline: &Timeline,
    metadata: &Map<String, Value>,
    records: &[RunDocument],
    model: ModelFacts,
    gpu: Datasheet,
) -> Result<PerfProfile, ProfileError> {
    let mut records = records.to_vec();
    records.push(RunDocument::new(METADATA_FILE, metadata.clone()));
    let profile = PerfProfile::from_timeline(timeline, model, gpu, Efficiency::default())?;
    Ok(profile.with_recorded(&records))
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
