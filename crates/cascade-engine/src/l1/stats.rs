//! What the cycle-level model can say about a kernel besides its cycles.

use serde::{Deserialize, Serialize};

/// Why a warp did not issue, in the order in which reports list it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    /// A result of an arithmetic unit was not there yet.
    Arithmetic,
    /// A result of a tensor core.
    Tensor,
    /// A constant or a special register.
    Special,
    /// The target of a branch.
    Branch,
    /// Data from shared memory.
    Shared,
    /// Data from L1.
    L1,
    /// Data from L2.
    L2,
    /// Data from DRAM.
    Dram,
    /// Its execution unit was busy.
    UnitBusy,
    /// The load/store path was busy.
    LsuBusy,
    /// Other warps of the CTA at a barrier.
    Barrier,
    /// An mbarrier: data of the tensor memory accelerator or another warp's arrival.
    Mbarrier,
    /// Groups of asynchronous copies.
    AsyncCopy,
    /// Groups of warp-group multiplies.
    Gmma,
    /// Other CTAs of the cluster.
    Cluster,
    /// Its own writes, at a fence.
    Fence,
    /// Another warp of the sub-core was issued instead.
    #[default]
    NotSelected,
}

/// Number of [`Stall`]s.
pub(super) const STALLS: usize = 17;

impl Stall {
    /// Every reason, in report order.
    pub const ALL: [Self; STALLS] = [
        Self::Arithmetic,
        Self::Tensor,
        Self::Special,
        Self::Branch,
        Self::Shared,
        Self::L1,
        Self::L2,
        Self::Dram,
        Self::UnitBusy,
        Self::LsuBusy,
        Self::Barrier,
        Self::Mbarrier,
        Self::AsyncCopy,
        Self::Gmma,
        Self::Cluster,
        Self::Fence,
        Self::NotSelected,
    ];

    /// The word used in `cascade_engine_stall_*` keys.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Tensor => "tensor",
            Self::Special => "special",
            Self::Branch => "branch",
            Self::Shared => "shared",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Dram => "dram",
            Self::UnitBusy => "unit_busy",
            Self::LsuBusy => "lsu_busy",
            Self::Barrier => "barrier",
            Self::Mbarrier => "mbarrier",
            Self::AsyncCopy => "async_copy",
            Self::Gmma => "gmma",
            Self::Cluster => "cluster",
            Self::Fence => "fence",
            Self::NotSelected => "not_selected",
        }
    }
}

/// Counts of one SM, or of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) issued: u64,
    pub(super) stalls: [u64; STALLS],
    pub(super) l1_sectors: u64,
    pub(super) l1_hits: u64,
}

impl Counts {
    pub(super) fn stall(&mut self, reason: Stall, cycles: u32) {
        if let Some(sum) = self.stalls.get_mut(reason as usize) {
            *sum += u64::from(cycles);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.issued += other.issued;
        self.l1_sectors += other.l1_sectors;
        self.l1_hits += other.l1_hits;
        for (sum, more) in self.stalls.iter_mut().zip(other.stalls) {
            *sum += more;
        }
    }
}

/// Details of a kernel simulated at level 1.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct CycleStats {
    /// Warp-cycles that resident warps spent waiting, by what they waited for; only reasons that occurred.
    pub stalls: Vec<(Stall, u64)>,
    /// Warp-cycles spent issuing: one for each warp instruction.
    pub issue_cycles: u64,
    /// Sectors that loads asked L1 for, and those that it had.
    pub l1_sectors: u64,
    /// Of those, the ones that L1 had or was already fetching.
    pub l1_hits: u64,
    /// Sectors that reached L2.
    pub l2_sectors: u64,
    /// Of those, the ones that L2 had or did not need to fetch.
    pub l2_hits: u64,
    /// Sectors read along with another SM's, without work for the slice.
    #[serde(default)]
    pub l2_merged_sectors: u64,
    /// Sectors that L2 held when the kernel started (0 when it started cold).
    pub l2_warm_sectors: u64,
    /// Bytes read from DRAM.
    pub dram_read_bytes: u64,
    /// Bytes written to DRAM.
    pub dram_write_bytes: u64,
    /// L2 bandwidth reached over its peak, 0 to 1.
    pub l2_share: f64,
    /// Peak of L2's bandwidth, GB/s at the core clock.
    pub l2_peak_gb_s: f64,
    /// Peak of DRAM's bandwidth, GB/s.
    pub dram_peak_gb_s: f64,
    /// DRAM bandwidth reached over its peak (not what streams reach), 0 to 1.
    pub dram_share: f64,
    /// Issue slots used over those there were on all SMs, 0 to 1.
    pub issue_share: f64,
    /// Whether branches waited for the last compare because the trace lists no predicates.
    pub predicates_inferred: bool,
    /// mbarriers whose first wait was taken to pass, because nothing else could have gone on; traces give
    /// no parities.
    pub mbarriers_inferred: u64,
    /// Share of thread blocks that were simulated, 0 to 1.
    pub sampled_fraction: f64,
    /// Estimated relative error from sampling, 0 for full simulation.
    pub sampling_error: f64,
}
