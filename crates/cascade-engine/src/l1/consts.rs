//! Constants of the cycle-level model that are not facts of one GPU, each with its source.
//!
//! "Assumed" means that nobody has published the value as far as we know. None was fitted to a measured or
//! simulated kernel time.

/// Memory instructions that a sub-core buffers before its address generation unit (MICRO 2025, arXiv
/// 2503.20481: 5 on Ampere).
pub(super) const MEM_QUEUE: usize = 5;
/// Cycles from the last arrival at a CTA barrier to the next issue. Assumed: as a special register read.
pub(crate) const BARRIER_LATENCY: u32 = 20;
/// Cycles from the issue of an arrival to its effect on an mbarrier (public micro-benchmark of an H200: 6).
pub(super) const MBARRIER_ARRIVE: u32 = 6;
/// Cycles of a successful `try_wait` (public micro-benchmark of an H200: 43).
pub(super) const MBARRIER_WAIT: u32 = 43;
/// Cycles from the end of a warp-group multiply on the tensor core to the end of its wait: the same
/// micro-benchmark waits 75 and 107 cycles at N = 64 and 128, which is N/2 + 43 at N/2 cycles of multiplying.
pub(super) const GMMA_TAIL: u32 = 43;
/// Cycles from one SM of a cluster to another (public H100 configuration for Accel-Sim: 171).
pub(super) const SM_TO_SM: u32 = 171;
/// Cycles that a copy into shared memory takes beyond a load into registers: 39 instead of 32 on a hit
/// (MICRO 2025, arXiv 2503.20481, Ampere).
pub(super) const ASYNC_COPY_EXTRA: u32 = 7;
/// Cycles between two requests of the tensor memory accelerator. Assumed: one line a cycle.
pub(super) const TMA_INTERVAL: u32 = 1;
/// Cycles for which one lane of an atomic occupies its L2 slice when other lanes hit the same word. Assumed.
pub(super) const ATOMIC_INTERVAL: f64 = 1.0;
/// Ways of a set of the L1 cache. Assumed; indices are hashed.
pub(super) const L1_WAYS: usize = 8;
/// Ways of a set of the L2 cache (16 in Accel-Sim's tested configurations); indices are hashed.
pub(super) const L2_WAYS: usize = 16;
/// First SM number whose L2 merges reads of one line by different SMs while they wait (Nsight Compute guide: the L2
/// request coalescer, "lrc"; public micro-benchmarks and Accel-Sim 2.0 have it from the H100 on). How many it can
/// hold is not published: any number here.
pub(crate) const COALESCER_SM: u32 = 90;
/// Bytes per cycle of one L2 slice (NVIDIA A100 whitepaper: 5,120 B/clk from 80 slices).
pub(super) const L2_SLICE_BYTES: f64 = 64.0;
/// Longest kernel, core cycles (2^31: one second at 2 GHz), so that times fit 32 bits.
pub const MAX_CYCLES: u32 = 1 << 31;
