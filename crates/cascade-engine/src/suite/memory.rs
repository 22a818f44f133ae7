//! Latencies and bandwidths of each level, conflicts, coalescing.

use super::{Bench, GLOBAL, OPTIONS, Rule, simulate};
use crate::engine::{Engine, Options};
use crate::l1::L2State;
use crate::synthetic::{Builder, Synthetic};

/// Loads of a chase.
const CHASE: u64 = 4096;

fn chase(sm: u32, opcode: &'static str, n: u64, step: u64, wrap: u64) -> Synthetic {
    Synthetic::uniform(sm, 1, 1, move |_, _, code| {
        (0..n).for_each(|i| code.masked_mem(opcode, &[4], &[4], GLOBAL + (i % wrap) * step, 0, 1));
    })
}

pub(super) fn chases(bench: &mut Bench<'_>) {
    let latency = &bench.gpu.latency;
    let [l1, l2, dram] = [&latency.l1, &latency.l2, &latency.dram].map(|fact| fact.value.ceil());
    let dram = dram.max(l2);
    let why = "loads x the level's latency; first touches come from DRAM";
    let small = 64;
    for (name, opcode, level) in [
        ("64 lines, in L1", "LDG.E", l1),
        ("64 lines, past L1", "LDG.E.STRONG.GPU", l2),
    ] {
        let got = bench.body(&chase(bench.sm(), opcode, CHASE, 128, small));
        let expected = (CHASE - small) as f64 * level + small as f64 * dram;
        bench.cycles(name, expected, got, 0.02, why);
    }
    // Four times L1, which L2 holds.
    let lines = bench.gpu.sm_core.l1_size.count() * 4 / 128;
    if lines * 128 <= bench.gpu.chip.l2_size.count() / 2 {
        let got = bench.body(&chase(bench.sm(), "LDG.E", 4 * lines, 128, lines));
        let expected = 3.0 * lines as f64 * l2 + lines as f64 * dram;
        bench.cycles("four times L1, in L2", expected, got, 0.02, why);
    } else {
        bench.skip("four times L1, in L2", "L2 is too small beside L1");
    }
    let got = bench.body(&chase(bench.sm(), "LDG.E", CHASE, 65_536, CHASE));
    bench.cycles("every line new", CHASE as f64 * dram, got, 0.02, why);
}

/// Blocks of 8 warps in which each warp reads `loads` times 512 bytes.
pub(super) fn stream(sm: u32, blocks: u32, loads: u64) -> Synthetic {
    Synthetic::uniform(sm, blocks, 8, move |block, warp, code: &mut Builder<'_>| {
        let first = (u64::from(block) * 8 + u64::from(warp)) * 512 * loads;
        (0..loads).for_each(|i| code.mem("LDG.E.128", &[8], &[2], GLOBAL + first + i * 512, 16));
        code.op("IADD3", &[2], &[8]);
        code.op("EXIT", &[], &[]);
    })
}

pub(super) fn streams(bench: &mut Bench<'_>) {
    let gpu = bench.gpu;
    let runs = [64_u32, 512, 2048, 4096].map(|blocks| {
        let bytes = f64::from(blocks) * 8.0 * 4.0 * 512.0;
        (bytes, bench.body(&stream(bench.sm(), blocks, 4)))
    });
    for pair in runs.windows(2) {
        let [(_, less), (bytes, more)] = pair else {
            continue;
        };
        let name = format!("{:.0} MiB against fewer", bytes / 1048576.0);
        bench.check(
            &name,
            "cycles",
            *less,
            *more,
            Rule::AtLeast(0.0),
            "more bytes take longer",
        );
    }
    let [.., (b1, t1), (b2, t2)] = runs;
    bench.check(
        "bytes a cycle from 32 to 64 MiB",
        "B/clk",
        gpu.dram_bytes_per_cycle(),
        (b2 - b1) / (t2 - t1),
        Rule::Near(0.01),
        "what streams reach of the datasheet's bandwidth",
    );
    let peak = gpu.dram_bytes_per_cycle() / gpu.chip.dram_efficiency.value;
    for (bytes, time) in runs {
        let name = format!("bytes a cycle of {:.0} MiB", bytes / 1048576.0);
        bench.check(
            &name,
            "B/clk",
            peak,
            bytes / time,
            Rule::AtMost(0.0),
            "the datasheet",
        );
    }
    let floor = b2 / gpu.dram_bytes_per_cycle();
    let latency = gpu.latency.dram.value;
    bench.cycles(
        "64 MiB",
        floor + latency,
        t2,
        0.02,
        "bytes over bandwidth, and a latency",
    );
}

pub(super) fn resident(bench: &mut Bench<'_>) {
    let gpu = bench.gpu;
    // At most 16 MiB and a third of L2, each byte read by one SM: reads of one line by several SMs at once may be merged.
    let bytes = (gpu.chip.l2_size.count() / 3).min(16 << 20);
    let warps = (bytes / 512 / 4) as u32;
    let blocks = (warps / 8).max(1);
    let source = Synthetic::uniform(bench.sm(), blocks, 8, move |block, warp, code| {
        let first = (u64::from(block) * 8 + u64::from(warp)) * 2048;
        (0..4).for_each(|i| {
            let at = GLOBAL + first + i * 512;
            code.mem("LDG.E.128.STRONG.GPU", &[8 + 4 * i as u8], &[2], at, 16);
        });
        code.op("EXIT", &[], &[]);
    });
    let mut state = L2State::cold(gpu);
    let options = Options {
        cold: false,
        ..OPTIONS
    };
    let mut run = || Engine::simulate_next_kernel(&mut source.clone(), gpu, &options, &mut state);
    let (Ok(first), Ok(second)) = (run(), run()) else {
        return bench.check(
            "a second reading",
            "bytes",
            0.0,
            f64::NAN,
            Rule::Near(0.0),
            "it runs",
        );
    };
    let bytes = f64::from(blocks) * 8.0 * 2048.0;
    bench.check(
        "DRAM's bytes at first",
        "bytes",
        bytes,
        first.dram_bytes as f64,
        Rule::Near(0.0),
        "each byte once",
    );
    bench.check(
        "DRAM's bytes when L2 has all",
        "bytes",
        0.0,
        second.dram_bytes as f64,
        Rule::Near(0.0),
        "none",
    );
    let limit = gpu
        .chip
        .l2_bandwidth
        .value
        .min(gpu.sm_core.l2_port.value * gpu.chip.sms.value);
    let reached = second.l2_bytes as f64 / (second.body_cycles - gpu.latency.l2.value);
    bench.check(
        "bytes a cycle from L2",
        "B/clk",
        limit,
        reached,
        Rule::Near(0.1),
        "L2's bandwidth, or all ports' where that is less",
    );
}

pub(super) fn conflicts(bench: &mut Bench<'_>) {
    let interval = bench.gpu.sm_core.lsu_interval.value.max(1.0);
    let schedulers = bench.gpu.sm_core.schedulers.value;
    let time = |stride: i64| {
        let mut source = Synthetic::uniform(bench.sm(), 1, schedulers as u32, move |_, _, code| {
            (0..256).for_each(|i| code.mem("LDS", &[4 + (i % 16) as u8], &[2], 0, stride));
        });
        source.header.shmem_bytes = 4096;
        bench.body(&source)
    };
    let pace = |passes: f64| {
        let agu = bench.gpu.sm_core.agu_interval.value / schedulers;
        schedulers * 256.0 * passes.max(interval).max(agu)
    };
    let cases = [2_u32, 4, 8, 16, 32].map(|d| (format!("degree {d}"), f64::from(d), i64::from(d) * 4));
    let others = [
        ("an odd stride".to_owned(), 1.0, 4 * 33),
        ("a broadcast".to_owned(), 1.0, 0),
    ];
    let found: Vec<_> = cases
        .into_iter()
        .chain(others)
        .map(|(name, passes, stride)| (name, pace(passes), time(stride)))
        .collect();
    for (name, expected, got) in found {
        bench.cycles(
            &name,
            expected,
            got,
            0.05,
            "accesses x passes of the busiest bank",
        );
    }
}

pub(super) fn uncoalesced(bench: &mut Bench<'_>) {
    for (name, stride, sectors) in [
        ("lanes 128 bytes apart", 128, 32.0),
        ("lanes side by side", 4, 4.0),
    ] {
        let source = Synthetic::uniform(bench.sm(), 1, 1, move |_, _, code| {
            code.mem("LDG.E", &[4], &[2], GLOBAL, stride);
        });
        let got = simulate(&source, bench.gpu).map_or(f64::NAN, |it| it.sectors as f64);
        bench.check(name, "sectors", sectors, got, Rule::Near(0.0), "32 bytes each");
    }
}
