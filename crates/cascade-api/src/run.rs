//! Runs and sims as the API shows them.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Engine, GpuName, RunId, RunState, SimId, SimState, Timestamp, TraceId, TraceSummary, run_state};

/// One line of a run: a GPU and how many sims work on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunEntry {
    /// A GPU whose architecture is the trace's.
    pub gpu_config: GpuName,
    /// Number of sims, 1 to 64.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 64))]
    pub count: u32,
}

/// What `POST /api/runs` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunCreate {
    /// A trace in state `ready`.
    pub trace_id: TraceId,
    /// At least one entry; each fans out to `count` sims.
    #[cfg_attr(feature = "openapi", schema(min_items = 1))]
    pub entries: Vec<RunEntry>,
    /// Play back the results that were recorded for a sample, which has no instructions to simulate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay: bool,
}

/// A run without its trace and sims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    /// `run-` and 12 hex digits.
    pub id: RunId,
    /// The trace it simulates.
    pub trace_id: TraceId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Derived from the sims.
    pub state: RunState,
    /// The entries it was created with.
    pub entries: Vec<RunEntry>,
    /// Sims in each state; states without sims are left out.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::HashMap<String, u32>))]
    pub sim_counts: IndexMap<SimState, u32>,
    /// Whether it is bundled with the app: recorded before this workspace existed.
    pub sample: bool,
    /// Whether its sims play back recorded results.
    #[serde(default)]
    pub replay: bool,
    /// Whether its trace was made by the synthesiser, not captured from a GPU.
    #[serde(default)]
    pub synthetic: bool,
}

/// A run with its trace and every sim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(from = "RunFields")]
pub struct RunDetail {
    /// Everything the list shows.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// The trace it simulates.
    pub trace: TraceSummary,
    /// Every sim, by GPU and then replica.
    pub sims: Vec<SimSummary>,
}

/// A [`RunDetail`] as its fields come: serde buffers what it flattens, and browsers load the code for that.
#[derive(Deserialize)]
struct RunFields {
    id: RunId,
    trace_id: TraceId,
    created_at: Timestamp,
    state: RunState,
    entries: Vec<RunEntry>,
    sim_counts: IndexMap<SimState, u32>,
    sample: bool,
    #[serde(default)]
    replay: bool,
    #[serde(default)]
    synthetic: bool,
    trace: TraceSummary,
    sims: Vec<SimSummary>,
}

impl From<RunFields> for RunDetail {
    fn from(run: RunFields) -> Self {
        Self {
            summary: RunSummary {
                id: run.id,
                trace_id: run.trace_id,
                created_at: run.created_at,
                state: run.state,
                entries: run.entries,
                sim_counts: run.sim_counts,
                sample: run.sample,
                replay: run.replay,
                synthetic: run.synthetic,
            },
            trace: run.trace,
            sims: run.sims,
        }
    }
}

impl RunDetail {
    /// Puts a sim's new summary in place of the old one and brings the run's own state up to date.
    pub fn apply(&mut self, sim: SimSummary) {
        self.apply_all(vec![sim]);
    }

    /// The same for several sims.
    pub fn apply_all(&mut self, sims: Vec<SimSummary>) {
        for sim in sims {
            if let Some(slot) = self.sims.iter_mut().find(|s| s.id == sim.id) {
                *slot = sim;
            }
        }
        self.summary.sim_counts = sim_counts(self.sims.iter().map(|s| s.state));
        self.summary.state = run_state(self.sims.iter().map(|s| s.state));
    }
}

/// Counts sims by state, states in the order of [`SimState::ALL`].
pub fn sim_counts(states: impl IntoIterator<Item = SimState>) -> IndexMap<SimState, u32> {
    let mut seen: Vec<SimState> = states.into_iter().collect();
    seen.sort_unstable();
    let mut counts = IndexMap::new();
    for state in seen {
        *counts.entry(state).or_insert(0) += 1;
    }
    counts
}

/// One simulator working on one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimSummary {
    /// `sim-` and 12 hex digits.
    pub id: SimId,
    /// The run it belongs to.
    pub run_id: RunId,
    /// The GPU it simulates.
    pub gpu_config: GpuName,
    /// 0-based number within its entry.
    pub replica: u32,
    /// The program that makes its numbers.
    pub engine: Engine,
    /// Where it is in its life.
    pub state: SimState,
    /// Why it failed or went `lost`; a `running` heartbeat clears it.
    pub error: Option<String>,
    /// The launcher's handle: a local process id, a job id or a sandbox id.
    pub launcher_ref: Option<String>,
    /// When the run was created.
    pub created_at: Timestamp,
    /// The first `running` heartbeat.
    pub started_at: Option<Timestamp>,
    /// When it reached a terminal state.
    pub finished_at: Option<Timestamp>,
    /// The last heartbeat.
    pub last_heartbeat_at: Option<Timestamp>,
    /// The simulator's exit code, from its last heartbeat.
    pub exit_code: Option<i32>,
    /// Kernel blocks parsed from the log so far.
    pub kernels_done: u64,
    /// The trace's kernel count when the run was created.
    pub kernels_total: u64,
    /// The kernel that the log last said was launched.
    pub current_kernel: Option<String>,
    /// The most recent totals in the log.
    pub latest: SimMetrics,
    /// The last 20 lines of the log.
    pub log_tail: Vec<String>,
}

/// A sim's totals so far, over every kernel it finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimMetrics {
    /// Simulated cycles.
    pub gpu_tot_sim_cycle: Option<f64>,
    /// Simulated thread instructions.
    pub gpu_tot_sim_insn: Option<f64>,
    /// Thread instructions per cycle.
    pub gpu_tot_ipc: Option<f64>,
    /// `gpgpu_simulation_rate`: simulated thread instructions per second of the simulator's own time.
    pub sim_rate_ips: Option<f64>,
}
