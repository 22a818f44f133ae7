//! Issue, arithmetic units, tensor cores, waves, the empty kernel.

use super::{Bench, Rule, simulate};
use crate::gpu::TensorType;
use crate::synthetic::Synthetic;

fn independent(opcode: &'static str, sm: u32, warps: u32, n: usize) -> Synthetic {
    Synthetic::uniform(sm, 1, warps, move |_, _, code| {
        (0..n).for_each(|i| code.op(opcode, &[4 * (i % 6) as u8], &[28]));
    })
}

/// Cycles between the 500th and the 1,000th of a chain.
fn chain(bench: &Bench<'_>, opcode: &str) -> f64 {
    let time = |n| bench.body(&Synthetic::chain(opcode, n, bench.sm()));
    time(1000) - time(500)
}

pub(super) fn chains(bench: &mut Bench<'_>) {
    let units = &bench.gpu.units;
    let (fp32, imad) = (units.fp32.latency.value.ceil(), units.imad.latency.value.ceil());
    let why = "500 x the unit's latency";
    for (opcode, latency) in [("FFMA", fp32), ("IMAD", imad)] {
        let got = chain(bench, opcode);
        bench.cycles(&format!("500 dependent {opcode}"), 500.0 * latency, got, 0.0, why);
    }
    let schedulers = bench.gpu.sm_core.schedulers.value;
    let interval = units.fp32.interval.value;
    for warps in [1_u32, 4, 8, 16] {
        let a_subcore = (f64::from(warps) / schedulers).ceil();
        let got = bench.body(&independent("FFMA", bench.sm(), warps, 2000));
        let expected = 2000.0 * a_subcore * interval.max(1.0);
        let name = format!("2,000 independent FFMA in {warps} warps");
        let why = "instructions of a sub-core x max(1, 32 / lanes)";
        bench.cycles(&name, expected, got, 0.01, why);
    }
}

pub(super) fn special_functions(bench: &mut Bench<'_>) {
    let unit = &bench.gpu.units.sfu;
    let (latency, interval) = (unit.latency.value.ceil(), unit.interval.value);
    let got = chain(bench, "MUFU.RCP");
    bench.cycles(
        "500 dependent MUFU",
        500.0 * latency.max(interval),
        got,
        0.0,
        "500 x the unit's latency",
    );
    let schedulers = bench.gpu.sm_core.schedulers.count() as u32;
    let got = bench.body(&independent("MUFU.EX2", bench.sm(), schedulers, 2000));
    bench.cycles(
        "2,000 independent MUFU a sub-core",
        2000.0 * interval,
        got,
        0.01,
        "2,000 x 32 / lanes",
    );
}

pub(super) fn warp_multiplies(bench: &mut Bench<'_>) {
    let (opcode, macs) = match bench.sm() {
        80.. => ("HMMA.16816.F32", 2048.0),
        75..80 => ("HMMA.1688.F32", 1024.0),
        _ => return bench.skip("HMMA", "its shape on this architecture is not in the suite"),
    };
    let Some(rate) = bench.gpu.tensor.rate(TensorType::Fp16F32) else {
        return bench.skip("HMMA", "the GPU's description has no rate for FP16");
    };
    let schedulers = bench.gpu.sm_core.schedulers.value;
    let share = bench.gpu.tensor.sync_efficiency.value;
    let interval = macs / (rate * share / schedulers);
    let source = independent(opcode, bench.sm(), schedulers as u32, 2000);
    let got = bench.body(&source);
    let name = format!("2,000 independent {opcode} a sub-core");
    let why = "multiply-adds over the sub-core's rate";
    bench.cycles(&name, 2000.0 * interval, got, 0.01, why);
    let done = macs * 2000.0 * schedulers / got;
    bench.check(
        "multiply-adds a cycle and SM",
        "MAC/clk",
        rate,
        done,
        Rule::AtMost(0.0),
        "the tensor cores' peak",
    );
}

pub(super) fn group_multiplies(bench: &mut Bench<'_>) {
    if bench.sm() != 90 {
        return bench.skip("HGMMA", "warp-group multiplies exist on sm_90");
    }
    let Some(rate) = bench.gpu.tensor.rate(TensorType::Fp16F32) else {
        return bench.skip("HGMMA", "the GPU's description has no rate for FP16");
    };
    let sms = bench.gpu.chip.sms.count() as u32;
    let group = |n: usize, opcode: &'static str| {
        Synthetic::uniform(90, sms, 4, move |_, _, code| {
            (0..n).for_each(|i| code.gmma(opcode, i % 4 == 3));
            code.with_imms("WARPGROUP.DEPBAR.LE", [Some(0), None]);
        })
    };
    let wide = bench.body(&group(500, "HGMMA.64x256x16.F32"));
    let macs = 64.0 * 256.0 * 16.0;
    bench.cycles(
        "500 HGMMA.64x256x16",
        500.0 * macs / rate,
        wide,
        0.01,
        "N/2 cycles each at 2,048 multiply-adds a cycle",
    );
    bench.check(
        "multiply-adds a cycle and SM",
        "MAC/clk",
        rate,
        macs * 500.0 / wide,
        Rule::AtMost(0.0),
        "the tensor cores' peak",
    );
    let operands = (2048.0 + 256.0) / bench.gpu.sm_core.l1_bandwidth.value;
    let narrow = bench.body(&group(400, "HGMMA.64x8x16.F32"));
    bench.cycles(
        "400 HGMMA.64x8x16",
        400.0 * operands.max(64.0 * 8.0 * 16.0 / rate),
        narrow,
        0.02,
        "operand bytes over shared-memory bandwidth",
    );
}

pub(super) fn waves(bench: &mut Bench<'_>) {
    let sms = bench.gpu.chip.sms.count() as u32;
    // More than half of an SM's shared memory each: one block an SM.
    let shared = bench.gpu.sm_core.shared_memory.count() * 3 / 5;
    let time = |blocks| {
        let mut source = Synthetic::uniform(bench.sm(), blocks, 1, |_, _, code| {
            (0..500).for_each(|_| code.op("FFMA", &[4], &[4]));
        });
        source.header.shmem_bytes = shared;
        bench.body(&source)
    };
    let (one, times) = (time(1), [sms, sms + 1, 2 * sms, 2 * sms + 1].map(time));
    let names = [
        "a block an SM",
        "and one more",
        "two blocks an SM",
        "and one more",
    ];
    for ((name, got), waves) in names.into_iter().zip(times).zip([1.0, 2.0, 2.0, 3.0]) {
        bench.cycles(name, waves * one, got, 0.01, "waves x the time of one block");
    }
}

pub(super) fn empty(bench: &mut Bench<'_>) {
    let source = Synthetic::uniform(bench.sm(), 1, 1, |_, _, code| code.op("EXIT", &[], &[]));
    let t0 = bench.gpu.cycles_from_ns(bench.gpu.chip.kernel_overhead.value);
    let got = simulate(&source, bench.gpu).map_or(f64::NAN, |estimate| estimate.cycles as f64);
    bench.check(
        "one EXIT",
        "cycles",
        t0 + 5.0,
        got,
        Rule::AtMost(0.0),
        "T0 and an instruction",
    );
    bench.check("one EXIT", "cycles", t0, got, Rule::AtLeast(0.0), "T0");
}
