//! What the engine says about one kernel.

use serde::{Deserialize, Serialize};

use crate::engine::Level;
use crate::gpu::Status;
use crate::l1::CycleStats;

/// What can limit a kernel, in the order in which reports list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundKind {
    /// Instruction issue: one warp instruction per cycle and scheduler.
    Issue,
    /// The busiest execution unit.
    Unit,
    /// Tensor cores.
    Tensor,
    /// Load/store unit: address generation, L1 lines, shared-memory passes.
    Lsu,
    /// One SM's port to L2.
    L2Port,
    /// L2 bandwidth of the chip.
    L2,
    /// DRAM bandwidth of the chip.
    Dram,
    /// Longest dependency chain of a warp, over the waves.
    Chain,
    /// Launching the CTAs.
    Launch,
    /// Level 1 only: what no throughput explains, because warps waited; the stalls say for what.
    Latency,
    /// `T0`, the overhead of any kernel; named as winner when it exceeds the whole body.
    Overhead,
}

impl BoundKind {
    /// The word used in `cascade_engine_*` keys.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Unit => "unit",
            Self::Tensor => "tensor",
            Self::Lsu => "lsu",
            Self::L2Port => "l2_port",
            Self::L2 => "l2",
            Self::Dram => "dram",
            Self::Chain => "chain",
            Self::Launch => "launch",
            Self::Latency => "latency",
            Self::Overhead => "overhead",
        }
    }
}

/// One lower bound on a kernel's body.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Bound {
    /// What limits.
    pub kind: BoundKind,
    /// Core cycles that it alone would take.
    pub cycles: f64,
}

/// What stops more CTAs from residing on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The SM's CTA slots.
    Ctas,
    /// The SM's warp slots.
    Warps,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// There are fewer CTAs than would fit.
    Grid,
}

impl Limit {
    /// The words used in reports; those that GPGPU-Sim has are its own.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ctas => "cta_limit",
            Self::Warps => "threads",
            Self::Registers => "regs",
            Self::SharedMemory => "shmem",
            Self::Grid => "grid",
        }
    }
}

/// How a kernel fills the SMs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Occupancy {
    /// CTAs that fit on one SM.
    pub ctas_per_sm: u64,
    /// Warps of one CTA.
    pub warps_per_cta: u64,
    /// What stops more.
    pub limited_by: Limit,
    /// CTAs that the busiest SM runs in all, dealt round-robin.
    pub ctas_on_busiest_sm: u64,
    /// Rounds in which that SM runs them; the last may be partly filled.
    pub waves: u64,
    /// Resident warps of the busiest SM over its warp slots, 0 to 1.
    pub resident_share: f64,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Computed by this engine from a trace.
    Simulated,
}

impl Provenance {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
        }
    }
}

/// The engine's result for one kernel on one GPU.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct KernelEstimate {
    /// Kernel name from the trace.
    pub name: String,
    /// Launch number from the trace.
    pub kernel_id: u64,
    /// Stream from the trace.
    pub stream_id: u64,
    /// Config name of the GPU.
    pub gpu: String,
    /// [`crate::GpuModel::facts_hash`] of the GPU.
    pub facts_hash: String,
    /// Whether this GPU's results were ever compared with the real one.
    pub status: Status,
    /// On what it was validated or what is missing, in the words of the GPU's description.
    #[serde(default)]
    pub status_note: String,
    /// How it was computed.
    pub level: Level,
    /// Why it was computed at a lower level than was asked for.
    pub fallback: Option<String>,
    /// Where the number comes from.
    pub provenance: Provenance,
    /// Binary version of the trace when it is not the GPU's SM number and the caller insisted.
    pub other_arch: Option<u32>,
    /// Core cycles: `ceil(t0 + fill + body)`.
    pub cycles: u64,
    /// The same in nanoseconds at the GPU's core clock.
    pub time_ns: f64,
    /// `T0` in core cycles.
    pub t0_cycles: f64,
    /// Cycles until the first wave's CTAs are launched.
    pub fill_cycles: f64,
    /// All bounds combined.
    pub body_cycles: f64,
    /// Every bound.
    pub bounds: Vec<Bound>,
    /// The largest of them, or [`BoundKind::Overhead`].
    pub winner: BoundKind,
    /// How the kernel fills the SMs.
    pub occupancy: Occupancy,
    /// Thread blocks in the trace.
    pub blocks: u64,
    /// Thread blocks that the grid has; more than `blocks` when the trace was cut.
    pub blocks_in_grid: u64,
    /// Warp instructions.
    pub warp_insts: u64,
    /// Thread instructions: active lanes summed over warp instructions.
    pub thread_insts: u64,
    /// 32-byte sectors that memory instructions asked L1 for.
    pub sectors: u64,
    /// Bytes between the SMs and L2.
    pub l2_bytes: u64,
    /// Bytes between L2 and DRAM.
    pub dram_bytes: u64,
    /// Whether the DRAM bytes are exact or, past the footprint limit, estimated.
    pub footprint_exact: bool,
    /// Share of warp instructions whose class is known, 0 to 1.
    pub coverage: f64,
    /// Opcodes without a class, with how often they ran, by name.
    pub unknown_opcodes: Vec<(String, u64)>,
    /// What level 1 knows besides.
    pub cycle_stats: Option<CycleStats>,
}

/// What was in L2 when a kernel started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum L2Start {
    /// Nothing.
    Cold,
    /// Lines of earlier kernels.
    Warm,
}

impl L2Start {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

impl KernelEstimate {
    /// What was in L2 when the kernel started; level 0 always starts cold.
    pub fn l2_start(&self) -> L2Start {
        let warm = |stats: &CycleStats| stats.l2_warm_sectors > 0;
        match self.cycle_stats.as_ref().is_some_and(warm) {
            true => L2Start::Warm,
            false => L2Start::Cold,
        }
    }

    /// Cycles of one bound, 0 when it does not apply.
    pub fn bound(&self, kind: BoundKind) -> f64 {
        self.bounds
            .iter()
            .find(|bound| bound.kind == kind)
            .map_or(0.0, |bound| bound.cycles)
    }
}
