//! Whole kernels: matrix multiplies, trace formats, threads, sampling, arbitrary instruction streams.

use std::io::Cursor;

use cascade_accelsim::synth::{Arch, Gemm, KernelShape, SynthKernel};
use cascade_accelsim::trace::{TraceFormat, open};
use proptest::prelude::*;

use super::{GLOBAL, L1, body, near, run, stats, try_run};
use crate::engine::{Engine, EngineError, Options};
use crate::estimate::{KernelEstimate, L2Start};
use crate::gpu::GpuModel;
use crate::l1::L2State;
use crate::testing::{Builder, Synthetic, gpu};

const GEMM: Gemm = Gemm {
    m: 512,
    n: 512,
    k: 256,
    tile_m: 64,
    tile_n: 64,
};

fn gemm(format: TraceFormat) -> KernelEstimate {
    let arch = Arch::new(80).expect("known");
    let kernel = SynthKernel::new("gemm", KernelShape::Gemm(GEMM), arch).expect("a shape");
    let mut bytes = Vec::new();
    kernel.write(1, &mut bytes, format).expect("in memory");
    let name = format!("kernel-1{}", format.suffix());
    let mut source = open(Cursor::new(bytes), &name).expect("opens");
    Engine::simulate_kernel(&mut *source, &gpu("SM80_A100"), &L1).expect("simulates")
}

#[test]
fn a_matrix_multiply_stays_between_its_limits() {
    let a100 = gpu("SM80_A100");
    let estimate = gemm(TraceFormat::Text);
    let (m, n, k) = (f64::from(GEMM.m), f64::from(GEMM.n), f64::from(GEMM.k));
    let rate = m * n * k / estimate.body_cycles;
    assert!(
        rate <= 1024.0 * a100.chip.sms.value,
        "no more multiply-adds than the tensor cores do"
    );
    let compulsory = (m * k + n * k) * 2.0;
    assert!(estimate.dram_bytes as f64 >= compulsory);
    assert!(stats(&estimate).dram_share <= 1.0 && stats(&estimate).l2_share <= 1.0);
    for bound in &estimate.bounds {
        assert!(bound.cycles <= estimate.body_cycles, "{bound:?}");
    }
}

#[cfg(feature = "compression")]
#[test]
fn every_format_of_a_trace_gives_the_same_result() {
    let text = gemm(TraceFormat::Text);
    assert_eq!(gemm(TraceFormat::TextXz), text);
    assert_eq!(gemm(TraceFormat::Packed), text);
}

/// Like the last layer of a language model at decode: a short and wide matrix multiply.
#[test]
fn a_sample_of_a_wide_multiply_is_within_two_percent() {
    let mut a100 = gpu("SM80_A100");
    for share in [
        &mut a100.chip.sms,
        &mut a100.chip.l2_bandwidth,
        &mut a100.chip.dram_bandwidth,
    ] {
        share.value = (share.value / 2.0).floor();
    }
    let shape = Gemm {
        m: 64,
        n: 12_800,
        k: 256,
        tile_m: 64,
        tile_n: 64,
    };
    let arch = Arch::new(80).expect("known");
    let kernel = SynthKernel::new("lm_head", KernelShape::Gemm(shape), arch).expect("a shape");
    let mut bytes = Vec::new();
    kernel.write(1, &mut bytes, TraceFormat::Text).expect("in memory");
    let simulate = |sample_sms| {
        let mut source = open(Cursor::new(&bytes), "kernel-1.traceg").expect("opens");
        let options = Options { sample_sms, ..L1 };
        Engine::simulate_kernel(&mut *source, &a100, &options).expect("simulates")
    };
    let (whole, part) = (simulate(None), simulate(Some(6)));
    near(part.body_cycles, whole.body_cycles, 0.02, "body");
    assert!(stats(&part).sampled_fraction < 0.4);
}

/// Reads, multiplies, meets at a barrier, writes.
fn tile(block: u32, warp: u32, turns: u64, code: &mut Builder<'_>) {
    for turn in 0..turns {
        let offset = ((u64::from(block) * 8 + u64::from(warp)) * turns + turn) * 512;
        code.mem("LDG.E.128", &[8], &[2], GLOBAL + offset % (1 << 20), 16);
        code.mem("STS.128", &[], &[3, 8], u64::from(warp) * 512, 16);
        code.op("BAR.SYNC", &[], &[]);
        code.mem("LDS.128", &[12], &[3], u64::from(warp) * 512, 16);
        (0..16).for_each(|i| code.op("HMMA.16816.F32", &[16 + i % 2 * 4], &[8, 12, 16 + i % 2 * 4]));
        code.op("BAR.SYNC", &[], &[]);
    }
    let offset = (u64::from(block) * 8 + u64::from(warp)) * 512;
    code.mem("STG.E.128", &[], &[2, 16], GLOBAL + (1 << 32) + offset, 16);
    code.op("EXIT", &[], &[]);
}

#[test]
fn threads_do_not_change_a_bit() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 400, 4, |block, warp, code| tile(block, warp, 4, code));
    let parallel = Options { parallel: true, ..L1 };
    let threaded = Engine::simulate_kernel(&mut source.clone(), &a100, &parallel).expect("simulates");
    assert_eq!(threaded, run(&source, &a100));
    assert_eq!(run(&source, &a100), run(&source, &a100));
}

/// An A100 with few SMs, so that short grids have many waves.
fn small_a100() -> GpuModel {
    let mut gpu = gpu("SM80_A100");
    gpu.chip.sms.value = 8.0;
    gpu
}

fn sampled(source: &Synthetic) -> Result<KernelEstimate, EngineError> {
    let options = Options { sample: true, ..L1 };
    Engine::simulate_kernel(&mut source.clone(), &small_a100(), &options)
}

/// Two blocks of four warps fit on an SM, because each takes 64 KiB of shared memory.
fn pairs(waves: u32, more: u32, build: impl Fn(u32, u32, &mut Builder<'_>)) -> Synthetic {
    let mut source = Synthetic::uniform(80, 8 * 2 * waves + more, 4, build);
    source.header.shmem_bytes = 64 * 1024;
    source
}

#[test]
fn sampling_is_within_two_percent_of_the_whole() {
    let source = pairs(60, 7, |block, warp, code| tile(block, warp, 8, code));
    let whole = run(&source, &small_a100());
    let part = sampled(&source).expect("steady");
    near(part.body_cycles, whole.body_cycles, 0.02, "body");
    assert!(
        stats(&part).sampled_fraction < 0.5,
        "{}",
        stats(&part).sampled_fraction
    );
    assert!(stats(&part).sampling_error <= 0.03);
    assert_eq!((part.warp_insts, part.blocks), (whole.warp_insts, whole.blocks));
    near(
        part.thread_insts as f64,
        whole.thread_insts as f64,
        1e-9,
        "thread instructions",
    );
    near(part.l2_bytes as f64, whole.l2_bytes as f64, 0.05, "L2 bytes");
    near(
        part.dram_bytes as f64,
        whole.dram_bytes as f64,
        0.05,
        "DRAM bytes",
    );
}

#[test]
fn sampling_leaves_short_grids_alone_and_refuses_unsteady_ones() {
    let short = pairs(3, 0, |block, warp, code| tile(block, warp, 1, code));
    assert_eq!(sampled(&short).expect("whole"), run(&short, &small_a100()));
    // The second half of the grid works at another pace.
    let unsteady = pairs(60, 0, |block, _, code| {
        let opcode = if block < 480 { "FFMA" } else { "MUFU.RCP" };
        (0..1000).for_each(|_| code.op(opcode, &[4], &[4]));
    });
    let refused = sampled(&unsteady);
    assert!(
        matches!(refused, Err(EngineError::Unsteady { percent, .. }) if percent > 3.0),
        "{refused:?}"
    );
}

/// One block an SM whose four warps loop over `tiles` tiles.
fn persistent(tiles: u64, work: impl Fn(u64) -> usize) -> Synthetic {
    let mut source = Synthetic::uniform(80, 108, 4, |block, warp, code| {
        (0..20).for_each(|_| code.op("IADD3", &[2], &[2]));
        for tile in 0..tiles {
            code.jump(0x1000);
            let offset = ((u64::from(block) * 4 + u64::from(warp)) * tiles + tile) * 1024;
            for i in 0..2 {
                code.mem(
                    "LDG.E.128",
                    &[8 + 4 * i as u8],
                    &[2],
                    GLOBAL + offset + i * 512,
                    16,
                );
            }
            code.op("BAR.SYNC", &[], &[]);
            for turn in 0..work(tile) {
                code.jump(0x2000);
                (0..8).for_each(|i| code.op("FFMA", &[16 + i], &[8, 12, 16 + (turn % 2) as u8]));
                code.op("BRA", &[], &[]);
            }
            code.jump(0x3000);
            code.op("BRA", &[], &[]);
        }
        code.jump(0x4000);
        code.mem("STG.E.128", &[], &[2, 16], GLOBAL + (1 << 33), 16);
        code.op("EXIT", &[], &[]);
    });
    source.header.shmem_bytes = 100 * 1024;
    source
}

#[test]
fn a_persistent_kernels_tiles_are_sampled() {
    let a100 = gpu("SM80_A100");
    let sampled = |source: &Synthetic| {
        let options = Options { sample: true, ..L1 };
        Engine::simulate_kernel(&mut source.clone(), &a100, &options).expect("simulates")
    };
    let source = persistent(200, |_| 12);
    let (whole, part) = (run(&source, &a100), sampled(&source));
    near(part.body_cycles, whole.body_cycles, 0.02, "body");
    near(
        part.dram_bytes as f64,
        whole.dram_bytes as f64,
        0.02,
        "DRAM bytes",
    );
    assert_eq!(
        (part.warp_insts, part.thread_insts),
        (whole.warp_insts, whole.thread_insts)
    );
    assert!(
        stats(&part).sampled_fraction < 0.25,
        "{}",
        stats(&part).sampled_fraction
    );
    near(
        stats(&part).issue_share,
        stats(&whole).issue_share,
        0.05,
        "issue share",
    );
    // Too few tiles, and tiles that grow, are simulated whole.
    for source in [
        persistent(30, |_| 12),
        persistent(100, |tile| 4 + tile as usize / 8),
    ] {
        assert_eq!(sampled(&source), run(&source, &a100));
    }
}

#[test]
fn a_tenth_of_the_sms_stands_for_all() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 108 * 5, 4, |block, warp, code| {
        (0..12_u64).for_each(|turn| {
            let offset = ((u64::from(block) * 4 + u64::from(warp)) * 12 + turn) * 512;
            code.mem("LDG.E.128", &[8], &[2], GLOBAL + offset, 16);
            (0..4).for_each(|i| code.op("FFMA", &[12 + i], &[8]));
        });
        code.op("EXIT", &[], &[]);
    });
    let whole = run(&source, &a100);
    let options = Options {
        sample_sms: Some(10),
        ..L1
    };
    let part = Engine::simulate_kernel(&mut source.clone(), &a100, &options).expect("steady");
    near(part.body_cycles, whole.body_cycles, 0.02, "body");
    near(
        part.dram_bytes as f64,
        whole.dram_bytes as f64,
        0.02,
        "DRAM bytes",
    );
    assert_eq!((part.warp_insts, part.blocks), (whole.warp_insts, whole.blocks));
    assert!(stats(&part).sampled_fraction < 0.25 && stats(&part).sampling_error <= 0.03);
    // It does not see what is in L2, and says so.
    let mut state = L2State::cold(&a100);
    for options in [&L1, &options] {
        let next = Engine::simulate_next_kernel(&mut source.clone(), &a100, options, &mut state);
        assert_eq!(next.expect("steady").l2_start(), L2Start::Cold);
    }
    // Clusters and small chips are not cut up.
    let small = Options {
        sample_sms: Some(60),
        ..L1
    };
    assert_eq!(
        Engine::simulate_kernel(&mut source.clone(), &a100, &small).expect("whole"),
        whole
    );
}

const OPCODES: [&str; 24] = [
    "FFMA",
    "IMAD",
    "IADD3",
    "MUFU.RCP",
    "HMMA.16816.F32",
    "DFMA",
    "BRA",
    "ISETP.NE",
    "LDG.E.128",
    "STG.E",
    "LDS",
    "STS.64",
    "RED.E.ADD",
    "ATOMG.E.ADD",
    "LDGSTS.E.128",
    "LDGDEPBAR",
    "DEPBAR.LE",
    "BAR.SYNC",
    "BAR.ARV",
    "MEMBAR.SC.GPU",
    "SHFL.IDX",
    "S2R",
    "SYNCS.ARRIVE.TRANS64.A1T0",
    "SYNCS.PHASECHK.TRANS64.TRYWAIT",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever a trace holds, it ends: with a time no shorter than any bound, or with the deadlock's place.
    #[test]
    fn any_stream_ends_in_a_time_or_a_named_deadlock(
        code in prop::collection::vec((0_usize..24, 0_u8..30, 0_u8..30, 0_u64..64, 0_i64..3), 1..60),
        blocks in 1_u32..20, warps in 1_u32..6, mask in any::<u32>(),
    ) {
        let source = Synthetic::uniform(80, blocks, warps, |block, warp, builder| {
            for (op, dst, src, place, imm) in &code {
                // Warps differ a little in what they execute.
                if (u64::from(warp + block) + place) % 5 == 0 { continue }
                let opcode = OPCODES[*op];
                match *op {
                    8..=14 => builder.masked_mem(opcode, &[*dst], &[*src], GLOBAL + place * 96, 4 << imm, mask),
                    22 | 23 => builder.masked_mem(opcode, &[], &[], place % 4 * 8, 0, 1),
                    15..=18 => builder.with_imms(opcode, [Some(*imm), None]),
                    _ => builder.op(opcode, &[*dst], &[*src]),
                }
            }
        });
        match try_run(&source, &gpu("SM80_A100")) {
            Ok(estimate) => prop_assert!(estimate.bounds.iter().all(|bound| bound.cycles <= estimate.body_cycles)),
            Err(EngineError::Deadlock { blocked, .. }) => prop_assert!(blocked > 0),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn more_bandwidth_is_never_slower_for_mixed_work(turns in 1_u64..4, blocks in 1_u32..250) {
        let base = gpu("SM80_A100");
        let source = Synthetic::uniform(80, blocks, 4, |block, warp, code| tile(block, warp, turns, code));
        let slow = body(&source, &base);
        let mut wide = base.clone();
        wide.chip.dram_bandwidth.value *= 2.0;
        wide.chip.l2_bandwidth.value *= 2.0;
        prop_assert!(body(&source, &wide) <= slow * 1.01);
    }
}
