//! What `POST /api/scenarios` takes: a base, a load, an engine and what to report.

use serde::{Deserialize, Serialize};

use crate::{GpuName, TraceId};

/// Most requests of a scenario.
pub const MAX_SCENARIO_REQUESTS: u32 = 4_096;
/// Most prompt and output tokens of a scenario, over all requests.
pub const MAX_SCENARIO_TOKENS: u64 = 1_000_000;
/// Most steps that a scenario may execute.
pub const MAX_SCENARIO_STEPS: u64 = 100_000;
/// Latest arrival, in seconds.
pub const MAX_ARRIVAL_S: f64 = 1e9;
/// Most step records in an answer; more are sampled evenly.
pub const MAX_STEP_RECORDS: usize = 5_000;
/// Longest prompt plus output of a model that does not say its own limit, in tokens.
pub const DEFAULT_MAX_MODEL_LEN: u32 = 2_048;
/// Largest KV block, in tokens.
pub const MAX_BLOCK_TOKENS: u32 = 65_536;

/// A request mix, and the trace and GPU that say how long steps take.
///
/// Give exactly one of `trace_id` and `model`, and one load: `num_requests` with `prompt_tokens` and
/// `output_tokens`, or `requests`, or `workload`, or `request_trace`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioCreate {
    /// A trace in state `ready`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// A model's name: stands for its newest ready trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The GPU; by default the one that the trace suggests, else the one it was captured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_config: Option<GpuName>,
    /// Simulate the trace anew (replay it, for a sample), whatever there is already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Short form: that many equal requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4096))]
    pub num_requests: Option<u32>,
    /// Short form: prompt tokens of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1_000_000))]
    pub prompt_tokens: Option<u32>,
    /// Short form: output tokens of each; 0 computes the prompt alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1_000_000))]
    pub output_tokens: Option<u32>,
    /// Short form: request i arrives at `i / rate` seconds; all arrive at 0 where it is null, 0 or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub arrival_rate_rps: Option<f64>,
    /// Every request by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 4096))]
    pub requests: Option<Vec<ScenarioRequest>>,
    /// A generated load.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::scenario_workload::ScenarioWorkload>))]
    pub workload: Option<serde_json::Map<String, serde_json::Value>>,
    /// A recorded load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_trace: Option<RequestTrace>,
    /// Whose rules decide what runs in a step; by default `vllm-v1` for a `workload` or a `request_trace`, and
    /// `reference` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<SchedulingRules>,
    /// Settings of the engine.
    pub scheduler: ScenarioScheduler,
    /// Limits that a good request keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slo: Option<ScenarioSlo>,
    /// Price of a GPU for an hour, in any currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub price_per_gpu_hour: Option<f64>,
    /// Shares of the datasheet's peaks that kernels are taken to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<ScenarioEfficiency>,
}

/// One request of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioRequest {
    /// Its name, by default `request-` and its position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it arrives, in seconds.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1_000_000_000))]
    pub arrival_s: f64,
    /// Prompt tokens.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1_000_000))]
    pub prompt_tokens: u32,
    /// Output tokens.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1_000_000))]
    pub output_tokens: u32,
    /// Smaller is more urgent; for the queue discipline `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = -2147483648_f64, maximum = 2147483647))]
    pub priority: Option<i32>,
}

/// A request trace: Azure's CSV, Mooncake's JSONL, a list of lengths, or own columns or keys of these names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestTrace {
    /// The file's text.
    pub text: String,
    /// The file's name, for errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Divides the time between arrivals: 2 plays the trace at twice its rate [1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0))]
    pub speedup: Option<f64>,
    /// Takes no more than this many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4096))]
    pub limit: Option<u32>,
}

/// Whose rules decide what runs in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingRules {
    /// vLLM 0.33.0's v1 scheduler, step by step, with its memory formula and its limits for the GPU.
    VllmV1,
    /// A plainer scheduler: decodes before prefills, admission whenever a block is free, a reserve of 1 GiB.
    Reference,
}

/// The order of waiting requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrder {
    /// First come, first served.
    Fcfs,
    /// By (priority, arrival), smaller first.
    Priority,
}

/// Settings of the engine, by vLLM's names. What is left out takes the default of the rules in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioScheduler {
    /// Most running requests [reference: 256; vllm-v1: vLLM's for the GPU].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4294967295_i64))]
    pub max_num_seqs: Option<u32>,
    /// Most query tokens in a step [reference: 8192; vllm-v1: vLLM's for the GPU].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4294967295_i64))]
    pub max_num_batched_tokens: Option<u32>,
    /// Tokens of a KV block [16].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 65536))]
    pub block_size: Option<u32>,
    /// Whether a prompt can be computed over several steps [true].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_chunked_prefill: Option<bool>,
    /// The share of memory that may be used [the profiled run's, else 0.8; vllm-v1: 0.92].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1))]
    pub gpu_memory_utilization: Option<f64>,
    /// KV blocks [estimated].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4294967295_i64))]
    pub num_kv_blocks: Option<u32>,
    /// Longest prompt plus output, in tokens [the profiled run's, else the model's, else 2048].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4294967295_i64))]
    pub max_model_len: Option<u32>,
    /// `vllm-v1` only: order of the waiting queue [fcfs].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<QueueOrder>,
    /// `vllm-v1` only: longest prefill chunk while others are present; 0 sets no such limit [0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 4294967295_i64))]
    pub long_prefill_token_threshold: Option<u32>,
    /// `vllm-v1` only: whether admission asks for the whole prompt's blocks to be free [true].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_reserve_full_isl: Option<bool>,
    /// `vllm-v1` only: share of the blocks that admission leaves free while others run [0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub watermark: Option<f64>,
    /// `vllm-v1` only: whether equal prefixes share blocks [true].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_prefix_caching: Option<bool>,
    /// `vllm-v1` only: whether step k+1 is scheduled while step k runs [false].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_scheduling: Option<bool>,
}

/// Limits that a good request keeps, in ms. Null sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioSlo {
    /// Time to first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub ttft_ms: Option<f64>,
    /// Time per output token after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub tpot_ms: Option<f64>,
    /// End-to-end latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub e2el_ms: Option<f64>,
}

/// Shares of the datasheet's peaks: of compute and of memory bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioEfficiency {
    /// Share of the peak compute [0.5, 0.7, 0.85].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<EfficiencyRange>,
    /// Share of the peak bandwidth [0.65, 0.8, 0.92].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<EfficiencyRange>,
}

/// A share that is assumed, and the range in which it may lie. An end that is left out is the default one, or
/// `assumed` where that lies beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EfficiencyRange {
    /// What the estimate uses.
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1))]
    pub assumed: f64,
    /// The lowest that is plausible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1))]
    pub low: Option<f64>,
    /// The highest that is plausible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(exclusive_minimum = 0, maximum = 1))]
    pub high: Option<f64>,
}
