//! What a log says: the events while it is read and the summary at its end.

use indexmap::IndexMap;
use serde::Serialize;

use super::{Failure, Stats};

/// The effective options of a run: name with its leading `-` to value as printed, in the log's order.
/// A flag without a value has the empty text.
pub type Options = IndexMap<String, String>;

/// One thing that a log says, in the log's order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LogEvent {
    /// A simulator introduced itself.
    Banner(Banner),
    /// The dump of the effective options is complete.
    Options {
        /// Every option after all overrides.
        options: Options,
    },
    /// The header of a kernel's trace was read. Headers may be loaded long before the launch.
    HeaderLoaded(HeaderLoaded),
    /// A kernel was launched.
    KernelLaunched(KernelLaunched),
    /// A statistics block is complete: one finished kernel.
    Kernel(Box<KernelBlock>),
    /// The first text that names why the run fails. A later and more specific one replaces it in the summary.
    Failure(Failure),
}

/// A line such as `Accel-Sim [build accelsim-commit-73f9fac_…]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Banner {
    /// `Accel-Sim`, `GPGPU-Sim` or the name another engine gives.
    pub name: String,
    /// `4.2.0`, where it is printed.
    pub version: Option<String>,
    /// The whole build text within the brackets.
    pub build: String,
    /// The commit found in `build`.
    pub commit: Option<String>,
}

/// `Header info loaded for kernel command : <file>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeaderLoaded {
    /// The kernel's `uid`: 1-based order of loading, which is not the trace's kernel id.
    pub uid: u64,
    /// The trace file as the simulator named it.
    pub file: String,
}

/// `launching kernel name: <name> uid: <uid>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelLaunched {
    /// Kernel name, usually mangled.
    pub name: String,
    /// 1-based order of loading.
    pub uid: u64,
    /// CUDA stream, where the version prints it.
    pub stream: Option<u64>,
}

/// The statistics printed when a kernel finished.
///
/// With several kernels at once, `gpu_sim_cycle`, `gpu_sim_insn` and `gpu_ipc` count since the block
/// before, and `names`/`uids` list the kernels that ran in that window; the kernel that finished is
/// `finished_uid`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct KernelBlock {
    /// 0-based order of completion.
    pub index: usize,
    /// 1-based line of `kernel_name`.
    pub line: u64,
    /// Names of `kernel_name`; empty where a concurrent kernel finished in a window of its own.
    pub names: Vec<String>,
    /// Numbers of `kernel_launch_uid`, unsorted, as many as names.
    pub uids: Vec<u64>,
    /// `kernel_stream_id`; none where it is absent or "no stream" (2^64-1).
    pub stream: Option<u64>,
    /// The kernel that finished: the `Destroy streams for kernel N` before the block.
    pub finished_uid: Option<u64>,
    /// The launch name of `finished_uid`.
    pub finished_name: Option<String>,
    /// Cycles since the block before (the kernel's own where kernels run one by one).
    pub gpu_sim_cycle: Option<u64>,
    /// Thread instructions since the block before.
    pub gpu_sim_insn: Option<u64>,
    /// Instructions per cycle of this block.
    pub gpu_ipc: Option<f64>,
    /// Cycles, instructions, rate of the run so far.
    pub totals: Totals,
    /// First and last cycle of the finished kernel itself, which only one fork prints.
    pub own_cycles: Option<(u64, u64)>,
    /// False where the log ended inside the block, so later keys are missing.
    pub complete: bool,
    /// Keys that did not fit [`super::MAX_KEYS_PER_BLOCK`].
    pub dropped_keys: usize,
    /// Every `key = value` of the block.
    pub stats: Stats,
}

impl KernelBlock {
    /// Whether other kernels ran in this block's window or none is named, so its cycles are not one kernel's.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        self.names.len() != 1
    }
}

/// Totals of a run so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Totals {
    /// Simulated cycles.
    pub gpu_tot_sim_cycle: Option<f64>,
    /// Simulated thread instructions.
    pub gpu_tot_sim_insn: Option<f64>,
    /// Thread instructions per cycle.
    pub gpu_tot_ipc: Option<f64>,
    /// Simulated instructions per second of wall clock.
    pub sim_rate_ips: Option<f64>,
}

/// Where the instructions came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// No kernel was started.
    #[default]
    Unknown,
    /// A SASS trace was replayed.
    Trace,
    /// The application ran and its PTX was executed.
    Ptx,
}

/// How a log ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// The simulator said that it exits.
    Complete,
    /// The log stops with no reason given.
    #[default]
    CutOff,
    /// A configured maximum of cycles, instructions or blocks stopped the run; its last block is partial.
    MaxCycleReached,
    /// No simulator ever spoke: the application ran without one, or nothing ran.
    NoSimulator,
    /// The log names why the run failed.
    Failed(Failure),
}

/// A remark on one place in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// 1-based line.
    pub line: u64,
    /// What was seen, in plain words.
    pub text: String,
}

/// All that is left when a log was read.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LogSummary {
    /// Lines read.
    pub lines: u64,
    /// Trace or PTX mode.
    pub mode: Mode,
    /// Statistics blocks, one per finished kernel.
    pub kernels_finished: usize,
    /// Of these, blocks that the log's end cut (at most the last).
    pub blocks_cut: usize,
    /// Launch lines.
    pub kernels_launched: usize,
    /// Trace headers read.
    pub headers_loaded: usize,
    /// The last totals.
    pub totals: Totals,
    /// How the log ended.
    pub ending: Ending,
    /// Some block counts cycles "since the last block" of several kernels rather than one kernel's own.
    pub cycles_since_last_block: bool,
    /// The simulator said `exit detected`.
    pub exit_seen: bool,
    /// Remarks, at most [`super::MAX_NOTES`].
    pub warnings: Vec<Note>,
    /// Remarks that did not fit.
    pub warnings_dropped: u64,
    /// Lines that were longer than [`super::MAX_LINE_BYTES`] and lost their end.
    pub truncated_lines: u64,
}
