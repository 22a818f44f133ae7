//! Where more SMs are slower: the two smallest cases, worked out by hand; and what L2 does about a third.

use super::{GLOBAL, L1, body, near, stats};
use crate::engine::Engine;
use crate::gpu::GpuModel;
use crate::l1::L2State;
use crate::testing::{Synthetic, gpu};

fn with_sms(gpu: &GpuModel, sms: f64) -> GpuModel {
    let mut changed = gpu.clone();
    changed.chip.sms.value = sms;
    changed
}

/// Nobody knows how long a block will take when it is given to an SM. Blocks that take 4, 1, 1 and 4 units lie 0 and
/// 2, 1 and 3 on two SMs (5 units each), but 0 and 3 on the first of three (8 units).
#[test]
fn three_sms_are_slower_than_two_when_the_long_blocks_meet() {
    let a100 = gpu("SM80_A100");
    let blocks = Synthetic::uniform(80, 4, 4, |block, _, code| {
        let units = if block % 3 == 0 { 4 } else { 1 };
        (0..units * 500).for_each(|i| code.op("FFMA", &[4 + (i % 8) as u8], &[2]));
    });
    // A sub-core starts an FFMA every two cycles.
    let unit = 500.0 * 2.0;
    near(body(&blocks, &with_sms(&a100, 2.0)), 5.0 * unit, 0.01, "two SMs");
    near(
        body(&blocks, &with_sms(&a100, 3.0)),
        8.0 * unit,
        0.01,
        "three SMs",
    );
}

/// Six blocks, one to an SM, make two trips to DRAM each. DRAM takes one time unit for each, and a reply takes two.
/// Two SMs take turns, so that the next request is there whenever DRAM is free: trips begin at 0 to 11, the last reply
/// is there at 13. With five, the first five blocks' trips begin at 0 to 9, then the sixth is alone: its first trip
/// begins at 10 and is answered at 12, its second begins at 12 and is answered at 14.
#[test]
fn five_sms_are_slower_than_two_when_the_last_block_is_alone() {
    const UNIT: f64 = 4000.0;
    let mut slow = gpu("SM80_A100");
    slow.chip.dram_efficiency.value = 1.0;
    slow.latency.dram.value = 2.0 * UNIT;
    // 128 bytes a unit.
    slow.chip.dram_bandwidth.value = 128.0 / UNIT * slow.chip.core_clock.value / 1000.0;
    let mut blocks = Synthetic::uniform(80, 6, 1, |block, _, code| {
        for trip in 0..2_u64 {
            let line = u64::from(block) * 2 + trip;
            code.mem("LDG.E", &[8], &[8], GLOBAL + line * 128, 4);
        }
        code.op("EXIT", &[], &[]);
    });
    blocks.header.shmem_bytes = slow.sm_core.shared_memory.count() * 3 / 5;
    near(body(&blocks, &with_sms(&slow, 2.0)), 13.0 * UNIT, 0.01, "two SMs");
    near(
        body(&blocks, &with_sms(&slow, 5.0)),
        14.0 * UNIT,
        0.01,
        "five SMs",
    );
}

/// Every SM reads the same lines at once. Up to the A100 each read is work for L2, so twice the SMs queue for twice as
/// long; from the H100 on reads that wait for one line are merged, and it takes what one SM takes.
#[test]
fn reads_of_one_line_that_wait_together_are_merged_from_the_h100_on() {
    let same = |sm, blocks| {
        Synthetic::uniform(sm, blocks, 8, |_, warp, code| {
            let at = GLOBAL + u64::from(warp) * 512;
            code.mem("LDG.E.128", &[8], &[2], at, 16);
            code.op("IADD3", &[2], &[8]);
        })
    };
    let [a100, h100] = [gpu("SM80_A100"), gpu("SM90_H100")].map(|gpu| {
        // L2 has the lines from a kernel before.
        let mut state = L2State::cold(&gpu);
        let mut next = |blocks| {
            Engine::simulate_next_kernel(&mut same(gpu.sm, blocks), &gpu, &L1, &mut state).expect("simulates")
        };
        next(1);
        let [few, many] = [54, 108].map(next);
        assert_eq!(stats(&many).l2_sectors, 108 * 8 * 16, "each SM asks for all");
        assert_eq!(many.dram_bytes, 0);
        (many.body_cycles - few.body_cycles, stats(&many).l2_merged_sectors)
    });
    // 54 more reads of a line at two cycles a line (64 bytes a cycle and slice).
    near(a100.0, 54.0 * 2.0, 0.1, "108 SMs wait longer than 54");
    assert_eq!(a100.1, 0);
    assert_eq!(h100.0, 0.0, "108 SMs wait no longer than 54");
    assert!(
        h100.1 > 100 * 8 * 16,
        "nearly all came with another's: {}",
        h100.1
    );
}
