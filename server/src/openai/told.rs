//! What an answer says under `cascade`: the times, and all that they rest on.

use cascade_api::{
    CascadeInfo, ChoiceTimes, ProfiledWorkload, RequestTimes, RequestTiming, ScenarioCalibration,
    ScenarioProvenance,
};
use cascade_serving::predict::{Latency, Prediction};
use cascade_serving::profile::PerfProfile;
use serde::Serialize;
use serde_json::{Map, Value};

use super::ask::Ask;
use super::problem::Problem;
use crate::runs::Service;
use crate::scenarios::base::Base;

/// All but the times themselves comes from the ask and its base.
pub(super) async fn info(
    service: &Service,
    ask: &Ask,
    base: &Base,
    mode: &str,
    timing: RequestTiming,
    choices: Vec<ChoiceTimes>,
) -> Result<CascadeInfo, Problem> {
    let run = service.run(&base.run_id).await?;
    let sim = service.sim(&base.sim_id).await?;
    let profiled = profiled(service, ask, base).await?;
    let matches = profiled.prompt_tokens == Some(timing.prompt_tokens)
        && profiled.output_tokens == Some(timing.output_tokens);
    Ok(CascadeInfo {
        mode: mode.to_owned(),
        trace_id: base.trace_id.clone(),
        model: ask.found.trace.model.clone(),
        gpu_config: base.gpu_config.clone(),
        run_id: base.run_id.clone(),
        sim_id: base.sim_id.clone(),
        engine: sim.engine,
        replay: run.summary.replay,
        cached: base.cached,
        prompt_tokens_source: ask.prompt_tokens_source.to_owned(),
        text_source: ask.vocabulary.source().to_owned(),
        text_is_semantic: false,
        seed: ask.seed,
        profile_match: matches,
        timing,
        choices,
        live: Vec::new(),
        profiled,
    })
}

/// The traced workload, measured and simulated.
async fn profiled(service: &Service, ask: &Ask, base: &Base) -> Result<ProfiledWorkload, Problem> {
    let run = base.profile.run.as_ref();
    let workload = ProfiledWorkload {
        prompt_tokens: run.map(|run| run.prompt_tokens),
        output_tokens: run.map(|run| run.output_tokens),
        repeats: run.map(|run| run.repeats),
        ..ProfiledWorkload::default()
    };
    let digest = service
        .digest_of(&base.sim_id, base.gpu_config.as_str(), &ask.found.trace)
        .await?;
    Ok(match digest {
        Ok(digest) => ProfiledWorkload {
            real_gpu: digest.real_gpu,
            counterfactual: Some(digest.counterfactual),
            note: digest.note,
            mean: Some(digest.mean),
            requests: digest.requests,
            coverage: Some(digest.coverage),
            dilution: digest.dilution,
            ..workload
        },
        Err(problem) => ProfiledWorkload {
            problem: Some(problem),
            ..workload
        },
    })
}

/// A prediction in the units and names of answers.
pub(super) fn timing(profile: &PerfProfile, prediction: &Prediction) -> RequestTiming {
    let counts = prediction.provenance_counts;
    let groups = object(&prediction.groups);
    RequestTiming {
        prompt_tokens: prediction.prompt_tokens,
        output_tokens: prediction.output_tokens,
        times: times(&prediction.latency),
        low: times(&prediction.low),
        high: times(&prediction.high),
        groups_ms: groups
            .into_iter()
            .filter_map(|(group, ns)| Some((group, Value::from(ns.as_f64()? / 1e6))))
            .collect(),
        host_ms: prediction.host_ns as f64 / 1e6,
        provenance_counts: ScenarioProvenance {
            measured: counts.measured,
            interpolated: counts.interpolated,
            extrapolated: counts.extrapolated,
            datasheet: counts.datasheet,
            assumed_host: counts.assumed_host,
        },
        calibration_range: ScenarioCalibration {
            prefill_tokens: prediction.calibration_range.prefill_tokens,
            decode_context: prediction.calibration_range.decode_context,
        },
        efficiency: object(&profile.efficiency),
        assumptions: profile.assumptions.clone(),
        warnings: profile.warnings.clone(),
    }
}

/// Times in ms.
pub(super) fn times(latency: &Latency) -> RequestTimes {
    RequestTimes {
        ttft_ms: latency.ttft_ns.map(|ns| ns as f64 / 1e6),
        mean_itl_ms: latency.itl_mean_ns.map(|ns| ns / 1e6),
        p50_itl_ms: latency.itl_p50_ns.map(|ns| ns / 1e6),
        e2e_ms: latency.e2e_ns as f64 / 1e6,
    }
}

fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
