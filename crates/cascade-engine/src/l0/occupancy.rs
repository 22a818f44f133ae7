//! How many CTAs of a kernel fit on one SM, and what stops more.

use cascade_accelsim::trace::KernelHeader;

use crate::estimate::{Limit, Occupancy};
use crate::gpu::GpuModel;

/// Threads of a warp.
const WARP: u64 = 32;

/// Occupancy of the kernel: with `W` warps per CTA,
/// `min(max CTAs, max warps / W, registers / (W * roundup(32 * nregs, unit)), shared / (shmem + reserved))`,
/// the rule of NVIDIA's occupancy calculator. `ctas` is the number of blocks there are to run.
///
/// # Errors
/// The limit that a single CTA already breaks.
pub fn occupancy(header: &KernelHeader, gpu: &GpuModel, ctas: u64) -> Result<Occupancy, Limit> {
    let sm = &gpu.sm_core;
    let warps = header.warps_per_block().max(1);
    let unit = sm.register_unit.count().max(1);
    let registers = warps.saturating_mul(
        (WARP * u64::from(header.nregs))
            .div_ceil(unit)
            .saturating_mul(unit),
    );
    let reserved = sm.shared_reserved.count();
    let shared = header
        .shmem_bytes
        .saturating_add(if header.shmem_bytes > 0 { reserved } else { 0 });
    let candidates = [
        (sm.max_ctas.count(), Limit::Ctas),
        (sm.max_warps.count() / warps, Limit::Warps),
        (
            sm.registers.count().checked_div(registers).unwrap_or(u64::MAX),
            Limit::Registers,
        ),
        (
            sm.shared_memory.count().checked_div(shared).unwrap_or(u64::MAX),
            Limit::SharedMemory,
        ),
    ];
    // The first of equals wins, so the answer does not depend on anything but the numbers.
    let (fit, limit) =
        candidates.into_iter().fold(
            (u64::MAX, Limit::Ctas),
            |best, next| if next.0 < best.0 { next } else { best },
        );
    if fit == 0 {
        return Err(limit);
    }
    let sms = gpu.chip.sms.count().max(1);
    let ctas_on_busiest_sm = ctas.div_ceil(sms);
    let limited_by = if ctas_on_busiest_sm < fit {
        Limit::Grid
    } else {
        limit
    };
    Ok(Occupancy {
        ctas_per_sm: fit,
        warps_per_cta: warps,
        limited_by,
        ctas_on_busiest_sm,
        waves: ctas_on_busiest_sm.div_ceil(fit),
        resident_share: (fit.min(ctas_on_busiest_sm) * warps) as f64 / sm.max_warps.value,
    })
}
