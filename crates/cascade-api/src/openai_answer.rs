//! What the OpenAI-compatible `/v1` answers: OpenAI's own fields, and what Cascade predicts under `cascade`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    CoverageDigest, DilutionDigest, Engine, GpuName, RequestDigest, RunId, ScenarioCalibration,
    ScenarioProvenance, SimId, TraceId,
};

/// What can be asked for as `model`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelList {
    /// Always `list`.
    pub object: String,
    /// Ready traces and models whose requests can be estimated, traces first, newest first.
    pub data: Vec<Model>,
}

/// A trace's id, or a model's name, which stands for its newest ready trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Model {
    /// What to give as `model`.
    pub id: String,
    /// Always `model`.
    pub object: String,
    /// When the trace's first file landed, in Unix seconds.
    pub created: i64,
    /// Always `cascade`.
    pub owned_by: String,
    /// The trace and model behind it.
    pub cascade: ModelBase,
}

/// What stands behind a model's id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelBase {
    /// The trace.
    pub trace_id: TraceId,
    /// The model that was traced.
    pub model: Option<String>,
    /// GPUs that can be given as `gpu_config`.
    pub gpu_configs: Vec<GpuName>,
    /// The one that is used when none is given.
    pub default_gpu_config: Option<GpuName>,
    /// Whether the trace is bundled with the app.
    pub sample: bool,
}

/// Tokens of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// Of all prompts, counted as for the times.
    pub prompt_tokens: u64,
    /// Of all choices: ids that were drawn. Their text may come apart into other tokens.
    pub completion_tokens: u64,
    /// The sum.
    pub total_tokens: u64,
}

/// A whole answer of `POST /v1/completions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Completion {
    /// `cmpl-` and 24 hex digits.
    pub id: String,
    /// Always `text_completion`.
    pub object: String,
    /// Unix seconds.
    pub created: i64,
    /// The model as it was asked for.
    pub model: String,
    /// Choices, by prompt and then by number.
    pub choices: Vec<CompletionChoice>,
    /// Tokens; null in chunks of a stream but the last.
    pub usage: Option<Usage>,
    /// The prediction; in a stream only at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<Box<CascadeInfo>>,
}

/// One completion, or a piece of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompletionChoice {
    /// Its number.
    pub index: u32,
    /// Drawn text.
    pub text: String,
    /// Always null.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub logprobs: Option<Value>,
    /// `length`; null before the end of a stream.
    pub finish_reason: Option<String>,
}

/// A whole answer of `POST /v1/chat/completions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatCompletion {
    /// `chatcmpl-` and 24 hex digits.
    pub id: String,
    /// `chat.completion`, or `chat.completion.chunk` in a stream.
    pub object: String,
    /// Unix seconds.
    pub created: i64,
    /// The model as it was asked for.
    pub model: String,
    /// Choices by number.
    pub choices: Vec<ChatChoice>,
    /// Tokens; null in chunks of a stream but the last.
    pub usage: Option<Usage>,
    /// The prediction; in a stream only at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<Box<CascadeInfo>>,
}

/// One answer in a chat, or a piece of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatChoice {
    /// Its number.
    pub index: u32,
    /// The whole message; left out in a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<ChatPart>,
    /// What is new; only in a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<ChatPart>,
    /// Always null.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub logprobs: Option<Value>,
    /// `length`; null before the end of a stream.
    pub finish_reason: Option<String>,
}

/// A message, or what is new of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatPart {
    /// `assistant`, in whole messages and first deltas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Drawn text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What Cascade predicts for a request, and what that rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CascadeInfo {
    /// `estimate`: each choice as if it were alone. `live`: choices shared an engine with all other requests.
    pub mode: String,
    /// The trace behind the step times.
    pub trace_id: TraceId,
    /// The model that was traced.
    pub model: Option<String>,
    /// The GPU.
    pub gpu_config: GpuName,
    /// The run whose sim is used.
    pub run_id: RunId,
    /// The sim whose step timeline is used.
    pub sim_id: SimId,
    /// The program that made the kernel times.
    pub engine: Engine,
    /// Whether the sim replayed recorded results.
    pub replay: bool,
    /// Whether the sim had finished before anybody asked.
    pub cached: bool,
    /// How prompt tokens were counted: `tokenizer`, `tokenizer:chat_template`, `tokenizer:joined`, `token_ids` or
    /// `estimated:utf8-bytes/4`.
    pub prompt_tokens_source: String,
    /// Where the text comes from: `vocabulary`, or `placeholder` where there is no tokenizer.
    pub text_source: String,
    /// Always false: the text is drawn at random.
    pub text_is_semantic: bool,
    /// The seed of the text.
    pub seed: i64,
    /// Whether prompt and output tokens are those of the traced workload. Says nothing about accuracy.
    pub profile_match: bool,
    /// The first choice at the size that was asked for.
    pub timing: RequestTiming,
    /// Every choice, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceTimes>,
    /// In live mode: what happened to every choice in the engine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live: Vec<LiveTimes>,
    /// The traced workload itself: what was measured and what was simulated.
    pub profiled: ProfiledWorkload,
}

/// Times of a request, in ms. Null where there is no such token or interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestTimes {
    /// Time to first token.
    pub ttft_ms: Option<f64>,
    /// Mean time between tokens.
    pub mean_itl_ms: Option<f64>,
    /// Median time between tokens.
    pub p50_itl_ms: Option<f64>,
    /// From arrival to completion.
    pub e2e_ms: f64,
}

/// The times of one choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChoiceTimes {
    /// The choice.
    pub index: u32,
    /// Its prompt tokens.
    pub prompt_tokens: u32,
    /// Its output tokens.
    pub output_tokens: u32,
    /// Its times.
    #[serde(flatten)]
    pub times: RequestTimes,
}

/// What a choice saw among the others: predicted times, at which it was told its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveTimes {
    /// The choice.
    pub index: u32,
    /// When it arrived, in s since the engine started.
    pub arrival_s: f64,
    /// From arrival to the start of its first step, in ms.
    pub queue_ms: f64,
    /// Time to first token, in ms. Null without one.
    pub ttft_ms: Option<f64>,
    /// Mean time per output token after the first, in ms. Null with fewer than two.
    pub tpot_ms: Option<f64>,
    /// From arrival to completion, in ms.
    pub e2e_ms: f64,
    /// Prompt tokens found in the prefix cache.
    pub cached_tokens: u32,
    /// Times that it was preempted.
    pub preemptions: u32,
}

/// What a request of this size would see, alone on the GPU: a prediction, not a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestTiming {
    /// Its prompt tokens.
    pub prompt_tokens: u32,
    /// Its output tokens.
    pub output_tokens: u32,
    /// At the assumed efficiencies.
    #[serde(flatten)]
    pub times: RequestTimes,
    /// The shortest times within the efficiency ranges.
    pub low: RequestTimes,
    /// The longest times within the efficiency ranges.
    pub high: RequestTimes,
    /// GPU time of each group of kernels over all steps, in ms.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub groups_ms: Map<String, Value>,
    /// Host time over all steps, in ms.
    pub host_ms: f64,
    /// Steps by where their times come from.
    pub provenance_counts: ScenarioProvenance,
    /// The sizes that the profile holds.
    pub calibration_range: ScenarioCalibration,
    /// The fractions of the datasheet's peaks that were used.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub efficiency: Map<String, Value>,
    /// What was assumed, in sentences.
    pub assumptions: Vec<String>,
    /// What looks wrong, in sentences.
    pub warnings: Vec<String>,
}

/// The traced workload as it was measured and simulated: not at the size that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfiledWorkload {
    /// Its prompt tokens.
    pub prompt_tokens: Option<u32>,
    /// Its output tokens.
    pub output_tokens: Option<u32>,
    /// Repeats that count.
    pub repeats: Option<u32>,
    /// The GPU that it was measured on.
    pub real_gpu: Option<String>,
    /// Whether another GPU was simulated: then nothing is compared.
    pub counterfactual: Option<bool>,
    /// Where the timeline came from, when it is no profiler's capture.
    pub note: Option<String>,
    /// Measured against simulated, the mean over the repeats that count.
    pub mean: Option<RequestDigest>,
    /// The same for each of them.
    pub requests: Vec<RequestDigest>,
    /// How much of it was simulated.
    pub coverage: Option<CoverageDigest>,
    /// How the measured host time dilutes the error of the GPU time.
    pub dilution: Option<DilutionDigest>,
    /// Why there is no comparison.
    pub problem: Option<String>,
}
