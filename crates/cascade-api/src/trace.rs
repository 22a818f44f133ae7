//! Traces as the API shows them.

use serde::{Deserialize, Serialize};

use crate::{GpuName, Timestamp, TraceId, TraceState};

/// One kernel launch on the original hardware, from the trace's `stats_ctx_*` or `stats.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelLaunch {
    /// The number in the trace's file name, `kernel-<id>`.
    pub kernel_id: u64,
    /// Mangled kernel name.
    pub name: String,
    /// Grid size: x, y, z.
    pub grid: (u32, u32, u32),
    /// Block size: x, y, z.
    pub block: (u32, u32, u32),
    /// Warp instructions the tracer counted; `null` if the kernel's trace was cut short.
    pub instructions: Option<u64>,
}

/// `source_gpu` of a synthetic trace: nothing was measured on it.
pub const SYNTHETIC_GPU: &str = "none (synthetic)";

/// A trace without its kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TraceSummary {
    /// The profiler's run name.
    pub id: TraceId,
    /// Where the trace is in its life.
    pub state: TraceState,
    /// Why it failed; `null` unless `state` is `failed`.
    pub error: Option<String>,
    /// What the upload waits for, such as `metadata.json`; `null` unless `state` is `uploading`.
    #[serde(default)]
    pub waiting_for: Option<String>,
    /// When the first file landed.
    pub created_at: Timestamp,
    /// When the app last changed this trace.
    pub updated_at: Timestamp,
    /// `model` in `metadata.json`, such as `facebook/opt-125m`.
    pub model: Option<String>,
    /// `layers` in `metadata.json`; empty if missing or not a list.
    pub layers: Vec<String>,
    /// `gpu` in `metadata.json`.
    pub source_gpu: Option<String>,
    /// `trace_gpu_arch` in `metadata.json`, by default `sm_90`.
    pub trace_gpu_arch: String,
    /// `suggested_sim_config` in `metadata.json`; preselected for a new run.
    pub suggested_sim_config: Option<GpuName>,
    /// The config of the GPU it was captured on, if `metadata.json` names one.
    #[serde(default)]
    pub real_gpu_config: Option<GpuName>,
    /// Configs that `metadata.json` wants preselected.
    #[serde(default)]
    pub sample_sim_configs: Vec<GpuName>,
    /// Name of the set of traces it is compared in.
    #[serde(default)]
    pub sample_set: Option<String>,
    /// Kernels seen so far; once ready, the kernel lines of `kernelslist.g`.
    pub kernel_count: u64,
    /// Bytes of every file of the trace.
    pub bytes: u64,
    /// Whether it carries real kernel timings.
    pub has_real_timing: bool,
    /// Whether it carries `corrected_timeline.json` and `kernel_mapping.json`.
    pub has_step_timeline: bool,
    /// Whether it is bundled with the app; such a trace has no instructions to simulate.
    pub sample: bool,
    /// Whether its kernels were synthesised rather than captured, as `metadata.json` says.
    #[serde(default)]
    pub synthetic: bool,
}

/// A trace that the app made itself. It appears in the list of traces within seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TraceMade {
    /// Its id.
    pub id: TraceId,
    /// Whether it was made now; false when it was there.
    pub created: bool,
}

/// A trace with its metadata and kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TraceDetail {
    /// Everything the list shows.
    #[serde(flatten)]
    pub summary: TraceSummary,
    /// `metadata.json`, parsed; `null` until it arrives.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// Kernel launches by `kernel_id`; filled in when the trace becomes `ready`.
    pub kernels: Vec<KernelLaunch>,
    /// What is odd in a `ready` trace, such as kernels that its list leaves out; none of it stops a run.
    #[serde(default)]
    pub warnings: Vec<String>,
}
