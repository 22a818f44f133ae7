//! Issue, units, tensor cores, waves.

use super::{body, near, run, stats};
use crate::estimate::BoundKind;
use crate::l1::Stall;
use crate::testing::{Synthetic, gpu};

fn independent(opcode: &'static str, sm: u32, warps: u32, n: usize) -> Synthetic {
    Synthetic::uniform(sm, 1, warps, move |_, _, code| {
        (0..n).for_each(|i| code.op(opcode, &[4 * (i % 6) as u8], &[28]));
    })
}

#[test]
fn a_dependent_chain_takes_exactly_its_latency_for_each_instruction() {
    let a100 = gpu("SM80_A100");
    for (opcode, latency) in [
        ("FFMA", 4.0),
        ("IMAD", 4.0),
        ("MUFU.RCP", 23.0),
        ("HMMA.16816.F32", 25.0),
    ] {
        let chain = |n| body(&Synthetic::chain(opcode, n, 80), &a100);
        assert_eq!(chain(1000) - chain(500), 500.0 * latency, "{opcode}");
        assert!(chain(1) <= latency + 1.0, "{opcode} has no overhead");
    }
}

#[test]
fn independent_work_is_bound_by_issue_or_lanes() {
    // 16 lanes take a warp instruction every second cycle, 32 lanes each cycle; two warps share a sub-core.
    near(
        body(&independent("FFMA", 80, 8, 2000), &gpu("SM80_A100")),
        8000.0,
        0.01,
        "A100 FFMA",
    );
    near(
        body(&independent("FFMA", 90, 8, 2000), &gpu("SM90_H100")),
        4000.0,
        0.01,
        "H100 FFMA",
    );
    near(
        body(&independent("FFMA", 90, 1, 2000), &gpu("SM90_H100")),
        2000.0,
        0.01,
        "one warp issues each cycle",
    );
    near(
        body(&independent("MUFU.EX2", 80, 4, 2000), &gpu("SM80_A100")),
        16000.0,
        0.01,
        "MUFU: 4 lanes",
    );
    let mixed = Synthetic::uniform(80, 1, 4, |_, _, code| {
        (0..2000).for_each(|i| {
            code.op(
                if i % 2 == 0 { "FFMA" } else { "IADD3" },
                &[4 + (i % 16) as u8],
                &[2],
            )
        });
    });
    near(
        body(&mixed, &gpu("SM80_A100")),
        2000.0,
        0.01,
        "two pipes of half width take one each cycle",
    );
}

#[test]
fn matrix_multiplies_reach_the_peak_and_never_exceed_it() {
    let a100 = gpu("SM80_A100");
    // 2,048 multiply-adds over 256 a cycle and sub-core: 312 TFLOP/s at 108 SMs and 1,410 MHz.
    let hmma = run(&independent("HMMA.16816.F32", 80, 4, 2000), &a100);
    near(hmma.body_cycles, 8.0 * 2000.0, 0.01, "HMMA.16816");
    let h100 = gpu("SM90_H100");
    let group = |n: usize, opcode: &'static str| {
        Synthetic::uniform(90, 132, 4, move |_, _, code| {
            (0..n).for_each(|i| code.gmma(opcode, i % 4 == 3));
            code.with_imms("WARPGROUP.DEPBAR.LE", [Some(0), None]);
        })
    };
    let wide = run(&group(500, "HGMMA.64x256x16.F32"), &h100);
    near(
        wide.body_cycles,
        128.0 * 500.0,
        0.01,
        "64x256x16 takes N/2 cycles",
    );
    let flops = 2.0 * 64.0 * 256.0 * 16.0 * 500.0 * 132.0;
    assert!(
        flops / wide.body_cycles <= 2.0 * 2048.0 * 2.0 * 132.0,
        "4,096 FLOP a cycle and SM is the peak"
    );
    near(
        body(&group(400, "HGMMA.64x8x16.F32"), &h100),
        18.0 * 400.0,
        0.02,
        "small N waits for its operands",
    );
    // Public micro-benchmark of an H200: one multiply and its wait take 75 and 107 cycles.
    near(
        body(&group(1, "HGMMA.64x64x16.F32"), &h100),
        75.0,
        0.05,
        "wait at N = 64",
    );
    near(
        body(&group(1, "HGMMA.64x128x16.F32"), &h100),
        107.0,
        0.05,
        "wait at N = 128",
    );
}

#[test]
fn warps_hide_each_others_latency() {
    let a100 = gpu("SM80_A100");
    let chains = |warps| {
        body(
            &Synthetic::uniform(80, 1, warps, |_, _, code| {
                (0..1000).for_each(|_| code.op("FFMA", &[4], &[4]))
            }),
            &a100,
        )
    };
    // Four cycles of latency, two of occupancy: two warps a sub-core fill its lanes. Greedy then youngest
    // never gives the third a turn before they are done.
    near(chains(4), 4000.0, 0.01, "one warp a sub-core");
    near(chains(8), 4000.0, 0.01, "two");
    near(chains(12), 8000.0, 0.01, "three");
    near(chains(16), 8000.0, 0.01, "four");
}

#[test]
fn waves_step_when_one_block_more_does_not_fit() {
    let a100 = gpu("SM80_A100");
    let time = |blocks| {
        let mut source = Synthetic::uniform(80, blocks, 1, |_, _, code| {
            (0..500).for_each(|_| code.op("FFMA", &[4], &[4]));
        });
        source.header.shmem_bytes = 160 * 1024;
        body(&source, &a100)
    };
    let one = time(1);
    assert_eq!(time(108), one, "every SM has one block");
    near(time(109), 2.0 * one, 0.01, "one SM has two, one after the other");
    near(time(216), 2.0 * one, 0.01, "two full waves");
    near(time(217), 3.0 * one, 0.01, "and one more");
}

#[test]
fn an_empty_kernel_takes_the_overhead_of_any_kernel() {
    let a100 = gpu("SM80_A100");
    let estimate = run(
        &Synthetic::uniform(80, 1, 1, |_, _, code| code.op("EXIT", &[], &[])),
        &a100,
    );
    assert!(estimate.body_cycles <= 5.0, "{}", estimate.body_cycles);
    assert_eq!(estimate.winner, BoundKind::Overhead);
    assert_eq!(estimate.t0_cycles, 1410.0);
    let none = run(&Synthetic::uniform(80, 0, 1, |_, _, _| {}), &a100);
    assert_eq!(none.body_cycles, 0.0);
}

#[test]
fn stalls_add_up_to_the_residence_of_the_warps() {
    let a100 = gpu("SM80_A100");
    let estimate = run(&Synthetic::chain("FFMA", 1000, 80), &a100);
    let stats = stats(&estimate);
    assert_eq!(stats.stalls, [(Stall::Arithmetic, 999 * 3)]);
    assert_eq!(stats.issue_cycles, 1000);
}

#[test]
fn branches_wait_for_the_last_compare_in_old_traces() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 1, 1, |_, _, code| {
        (0..100).for_each(|_| {
            code.op("ISETP.NE", &[], &[2]);
            code.op("BRA", &[], &[]);
        });
    });
    let estimate = run(&source, &a100);
    near(
        estimate.body_cycles,
        100.0 * (4.0 + 4.0),
        0.02,
        "compare, then branch, then the next",
    );
    assert!(stats(&estimate).predicates_inferred);
}

/// With more SMs a kernel that they limit is never slower. (One that DRAM limits can be, by its tail: its last
/// blocks start when the first end, and those share the bandwidth with more others.)
#[test]
fn more_sms_or_clock_are_never_slower() {
    let source = Synthetic::uniform(80, 1000, 4, |block, _, code| {
        (0..100 + block % 7 * 20).for_each(|i| code.op("FFMA", &[4 + (i % 4) as u8], &[2]));
    });
    let mut last = f64::INFINITY;
    for sms in [20.0, 54.0, 80.0, 108.0, 120.0, 200.0, 1000.0] {
        let mut a100 = gpu("SM80_A100");
        a100.chip.sms.value = sms;
        let time = body(&source, &a100);
        assert!(time <= last, "{sms} SMs: {time} after {last}");
        last = time;
    }
    let a100 = gpu("SM80_A100");
    let mut fast = a100.clone();
    fast.chip.core_clock.value *= 1.3;
    assert!(run(&source, &fast).time_ns < run(&source, &a100).time_ns);
}
