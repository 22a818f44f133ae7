//! What sims produced.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{
    Engine, GpuConfig, GpuName, KernelExplanation, RunId, RunSummary, SimId, SimMetrics, SimSummary,
    Timestamp, TraceDetail, TraceId,
};

/// A value of a `key = value` line: a finite number, or the text as the simulator wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum StatValue {
    /// A finite number.
    Number(f64),
    /// Anything else, `nan` included.
    Text(String),
}

/// One kernel's statistics block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelStat {
    /// The sim that ran it.
    pub sim_id: SimId,
    /// 0-based order of completion within the sim.
    pub kernel_index: u64,
    /// `kernel_name` of the block.
    pub kernel_name: String,
    /// `kernel_launch_uid` of the block.
    pub kernel_launch_uid: Option<u64>,
    /// Cycles it took on the simulated GPU.
    pub gpu_sim_cycle: Option<u64>,
    /// Thread instructions it ran.
    pub gpu_sim_insn: Option<u64>,
    /// Its thread instructions per cycle.
    pub gpu_ipc: Option<f64>,
    /// `gpu_sim_cycle / core_clock_mhz * 1000`.
    pub sim_time_ns: Option<f64>,
    /// Every `key = value` of the block; empty in lists and snapshots.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::HashMap<String, StatValue>))]
    pub stats: IndexMap<String, StatValue>,
}

/// One kernel of one sim with all that is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelDetail {
    /// The kernel with its full `stats`.
    #[serde(flatten)]
    pub stat: KernelStat,
    /// The sim's run.
    pub run_id: RunId,
    /// The sim's replica.
    pub replica: u32,
    /// The program that made the numbers.
    pub engine: Engine,
    /// The sim's GPU; `arch` is `unknown` and the clock 0 if the config disappeared since.
    pub gpu_config: GpuConfig,
    /// Whether the numbers are a sample's, recorded before this workspace existed.
    pub sample: bool,
    /// Kernels that the sim has finished.
    pub kernels_done: u64,
    /// Measured duration of the kernel at this position; `null` without real timing.
    pub real_ns: Option<f64>,
    /// Why it takes as long as it does; `null` where the block holds nothing that says so.
    pub explanation: Option<KernelExplanation>,
}

/// One row of real against simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparisonRow {
    /// Row position; kernels are matched by order.
    pub kernel_index: u64,
    /// From real timing if present, otherwise from the first sim that finished this kernel.
    pub kernel_name: String,
    /// Measured duration; `null` without real timing.
    pub real_ns: Option<f64>,
    /// Median `sim_time_ns` over a GPU's replicas; `null` while none has finished this kernel.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::HashMap<String, Option<f64>>))]
    pub sim_ns: IndexMap<GpuName, Option<f64>>,
}

/// Real against simulated time, kernel by kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// False until the trace has real timing.
    pub has_real_timing: bool,
    /// The run's GPUs in entry order, without repeats.
    pub configs: Vec<GpuName>,
    /// One row for each kernel position.
    pub rows: Vec<ComparisonRow>,
    /// Which engines made each GPU's numbers.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::HashMap<String, Vec<Engine>>))]
    pub engines: IndexMap<GpuName, Vec<Engine>>,
}

/// Everything one sim produced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimResults {
    /// The sim.
    pub sim: SimSummary,
    /// The trace it ran.
    pub trace_id: TraceId,
    /// Its GPU; `arch` is `unknown` and the clock 0 if the config disappeared since.
    pub gpu_config: GpuConfig,
    /// Every kernel it finished, with full `stats`.
    pub kernels: Vec<KernelStat>,
    /// Same as `sim.latest`.
    pub totals: SimMetrics,
}

/// Everything a run produced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunResults {
    /// The run without its trace and sims, which follow.
    pub run: RunSummary,
    /// The full trace.
    pub trace: TraceDetail,
    /// One entry for each sim.
    pub sims: Vec<SimResults>,
    /// Real against simulated time.
    pub comparison: Comparison,
}

/// What a sim sent about whole steps and requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimStepTimeline {
    /// The sim that sent it.
    pub sim_id: SimId,
    /// Its GPU.
    pub gpu_config: GpuName,
    /// Its replica.
    pub replica: u32,
    /// The simulated timeline, as sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub simulated: serde_json::Map<String, serde_json::Value>,
    /// The comparison with the real run, as sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub compare: Option<serde_json::Map<String, serde_json::Value>>,
}

/// An output file of a sim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimFile {
    /// The simulator's name for it, plus `.gz` when the worker compressed it.
    pub name: String,
    /// Bytes as stored.
    pub size: u64,
    /// Media type, from the name.
    pub content_type: String,
    /// When this version was stored; putting it again replaces it.
    pub created_at: Timestamp,
}

/// The beginning of an output file as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FilePreview {
    /// Its first lines, 200 at most, unpacked and without line breaks.
    pub lines: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

/// An output file with the sim it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunFile {
    /// The file.
    #[serde(flatten)]
    pub file: SimFile,
    /// The sim that uploaded it.
    pub sim_id: SimId,
    /// The sim's GPU.
    pub gpu_config: GpuName,
    /// The sim's replica.
    pub replica: u32,
}

/// One row of a trace's `real_timing.json`: a kernel timed on the original GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealKernel {
    /// Orders the rows.
    pub kernel_id: i64,
    /// The kernel's name.
    #[serde(default)]
    pub kernel_name: String,
    /// Measured duration.
    pub duration_ns: f64,
}
