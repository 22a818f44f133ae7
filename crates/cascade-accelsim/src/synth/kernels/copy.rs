//! Streaming copy, 16 bytes a thread.

use super::{
    Arch, Counts, Dim3, INPUT, OUTPUT, SynthError, WarpCode, Workload, check_extents, check_threads, row,
};
use crate::synth::program::first_lanes;

/// Copies `bytes`, each thread 16 of them; threads past the end leave early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Bytes copied, rounded up to 16.
    pub bytes: u64,
    /// Threads in a block.
    pub threads: u32,
}

/// Bytes that a thread moves.
const WIDTH: u64 = 16;

impl Copy {
    fn elements(&self) -> u64 {
        self.bytes.div_ceil(WIDTH)
    }
}

impl Workload for Copy {
    fn check(&self) -> Result<(), SynthError> {
        check_threads(self.threads)?;
        check_extents(&[self.bytes])
    }

    fn grid(&self) -> Dim3 {
        row(self.elements().div_ceil(self.threads.into()))
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn shmem(&self) -> u32 {
        0
    }

    fn registers(&self) -> u32 {
        16
    }

    fn counts(&self, _: Arch) -> Counts {
        let (elements, warps) = (
            self.elements(),
            self.grid().count() * u64::from(self.threads / 32),
        );
        // Six instructions of every warp, the last an exit of the threads past the end; five of the others.
        Counts {
            warp_instrs: 6 * warps + 5 * elements.div_ceil(32),
            thread_instrs: 5 * 32 * warps + (32 * warps - elements) + 5 * elements,
        }
    }

    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode) {
        let first = u64::from(block) * u64::from(self.threads) + u64::from(warp) * 32;
        let active = first_lanes(self.elements().saturating_sub(first));
        code.prologue();
        code.op("ISETP.GE.AND", None, &[0]);
        code.lanes(!active);
        code.op("EXIT", None, &[]);
        if active == 0 {
            return;
        }
        code.lanes(active);
        code.op("IMAD.WIDE", 2, &[0, 5]);
        code.op("IMAD.WIDE", 6, &[0, 5]);
        code.mem("LDG.E.128", 16, 8, &[2], |lane| {
            INPUT + (first + u64::from(lane)) * WIDTH
        });
        code.mem("STG.E.128", 16, None, &[6, 8], |lane| {
            OUTPUT + (first + u64::from(lane)) * WIDTH
        });
        code.op("EXIT", None, &[]);
    }
}
