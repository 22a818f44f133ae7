//! Barriers, fences, copy groups, deadlocks.

use super::{GLOBAL, body, near, run, stats, try_run};
use crate::engine::EngineError;
use crate::l1::Stall;
use crate::l1::consts::{ASYNC_COPY_EXTRA, BARRIER_LATENCY};
use crate::testing::{Synthetic, gpu};

#[test]
fn warps_at_a_barrier_wait_for_the_slowest() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 1, 4, |_, warp, code| {
        (0..100).for_each(|turn| {
            // Another warp is the slow one each turn.
            let n = if turn % 4 == warp { 100 } else { 1 };
            (0..n).for_each(|_| code.op("FFMA", &[4], &[4]));
            code.op("BAR.SYNC", &[], &[]);
        });
    });
    let turn = 100.0 * 4.0 + f64::from(BARRIER_LATENCY);
    near(
        body(&source, &a100),
        100.0 * turn,
        0.01,
        "each turn takes the slow warp's time",
    );
    assert!(
        stats(&run(&source, &a100))
            .stalls
            .iter()
            .any(|(stall, _)| *stall == Stall::Barrier)
    );
}

#[test]
fn barriers_count_the_warps_that_use_them() {
    let a100 = gpu("SM80_A100");
    // Producer and consumer on named barriers, other warps not at all; one warp exits early.
    let source = Synthetic::uniform(80, 1, 4, |_, warp, code| match warp {
        0 => (0..10).for_each(|_| {
            code.with_imms("BAR.ARV", [Some(1), Some(64)]);
            code.with_imms("BAR.SYNC.DEFER_BLOCKING", [Some(2), Some(64)]);
        }),
        1 => (0..10).for_each(|_| {
            code.with_imms("BAR.SYNC.DEFER_BLOCKING", [Some(1), Some(64)]);
            code.with_imms("BAR.ARV", [Some(2), None]);
        }),
        2 => code.op("BAR.SYNC", &[], &[]),
        _ => code.op("EXIT", &[], &[]),
    });
    near(
        body(&source, &a100),
        10.0 * 2.0 * f64::from(BARRIER_LATENCY),
        0.1,
        "ping-pong",
    );
}

#[test]
fn a_barrier_that_nobody_completes_is_a_deadlock() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 1, 2, |_, warp, code| {
        code.op("FFMA", &[4], &[4]);
        if warp == 1 {
            code.with_imms("BAR.SYNC.DEFER_BLOCKING", [Some(3), Some(64)]);
        }
        code.op("EXIT", &[], &[]);
    });
    let error = try_run(&source, &a100).expect_err("a deadlock");
    let text = error.to_string();
    assert!(
        matches!(
            error,
            EngineError::Deadlock {
                warp: 1,
                pc: 16,
                blocked: 1,
                ..
            }
        ),
        "{text}"
    );
    assert!(
        text.contains("barrier 3") && text.contains("block (0,0,0)"),
        "{text}"
    );
}

#[test]
fn fences_wait_for_the_warps_writes() {
    let a100 = gpu("SM80_A100");
    let fence = |opcode: &'static str| {
        body(
            &Synthetic::uniform(80, 1, 1, move |_, _, code| {
                (0..50).for_each(|i| {
                    code.mem("STG.E", &[], &[2, 4], GLOBAL + i * 128, 4);
                    code.op(opcode, &[], &[]);
                });
            }),
            &a100,
        )
    };
    near(
        fence("MEMBAR.SC.GPU"),
        50.0 * a100.latency.l2.value,
        0.02,
        "each write must reach L2",
    );
    assert!(fence("MEMBAR.CTA") < 2.0 * a100.latency.l2.value);
}

#[test]
fn copies_are_waited_for_by_group() {
    let a100 = gpu("SM80_A100");
    let copies = |left: i64| {
        body(
            &Synthetic::uniform(80, 1, 1, move |_, _, code| {
                for i in 0..20_u64 {
                    code.mem("LDGSTS.E.BYPASS.128", &[], &[2, 4], GLOBAL + i * 512, 16);
                    code.op("LDGDEPBAR", &[], &[]);
                    code.with_imms("DEPBAR.LE", [Some(left), None]);
                }
            }),
            &a100,
        )
    };
    let trip = a100.latency.dram.value + f64::from(ASYNC_COPY_EXTRA);
    near(copies(0), 20.0 * trip, 0.03, "each waits for its own");
    // With so many groups under way, as many turns share one trip.
    near(copies(1), 10.0 * trip, 0.06, "one ahead");
    near(copies(3), 5.0 * trip, 0.1, "three ahead");
}

#[test]
fn a_trimmed_block_waits_for_the_warps_that_are_there() {
    let a100 = gpu("SM80_A100");
    let mut source = Synthetic::uniform(80, 1, 2, |_, _, code| {
        code.with_imms("BAR.SYNC", [Some(0), Some(256)])
    });
    source.header.block.x = 256;
    assert!(body(&source, &a100) < 50.0);
}
