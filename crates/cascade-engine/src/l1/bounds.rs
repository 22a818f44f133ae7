//! What the kernel would take if only one throughput limited it, averaged over the chip: a floor under the
//! simulated cycles, and the reference for "what would help".

use super::image::Lowering;
use super::sample::Traffic;
use crate::estimate::{Bound, BoundKind};
use crate::gpu::GpuModel;
use crate::l0::costs::{MULTIPLY, TENSOR, UNITS};

/// Every throughput bound. What was simulated stands for `scale` times as many instructions; `traffic` is that of
/// the whole kernel and `port_cycles` the work of the busiest SM's port, both of
/// the whole kernel.
pub(super) fn bounds(
    lowering: &Lowering,
    port_cycles: f64,
    traffic: Traffic,
    scale: f64,
    gpu: &GpuModel,
) -> Vec<Bound> {
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
    let l2_bytes = traffic.l2.saturating_sub(traffic.l2_merged) as f64 * 32.0;
    let dram_bytes = (traffic.dram_reads + traffic.dram_writes) as f64 * 32.0;
    let launch = lowering.counts.blocks as f64 / sms * gpu.chip.cta_launch_interval.value;
    [
        (
            BoundKind::Issue,
            lowering.counts.warp_insts as f64 * scale / subcores,
        ),
        (BoundKind::Unit, unit * scale / subcores),
        (BoundKind::Tensor, tensor * scale / subcores),
        (BoundKind::Lsu, lowering.counts.lsu_cycles as f64 * scale / sms),
        (BoundKind::L2Port, port_cycles),
        (BoundKind::L2, l2_bytes / gpu.chip.l2_bandwidth.value),
        (BoundKind::Dram, dram_bytes / gpu.dram_bytes_per_cycle()),
        (BoundKind::Launch, launch * scale),
    ]
    .map(|(kind, cycles)| Bound { kind, cycles })
    .to_vec()
}
