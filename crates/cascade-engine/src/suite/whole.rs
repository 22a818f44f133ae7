//! Whole kernels as compilers emit them.

use std::io::Cursor;

use cascade_accelsim::synth::{Arch, Gemm, KernelShape, SynthKernel};
use cascade_accelsim::trace::{TraceFormat, open};

use super::{Bench, OPTIONS, Rule};
use crate::engine::{Engine, Options};
use crate::estimate::KernelEstimate;
use crate::gpu::{GpuModel, TensorType};

/// The suite's matrix multiply.
const GEMM: Gemm = Gemm {
    m: 512,
    n: 512,
    k: 256,
    tile_m: 64,
    tile_n: 64,
};

/// A synthetic matrix multiply; `None` where this architecture has none.
pub(super) fn multiply(
    gpu: &GpuModel,
    shape: Gemm,
    format: TraceFormat,
    options: &Options,
) -> Option<KernelEstimate> {
    let arch = Arch::new(gpu.sm).ok()?;
    let kernel = SynthKernel::new("gemm", KernelShape::Gemm(shape), arch).ok()?;
    let mut bytes = Vec::new();
    kernel.write(1, &mut bytes, format).ok()?;
    let mut source = open(Cursor::new(bytes), &format!("kernel-1{}", format.suffix())).ok()?;
    Engine::simulate_kernel(&mut *source, gpu, options).ok()
}

pub(super) fn gemm(bench: &mut Bench<'_>) {
    let gpu = bench.gpu;
    let Some(estimate) = multiply(gpu, GEMM, TraceFormat::Text, &OPTIONS) else {
        return bench.skip("512 x 512 x 256", "no synthetic code for this architecture");
    };
    let (m, n, k) = (f64::from(GEMM.m), f64::from(GEMM.n), f64::from(GEMM.k));
    if let Some(rate) = gpu.tensor.rate(TensorType::Fp16F32) {
        let peak = rate * gpu.chip.sms.value;
        let got = m * n * k / estimate.body_cycles;
        let why = "the tensor cores' peak";
        bench.check(
            "multiply-adds a cycle",
            "MAC/clk",
            peak,
            got,
            Rule::AtMost(0.0),
            why,
        );
    }
    bench.check(
        "bytes from DRAM",
        "bytes",
        (m * k + n * k) * 2.0,
        estimate.dram_bytes as f64,
        Rule::AtLeast(0.0),
        "both operands once",
    );
    let largest = estimate
        .bounds
        .iter()
        .map(|bound| bound.cycles)
        .fold(0.0, f64::max);
    bench.check(
        "cycles",
        "cycles",
        largest,
        estimate.body_cycles,
        Rule::AtLeast(0.0),
        "the largest hard bound",
    );
}
