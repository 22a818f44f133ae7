//! The tensor memory accelerator, mbarriers, clusters.

use cascade_accelsim::trace::{Cluster, Dim3};
use proptest::prelude::*;

use super::{GLOBAL, body, near, run, stats, try_run};
use crate::engine::EngineError;
use crate::suite::asynchronous::{ARRIVE, FULL, TILE, WAIT, at, ring};
use crate::testing::{Builder, Synthetic, gpu};

#[test]
fn a_ring_runs_at_the_pace_of_its_slower_side() {
    let h100 = gpu("SM90_H100");
    // 16 multiplies of 128 cycles, and the tail and the waits of each tile.
    let slow_math = body(&ring(1, 100, 4, 16), &h100);
    near(
        slow_math,
        100.0 * (16.0 * 128.0 + 43.0 + 43.0),
        0.03,
        "multiplies",
    );
    // 16 KiB through a port of 64 B/clk take 256 cycles; eight stages cover the latency.
    let slow_loads = body(&ring(1, 100, 8, 1), &h100);
    near(slow_loads, 100.0 * 256.0 + h100.latency.dram.value, 0.06, "loads");
    // One stage: nothing overlaps.
    let serial = body(&ring(1, 100, 1, 1), &h100);
    assert!(serial > 100.0 * (h100.latency.dram.value + 128.0), "{serial}");
    let deeper = body(&ring(1, 100, 2, 1), &h100);
    assert!(deeper < serial && slow_loads < deeper);
}

#[test]
fn rings_of_many_blocks_run_without_a_deadlock() {
    let h100 = gpu("SM90_H100");
    let estimate = run(&ring(300, 20, 3, 2), &h100);
    assert_eq!(estimate.dram_bytes, 300 * 20 * TILE * 128);
    assert_eq!(stats(&estimate).mbarriers_inferred, 3, "the three empty barriers");
}

#[test]
fn spinning_on_an_mbarrier_is_one_wait() {
    let h100 = gpu("SM90_H100");
    let spin = |marked: bool, turns: usize| {
        run(
            &Synthetic::uniform(90, 1, 2, move |_, warp, code| {
                if warp == 0 {
                    (0..500).for_each(|_| code.op("FFMA", &[4], &[4]));
                    at(code, ARRIVE, FULL);
                } else {
                    if marked {
                        code.op("REPLAY_START", &[], &[]);
                    }
                    for _ in 0..turns {
                        at(code, WAIT, FULL);
                        code.op("BRA", &[], &[]);
                    }
                    if marked {
                        code.op("REPLAY_END", &[], &[]);
                    }
                }
                code.op("EXIT", &[], &[]);
            }),
            &h100,
        )
    };
    let once = spin(false, 1).body_cycles;
    near(once, 500.0 * 4.0 + 43.0, 0.02, "waits for the other warp");
    near(spin(false, 1000).body_cycles, once, 0.01, "unmarked");
    near(spin(true, 1000).body_cycles, once, 0.01, "marked");
}

#[test]
fn an_mbarrier_that_nobody_completes_is_a_deadlock() {
    let h100 = gpu("SM90_H100");
    let source = Synthetic::uniform(90, 1, 1, |_, _, code| {
        code.op("FFMA", &[4], &[4]);
        at(code, WAIT, FULL);
        code.op("EXIT", &[], &[]);
    });
    let error = try_run(&source, &h100).expect_err("a deadlock");
    assert!(
        matches!(error, EngineError::Deadlock { pc: 16, warp: 0, .. }),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("phase 1 of the mbarrier at shared address 0x100"),
        "{error}"
    );
}

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

#[test]
fn multicast_reads_l2_once_for_the_whole_cluster() {
    let h100 = gpu("SM90_H100");
    // Two blocks need the same tile: each loads all of it, or each loads one half for both.
    let load = |multicast: bool| {
        let source = Synthetic::uniform(90, 64, 1, move |block, _, code| {
            let tile = GLOBAL + u64::from(block / 2) * TILE * 128;
            at(code, ARRIVE, FULL);
            if multicast {
                let half = tile + u64::from(block % 2) * TILE / 2 * 128;
                code.bulk("UTMALDG.2D.MULTICAST", half, TILE / 2, FULL, Some(0b11));
            } else {
                code.bulk("UTMALDG.2D", tile, TILE, FULL, None);
            }
            at(code, WAIT, FULL);
            code.op("EXIT", &[], &[]);
        });
        run(&clusters(source, 2), &h100)
    };
    let (alone, together) = (load(false), load(true));
    assert_eq!(alone.l2_bytes, 2 * together.l2_bytes);
    assert_eq!(alone.dram_bytes, together.dram_bytes);
    assert!(together.body_cycles < alone.body_cycles);
}

#[test]
fn a_cluster_barrier_waits_for_all_its_blocks() {
    let h100 = gpu("SM90_H100");
    let source = Synthetic::uniform(90, 8, 2, |block, _, code| {
        (0..(block % 4) * 500).for_each(|_| code.op("FFMA", &[4], &[4]));
        code.op("UCGABAR_ARV", &[], &[]);
        code.op("UCGABAR_WAIT", &[], &[]);
        code.op("EXIT", &[], &[]);
    });
    let time = body(&clusters(source, 4), &h100);
    near(
        time,
        1500.0 * 4.0 + 171.0,
        0.01,
        "the slowest block, and the way to the others",
    );
}

#[test]
fn a_cluster_that_does_not_fit_is_refused() {
    let mut h100 = gpu("SM90_H100");
    h100.chip.sms.value = 2.0;
    let mut source = clusters(
        Synthetic::uniform(90, 4, 1, |_, _, code| code.op("EXIT", &[], &[])),
        4,
    );
    source.header.shmem_bytes = 200 * 1024;
    let error = try_run(&source, &h100).expect_err("four blocks, room for two");
    assert!(matches!(error, EngineError::DoesNotFit { .. }), "{error}");
}

#[test]
fn another_ctas_mbarrier_is_signalled_through_the_cluster() {
    let h100 = gpu("SM90_H100");
    let source = Synthetic::uniform(90, 2, 1, |block, _, code| {
        if block == 0 {
            (0..100).for_each(|_| code.op("FFMA", &[4], &[4]));
            // Rank 1's mbarrier in the cluster's shared window.
            at(code, ARRIVE, 1 << 24 | FULL);
        } else {
            at(code, WAIT, FULL);
        }
        code.op("EXIT", &[], &[]);
    });
    let time = body(&clusters(source, 2), &h100);
    near(time, 400.0 + 6.0 + 171.0 + 43.0, 0.02, "the arrival travels");
}

/// Everything on Hopper that warps can wait for.
fn waiting(code: &mut Builder<'_>, what: u8, place: u64, n: i64) {
    let mbarrier = FULL + place % 4 * 8;
    match what {
        0 => at(code, WAIT, mbarrier),
        1 => at(code, ARRIVE, mbarrier),
        2 => at(code, ARRIVE, (1 + place % 3) << 24 | mbarrier),
        3 => code.bulk("UTMALDG.2D", GLOBAL + place * 256, 1 + place % 9, mbarrier, None),
        4 => code.bulk(
            "UTMALDG.2D.MULTICAST",
            GLOBAL + place * 256,
            2,
            mbarrier,
            Some(n as u16 + 1),
        ),
        5 => code.bulk("UTMASTG.2D", GLOBAL + place * 256, 2, 0, None),
        6 => code.op("UTMACMDFLUSH", &[], &[]),
        7 => code.with_imms("DEPBAR.LE", [Some(n), None]),
        8 => code.gmma("HGMMA.64x64x16.F32", place.is_multiple_of(2)),
        9 => code.with_imms("WARPGROUP.DEPBAR.LE", [Some(n), None]),
        10 => code.op("UCGABAR_ARV", &[], &[]),
        11 => code.op("UCGABAR_WAIT", &[], &[]),
        12 => code.with_imms(
            "BAR.SYNC.DEFER_BLOCKING",
            [Some(n), Some(32 * (1 + place as i64 % 4))],
        ),
        13 => code.with_imms("BAR.ARV", [Some(n), Some(64)]),
        14 => code.op("REPLAY_START", &[], &[]),
        15 => code.op("REPLAY_END", &[], &[]),
        16 => code.op("BRA", &[], &[]),
        17 => code.op("MEMBAR.SC.GPU", &[], &[]),
        _ => code.op("FFMA", &[4], &[4]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// However warps wait for each other, the kernel ends: with a time, or with the place where it cannot go on.
    #[test]
    fn no_wait_hangs(
        code in prop::collection::vec((0_u8..19, 0_u64..32, 0_i64..4), 1..40),
        blocks in 1_u32..10, warps in 1_u32..5, size in 1_u32..4, skew in 0_u32..3,
    ) {
        let source = Synthetic::uniform(90, blocks, warps, |block, warp, builder| {
            for (i, (what, place, n)) in (0_u32..).zip(&code) {
                // With a skew, warps and blocks leave out different instructions.
                if skew > 0 && (i + warp + block * 2) % (skew + 3) == 0 { continue }
                waiting(builder, *what, *place, *n);
            }
        });
        let source = if size > 1 { clusters(source, size) } else { source };
        match try_run(&source, &gpu("SM90_H100")) {
            Ok(estimate) => prop_assert!(estimate.body_cycles.is_finite()),
            Err(EngineError::Deadlock { blocked, waits_for, .. }) => {
                prop_assert!(blocked > 0 && waits_for != "nothing", "{waits_for}");
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
