//! Known answers of the cycle-level model, on kernels whose time can be worked out by hand.

mod anomalies;
mod arithmetic;
mod async_copies;
mod memory;
mod sync;
mod whole;

use crate::engine::{Engine, EngineError, Level, Options};
use crate::estimate::KernelEstimate;
use crate::gpu::GpuModel;
use crate::l1::CycleStats;
use crate::testing::Synthetic;

pub(super) const GLOBAL: u64 = 0x7e00_0000_0000;

pub(super) const L1: Options = Options {
    level: Level::L1,
    allow_other_arch: false,
    cold: false,
    sample: false,
    sample_sms: None,
    parallel: false,
};

pub(super) fn try_run(source: &Synthetic, gpu: &GpuModel) -> Result<KernelEstimate, EngineError> {
    Engine::simulate_kernel(&mut source.clone(), gpu, &L1)
}

pub(super) fn run(source: &Synthetic, gpu: &GpuModel) -> KernelEstimate {
    try_run(source, gpu).expect("simulates")
}

pub(super) fn body(source: &Synthetic, gpu: &GpuModel) -> f64 {
    run(source, gpu).body_cycles
}

pub(super) fn stats(estimate: &KernelEstimate) -> &CycleStats {
    estimate.cycle_stats.as_ref().expect("level 1 has them")
}

/// Within a relative `share` of what was expected.
pub(super) fn near(got: f64, expected: f64, share: f64, what: &str) {
    assert!(
        (got / expected - 1.0).abs() <= share,
        "{what}: {got} instead of {expected}"
    );
}
