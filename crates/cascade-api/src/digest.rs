//! Whole-request time in brief: what a page or a script needs of a step timeline without its kernels.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Engine, GpuName, SimId};

/// A measured and a simulated value of one quantity, in the unit of the field that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RealSim {
    /// Measured on the real GPU; null where nothing was measured.
    pub real: Option<f64>,
    /// Predicted; null where nothing was simulated.
    pub simulated: Option<f64>,
    /// `simulated - real`; null unless both are there and the real GPU is the simulated one.
    pub error: Option<f64>,
    /// `100 * error / real`, signed; null also where `real` is 0.
    pub error_pct: Option<f64>,
}

/// One request (one repeat of the workload), in ms. Null stays null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestDigest {
    /// The repeat; null in the mean over steady repeats.
    pub repeat: Option<i64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Time to first token.
    pub ttft_ms: RealSim,
    /// Mean inter-token latency.
    pub itl_ms: RealSim,
    /// Arrival to end.
    pub e2e_ms: RealSim,
}

/// The mean step of one kind (`prefill`, `decode`) over the steady repeats, in ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KindDigest {
    /// `prefill`, `decode` or what the profiler called it.
    pub kind: String,
    /// How many steps the means are over.
    pub steps: u64,
    /// Wall time of a step.
    pub wall_ns: RealSim,
    /// GPU busy time in a step.
    pub gpu_busy_ns: RealSim,
    /// Host time that the replay keeps as measured: wall less GPU busy.
    pub host_ns: Option<f64>,
    /// The gap before a step, kept as measured.
    pub gap_before_ns: Option<f64>,
    /// GPU time that no kernel of the timeline explains, kept as measured.
    pub unmodeled_gpu_ns: Option<f64>,
    /// Mean absolute error of single steps' wall times, per cent.
    pub mean_abs_error_pct: Option<f64>,
}

/// All launches of one kernel group (by role: QKV GEMM, attention, layer norm...).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupDigest {
    /// The role, inferred from names and grids.
    pub group: String,
    /// Launches that `mean_ns` is over: those traced (`exact`, `dedup`) or, where nothing was, those simulated.
    pub launches: u64,
    /// Mean duration of one launch over those, in ns.
    pub mean_ns: RealSim,
    /// Launches in a mean step, by step kind.
    pub per_step: BTreeMap<String, f64>,
    /// Time of the group in a mean step, in ns, by step kind: simulated, and measured for launches that are not.
    pub step_ns: BTreeMap<String, f64>,
    /// The measured time in the same steps.
    #[serde(default)]
    pub real_step_ns: BTreeMap<String, f64>,
    /// Launches by provenance: `exact`, `dedup`, `identical`, `interp`, `measured`.
    pub provenance: BTreeMap<String, u64>,
}

/// How much of the timeline was simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CoverageDigest {
    /// Kernels in the steady steps.
    pub kernels: u64,
    /// Those with a simulated duration.
    pub simulated_kernels: u64,
    /// `simulated_kernels / kernels`, 0 to 1.
    pub kernel_fraction: Option<f64>,
    /// Measured time of the simulated kernels over all measured GPU time, 0 to 1.
    pub gpu_time_fraction: Option<f64>,
}

/// What one correction of the simulated durations would give, beside the raw one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CorrectionDigest {
    /// What was done, in words, such as `launch constant of 3,000 cycles removed`.
    pub label: String,
    /// `none`, `out-of-sample` (nothing fitted to these kernels) or `in-sample`.
    pub sample: String,
    /// What was taken off each simulated kernel, in ns.
    pub subtracted_ns: f64,
    /// Mean absolute error of the groups' means, per cent; without the group of everything else.
    pub group_error_pct: Option<f64>,
    /// The same with that group, each weighted by its measured time.
    pub weighted_error_pct: Option<f64>,
    /// GPU busy time of a decode step, in ns.
    pub gpu_busy_ns: RealSim,
    /// Mean request time over steady repeats, in ms.
    pub e2e_ms: RealSim,
    /// Groups whose error grew against the raw one.
    pub worse: Vec<String>,
}

/// How the measured host time dilutes the error of the simulated GPU time, computed from the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DilutionDigest {
    /// Share of the measured step wall in which the GPU is busy, 0 to 1.
    pub gpu_share: f64,
    /// Signed mean error of GPU busy time, per cent.
    pub gpu_error_pct: f64,
    /// Signed mean error of the step wall, per cent.
    pub step_error_pct: f64,
}

/// A sim's predicted steps and requests in brief.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimStepDigest {
    /// The sim.
    pub sim_id: SimId,
    /// The GPU it simulates.
    pub gpu_config: GpuName,
    /// Its replica.
    pub replica: u32,
    /// The program that made the kernel times.
    pub engine: Engine,
    /// The digest; null when what the sim sent is not a timeline that can be read.
    pub digest: Option<StepDigest>,
    /// Why `digest` is null.
    pub problem: Option<String>,
}

/// A step timeline in brief: its size does not depend on the number of kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepDigest {
    /// The model that was profiled.
    pub model: Option<String>,
    /// The GPU that the real times were measured on, in the profiler's words.
    pub real_gpu: Option<String>,
    /// True when the simulated GPU is another one: then no error is given.
    pub counterfactual: bool,
    /// Where the timeline came from, when it is no profiler's capture.
    pub note: Option<String>,
    /// How host time is modelled: `scaled-gaps`.
    pub host_model: Option<String>,
    /// The mean over steady repeats.
    pub mean: RequestDigest,
    /// The steady repeats.
    pub requests: Vec<RequestDigest>,
    /// Steps by kind, prefill first.
    pub kinds: Vec<KindDigest>,
    /// Kernel groups, by simulated time in a decode step, largest first.
    pub groups: Vec<GroupDigest>,
    /// How much was simulated.
    pub coverage: CoverageDigest,
    /// Launches by provenance.
    pub provenance: BTreeMap<String, u64>,
    /// Null when nothing can be compared.
    pub dilution: Option<DilutionDigest>,
    /// The raw result first, then each correction that the data allows.
    pub corrections: Vec<CorrectionDigest>,
}
