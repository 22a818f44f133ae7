//! Latencies and bandwidths of each level, conflicts, coalescing, atomics, warm caches.

use super::{GLOBAL, L1, body, near, run, stats};
use cascade_accelsim::trace::{BlockSource, ThreadBlock};

use crate::engine::{Engine, Options};
use crate::estimate::L2Start;
use crate::l1::{L2State, Recorded};
use crate::testing::{Builder, Synthetic, gpu};

fn chase(opcode: &'static str, step: u64, wrap: u64) -> Synthetic {
    Synthetic::uniform(80, 1, 1, move |_, _, code| {
        (0..4096).for_each(|i| code.masked_mem(opcode, &[4], &[4], GLOBAL + (i % wrap) * step, 0, 1));
    })
}

#[test]
fn pointer_chases_see_the_level_that_holds_the_line() {
    let a100 = gpu("SM80_A100");
    let steady = |source: Synthetic, cold: f64, latency: f64, what: &str| {
        let touched = cold.min(4096.0);
        let expected = (4096.0 - touched) * latency + touched * a100.latency.dram.value;
        near(body(&source, &a100), expected, 0.02, what);
    };
    steady(chase("LDG.E", 128, 64), 64.0, a100.latency.l1.value, "L1");
    steady(
        chase("LDG.E.STRONG.GPU", 128, 64),
        64.0,
        a100.latency.l2.value,
        "L2, past L1",
    );
    // 1 MiB does not fit into L1 but into L2.
    let large = Synthetic::uniform(80, 1, 1, |_, _, code| {
        (0..32_768_u64).for_each(|i| code.masked_mem("LDG.E", &[4], &[4], GLOBAL + (i % 8192) * 128, 0, 1));
    });
    let expected = 8192.0 * a100.latency.dram.value + 24_576.0 * a100.latency.l2.value;
    near(body(&large, &a100), expected, 0.02, "L2, too large for L1");
    steady(
        chase("LDG.E", 65_536, 1 << 20),
        4096.0,
        a100.latency.dram.value,
        "DRAM",
    );
}

/// Blocks of 8 warps in which each warp reads `loads` times 512 bytes.
fn stream(sm: u32, blocks: u32, loads: u64, base: u64) -> Synthetic {
    Synthetic::uniform(sm, blocks, 8, move |block, warp, code: &mut Builder<'_>| {
        let first = (u64::from(block) * 8 + u64::from(warp)) * 512 * loads;
        (0..loads).for_each(|i| code.mem("LDG.E.128", &[8], &[2], base + first + i * 512, 16));
        code.op("IADD3", &[2], &[8]);
        code.op("EXIT", &[], &[]);
    })
}

#[test]
fn a_stream_reaches_the_bandwidth_and_never_exceeds_it() {
    let a100 = gpu("SM80_A100");
    let time = |blocks: u32| {
        let estimate = run(&stream(80, blocks, 4, GLOBAL), &a100);
        let bytes = f64::from(blocks) * 8.0 * 4.0 * 512.0;
        assert_eq!(estimate.dram_bytes as f64, bytes);
        assert!(
            bytes / (estimate.body_cycles / 1.410) <= a100.chip.dram_bandwidth.value,
            "datasheet"
        );
        (bytes, estimate.body_cycles)
    };
    let ((b1, t1), (b2, t2), (b3, t3)) = (time(500), time(2000), time(4000));
    assert!(t1 < t2 && t2 < t3);
    near((b3 - b2) / (t3 - t2), a100.dram_bytes_per_cycle(), 0.01, "slope");
    near(
        t1,
        b1 / a100.dram_bytes_per_cycle() + a100.latency.dram.value,
        0.15,
        "short streams pay the latency",
    );
}

#[test]
fn what_l2_holds_is_read_at_l2_bandwidth() {
    let a100 = gpu("SM80_A100");
    let mut state = L2State::cold(&a100);
    let mut second = |options: &Options| {
        let source = stream(80, 1000, 4, GLOBAL);
        Engine::simulate_next_kernel(&mut source.clone(), &a100, options, &mut state).expect("simulates")
    };
    let (first, warm) = (second(&L1), second(&L1));
    assert_eq!(first.dram_bytes, 1000 * 8 * 4 * 512);
    assert_eq!(
        (warm.dram_bytes, stats(&warm).l2_warm_sectors),
        (0, 1000 * 8 * 4 * 16)
    );
    assert_eq!(stats(&warm).l2_hits, stats(&warm).l2_sectors);
    // 108 ports of 64 B and 5,120 B/clk of slices; the slices' queues are random, so not all are busy always.
    let bandwidth = a100.chip.l2_bandwidth.value;
    let bytes = warm.l2_bytes as f64;
    assert!(bytes / warm.body_cycles <= bandwidth);
    near(
        warm.body_cycles,
        bytes / bandwidth,
        0.4,
        "close to the L2's bandwidth",
    );
    let cold = second(&Options { cold: true, ..L1 });
    assert_eq!(
        (cold.body_cycles, cold.dram_bytes),
        (first.body_cycles, first.dram_bytes)
    );
}

#[test]
fn touches_leave_what_a_simulation_leaves() {
    let a100 = gpu("SM80_A100");
    let source = stream(80, 300, 4, GLOBAL);
    let mut copy = source.clone();
    let mut recorded = Recorded::new(&mut copy);
    let mut block = ThreadBlock::default();
    while recorded.next_block(&mut block).expect("in memory") {}
    let touches = recorded.into_touches();
    let mut touched = L2State::cold(&a100);
    let nothing = touched.warmth(&touches);
    touched.touch(&touches);
    assert_ne!(nothing, touched.warmth(&touches));
    let mut simulated = L2State::cold(&a100);
    let next = |state: &mut L2State| {
        Engine::simulate_next_kernel(&mut source.clone(), &a100, &L1, state).expect("simulates")
    };
    next(&mut simulated);
    assert_eq!(simulated.warmth(&touches), touched.warmth(&touches));
    let (a, b) = (next(&mut simulated), next(&mut touched));
    assert_eq!((a.body_cycles, a.dram_bytes), (b.body_cycles, b.dram_bytes));
    assert_eq!(b.l2_start(), L2Start::Warm);
}

#[test]
fn a_bank_conflict_of_degree_d_takes_d_times_as_long() {
    let a100 = gpu("SM80_A100");
    let time = |stride: i64| {
        let mut source = Synthetic::uniform(80, 1, 4, move |_, _, code| {
            (0..256).for_each(|i| code.mem("LDS", &[4 + (i % 16) as u8], &[2], 0, stride));
        });
        source.header.shmem_bytes = 4096;
        body(&source, &a100)
    };
    for degree in [2.0, 4.0, 8.0, 16.0, 32.0] {
        // Without a conflict the path takes an access every second cycle.
        near(time(4 * degree as i64), 4.0 * 256.0 * degree, 0.04, "degree");
    }
    near(
        time(4 * 33),
        4.0 * 256.0 * 2.0,
        0.04,
        "an odd stride has no conflict",
    );
    near(time(0), 4.0 * 256.0 * 2.0, 0.04, "a broadcast is one pass");
}

#[test]
fn uncoalesced_lanes_fetch_a_sector_each() {
    let a100 = gpu("SM80_A100");
    let load = |stride| {
        Synthetic::uniform(80, 1, 1, move |_, _, code| {
            code.mem("LDG.E", &[4], &[2], GLOBAL, stride)
        })
    };
    let scattered = run(&load(128), &a100);
    assert_eq!(
        (scattered.sectors, scattered.l2_bytes, scattered.dram_bytes),
        (32, 1024, 1024)
    );
    let dense = run(&load(4), &a100);
    assert_eq!((dense.sectors, dense.l2_bytes), (4, 128));
    // The last of 32 lines leaves 31 cycles after the first.
    assert!(scattered.body_cycles >= dense.body_cycles + 31.0 - 2.0);
}

#[test]
fn loads_of_a_line_that_is_under_way_share_its_fetch() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 1, 8, |_, _, code| {
        code.mem("LDG.E", &[4], &[2], GLOBAL, 4);
        code.op("IADD3", &[5], &[4]);
    });
    let estimate = run(&source, &a100);
    assert_eq!((estimate.dram_bytes, estimate.l2_bytes), (128, 128));
    assert_eq!(stats(&estimate).l1_hits, 7 * 4);
    near(
        estimate.body_cycles,
        a100.latency.dram.value,
        0.06,
        "all wait for one fetch",
    );
}

#[test]
fn writes_end_the_kernel_and_stay_in_l2() {
    let a100 = gpu("SM80_A100");
    let source = Synthetic::uniform(80, 1, 1, |_, _, code| code.mem("STG.E", &[], &[2, 4], GLOBAL, 4));
    let estimate = run(&source, &a100);
    assert_eq!((estimate.l2_bytes, estimate.dram_bytes), (128, 0));
    near(
        estimate.body_cycles,
        a100.latency.l2.value,
        0.03,
        "the write must reach L2",
    );
}

#[test]
fn atomics_on_one_word_are_serialised() {
    let a100 = gpu("SM80_A100");
    let time = |stride| {
        body(
            &Synthetic::uniform(80, 1, 1, move |_, _, code| {
                (0..64).for_each(|_| code.mem("RED.E.ADD.STRONG.GPU", &[], &[2, 4], GLOBAL, stride));
            }),
            &a100,
        )
    };
    assert!(time(0) > 64.0 * 32.0, "{}", time(0));
    assert!(time(4) < 64.0 * 8.0 + a100.latency.dram.value, "{}", time(4));
}

/// More of anything is never slower, on kernels that it limits.
#[test]
fn more_bandwidth_is_never_slower() {
    let base = gpu("SM80_A100");
    let source = stream(80, 1000, 2, GLOBAL);
    let slow = body(&source, &base);
    for factor in [1.1, 1.5, 2.0, 4.0] {
        let mut wide = base.clone();
        wide.chip.dram_bandwidth.value *= factor;
        assert!(body(&source, &wide) <= slow, "DRAM x {factor}");
        let mut wide = base.clone();
        wide.chip.l2_bandwidth.value *= factor;
        assert!(body(&source, &wide) <= slow * 1.005, "L2 x {factor}");
    }
}

#[test]
fn the_order_of_blocks_hardly_matters() {
    let a100 = gpu("SM80_A100");
    let source = stream(80, 1000, 2, GLOBAL);
    let mut shuffled = source.clone();
    shuffled.blocks.rotate_left(377);
    shuffled.blocks.reverse();
    near(body(&shuffled, &a100), body(&source, &a100), 0.02, "order");
}
