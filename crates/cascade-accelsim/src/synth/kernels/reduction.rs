//! Sum of an array: loads, exchange within warps, shared memory, one atomic a block.

use super::{
    Arch, Counts, Dim3, INPUT, OUTPUT, SynthError, WarpCode, Workload, check_extents, check_threads, row,
};
use crate::synth::program::{FULL, PROLOGUE, first_lanes};

/// Adds up `elements` single-precision numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Numbers in the array.
    pub elements: u64,
    /// Threads in a block.
    pub threads: u32,
    /// Numbers that each thread loads.
    pub loads: u32,
}

/// Rounds of exchange in a warp, two instructions each.
const ROUNDS: u32 = 5;

impl Workload for Reduction {
    fn check(&self) -> Result<(), SynthError> {
        check_threads(self.threads)?;
        check_extents(&[self.elements, self.loads.into()])
    }

    fn grid(&self) -> Dim3 {
        row(self
            .elements
            .div_ceil(u64::from(self.threads) * u64::from(self.loads)))
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn shmem(&self) -> u32 {
        self.threads / 32 * 4
    }

    fn registers(&self) -> u32 {
        24
    }

    fn counts(&self, _: Arch) -> Counts {
        let (blocks, warps, loads) = (
            self.grid().count(),
            u64::from(self.threads / 32),
            u64::from(self.loads),
        );
        let exchange = 2 * u64::from(ROUNDS);
        // Full in every warp: prologue, compares, exchange, barrier, compare; then store and exit.
        let full = PROLOGUE + loads + exchange + 2;
        // The first warp goes on: load, exchange, atomic, exit.
        Counts {
            warp_instrs: blocks * (warps * (full + 2 * loads + 2) + exchange + 3),
            thread_instrs: blocks
                * (warps * (32 * full + 1) + 32 * (warps - 1) + warps + 32 * exchange + 1 + 32)
                + 2 * self.elements,
        }
    }

    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode) {
        let threads = u64::from(self.threads);
        let first = u64::from(block) * threads * u64::from(self.loads) + u64::from(warp) * 32;
        code.prologue();
        let top = code.label();
        for load in 0..u64::from(self.loads) {
            let first = first + load * threads;
            code.jump(top);
            code.op("ISETP.GE.AND", None, &[0]);
            code.lanes(first_lanes(self.elements.saturating_sub(first)));
            code.mem("LDG.E", 4, 8, &[2], |lane| INPUT + (first + u64::from(lane)) * 4);
            code.op("FADD", 4, &[4, 8]);
            code.lanes(FULL);
        }
        code.butterfly(ROUNDS, "FADD", 4);
        code.lanes(1);
        code.mem("STS", 4, None, &[10, 4], |_| u64::from(warp) * 4);
        code.lanes(FULL);
        code.op("BAR.SYNC", None, &[]);
        code.op("ISETP.NE.AND", None, &[3]);
        code.lanes(if warp == 0 { 0 } else { FULL });
        code.op("EXIT", None, &[]);
        if warp > 0 {
            return;
        }
        code.lanes(first_lanes(threads / 32));
        code.mem("LDS", 4, 4, &[11], |lane| u64::from(lane) * 4);
        code.lanes(FULL);
        code.butterfly(ROUNDS, "FADD", 4);
        code.lanes(1);
        code.mem("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", 4, None, &[12, 4], |_| OUTPUT);
        code.lanes(FULL);
        code.op("EXIT", None, &[]);
    }
}
