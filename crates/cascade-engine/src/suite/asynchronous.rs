//! Barriers, the tensor memory accelerator, mbarriers, clusters.

use cascade_accelsim::trace::{Cluster, Dim3};

use super::{Bench, GLOBAL, Rule, simulate};
use crate::l1::BARRIER_LATENCY;
use crate::synthetic::{Builder, Synthetic};

pub(crate) const WAIT: &str = "SYNCS.PHASECHK.TRANS64.TRYWAIT";
pub(crate) const ARRIVE: &str = "SYNCS.ARRIVE.TRANS64.A1T0";
pub(crate) const FULL: u64 = 0x100;
pub(crate) const EMPTY: u64 = 0x200;
/// Lines of a tile: 16 KiB.
pub(crate) const TILE: u64 = 128;

pub(super) fn barriers(bench: &mut Bench<'_>) {
    let step = f64::from(BARRIER_LATENCY);
    let ping_pong = Synthetic::uniform(bench.sm(), 1, 2, |_, warp, code| match warp {
        0 => (0..100).for_each(|_| {
            code.with_imms("BAR.ARV", [Some(1), Some(64)]);
            code.with_imms("BAR.SYNC.DEFER_BLOCKING", [Some(2), Some(64)]);
        }),
        _ => (0..100).for_each(|_| {
            code.with_imms("BAR.SYNC.DEFER_BLOCKING", [Some(1), Some(64)]);
            code.with_imms("BAR.ARV", [Some(2), Some(64)]);
        }),
    });
    let got = bench.body(&ping_pong);
    let why = "200 x the barrier's latency, and an issue slot each";
    bench.cycles(
        "100 rounds between two warps",
        200.0 * (step + 1.0),
        got,
        0.05,
        why,
    );
    let latency = bench.gpu.units.fp32.latency.value.ceil();
    let slowest = Synthetic::uniform(bench.sm(), 1, 4, |_, warp, code| {
        (0..100).for_each(|turn| {
            let n = if turn % 4 == warp { 100 } else { 1 };
            (0..n).for_each(|_| code.op("FFMA", &[4], &[4]));
            code.op("BAR.SYNC", &[], &[]);
        });
    });
    let got = bench.body(&slowest);
    bench.cycles(
        "100 rounds, another warp slow in each",
        100.0 * (100.0 * latency + step),
        got,
        0.01,
        "rounds x (the slow warp's chain + the barrier's latency)",
    );
}

pub(crate) fn at(code: &mut Builder<'_>, opcode: &str, address: u64) {
    code.masked_mem(opcode, &[], &[], address, 0, 1);
}

/// A ring of `stages` tiles: warp 0 loads, a warp group multiplies `multiplies` times a tile.
pub(crate) fn ring(blocks: u32, tiles: u64, stages: u64, multiplies: usize) -> Synthetic {
    Synthetic::uniform(90, blocks, 5, move |block, warp, code| {
        for tile in 0..tiles {
            let stage = tile % stages * 8;
            if warp == 0 {
                at(code, WAIT, EMPTY + stage);
                at(code, ARRIVE, FULL + stage);
                let start = GLOBAL + (u64::from(block) * tiles + tile) * TILE * 128;
                code.bulk("UTMALDG.2D", start, TILE, FULL + stage, None);
            } else {
                at(code, WAIT, FULL + stage);
                (0..multiplies).for_each(|i| code.gmma("HGMMA.64x256x16.F32", i + 1 == multiplies));
                code.with_imms("WARPGROUP.DEPBAR.LE", [Some(0), None]);
                at(code, ARRIVE, EMPTY + stage);
            }
        }
        code.op("EXIT", &[], &[]);
    })
}

pub(super) fn rings(bench: &mut Bench<'_>) {
    if bench.sm() != 90 {
        return bench.skip(
            "a ring of tiles",
            "bulk copies with mbarriers are modelled for sm_90",
        );
    }
    let gpu = bench.gpu;
    let multiply = 128.0;
    let got = bench.body(&ring(1, 100, 4, 16));
    bench.cycles(
        "100 tiles of 16 multiplies, four stages",
        100.0 * (16.0 * multiply + 43.0 + 43.0),
        got,
        0.03,
        "tiles x (multiplies + their tail + the wait)",
    );
    let tile = (TILE * 128) as f64 / gpu.sm_core.l2_port.value;
    let got = bench.body(&ring(1, 100, 8, 1));
    bench.cycles(
        "100 tiles of one multiply, eight stages",
        100.0 * tile.max(multiply) + gpu.latency.dram.value,
        got,
        0.06,
        "tiles x bytes over the SM's port, and a latency",
    );
    let serial = bench.body(&ring(1, 100, 1, 1));
    bench.check(
        "100 tiles of one multiply, one stage",
        "cycles",
        100.0 * (gpu.latency.dram.value + multiply),
        serial,
        Rule::AtLeast(0.0),
        "nothing overlaps",
    );
    let many = simulate(&ring(300, 20, 3, 2), gpu).map_or(f64::NAN, |it| it.dram_bytes as f64);
    bench.check(
        "300 blocks of 20 tiles, three stages",
        "bytes",
        300.0 * 20.0 * (TILE * 128) as f64,
        many,
        Rule::Near(0.0),
        "every tile once, without a deadlock",
    );
}

/// The blocks in clusters of `size`.
fn clusters(mut source: Synthetic, size: u32) -> Synthetic {
    for block in &mut source.blocks {
        block.cluster = Some(Cluster {
            id: Dim3::new(block.id.x / size, 0, 0),
            cta: Dim3::new(block.id.x % size, 0, 0),
            rank: block.id.x % size,
        });
    }
    source
}

pub(super) fn multicast(bench: &mut Bench<'_>) {
    if bench.sm() != 90 {
        return bench.skip("multicast", "clusters exist on sm_90");
    }
    for size in [2_u32, 4] {
        let bytes = |together: bool| {
            let source = Synthetic::uniform(90, 64, 1, move |block, _, code| {
                let tile = GLOBAL + u64::from(block / size) * TILE * 128;
                at(code, ARRIVE, FULL);
                if together {
                    let part = TILE / u64::from(size);
                    let start = tile + u64::from(block % size) * part * 128;
                    let all = (1_u16 << size) - 1;
                    code.bulk("UTMALDG.2D.MULTICAST", start, part, FULL, Some(all));
                } else {
                    code.bulk("UTMALDG.2D", tile, TILE, FULL, None);
                }
                at(code, WAIT, FULL);
                code.op("EXIT", &[], &[]);
            });
            simulate(&clusters(source, size), bench.gpu).map_or(f64::NAN, |it| it.l2_bytes as f64)
        };
        let (alone, together) = (bytes(false), bytes(true));
        bench.check(
            &format!("bytes from L2, clusters of {size}"),
            "bytes",
            alone / f64::from(size),
            together,
            Rule::Near(0.0),
            "read once for the whole cluster",
        );
    }
}
