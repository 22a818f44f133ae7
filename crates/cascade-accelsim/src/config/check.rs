//! Remarks on configs that the simulator reads but stops on, or that are odd.

use super::{GpuConfig, Latency};

/// IPOLY's value of `-gpgpu_memory_partition_indexing`.
const IPOLY: u32 = 2;

/// Plain-word remarks; none where the config is sound.
#[must_use]
pub fn check(gpu: &GpuConfig) -> Vec<String> {
    let mut notes = Vec::new();
    if !gpu.n_mem.is_power_of_two() {
        notes.push(format!(
            "-gpgpu_n_mem {} is not a power of two: older simulators stop with `!gap`",
            gpu.n_mem
        ));
    }
    // gpgpu-sim's addrdec: the hash covers the next power of two of channels, times slices of a channel.
    let hashed = u64::from(gpu.n_mem).next_power_of_two() * u64::from(gpu.sub_partitions);
    if gpu.partition_indexing == IPOLY && !matches!(hashed, 16 | 32 | 64) {
        notes.push(format!(
            "-gpgpu_memory_partition_indexing 2 (IPOLY) needs 16, 32 or 64 slices and finds {hashed}: the simulator \
             stops with an assertion"
        ));
    }
    let trace = &gpu.trace;
    let units = [
        ("int", trace.int),
        ("sp", trace.sp),
        ("dp", trace.dp),
        ("sfu", trace.sfu),
        ("tensor", trace.tensor),
    ];
    for (name, latency) in units {
        notes.extend(too_short(name, latency));
    }
    for unit in &trace.specialized {
        notes.extend(too_short(
            &format!("spec_op_{} ({})", unit.index, unit.name),
            unit.latency,
        ));
        if unit.latency.latency > unit.max_latency {
            notes.push(format!(
                "-specialized_unit_{} ({}) holds {} cycles and its latency is {}: the simulator's pipeline overflows",
                unit.index, unit.name, unit.max_latency, unit.latency.latency
            ));
        }
    }
    if gpu.kernel_launch_latency > 0 {
        notes.push(format!(
            "-gpgpu_kernel_launch_latency {}: the simulator adds these cycles to every kernel",
            gpu.kernel_launch_latency
        ));
    }
    notes
}

fn too_short(name: &str, Latency { latency, initiation }: Latency) -> Option<String> {
    (latency < initiation).then(|| {
        format!(
            "-trace_opcode_latency_initiation_{name} {latency},{initiation}: the latency is below the initiation \
             interval, on which the simulator stops with `dst->empty()`"
        )
    })
}
