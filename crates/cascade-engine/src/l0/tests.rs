//! Known answers and laws of the model.

use cascade_accelsim::trace::{AddressMode, BulkAccess, MemAccess};
use proptest::prelude::*;

use super::footprint::Footprint;
use super::*;
use crate::engine::{Engine, EngineError, Level, Options};
use crate::estimate::{BoundKind, KernelEstimate, Limit};
use crate::gpu::GpuModel;
use crate::testing::{Builder, Synthetic, gpu};

const GLOBAL: u64 = 0x7e00_0000_0000;

const L0: Options = Options {
    level: Level::L0,
    allow_other_arch: false,
    cold: false,
    sample: false,
    sample_sms: None,
    parallel: false,
};

fn run(source: &Synthetic, gpu: &GpuModel) -> KernelEstimate {
    Engine::simulate_kernel(&mut source.clone(), gpu, &L0).expect("simulates")
}

fn near(got: f64, expected: f64, share: f64, what: &str) {
    assert!(
        (got / expected - 1.0).abs() <= share,
        "{what}: {got} instead of {expected}"
    );
}

#[test]
fn a_dependent_chain_takes_its_latency_for_each_instruction() {
    let a100 = gpu("SM80_A100");
    for (opcode, latency) in [
        ("FFMA", 4.0),
        ("IMAD", 4.0),
        ("MUFU.RCP", 23.0),
        ("HMMA.16816.F32", 25.0),
    ] {
        let estimate = run(&Synthetic::chain(opcode, 1000, 80), &a100);
        near(estimate.body_cycles, 1000.0 * latency, 0.02, opcode);
        assert_eq!(estimate.winner, BoundKind::Chain);
    }
}

#[test]
fn independent_work_is_limited_by_issue_or_lanes() {
    let independent = |opcode: &'static str, sm, warps| {
        Synthetic::uniform(sm, 1, warps, move |_, _, code| {
            (0..2000).for_each(|i| code.op(opcode, &[4 * (1 + i % 32) as u8], &[2]))
        })
    };
    // 16 lanes: 2 cycles; 32 lanes: 1; 4 special-function lanes: 8. Eight warps share four sub-cores.
    near(
        run(&independent("FFMA", 80, 8), &gpu("SM80_A100")).body_cycles,
        2.0 * 2.0 * 2000.0,
        0.02,
        "A100 FFMA",
    );
    let hopper = run(&independent("FFMA", 90, 8), &gpu("SM90_H100"));
    near(hopper.bound(BoundKind::Unit), 2.0 * 2000.0, 0.02, "H100 FFMA");
    near(
        run(&independent("MUFU.EX2", 80, 4), &gpu("SM80_A100")).body_cycles,
        8.0 * 2000.0,
        0.02,
        "MUFU",
    );
    near(
        run(&independent("HMMA.16816.F32", 80, 4), &gpu("SM80_A100")).body_cycles,
        8.0 * 2000.0,
        0.02,
        "HMMA",
    );
}

#[test]
fn matrix_work_never_exceeds_the_peak() {
    let h100 = gpu("SM90_H100");
    let source = Synthetic::uniform(90, 132, 4, |_, _, code| {
        (0..500).for_each(|_| code.op("HGMMA.64x256x16.F32", &[], &[]))
    });
    let estimate = run(&source, &h100);
    near(
        estimate.bound(BoundKind::Tensor),
        500.0 * 128.0,
        1e-9,
        "GMMA 64x256x16 takes N/2 cycles",
    );
    let small = Synthetic::uniform(90, 1, 4, |_, _, code| {
        (0..100).for_each(|_| code.op("HGMMA.64x8x16.F32", &[], &[]))
    });
    near(
        run(&small, &h100).bound(BoundKind::Tensor),
        100.0 * 18.0,
        1e-9,
        "small N waits for its operands",
    );
}

#[test]
fn pointer_chases_see_the_level_that_holds_the_line() {
    let a100 = gpu("SM80_A100");
    let chase = |opcode: &'static str, step: u64, wrap: u64| {
        Synthetic::uniform(80, 1, 1, move |_, _, code| {
            (0..4096).for_each(|i| code.masked_mem(opcode, &[4], &[4], GLOBAL + (i % wrap) * step, 0, 1));
        })
    };
    near(
        run(&chase("LDG.E", 128, 16), &a100).body_cycles,
        4096.0 * 34.0,
        0.06,
        "L1",
    );
    near(
        run(&chase("LDG.E.STRONG.GPU", 128, 16), &a100).body_cycles,
        4096.0 * 217.0,
        0.02,
        "L2",
    );
    near(
        run(&chase("LDG.E", 65536, 1 << 20), &a100).body_cycles,
        4096.0 * 453.0,
        0.02,
        "DRAM",
    );
}

/// `blocks` blocks of 8 warps that each read 512 and write 512 bytes for each lane row.
fn copy(sm: u32, blocks: u32) -> Synthetic {
    Synthetic::uniform(sm, blocks, 8, |block, warp, code: &mut Builder<'_>| {
        let offset = (u64::from(block) * 8 + u64::from(warp)) * 512;
        code.mem("LDG.E.128", &[8], &[2], GLOBAL + offset, 16);
        code.mem("STG.E.128", &[], &[6, 8], GLOBAL + (1 << 40) + offset, 16);
        code.op("EXIT", &[], &[]);
    })
}

#[test]
fn a_stream_approaches_the_bandwidth_and_never_exceeds_it() {
    let a100 = gpu("SM80_A100");
    let blocks = 25_000_u32;
    let bytes = f64::from(blocks) * 4096.0;
    let estimate = run(&copy(80, blocks), &a100);
    assert_eq!(estimate.winner, BoundKind::Dram);
    // Reads all come from DRAM; of the writes, what L2 cannot hold goes there.
    let expected = 2.0 * bytes - a100.chip.l2_size.value;
    assert_eq!(estimate.dram_bytes as f64, expected);
    let peak = a100.chip.dram_bandwidth.value;
    assert!(
        expected / estimate.time_ns <= peak,
        "no faster than the datasheet"
    );
    near(
        estimate.body_cycles,
        expected / a100.dram_bytes_per_cycle(),
        0.1,
        "close to the bandwidth",
    );
}

#[test]
fn bank_conflicts_and_uncoalesced_lanes_multiply_the_work() {
    let a100 = gpu("SM80_A100");
    let shared = |stride: i64| {
        Synthetic::uniform(80, 1, 4, move |_, _, code| {
            (0..256).for_each(|_| code.mem("LDS", &[4], &[2], 0, stride))
        })
    };
    let lsu = |stride| run(&shared(stride), &a100).bound(BoundKind::Lsu);
    near(lsu(4 * 8), 4.0 * 256.0 * 8.0, 1e-9, "stride 8 words: 8 passes");
    near(
        lsu(4 * 32),
        4.0 * 256.0 * 32.0,
        1e-9,
        "stride 32 words: 32 passes",
    );
    near(
        lsu(4 * 33),
        4.0 * 256.0 * 2.0,
        1e-9,
        "an odd stride has no conflict",
    );
    near(lsu(0), 4.0 * 256.0 * 2.0, 1e-9, "a broadcast is one pass");
    let scattered = Synthetic::uniform(80, 1, 1, |_, _, code| code.mem("LDG.E", &[4], &[2], GLOBAL, 128));
    let estimate = run(&scattered, &a100);
    assert_eq!((estimate.sectors, estimate.l2_bytes), (32, 32 * 32));
    let dense = Synthetic::uniform(80, 1, 1, |_, _, code| code.mem("LDG.E", &[4], &[2], GLOBAL, 4));
    assert_eq!(run(&dense, &a100).sectors, 4);
}

#[test]
fn occupancy_follows_each_limit() {
    let a100 = gpu("SM80_A100");
    let source = |warps: u32, nregs: u32, shmem: u64| {
        let mut source = Synthetic::uniform(80, 1, warps, |_, _, code| code.op("EXIT", &[], &[]));
        source.header.nregs = nregs;
        source.header.shmem_bytes = shmem;
        occupancy(&source.header, &a100, 1_000_000)
    };
    let fit = |warps, nregs, shmem| {
        source(warps, nregs, shmem).map(|occupancy| (occupancy.ctas_per_sm, occupancy.limited_by))
    };
    assert_eq!(fit(1, 16, 0), Ok((32, Limit::Ctas)));
    assert_eq!(fit(8, 32, 0), Ok((8, Limit::Warps)));
    assert_eq!(fit(8, 128, 0), Ok((2, Limit::Registers)));
    // 33 registers round up to 34 x 32 = 1,088 -> 1,280 a warp.
    assert_eq!(fit(8, 33, 0), Ok((6, Limit::Registers)));
    assert_eq!(fit(8, 32, 48 * 1024), Ok((3, Limit::SharedMemory)));
    assert_eq!(fit(8, 32, 200 * 1024), Err(Limit::SharedMemory));
}

#[test]
fn waves_step_when_one_block_more_does_not_fit() {
    let a100 = gpu("SM80_A100");
    let body = |blocks| {
        let mut source = Synthetic::uniform(80, blocks, 1, |_, _, code| {
            (0..500).for_each(|_| code.op("FFMA", &[4], &[4]))
        });
        source.header.shmem_bytes = 160 * 1024;
        run(&source, &a100).body_cycles
    };
    let (one, full, more) = (body(1), body(108), body(109));
    near(full, one, 1e-9, "every SM has one block");
    near(more, 2.0 * full, 0.01, "one SM has two, one after the other");
}

#[test]
fn another_architecture_is_refused_unless_allowed_and_then_marked() {
    let mut source = Synthetic::chain("FFMA", 10, 80);
    let h100 = gpu("SM90_H100");
    let error = Engine::simulate_kernel(&mut source, &h100, &L0).expect_err("refused");
    let text = error.to_string();
    assert!(matches!(error, EngineError::Arch(_)));
    assert!(
        text.contains("sm_80")
            && text.contains("SM90_H100 is sm_90")
            && text.contains("trace the workload again"),
        "{text}"
    );
    let options = Options {
        allow_other_arch: true,
        ..L0
    };
    let estimate = Engine::simulate_kernel(&mut source, &h100, &options).expect("allowed");
    assert_eq!(estimate.other_arch, Some(80));
}

/// A tensor-memory-accelerator load of 16 KiB in 128 rows, and the store of the same.
#[test]
fn bulk_copies_move_their_bytes_past_l1() {
    let mut source = Synthetic::uniform(90, 1, 1, |_, _, code| {
        code.op("UTMALDG.2D", &[], &[]);
        code.op("UTMASTG.2D", &[], &[]);
    });
    let block = source.blocks.first_mut().expect("a block");
    block.addresses = (0..128).map(|row| GLOBAL + row * 4096).collect();
    for instr in block.warps.iter_mut().flat_map(|warp| &mut warp.instrs) {
        let bulk = BulkAccess {
            bytes: 16_384,
            ..BulkAccess::default()
        };
        let range = (0, 128);
        instr.mem = Some(MemAccess {
            width: 16,
            mode: AddressMode::Bulk,
            range,
            bulk: Some(bulk),
        });
        instr.mask = 1;
    }
    let estimate = run(&source, &gpu("SM90_H100"));
    // 128 rows of one line each; the store hits what the load brought in.
    assert_eq!(
        (estimate.dram_bytes, estimate.l2_bytes, estimate.sectors),
        (16_384, 2 * 16_384, 2 * 512)
    );
    assert_eq!(estimate.bound(BoundKind::Lsu), 2.0 * 128.0);
    assert!(estimate.bound(BoundKind::Chain) >= 607.0);
}

/// Grouped and generic accesses go where the header's window says.
#[test]
fn generic_accesses_in_the_shared_window_are_shared() {
    let mut source = Synthetic::uniform(80, 1, 1, |_, _, code| {
        code.mem("LD.E", &[4], &[2], 0x7f00_0000_0000 + 64, 4);
        code.mem("LD.E", &[5], &[2], GLOBAL, 4);
    });
    source.header.shmem_base = Some(0x7f00_0000_0000);
    assert_eq!(run(&source, &gpu("SM80_A100")).l2_bytes, 128);
}

#[test]
fn unknown_opcodes_are_counted_and_do_not_stop_the_run() {
    let source = Synthetic::uniform(80, 1, 1, |_, _, code| {
        code.op("FFMA", &[4], &[4]);
        (0..3).for_each(|_| code.op("WIBBLE.X", &[4], &[4]));
    });
    let estimate = run(&source, &gpu("SM80_A100"));
    assert_eq!(estimate.unknown_opcodes, [("WIBBLE.X".to_owned(), 3)]);
    assert_eq!(estimate.coverage, 0.25);
}

#[test]
fn the_footprint_is_exact_to_its_limit_and_close_beyond() {
    let mut exact = Footprint::default();
    let mut small = Footprint::with_limit(1000);
    for line in 0..200_000_u64 {
        for footprint in [&mut exact, &mut small] {
            footprint.touch(line * 7, 0b0011, true, false);
            footprint.touch(line * 7, 0b0001, true, false);
            footprint.touch(line * 7, 0b1000, false, true);
        }
    }
    assert_eq!(
        (exact.read_bytes(), exact.written_bytes()),
        (200_000 * 64, 200_000 * 32)
    );
    assert!(exact.is_exact() && !small.is_exact());
    near(small.read_bytes() as f64, 200_000.0 * 64.0, 0.03, "reads");
    near(small.written_bytes() as f64, 200_000.0 * 32.0, 0.03, "writes");
}

/// A kernel with a bit of everything, whose blocks differ.
fn mixed(blocks: u32, warps: u32, ffma: u32, loads: u32, step: u64, hmma: u32) -> Synthetic {
    Synthetic::uniform(80, blocks, warps, move |block, warp, code| {
        let first = GLOBAL + (u64::from(block) * u64::from(warps) + u64::from(warp)) * 8192;
        (0..loads).for_each(|i| code.mem("LDG.E", &[(i % 32) as u8], &[40], first + u64::from(i) * step, 4));
        (0..ffma + block % 3 * 9).for_each(|i| code.op("FFMA", &[(i % 7) as u8], &[(i % 5) as u8]));
        (0..hmma).for_each(|_| code.op("HMMA.16816.F32", &[64], &[48, 56, 64]));
        code.op("EXIT", &[], &[]);
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn cycles_are_never_below_a_bound(
        blocks in 1_u32..300, warps in 1_u32..9, ffma in 0_u32..60, loads in 0_u32..20, step in 0_u64..200, hmma in 0_u32..20,
    ) {
        let estimate = run(&mixed(blocks, warps, ffma, loads, step, hmma), &gpu("SM80_A100"));
        for bound in &estimate.bounds {
            prop_assert!(estimate.cycles as f64 >= bound.cycles + estimate.t0_cycles, "{bound:?} in {estimate:?}");
        }
    }

    #[test]
    fn a_better_gpu_is_never_slower(
        blocks in 1_u32..300, warps in 1_u32..9, ffma in 0_u32..60, loads in 0_u32..20, step in 0_u64..200, hmma in 0_u32..20,
        what in 0_usize..6, factor in 1.01_f64..3.0,
    ) {
        let base = gpu("SM80_A100");
        let mut better = base.clone();
        let fact = match what {
            0 => &mut better.chip.core_clock,
            1 => &mut better.chip.dram_bandwidth,
            2 => &mut better.chip.l2_bandwidth,
            3 => &mut better.sm_core.l2_port,
            4 => &mut better.sm_core.registers,
            _ => &mut better.chip.sms,
        };
        fact.value = (fact.value * factor).ceil();
        let source = mixed(blocks, warps, ffma, loads, step, hmma);
        let (before, after) = (run(&source, &base), run(&source, &better));
        // Cycles are whole: allow one of them.
        prop_assert!(after.time_ns <= before.time_ns + better.ns_from_cycles(1.0).max(base.ns_from_cycles(1.0)), "{before:?} {after:?}");
    }

    #[test]
    fn the_order_of_blocks_does_not_matter_much(seed in 0_usize..1000, blocks in 2_u32..100) {
        let source = mixed(blocks, 4, 20, 8, 128, 4);
        let mut shuffled = source.clone();
        let by = seed % shuffled.blocks.len();
        shuffled.blocks.rotate_left(by);
        shuffled.blocks.reverse();
        let (a, b) = (run(&source, &gpu("SM80_A100")), run(&shuffled, &gpu("SM80_A100")));
        prop_assert!((a.body_cycles / b.body_cycles - 1.0).abs() < 0.02);
    }

    #[test]
    fn the_norm_is_at_least_the_maximum_and_at_most_the_sum(values in prop::collection::vec(0.0_f64..1e12, 0..10)) {
        let norm = p_norm(values.iter().copied());
        prop_assert!(norm >= values.iter().copied().fold(0.0, f64::max));
        prop_assert!(norm <= values.iter().sum::<f64>() * (1.0 + 1e-12));
    }
}
