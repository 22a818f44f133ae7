//! What a run's page follows: the same changes as the event stream tells, put together and without what a page
//! does not show.

use serde::{Deserialize, Serialize};

use crate::{GpuName, RunDetail, SimId, SimSummary};

/// One event of `GET /api/runs/{id}/live`, told apart by its `type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LiveEvent {
    /// The run as it was at connect time; always first.
    Snapshot {
        /// The run with every sim, `log_tail` emptied.
        run: Box<RunDetail>,
        /// Bytes that the followed sim's log had; its later lines come in batches. 0 without such a sim.
        log_bytes: u64,
    },
    /// What changed since the event before.
    Batch(LiveBatch),
}

/// Changes of a fifth of a second or more, each sim at most once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveBatch {
    /// Sims that changed, as they are now, `log_tail` emptied; replace your copies.
    pub sims: Vec<SimSummary>,
    /// Names of the kernels that follow, each once.
    pub names: Vec<String>,
    /// Kernels that finished, each a list of four: the position of its sim in the snapshot's `run.sims`, its index,
    /// the position of its name in `names`, its simulated time in ns.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<f64>>>))]
    pub kernels: Vec<FinishedKernel>,
    /// New lines of the followed sim.
    pub log: Vec<String>,
    /// Lines that were left out before those of `log`: a log may grow faster than anybody reads.
    pub log_skipped: u64,
}

/// A finished kernel as a list of four: the position of its sim in the snapshot's `run.sims`, its index, the
/// position of its name in the batch's `names`, its simulated time in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedKernel(pub u32, pub u64, pub u32, pub Option<f64>);

/// Some rows of a run's table of kernels, by columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelSlice {
    /// Rows of the whole table as it is now.
    pub rows: u64,
    /// Position of the first row here.
    pub from: u64,
    /// False until the trace has real timing.
    pub has_real_timing: bool,
    /// Kernel names that occur here, each once.
    pub names: Vec<String>,
    /// For each row the position of its name in `names`.
    pub name: Vec<u32>,
    /// Measured durations in ns; empty where the rows have none.
    pub real_ns: Vec<Option<f64>>,
    /// Simulated times, sim by sim.
    pub sims: Vec<SimColumn>,
    /// Each GPU's kernels added up; empty where that would take long, as for a run of many kernels.
    pub totals: Vec<GpuTotal>,
}

/// One sim's times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimColumn {
    /// The sim.
    pub sim_id: SimId,
    /// `sim_time_ns` of the slice's rows, up to the last that the sim has finished; `null` where it has no time.
    pub ns: Vec<Option<f64>>,
}

/// One GPU's kernels added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuTotal {
    /// The GPU.
    pub gpu_config: GpuName,
    /// Kernels with a simulated time.
    pub kernels: u64,
    /// Sum of the medians in ns.
    pub sim_ns: f64,
    /// Mean of |simulated − real| / real over the kernels that have both; `null` without any.
    pub mean_abs_error: Option<f64>,
}
