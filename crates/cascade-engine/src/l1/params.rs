//! One GPU's facts as the numbers that the inner loops use.

use super::consts::{ATOMIC_INTERVAL, L2_SLICE_BYTES};
use crate::estimate::Occupancy;
use crate::gpu::GpuModel;
use cascade_accelsim::trace::KernelHeader;

/// Facts in core cycles and bytes.
#[derive(Clone, Debug)]
pub(super) struct Params {
    pub(super) sms: usize,
    pub(super) subcores: usize,
    pub(super) lanes: usize,
    pub(super) ctas_per_sm: usize,
    pub(super) l1_latency: u32,
    pub(super) shared_latency: u32,
    pub(super) l2_latency: u32,
    pub(super) dram_latency: u32,
    pub(super) branch_latency: u32,
    pub(super) agu_interval: u32,
    pub(super) lsu_interval: f64,
    pub(super) launch_interval: u32,
    pub(super) l1_bytes: u64,
    pub(super) l2_slices: usize,
    pub(super) atomic_interval: f64,
}

impl Params {
    pub(super) fn new(gpu: &GpuModel, header: &KernelHeader, occupancy: &Occupancy) -> Self {
        let sm = &gpu.sm_core;
        let cycles = |value: f64| (value.ceil() as u32).max(1);
        let subcores = (sm.schedulers.count() as usize).max(1);
        // What shared memory leaves of the unified array is L1; 4 KiB always remain for local data.
        let resident = occupancy.ctas_per_sm.min(occupancy.ctas_on_busiest_sm);
        let shared = header.shmem_bytes.saturating_mul(resident);
        Self {
            sms: (gpu.chip.sms.count() as usize).max(1),
            subcores,
            lanes: (sm.max_warps.count() as usize).div_ceil(subcores),
            ctas_per_sm: occupancy.ctas_per_sm.max(1) as usize,
            l1_latency: cycles(gpu.latency.l1.value),
            shared_latency: cycles(gpu.latency.shared.value),
            l2_latency: cycles(gpu.latency.l2.value),
            dram_latency: cycles(gpu.latency.dram.value),
            branch_latency: cycles(gpu.units.branch.latency.value),
            agu_interval: sm.agu_interval.value.ceil() as u32,
            lsu_interval: sm.lsu_interval.value.max(1.0),
            launch_interval: gpu.chip.cta_launch_interval.value.ceil() as u32,
            l2_slices: ((gpu.chip.l2_bandwidth.value / L2_SLICE_BYTES) as usize).max(1),
            atomic_interval: ATOMIC_INTERVAL,
            l1_bytes: sm.l1_size.count().saturating_sub(shared).max(4096),
        }
    }
}
