//! From per-block counts to bounds, and from bounds to a time.

use super::costs::{TENSOR, UNITS};
use crate::estimate::{Bound, BoundKind, Occupancy};
use crate::gpu::GpuModel;

/// Exponent with which bounds combine. Bounds of equal size then cost `2^(1/8)`, 9 % more than either alone:
/// a soft maximum for work that overlaps well but not perfectly.
pub const P_NORM: u32 = 8;

/// `(sum of x^8)^(1/8)`: never below the largest value. Squarings and square roots only, so that every
/// platform computes the same bits.
pub fn p_norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(0.0, f64::max);
    if largest <= 0.0 {
        return 0.0;
    }
    let square = |x: f64| x * x;
    let sum: f64 = values.map(|value| square(square(square(value / largest)))).sum();
    largest * sum.sqrt().sqrt().sqrt().max(1.0)
}

/// Cycles that blocks need of something an SM has, summed over the kernel's blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// Largest need of one block, on its busiest sub-core.
    peak_max: f64,
    /// Sum of the blocks' needs on their busiest sub-cores.
    peak_sum: f64,
    /// Sum over sub-cores and blocks.
    total_sum: f64,
}

impl Load {
    /// Adds one block: its need on the busiest sub-core and over all sub-cores.
    pub(super) fn add(&mut self, peak: f64, total: f64) {
        self.peak_max = self.peak_max.max(peak);
        self.peak_sum += peak;
        self.total_sum += total;
    }

    /// Cycles on the busiest SM, which runs `ceil(blocks / SMs)` average blocks in waves of as many as fit:
    /// no shorter than the largest block, than one average block per wave on its busiest sub-core, and than
    /// all its work spread over `width` sub-cores.
    fn on_busiest_sm(&self, occupancy: &Occupancy, blocks: u64, width: f64) -> f64 {
        let blocks = (blocks as f64).max(1.0);
        let waves = occupancy.waves as f64 * self.peak_sum / blocks;
        let spread = occupancy.ctas_on_busiest_sm as f64 * self.total_sum / blocks / width;
        self.peak_max.max(waves).max(spread)
    }
}

/// Sums over a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) blocks: u64,
    pub(super) issue: Load,
    pub(super) units: [Load; UNITS],
    pub(super) agu: Load,
    pub(super) lsu: Load,
    pub(super) port: Load,
    pub(super) chain: Load,
    pub(super) l2_bytes: u64,
    pub(super) dram_bytes: u64,
}

impl Totals {
    /// Every bound, in the order of [`BoundKind`].
    pub(super) fn bounds(&self, occupancy: &Occupancy, gpu: &GpuModel) -> Vec<Bound> {
        let schedulers = gpu.sm_core.schedulers.value;
        let on_sm = |load: &Load, width: f64| load.on_busiest_sm(occupancy, self.blocks, width);
        let unit = |range: std::ops::Range<usize>| {
            self.units
                .iter()
                .take(range.end)
                .skip(range.start)
                .map(|load| on_sm(load, schedulers))
                .fold(0.0, f64::max)
        };
        let cycles = |kind| match kind {
            BoundKind::Issue => on_sm(&self.issue, schedulers),
            BoundKind::Unit => unit(0..TENSOR),
            BoundKind::Tensor => unit(TENSOR..UNITS),
            BoundKind::Lsu => on_sm(&self.lsu, 1.0).max(on_sm(&self.agu, schedulers)),
            BoundKind::L2Port => on_sm(&self.port, 1.0) / gpu.sm_core.l2_port.value,
            BoundKind::L2 => self.l2_bytes as f64 / gpu.chip.l2_bandwidth.value,
            BoundKind::Dram => self.dram_bytes as f64 / gpu.dram_bytes_per_cycle(),
            BoundKind::Chain => on_sm(&self.chain, 1.0),
            BoundKind::Launch => occupancy.ctas_on_busiest_sm as f64 * gpu.chip.cta_launch_interval.value,
            BoundKind::Latency | BoundKind::Overhead => 0.0,
        };
        use BoundKind::*;
        [Issue, Unit, Tensor, Lsu, L2Port, L2, Dram, Chain, Launch]
            .map(|kind| Bound {
                kind,
                cycles: cycles(kind),
            })
            .to_vec()
    }
}
