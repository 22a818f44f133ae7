//! Layer normalisation of half-precision rows, one block a row.

use super::{
    Arch, Counts, Dim3, INPUT, OUTPUT, SECOND_INPUT, SynthError, THIRD_INPUT, WarpCode, Workload,
    check_extents, row,
};
use crate::synth::program::{FULL, PROLOGUE, first_lanes};

/// Normalises `rows` rows of `hidden` half-precision numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerNorm {
    /// Rows (tokens).
    pub rows: u32,
    /// Numbers in a row, a multiple of 4.
    pub hidden: u32,
}

/// Threads in a block, warps in it, and numbers that a lane takes at once.
const THREADS: u32 = 128;
const WARPS: u64 = 4;
const VECTOR: u32 = 4;
/// Masked instructions of one iteration, both passes together: nine each.
const MASKED: u64 = 18;
/// Instructions of a warp outside the loops with all lanes: exchanges of two sums over 32 lanes and over
/// four warps, barrier, root, scale, exit.
const FULL_INSTRS: u64 = PROLOGUE + 20 + 1 + 8 + 2 + 1;

impl LayerNorm {
    fn iterations(&self) -> u32 {
        self.hidden.div_ceil(THREADS * VECTOR)
    }
}

impl Workload for LayerNorm {
    fn check(&self) -> Result<(), SynthError> {
        check_extents(&[self.rows.into(), self.hidden.into()])?;
        match self.hidden % VECTOR {
            0 => Ok(()),
            _ => Err(SynthError::BadShape("hidden must be a multiple of 4")),
        }
    }

    fn grid(&self) -> Dim3 {
        row(self.rows.into())
    }

    fn threads(&self) -> u32 {
        THREADS
    }

    fn shmem(&self) -> u32 {
        32
    }

    fn registers(&self) -> u32 {
        40
    }

    fn counts(&self, _: Arch) -> Counts {
        let (rows, iterations) = (u64::from(self.rows), u64::from(self.iterations()));
        // Besides: a store by one lane and a load by four.
        Counts {
            warp_instrs: rows * WARPS * (FULL_INSTRS + 2 + MASKED * iterations),
            thread_instrs: rows
                * (WARPS * (32 * FULL_INSTRS + 1 + 4) + MASKED * u64::from(self.hidden / VECTOR)),
        }
    }

    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode) {
        let vectors = u64::from(self.hidden / VECTOR);
        let first = |iteration: u32| u64::from(iteration * THREADS + warp * 32);
        let in_row = |base: u64, first: u64| move |lane: u32| base + (first + u64::from(lane)) * 8;
        let row = u64::from(block) * u64::from(self.hidden) * 2;
        code.prologue();
        let top = code.label();
        for iteration in 0..self.iterations() {
            let first = first(iteration);
            code.jump(top);
            code.lanes(first_lanes(vectors.saturating_sub(first)));
            code.mem("LDG.E.64", 8, 8, &[2], in_row(INPUT + row, first));
            for i in 0..4 {
                code.op("HADD2.F32", 12 + i, &[8 + i / 2]);
                code.op("FFMA", 5, &[12 + i, 12 + i, 5]);
            }
        }
        code.lanes(FULL);
        code.butterfly(5, "FADD", 4);
        code.butterfly(5, "FADD", 5);
        code.lanes(1);
        code.mem("STS.64", 8, None, &[10, 4], |_| u64::from(warp) * 8);
        code.lanes(FULL);
        code.op("BAR.SYNC", None, &[]);
        code.lanes(0xf);
        code.mem("LDS.64", 8, 4, &[11], |lane| u64::from(lane) * 8);
        code.lanes(FULL);
        code.butterfly(2, "FADD", 4);
        code.butterfly(2, "FADD", 5);
        code.op("MUFU.RSQ", 6, &[5]);
        code.op("FMUL", 7, &[6, 4]);
        let top = code.label();
        for iteration in 0..self.iterations() {
            let first = first(iteration);
            code.jump(top);
            code.lanes(first_lanes(vectors.saturating_sub(first)));
            code.mem("LDG.E.64.CONSTANT", 8, 24, &[22], in_row(SECOND_INPUT, first));
            code.mem("LDG.E.64.CONSTANT", 8, 26, &[23], in_row(THIRD_INPUT, first));
            for i in 0..4 {
                code.op("FFMA", 12 + i, &[12 + i, 24 + i / 2, 26 + i / 2]);
            }
            let pack = if code.arch.binary() >= 80 {
                "F2FP.PACK_AB"
            } else {
                "F2F.F16.F32"
            };
            code.op(pack, 28, &[12, 13]);
            code.op(pack, 29, &[14, 15]);
            code.mem("STG.E.64", 8, None, &[30, 28], in_row(OUTPUT + row, first));
        }
        code.lanes(FULL);
        code.op("EXIT", None, &[]);
    }
}
