//! Laws between two simulations of one kernel, whatever the right answer is.

use cascade_accelsim::synth::Gemm;
use cascade_accelsim::trace::TraceFormat;

use super::memory::stream;
use super::whole::multiply;
use super::{Bench, GLOBAL, OPTIONS, Rule, body, more};
use crate::engine::{Engine, Options};
use crate::synthetic::{Builder, Synthetic};

pub(super) fn laws(bench: &mut Bench<'_>) {
    more::sms(bench);
    more::bandwidth(bench);
    more::clock(bench);
    order(bench);
    threads(bench);
    formats(bench);
    sampling(bench);
}

/// Reads, multiplies, meets at a barrier, writes.
fn tile(block: u32, warp: u32, turns: u64, code: &mut Builder<'_>) {
    for turn in 0..turns {
        let offset = ((u64::from(block) * 8 + u64::from(warp)) * turns + turn) * 512;
        code.mem("LDG.E.128", &[8], &[2], GLOBAL + offset % (1 << 20), 16);
        code.mem("STS.128", &[], &[3, 8], u64::from(warp) * 512, 16);
        code.op("BAR.SYNC", &[], &[]);
        code.mem("LDS.128", &[12], &[3], u64::from(warp) * 512, 16);
        (0..16).for_each(|i| {
            code.op("FFMA", &[16 + i % 8], &[8, 12, 16 + i % 8]);
        });
        code.op("BAR.SYNC", &[], &[]);
    }
    let offset = (u64::from(block) * 8 + u64::from(warp)) * 512;
    code.mem("STG.E.128", &[], &[2, 16], GLOBAL + (1 << 32) + offset, 16);
    code.op("EXIT", &[], &[]);
}

/// Kernels that DRAM, arithmetic and a mixture limit.
pub(super) fn kernels(sm: u32) -> [(&'static str, Synthetic); 3] {
    let arithmetic = Synthetic::uniform(sm, 1000, 4, |block, _, code| {
        (0..100 + block % 7 * 20).for_each(|i| code.op("FFMA", &[4 + (i % 4) as u8], &[2]));
    });
    let mixture = Synthetic::uniform(sm, 700, 4, |block, warp, code| tile(block, warp, 4, code));
    [
        ("a stream", stream(sm, 1000, 2)),
        ("arithmetic", arithmetic),
        ("a mixture", mixture),
    ]
}

fn order(bench: &mut Bench<'_>) {
    for (kernel, source) in kernels(bench.sm()) {
        let mut shuffled = source.clone();
        shuffled.blocks.rotate_left(377);
        shuffled.blocks.reverse();
        let [expected, got] = [&source, &shuffled].map(|source| bench.body(source));
        let name = format!("{kernel}: blocks in another order");
        bench.cycles(&name, expected, got, 0.02, "the order of blocks hardly matters");
    }
}

/// Results that differ in any bit.
fn differences<T: PartialEq>(one: &T, others: &[T]) -> f64 {
    others.iter().filter(|other| *other != one).count() as f64
}

fn threads(bench: &mut Bench<'_>) {
    let run = |source: &Synthetic, parallel| {
        let options = Options { parallel, ..OPTIONS };
        Engine::simulate_kernel(&mut source.clone(), bench.gpu, &options).ok()
    };
    let different: f64 = kernels(bench.sm())
        .iter()
        .map(|(_, source)| differences(&run(source, false), &[run(source, true), run(source, false)]))
        .sum();
    bench.check(
        "results that threads change",
        "results",
        0.0,
        different,
        Rule::Near(0.0),
        "bit for bit",
    );
}

fn formats(bench: &mut Bench<'_>) {
    let shape = Gemm {
        m: 256,
        n: 256,
        k: 64,
        tile_m: 64,
        tile_n: 64,
    };
    let run = |format| multiply(bench.gpu, shape, format, &OPTIONS);
    let text = run(TraceFormat::Text);
    if text.is_none() {
        return bench.skip("trace formats", "no synthetic code for this architecture");
    }
    if !cfg!(feature = "compression") {
        return bench.skip("trace formats", "built without compression");
    }
    let others = [run(TraceFormat::TextXz), run(TraceFormat::Packed)];
    bench.check(
        "results that the trace's format changes",
        "results",
        0.0,
        differences(&text, &others),
        Rule::Near(0.0),
        "bit for bit",
    );
}

fn sampling(bench: &mut Bench<'_>) {
    // Few SMs, so that a short grid has many waves.
    let mut small = bench.gpu.clone();
    small.chip.sms.value = small.chip.sms.value.min(8.0);
    let mut grid = Synthetic::uniform(bench.sm(), 8 * 2 * 60 + 7, 4, |block, warp, code| {
        tile(block, warp, 8, code);
    });
    grid.header.shmem_bytes = small.sm_core.shared_memory.count() * 2 / 5;
    let wide = Gemm {
        m: 64,
        n: 12_800,
        k: 256,
        tile_m: 64,
        tile_n: 64,
    };
    let mut half = bench.gpu.clone();
    for share in [
        &mut half.chip.sms,
        &mut half.chip.l2_bandwidth,
        &mut half.chip.dram_bandwidth,
    ] {
        share.value = (share.value / 2.0).floor();
    }
    let why = "the whole kernel";
    let mut persistent = Synthetic::uniform(
        bench.sm(),
        bench.gpu.chip.sms.count() as u32,
        4,
        |block, warp, code| {
            for turn in 0..100_u64 {
                code.jump(0x1000);
                let offset = ((u64::from(block) * 4 + u64::from(warp)) * 100 + turn) * 512;
                code.mem("LDG.E.128", &[8], &[2], GLOBAL + offset, 16);
                code.op("BAR.SYNC", &[], &[]);
                (0..96).for_each(|i| code.op("FFMA", &[16 + i % 8], &[8, 16 + i % 8]));
                code.op("BRA", &[], &[]);
            }
            code.op("EXIT", &[], &[]);
        },
    );
    persistent.header.shmem_bytes = bench.gpu.sm_core.shared_memory.count() * 3 / 5;
    let whole = bench.body(&persistent);
    let options = Options {
        sample: true,
        ..OPTIONS
    };
    let part = Engine::simulate_kernel(&mut persistent, bench.gpu, &options).ok();
    let part = part.filter(|it| {
        it.cycle_stats
            .as_ref()
            .is_some_and(|stats| stats.sampled_fraction < 1.0)
    });
    let got = part.map_or(f64::NAN, |it| it.body_cycles);
    bench.cycles("30 of 100 tiles of a persistent kernel", whole, got, 0.02, why);
    let whole = body(&grid, &small);
    let options = Options {
        sample: true,
        ..OPTIONS
    };
    let sampled = Engine::simulate_kernel(&mut grid, &small, &options).map_or(f64::NAN, |it| it.body_cycles);
    bench.cycles("the middle of 60 waves left out", whole, sampled, 0.02, why);
    let run = |sample_sms| {
        let options = Options {
            sample_sms,
            ..OPTIONS
        };
        multiply(&half, wide, TraceFormat::Text, &options).map(|it| it.body_cycles)
    };
    match (run(None), run(Some(6))) {
        (Some(whole), part) if half.chip.sms.value >= 12.0 => {
            bench.cycles(
                "a wide multiply on every sixth SM",
                whole,
                part.unwrap_or(f64::NAN),
                0.02,
                why,
            );
        }
        _ => bench.skip(
            "a wide multiply on every sixth SM",
            "too few SMs or no synthetic code",
        ),
    }
}
