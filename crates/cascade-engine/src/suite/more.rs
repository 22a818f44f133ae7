//! More of something is never slower: strictly where that is a law of list scheduling, and for every kernel within
//! a bound that itself never grows.
//!
//! The bound is that of a critical path. Go back from the last warp's end: at any time its block, or the one that
//! left its slot to it, waits for a latency, or for something that works meanwhile (DRAM, L2, its SM's scheduler, unit,
//! load/store path or port). The latencies of one block are at most what the block takes alone, and a slot holds one
//! block a wave; each server works at most as long as it has work. So no kernel takes longer than the sum of DRAM's,
//! L2's and its SM's work and a lonely block for each wave. L2's slices are taken as one server, since every run of
//! lines meets each once; an SM gets at most its share of the blocks, rounded up, of the kind that has most work.

use std::io::Cursor;

use cascade_accelsim::synth::{Arch, Gemm, KernelShape, SynthKernel};
use cascade_accelsim::trace::{TraceFormat, open};

use super::laws::kernels;
use super::memory::stream;
use super::{Bench, OPTIONS, Rule, simulate};
use crate::engine::Engine;
use crate::estimate::{BoundKind, KernelEstimate};
use crate::gpu::{Fact, GpuModel};
use crate::l1::COALESCER_SM;
use crate::synthetic::Synthetic;

/// Events that fall differently move a result a little: so much is no violation of "never slower".
const SLACK: f64 = 0.005;
/// SMs as shares of the GPU's.
const SMS: [f64; 16] = [
    0.25, 0.3, 0.4, 0.5, 0.62, 0.75, 0.9, 1.0, 1.06, 1.13, 1.23, 1.5, 2.0, 2.5, 4.0, 8.0,
];
/// Bandwidths as shares of the GPU's.
const BANDWIDTHS: [f64; 7] = [0.5, 0.8, 1.0, 1.4, 2.0, 4.0, 8.0];
/// Clocks as shares of the GPU's.
const CLOCKS: [f64; 4] = [0.7, 1.0, 1.3, 1.6];

type Knob = fn(&mut GpuModel) -> &mut Fact;

/// A kernel, and its neediest block alone.
struct Case {
    name: &'static str,
    whole: Source,
    block: Source,
}

enum Source {
    Memory(Box<Synthetic>),
    /// A trace's text: a matrix multiply.
    Text(Vec<u8>),
}

impl Source {
    fn run(&self, gpu: &GpuModel) -> Option<KernelEstimate> {
        match self {
            Self::Memory(source) => simulate(source, gpu).ok(),
            Self::Text(text) => {
                let name = format!("kernel-1{}", TraceFormat::Text.suffix());
                let mut source = open(Cursor::new(text.as_slice()), &name).ok()?;
                Engine::simulate_kernel(&mut *source, gpu, &OPTIONS).ok()
            }
        }
    }
}

impl Case {
    fn new(name: &'static str, whole: Synthetic) -> Self {
        let mut block = whole.clone();
        let length = |block: &cascade_accelsim::trace::ThreadBlock| {
            block.warps.iter().map(|warp| warp.instrs.len()).sum::<usize>()
        };
        block.blocks.sort_by_key(|block| std::cmp::Reverse(length(block)));
        block.blocks.truncate(1);
        block.header.grid.x = 1;
        let [whole, block] = [whole, block].map(|it| Source::Memory(Box::new(it)));
        Self { name, whole, block }
    }

    /// 256 tiles; `None` where this architecture has no synthetic code.
    fn multiply(sm: u32) -> Option<Self> {
        let text = |side| {
            let shape = Gemm {
                m: side,
                n: side,
                k: 96,
                tile_m: 64,
                tile_n: 64,
            };
            let kernel = SynthKernel::new("gemm", KernelShape::Gemm(shape), Arch::new(sm).ok()?).ok()?;
            let mut bytes = Vec::new();
            kernel.write(1, &mut bytes, TraceFormat::Text).ok()?;
            Some(Source::Text(bytes))
        };
        Some(Self {
            name: "a matrix multiply",
            whole: text(1024)?,
            block: text(64)?,
        })
    }

    fn all(sm: u32) -> Vec<Self> {
        let alike = Synthetic::uniform(sm, 1000, 4, |_, _, code| {
            (0..160).for_each(|i| code.op("FFMA", &[4 + (i % 4) as u8], &[2]));
        });
        let mut all = vec![Self::new("arithmetic of equal blocks", alike)];
        all.extend(
            kernels(sm)
                .into_iter()
                .map(|(name, source)| Self::new(name, source)),
        );
        all.extend(Self::multiply(sm));
        all
    }

    fn cycles(&self, gpu: &GpuModel) -> f64 {
        self.whole.run(gpu).map_or(f64::NAN, |it| it.body_cycles)
    }

    /// Cycles, and the most that they can be.
    fn bounded(&self, gpu: &GpuModel) -> Option<(f64, f64)> {
        let whole = self.whole.run(gpu)?;
        let mut one_sm = gpu.clone();
        one_sm.chip.sms.value = 1.0;
        let alone = self.block.run(&one_sm)?;
        let blocks = (whole.blocks as f64 / gpu.chip.sms.value).ceil();
        let waves = (blocks / whole.occupancy.ctas_per_sm.max(1) as f64).ceil();
        let shared: f64 = of(&whole, |kind| matches!(kind, BoundKind::Dram | BoundKind::L2));
        let own = of(&alone, |kind| {
            !matches!(kind, BoundKind::Dram | BoundKind::L2 | BoundKind::Latency)
        });
        let most = shared + blocks * own + waves * alone.body_cycles;
        Some((whole.body_cycles, most))
    }
}

fn of(estimate: &KernelEstimate, which: impl Fn(BoundKind) -> bool) -> f64 {
    let bounds = estimate.bounds.iter().filter(|bound| which(bound.kind));
    bounds.map(|bound| bound.cycles).sum()
}

fn changed(gpu: &GpuModel, knob: Knob, factor: f64) -> GpuModel {
    let mut changed = gpu.clone();
    let fact = knob(&mut changed);
    fact.value = (fact.value * factor).floor().max(1.0);
    changed
}

/// More SMs: strict for blocks that are alike and need nothing that SMs share; within the bound for every kernel.
pub(super) fn sms(bench: &mut Bench<'_>) {
    let knob: Knob = |gpu| &mut gpu.chip.sms;
    for case in Case::all(bench.sm()) {
        if case.name == "arithmetic of equal blocks" {
            never_slower(bench, &case, "SMs", knob, &SMS);
        }
        within_bound(bench, &case, "SMs", knob, &SMS);
    }
    // A block of the stream makes two trips, one after the other.
    let gpu = bench.gpu;
    let source = stream(bench.sm(), 1000, 2);
    let most = 1000.0 * 8.0 * 2.0 * 512.0 / gpu.dram_bytes_per_cycle() + 2.0 * gpu.latency.dram.value;
    for factor in SMS.iter().filter(|factor| **factor >= 0.5) {
        let changed = changed(gpu, knob, *factor);
        let got = super::body(&source, &changed);
        let name = format!("a stream on {} SMs", changed.chip.sms.value);
        let why = "bytes over bandwidth, and two trips of the last blocks";
        bench.check(&name, "cycles", most, got, Rule::AtMost(SLACK), why);
    }
}

/// More bandwidth: strict where nothing falls out of step, within the bound for the others.
pub(super) fn bandwidth(bench: &mut Bench<'_>) {
    let dram: Knob = |gpu| &mut gpu.chip.dram_bandwidth;
    let l2: Knob = |gpu| &mut gpu.chip.l2_bandwidth;
    for case in Case::all(bench.sm()) {
        for (what, knob) in [("DRAM bandwidth", dram), ("L2 bandwidth", l2)] {
            let strict = match case.name {
                "a mixture" => false,
                "a matrix multiply" => bench.sm() >= COALESCER_SM,
                _ => true,
            };
            if strict {
                never_slower(bench, &case, what, knob, &BANDWIDTHS);
            } else {
                within_bound(bench, &case, what, knob, &BANDWIDTHS);
            }
        }
    }
}

/// A higher clock is never slower in time, whatever the kernel.
pub(super) fn clock(bench: &mut Bench<'_>) {
    for case in Case::all(bench.sm()) {
        let mut best = f64::INFINITY;
        for factor in CLOCKS {
            let mut gpu = changed(bench.gpu, |gpu| &mut gpu.chip.core_clock, factor);
            // DRAM keeps its nanoseconds.
            let beyond = gpu.latency.dram.value - gpu.latency.l2.value;
            gpu.latency.dram.value = gpu.latency.l2.value + beyond * factor;
            let got = gpu.ns_from_cycles(case.cycles(&gpu));
            if best.is_finite() {
                let name = format!("{}: core clock x {factor} against less", case.name);
                bench.check(&name, "ns", best, got, Rule::AtMost(SLACK), "never slower");
            }
            best = best.min(got);
        }
    }
}

fn never_slower(bench: &mut Bench<'_>, case: &Case, what: &str, knob: Knob, factors: &[f64]) {
    let mut best = f64::INFINITY;
    for factor in factors {
        let got = case.cycles(&changed(bench.gpu, knob, *factor));
        if best.is_finite() {
            let name = format!("{}: {what} x {factor} against less", case.name);
            bench.check(&name, "cycles", best, got, Rule::AtMost(SLACK), "never slower");
        }
        best = best.min(got);
    }
}

/// Holds each result to the least bound of as much or less, and shows the one that comes nearest.
fn within_bound(bench: &mut Bench<'_>, case: &Case, what: &str, knob: Knob, factors: &[f64]) {
    let mut least = f64::INFINITY;
    let mut nearest: Option<(f64, f64, f64)> = None;
    for factor in factors {
        let (got, most) = case
            .bounded(&changed(bench.gpu, knob, *factor))
            .unwrap_or((f64::NAN, f64::NAN));
        least = least.min(most);
        let nearer = |(near, bound, _): (f64, f64, f64)| got / least > near / bound;
        if got.is_nan() || nearest.is_none_or(nearer) {
            nearest = Some((got, least, *factor));
        }
        if got.is_nan() {
            // It is no answer, and fails.
            break;
        }
    }
    let (got, most, factor) = nearest.unwrap_or((f64::NAN, f64::NAN, f64::NAN));
    let name = format!("{}: {what}, nearest to its bound at x {factor}", case.name);
    bench.check(
        &name,
        "cycles",
        most,
        got,
        Rule::AtMost(0.0),
        "the work of each server, and a lonely block a wave",
    );
}
