//! What the kernel would take if only one throughput limited it, averaged over the chip: a floor under the
//! simulated cycles, and the reference for "what would help".

use super::image::Lowering;
use super::memory::Memory;
use crate::estimate::{Bound, BoundKind};
use crate::gpu::GpuModel;
use crate::l0::costs::{MULTIPLY, TENSOR, UNITS};

/// Every throughput bound of the work that was simulated.
pub(super) fn bounds(lowering: &Lowering, memory: &Memory<'_>, gpu: &GpuModel) -> Vec<Bound> {
    let sms = gpu.chip.sms.value.max(1.0);
    let subcores = sms * gpu.sm_core.schedulers.value;
    let mut busy = [0.0; UNITS];
    for (id, count) in lowering.by_opcode.iter().enumerate() {
        let Some(cost) = lowering.isa.cost(cascade_accelsim::trace::OpcodeId(id as u16)) else {
            continue;
        };
        let count = *count as f64;
        if let Some(unit) = cost.unit.and_then(|unit| busy.get_mut(unit)) {
            *unit += count * cost.interval;
        }
        busy[MULTIPLY] += count * cost.multiply;
    }
    let unit = busy.iter().take(TENSOR).copied().fold(0.0, f64::max);
    let tensor = busy.get(TENSOR).copied().unwrap_or(0.0);
    let l2_bytes = memory.l2_sectors as f64 * 32.0;
    let dram_bytes = (memory.dram_reads + memory.dram_writes) as f64 * 32.0;
    let launch = lowering.counts.blocks as f64 / sms * gpu.chip.cta_launch_interval.value;
    [
        (BoundKind::Issue, lowering.counts.warp_insts as f64 / subcores),
        (BoundKind::Unit, unit / subcores),
        (BoundKind::Tensor, tensor / subcores),
        (BoundKind::Lsu, lowering.counts.lsu_cycles as f64 / sms),
        (BoundKind::L2Port, memory.busiest_port_cycles()),
        (BoundKind::L2, l2_bytes / gpu.chip.l2_bandwidth.value),
        (BoundKind::Dram, dram_bytes / gpu.dram_bytes_per_cycle()),
        (BoundKind::Launch, launch),
    ]
    .map(|(kind, cycles)| Bound { kind, cycles })
    .to_vec()
}
