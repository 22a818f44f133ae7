//! Chains of dependent single-precision multiply-adds.

use super::{Arch, Counts, Dim3, OUTPUT, SynthError, WarpCode, Workload, check_extents, check_threads, row};
use crate::synth::program::PROLOGUE;

/// Every warp runs `iterations` of an unrolled loop of 32 multiply-adds in `chains` independent chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FmaChain {
    /// Thread blocks.
    pub blocks: u32,
    /// Threads in a block.
    pub threads: u32,
    /// Loop iterations.
    pub iterations: u32,
    /// Independent chains, 1 to 16: 1 is bound by latency, 16 by throughput.
    pub chains: u8,
}

/// Multiply-adds in one iteration, and the loop's own instructions.
const UNROLL: u8 = 32;
const LOOP: u64 = 3;
/// Address, store and exit.
const EPILOGUE: u64 = 3;

impl Workload for FmaChain {
    fn check(&self) -> Result<(), SynthError> {
        check_threads(self.threads)?;
        check_extents(&[self.blocks.into(), self.iterations.into()])?;
        match (1..=16).contains(&self.chains) {
            true => Ok(()),
            false => Err(SynthError::BadShape("chains must be from 1 to 16")),
        }
    }

    fn grid(&self) -> Dim3 {
        row(self.blocks.into())
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn shmem(&self) -> u32 {
        0
    }

    fn registers(&self) -> u32 {
        24
    }

    fn counts(&self, _: Arch) -> Counts {
        let warps = u64::from(self.blocks) * u64::from(self.threads / 32);
        let warp_instrs =
            warps * (PROLOGUE + u64::from(self.iterations) * (u64::from(UNROLL) + LOOP) + EPILOGUE);
        Counts {
            warp_instrs,
            thread_instrs: 32 * warp_instrs,
        }
    }

    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode) {
        let first = u64::from(block) * u64::from(self.threads) + u64::from(warp) * 32;
        code.prologue();
        let top = code.label();
        for _ in 0..self.iterations {
            code.jump(top);
            for i in 0..UNROLL {
                let sum = 4 + i % self.chains;
                code.op("FFMA", sum, &[sum, 2]);
            }
            code.op("IADD3", 21, &[21]);
            code.op("ISETP.NE.AND", None, &[21]);
            code.op("BRA", None, &[]);
        }
        code.op("IMAD.WIDE", 22, &[0, 2]);
        code.mem("STG.E", 4, None, &[22, 4], |lane| {
            OUTPUT + (first + u64::from(lane)) * 4
        });
        code.op("EXIT", None, &[]);
    }
}
