//! What `POST /api/scenarios` answers, and saved scenarios.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{GpuName, RunId, ScenarioCreate, SimId, Timestamp, TraceId};

/// What a scenario comes to. Times are the profile's, grown by a roofline: predictions, not measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioResult {
    /// The trace behind the step times.
    pub trace_id: TraceId,
    /// The GPU.
    pub gpu_config: GpuName,
    /// The run whose sim is used.
    pub run_id: RunId,
    /// The sim whose step timeline is used.
    pub sim_id: SimId,
    /// Whether that sim had finished before.
    pub cached: bool,
    /// All that the simulation came to.
    #[serde(flatten)]
    pub outcome: ScenarioOutcome,
}

/// What a scenario comes to, whatever its base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioOutcome {
    /// The main numbers.
    pub aggregate: ScenarioAggregate,
    /// The same at the ends of the efficiency ranges.
    pub band: ScenarioBand,
    /// Everything summed up, by the names of `vllm bench serve`: latencies in ms, rates per second.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub report: Map<String, Value>,
    /// Steps executed.
    pub steps_total: u64,
    /// Entries of `steps`.
    pub steps_returned: u64,
    /// Whether `steps` is a sample.
    pub steps_downsampled: bool,
    /// How `steps` was chosen, in words.
    pub steps_sampling: String,
    /// Steps by provenance, over all steps.
    pub provenance_counts: ScenarioProvenance,
    /// What the profile holds.
    pub calibration_range: ScenarioCalibration,
    /// Settings of the engine, defaults filled in.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub scheduler: Map<String, Value>,
    /// KV blocks, and the sum of bytes they come from.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub kv_cache: Map<String, Value>,
    /// The fractions of the datasheet's peaks that were used.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub efficiency: Map<String, Value>,
    /// What was assumed, in sentences.
    pub assumptions: Vec<String>,
    /// What looks wrong, in sentences.
    pub warnings: Vec<String>,
    /// Every request, in the order of the load.
    pub requests: Vec<RequestMetrics>,
    /// Steps in order.
    pub steps: Vec<StepMetrics>,
}

/// The main numbers. Null where no request has such a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioAggregate {
    /// Time to first token, median.
    pub p50_ttft_ms: Option<f64>,
    /// Time to first token, 99th percentile.
    pub p99_ttft_ms: Option<f64>,
    /// Time between tokens, median over the pooled intervals of all requests.
    pub p50_itl_ms: Option<f64>,
    /// Time between tokens, 99th percentile.
    pub p99_itl_ms: Option<f64>,
    /// End to end, median.
    pub p50_e2e_ms: Option<f64>,
    /// End to end, 99th percentile.
    pub p99_e2e_ms: Option<f64>,
    /// Tokens emitted over the time from the first arrival to the last completion.
    pub throughput_output_tokens_s: f64,
}

/// The least and the most of each number within the efficiency ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioBand {
    /// The smallest values.
    pub low: ScenarioAggregate,
    /// The largest values.
    pub high: ScenarioAggregate,
}

/// Steps by where their times come from. Every step also has assumed host time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioProvenance {
    /// One request at a size that the profile holds: simulated, not measured on hardware.
    pub measured: u64,
    /// One decode between two contexts that the profile holds.
    pub interpolated: u64,
    /// Anything else: an unvalidated prediction.
    #[serde(rename = "extrapolated:roofline")]
    pub extrapolated: u64,
    /// Without a trace: the datasheet's roofline.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub datasheet: u64,
    /// With host time held at the profile's medians.
    #[serde(rename = "assumed-host")]
    pub assumed_host: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The sizes that a profile holds, each as smallest and largest; null without a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioCalibration {
    /// Prompt tokens of the profiled prefill.
    pub prefill_tokens: Option<(u32, u32)>,
    /// Contexts of the profiled decodes.
    pub decode_context: Option<(u32, u32)>,
}

/// What one request sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestMetrics {
    /// Its name.
    pub id: String,
    /// When it arrived, in seconds.
    pub arrival_s: f64,
    /// Prompt tokens.
    pub prompt_tokens: u32,
    /// Tokens emitted.
    pub output_tokens: u32,
    /// Arrival to the start of its first step.
    pub queue_ms: f64,
    /// That time by what held the queue: `step` (one was under way), `budget`, `seqs`, `blocks`, `chunk`,
    /// `preemption`, as a step's `blocked` says it. Reasons without time are left out.
    #[serde(default)]
    pub waits_ms: BTreeMap<String, f64>,
    /// Time to first token; null without output.
    pub ttft_ms: Option<f64>,
    /// Mean time between its tokens; null with fewer than two.
    pub mean_itl_ms: Option<f64>,
    /// `(E2E - TTFT) / (output tokens - 1)`; null with fewer than two.
    pub tpot_ms: Option<f64>,
    /// Arrival to completion.
    pub e2e_ms: f64,
    /// Prompt tokens found in the prefix cache.
    pub cached_tokens: u32,
    /// Times that it was preempted.
    pub preemptions: u32,
    /// Why it was refused; null where it ran to its end.
    pub refusal: Option<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepMetrics {
    /// Its number, from 0.
    pub step_index: u64,
    /// `prefill` if it does any prefill, else `decode`.
    pub kind: String,
    /// When it started, in seconds.
    pub start_s: f64,
    /// When it ended, in seconds.
    pub end_s: f64,
    /// GPU time.
    pub gpu_ms: f64,
    /// Host time.
    pub host_ms: f64,
    /// Sequences in it.
    pub seqs: u32,
    /// Sequences that do prefill.
    pub prefill_seqs: u32,
    /// Query tokens.
    pub query_tokens: u64,
    /// Query tokens of prefills.
    pub prefill_tokens: u64,
    /// Sum of the contexts, in tokens.
    pub context_tokens: u64,
    /// Requests that run.
    pub running: u32,
    /// Requests that wait.
    pub waiting: u32,
    /// KV blocks in use.
    pub kv_blocks_used: u32,
    /// Requests that it admitted.
    pub admitted: u32,
    /// Requests that it preempted.
    pub preempted: u32,
    /// Where its GPU time comes from.
    pub provenance: String,
    /// Why the head of the queue was not admitted: `preemption`, `budget`, `seqs`, `chunk`, `blocks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// GPU time of each group of kernels, in ns.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub groups_ns: Map<String, Value>,
}

/// A finished sim that scenarios can rest on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioBase {
    /// The trace.
    pub trace_id: TraceId,
    /// Its model, where the metadata says it.
    pub model: Option<String>,
    /// The GPU.
    pub gpu_config: GpuName,
    /// The run.
    pub run_id: RunId,
    /// The sim: for this trace and GPU, the one that a scenario would use.
    pub sim_id: SimId,
    /// Whether the trace is bundled.
    pub sample: bool,
    /// Whether the trace was made by the synthesiser, not captured from a GPU.
    #[serde(default)]
    pub synthetic: bool,
}

/// A finished sim's step times, for running scenarios elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioProfile {
    /// The trace.
    pub trace_id: TraceId,
    /// The GPU.
    pub gpu_config: GpuName,
    /// The run.
    pub run_id: RunId,
    /// The sim.
    pub sim_id: SimId,
    /// Kernel groups, host times, model, datasheet and what was assumed: `cascade_serving::PerfProfile`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub profile: Map<String, Value>,
}

/// What `POST /api/scenarios/saved` takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioSave {
    /// Its name, 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub name: String,
    /// The scenario, which is run before it is saved.
    pub scenario: ScenarioCreate,
}

/// A scenario that was saved, with what it came to then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SavedScenario {
    /// `scn-` and 12 hex digits.
    pub id: String,
    /// Its name.
    pub name: String,
    /// When it was saved.
    pub created_at: Timestamp,
    /// The scenario.
    pub scenario: ScenarioCreate,
    /// What it came to.
    pub result: ScenarioSummary,
}

/// A result in brief.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioSummary {
    /// The trace behind the step times.
    pub trace_id: TraceId,
    /// The GPU.
    pub gpu_config: GpuName,
    /// The run whose sim was used.
    pub run_id: RunId,
    /// The sim whose step timeline was used.
    pub sim_id: SimId,
    /// The main numbers.
    pub aggregate: ScenarioAggregate,
    /// Steps executed.
    pub steps_total: u64,
    /// Requests.
    pub requests: u64,
    /// Steps by provenance.
    pub provenance_counts: ScenarioProvenance,
}

impl ScenarioResult {
    /// The result in brief.
    pub fn summary(&self) -> ScenarioSummary {
        ScenarioSummary {
            trace_id: self.trace_id.clone(),
            gpu_config: self.gpu_config.clone(),
            run_id: self.run_id.clone(),
            sim_id: self.sim_id.clone(),
            aggregate: self.outcome.aggregate,
            steps_total: self.outcome.steps_total,
            requests: self.outcome.requests.len() as u64,
            provenance_counts: self.outcome.provenance_counts,
        }
    }
}
