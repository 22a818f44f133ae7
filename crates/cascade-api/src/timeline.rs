//! A run's kernels as columns: what a timeline draws, without anything else about a kernel.

use serde::{Deserialize, Serialize};

use crate::{Engine, GpuName, RunId, SimId, TraceId};

/// What a timeline's lanes are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TimelineLevel {
    /// The kernels that each sim finished, end to end.
    #[default]
    Kernels,
    /// The steps of the profiled workload with every launch in them, host time and gaps included.
    Steps,
}

impl TimelineLevel {
    /// Its name in a query.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Steps => "steps",
        }
    }

    /// The level of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Kernels, Self::Steps]
            .into_iter()
            .find(|level| level.as_str() == name)
    }
}

/// The lanes of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunTimeline {
    /// The run.
    pub run_id: RunId,
    /// Its trace.
    pub trace_id: TraceId,
    /// What the lanes are made of.
    pub level: TimelineLevel,
    /// Measured kernels first, where there are any; then one lane for each sim, by GPU and replica.
    pub lanes: Vec<TimelineLane>,
    /// Kinds of kernels, each once; lanes refer to them by position.
    pub kinds: Vec<KernelKind>,
}

/// What kernels of one name and role have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelKind {
    /// The name as recorded.
    pub name: String,
    /// The role guessed from name and grid, such as `Attention`; the readable name where no role fits.
    pub group: String,
}

/// One lane: a sim's kernels, or those measured on the original GPU. Columns have one entry for each kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineLane {
    /// The sim; null for measured kernels.
    pub sim_id: Option<SimId>,
    /// The simulated GPU, or the one that was measured.
    pub gpu_config: GpuName,
    /// Its replica; 0 for measured kernels.
    pub replica: u32,
    /// The program that made the times; null for measured kernels.
    pub engine: Option<Engine>,
    /// Why the lane is empty although there should be something, in words.
    pub problem: Option<String>,
    /// Steps with their places; null at level `kernels`.
    pub steps: Option<TimelineSteps>,
    /// Positions in `kinds`.
    pub kind: Vec<u32>,
    /// Durations in ns, to three decimals.
    pub ns: Vec<f64>,
    /// Starts in ns; null where each kernel starts when the one before it ends, the first at 0.
    pub start_ns: Option<Vec<f64>>,
    /// Each kernel's number in its sim; null where that is its position. A kernel without a time is left out.
    pub index: Option<Vec<u64>>,
}

/// Steps of a lane as columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineSteps {
    /// Names such as `prefill` and `decode`, each once.
    pub kinds: Vec<String>,
    /// Positions in `kinds`.
    pub kind: Vec<u32>,
    /// The repeat of the workload that each step belongs to.
    pub repeat: Vec<i64>,
    /// Each step's number in its repeat.
    pub step: Vec<i64>,
    /// Starts in ns.
    pub start_ns: Vec<f64>,
    /// Wall times in ns.
    pub wall_ns: Vec<f64>,
}
