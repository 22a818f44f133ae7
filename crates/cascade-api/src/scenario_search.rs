//! What `POST /api/scenarios/search` takes and answers: many scenarios behind one question.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    GpuName, RunId, ScenarioAggregate, ScenarioBand, ScenarioCreate, ScenarioProvenance, SimId, TraceId,
};

/// Most scenarios of a search.
pub const MAX_SEARCH_POINTS: usize = 200;
/// Most inputs that a search varies.
pub const MAX_SEARCH_INPUTS: usize = 4;
/// Most steps that a search executes, over all its scenarios.
pub const MAX_SEARCH_STEPS: u64 = 5_000_000;
/// Most GPUs of a search: each may have to be simulated first.
pub const MAX_SEARCH_GPUS: usize = 8;

/// A scenario, and what is looked for: give exactly one of `rate` and `pareto`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioSearch {
    /// The scenario whose inputs are varied.
    pub scenario: ScenarioCreate,
    /// What makes a result good.
    #[serde(default)]
    pub goal: SearchGoal,
    /// Find the highest rate of requests that meets the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<SearchRate>,
    /// Find the settings of which none has more throughput at no more latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<SearchPareto>,
}

/// What makes a result good: all of it must hold, and no request may be refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SearchGoal {
    /// Least share of requests within the scenario's `slo`; 1 where that is set and this is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1))]
    pub attainment: Option<f64>,
    /// Limits on latencies over all requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(max_items = 20))]
    pub limits: Vec<SearchLimit>,
}

/// A limit on one number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchLimit {
    /// Of which latency.
    pub metric: SearchMetric,
    /// Which number of it.
    pub statistic: SearchStatistic,
    /// The most that it may be, in ms.
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub at_most_ms: f64,
}

/// A latency, by the names of `vllm bench serve`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchMetric {
    /// Time to first token.
    Ttft,
    /// Time per output token after the first.
    Tpot,
    /// Time between tokens.
    Itl,
    /// End to end.
    #[default]
    E2el,
    /// Arrival to the start of the first step.
    Queue,
}

/// A number of a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchStatistic {
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 99th percentile.
    #[default]
    P99,
}

/// Rates between which the highest is looked for.
///
/// What is varied is `arrival_rate_rps` of the short form, `rate` of a workload's arrivals, or `speedup` of a
/// request trace, which is then what `low` and `high` mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRate {
    /// The lowest.
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1_000_000))]
    pub low: f64,
    /// The highest.
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1_000_000))]
    pub high: f64,
    /// How near the answer is to the highest there is, as a share of it [0.01].
    #[serde(default = "tolerance")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0001, maximum = 1))]
    pub tolerance: f64,
}

fn tolerance() -> f64 {
    0.01
}

/// Inputs to vary, and the latency that is weighed against throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchPareto {
    /// Every combination of their values is run.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 4))]
    pub vary: Vec<SearchInput>,
    /// The latency [e2el].
    #[serde(default)]
    pub metric: SearchMetric,
    /// Which number of it [p99].
    #[serde(default)]
    pub statistic: SearchStatistic,
}

/// An input and its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// Its path in the scenario, with dots between names: `gpu_config`, `scheduler.max_num_seqs`.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub input: String,
    /// What it is set to.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Value>, min_items = 1, max_items = 200))]
    pub values: Vec<Value>,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioSearchResult {
    /// Every scenario run: for a rate in the order tried, else with the last input varying fastest.
    pub points: Vec<SearchPoint>,
    /// For a rate: position in `points` of the highest that meets the goal; null if even the lowest does not.
    pub best: Option<u32>,
    /// For a rate: the lowest one above it found not to meet the goal; null if all up to `high` do.
    pub bound: Option<f64>,
    /// For a pareto front: positions in `points` of those that no other beats, by rising throughput. Points
    /// that do not meet the goal are left out.
    pub front: Vec<u32>,
    /// The sims behind the step times, one for each GPU; empty where there is no server.
    pub bases: Vec<SearchBase>,
    /// What was assumed, in sentences.
    pub assumptions: Vec<String>,
    /// What looks wrong, in sentences.
    pub warnings: Vec<String>,
}

/// The sim behind a GPU's step times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchBase {
    /// The trace.
    pub trace_id: TraceId,
    /// The GPU.
    pub gpu_config: GpuName,
    /// The run.
    pub run_id: RunId,
    /// The sim.
    pub sim_id: SimId,
    /// Whether that sim had finished before.
    pub cached: bool,
}

/// One scenario of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchPoint {
    /// The inputs that were varied, by path.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub values: Map<String, Value>,
    /// Whether it meets the goal.
    pub good: bool,
    /// The main numbers; null where the scenario was refused.
    pub aggregate: Option<ScenarioAggregate>,
    /// The same at the ends of the efficiency ranges.
    pub band: Option<ScenarioBand>,
    /// For a pareto front: the latency that was weighed, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// Share of the requests within the scenario's `slo`; null where none is set.
    pub slo_attainment: Option<f64>,
    /// Price of a million output tokens; null without a price.
    pub cost_per_million_output_tokens: Option<f64>,
    /// Steps by provenance.
    pub provenance_counts: ScenarioProvenance,
    /// Why the scenario was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
