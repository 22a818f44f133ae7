//! Attention of one query for each sequence over a paged key-value cache, heads of 64 half-precision
//! numbers, pages of 16 tokens.

use super::{
    Arch, Counts, Dim3, INPUT, OUTPUT, SECOND_INPUT, SynthError, THIRD_INPUT, WarpCode, Workload,
    check_extents,
};
use crate::synth::program::{FULL, PROLOGUE, first_lanes};

/// One decode step's attention: a block for each head and sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decode {
    /// Sequences in the batch.
    pub sequences: u32,
    /// Attention heads.
    pub heads: u32,
    /// Tokens in the cache of each sequence.
    pub context: u32,
}

const THREADS: u32 = 128;
const WARPS: u32 = 4;
/// Tokens in a page, and bytes of one head's keys (or values) in it: 16 tokens of 64 halves.
const PAGE_TOKENS: u32 = 16;
const PAGE_BYTES: u64 = 2048;
/// Pages in the pool that sequences draw from.
const POOL_PAGES: u64 = 1 << 16;
/// Where the block table lies behind the query.
const TABLE: u64 = 0x1000_0000;
/// Instructions for a page of keys (one of them by 16 lanes) and of values.
const KEY_PAGE: u64 = 31;
const VALUE_PAGE: u64 = 25;
/// Instructions of a warp outside the loops with all lanes, and those by 8, 1 and 4 lanes.
const FULL_INSTRS: u64 = PROLOGUE + 24 + 4 + 1;
const PARTIAL: u64 = 3;
const PARTIAL_LANES: u64 = 8 + 1 + 4;
/// Masked instructions for each 128 tokens of softmax.
const SOFTMAX: u64 = 4;

impl Decode {
    fn pages(&self) -> u32 {
        self.context.div_ceil(PAGE_TOKENS)
    }

    /// Where a page of a sequence lies in the pool: scattered, as after a while of serving, but fixed.
    fn page(&self, sequence: u32, page: u32) -> u64 {
        let seed = u64::from(sequence) << 32 | u64::from(page);
        // Fibonacci hashing (Knuth, TAOCP 6.4): the upper bits of a product with 2^64 / golden ratio.
        seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48 & (POOL_PAGES - 1)
    }

    /// Reads the page's number and its 2 KiB.
    fn load_page(&self, code: &mut WarpCode, base: u64, place: (u32, u32, u32)) {
        let (sequence, head, page) = place;
        let table = INPUT + TABLE + (u64::from(sequence) * u64::from(self.pages()) + u64::from(page)) * 4;
        code.mem("LDG.E.CONSTANT", 4, 14, &[12], |_| table);
        code.op("IMAD.WIDE", 2, &[14, 5]);
        let start = base + (self.page(sequence, page) * u64::from(self.heads) + u64::from(head)) * PAGE_BYTES;
        for i in 0..4u8 {
            let address = |lane: u32| start + u64::from(i) * 512 + u64::from(lane) * 16;
            code.mem("LDG.E.128.CONSTANT", 16, 24 + 4 * i, &[2], address);
        }
    }

    fn softmax(&self, warp: u32, code: &mut WarpCode) {
        code.op("BAR.SYNC", None, &[]);
        code.butterfly(5, "FMNMX", 4);
        code.lanes(1);
        code.mem("STS", 4, None, &[10, 4], |_| u64::from(warp) * 4);
        code.lanes(FULL);
        code.op("BAR.SYNC", None, &[]);
        code.lanes(0xf);
        code.mem("LDS", 4, 5, &[11], |lane| u64::from(lane) * 4);
        let top = code.label();
        for round in 0..self.context.div_ceil(THREADS) {
            let first = u64::from(round * THREADS + warp * 32);
            let logit = |lane: u32| 32 + (first + u64::from(lane)) * 4;
            code.jump(top);
            code.lanes(first_lanes(u64::from(self.context).saturating_sub(first)));
            code.mem("LDS", 4, 6, &[11], logit);
            code.op("FADD", 6, &[6, 5]);
            code.op("MUFU.EX2", 6, &[6]);
            code.mem("STS", 4, None, &[10, 6], logit);
        }
        code.lanes(FULL);
        code.butterfly(5, "FADD", 7);
        code.op("BAR.SYNC", None, &[]);
        code.op("MUFU.RCP", 7, &[7]);
    }
}

impl Workload for Decode {
    fn check(&self) -> Result<(), SynthError> {
        check_extents(&[self.sequences.into(), self.heads.into(), self.context.into()])?;
        match self.shmem() <= 48 << 10 {
            true => Ok(()),
            false => Err(SynthError::BadShape(
                "the context needs more than 48 KiB of shared memory",
            )),
        }
    }

    fn grid(&self) -> Dim3 {
        Dim3::new(self.heads, self.sequences, 1)
    }

    fn threads(&self) -> u32 {
        THREADS
    }

    /// Logits of all tokens and a few words for the warps.
    fn shmem(&self) -> u32 {
        self.pages()
            .saturating_mul(PAGE_TOKENS)
            .saturating_mul(4)
            .saturating_add(32)
    }

    fn registers(&self) -> u32 {
        64
    }

    fn counts(&self, _: Arch) -> Counts {
        let (blocks, warps, pages) = (self.grid().count(), u64::from(WARPS), u64::from(self.pages()));
        let rounds = u64::from(self.context.div_ceil(THREADS));
        let page = KEY_PAGE + VALUE_PAGE;
        // The first warp stores the result, with eight lanes.
        let warp_instrs = warps * (FULL_INSTRS + PARTIAL + SOFTMAX * rounds) + pages * page + 1;
        let thread_instrs = warps * (32 * FULL_INSTRS + PARTIAL_LANES)
            + SOFTMAX * u64::from(self.context)
            + pages * (32 * (page - 1) + 16)
            + 8;
        Counts {
            warp_instrs: blocks * warp_instrs,
            thread_instrs: blocks * thread_instrs,
        }
    }

    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode) {
        let (head, sequence) = (block % self.heads.max(1), block / self.heads.max(1));
        let query = (u64::from(sequence) * u64::from(self.heads) + u64::from(head)) * 128;
        code.prologue();
        code.lanes(0xff);
        code.mem("LDG.E.128", 16, 16, &[2], |lane| {
            INPUT + query + u64::from(lane) * 16
        });
        code.lanes(FULL);
        let top = code.label();
        for page in (warp..self.pages()).step_by(WARPS as usize) {
            code.jump(top);
            self.load_page(code, SECOND_INPUT, (sequence, head, page));
            for i in 0..16 {
                code.op("HFMA2.MMA", 40 + i % 4, &[16 + i % 4, 24 + i, 40 + i % 4]);
            }
            code.butterfly(3, "FADD", 40);
            code.lanes(0xffff);
            code.mem("STS", 4, None, &[10, 40], |lane| {
                32 + u64::from(page * PAGE_TOKENS + lane) * 4
            });
            code.lanes(FULL);
            code.op("ISETP.GE.AND", None, &[12]);
            code.op("BRA", None, &[]);
        }
        self.softmax(warp, code);
        let top = code.label();
        for page in (warp..self.pages()).step_by(WARPS as usize) {
            code.jump(top);
            self.load_page(code, THIRD_INPUT, (sequence, head, page));
            code.mem("LDS.128", 16, 48, &[11], |_| {
                32 + u64::from(page * PAGE_TOKENS) * 4
            });
            for i in 0..16 {
                code.op("HFMA2.MMA", 44 + i % 4, &[48 + i % 4, 24 + i, 44 + i % 4]);
            }
            code.op("ISETP.GE.AND", None, &[12]);
            code.op("BRA", None, &[]);
        }
        code.mem("STS", 4, None, &[10, 44], |lane| u64::from(lane) * 4);
        code.op("BAR.SYNC", None, &[]);
        code.mem("LDS", 4, 45, &[11], |lane| u64::from(lane) * 4);
        code.op("FADD", 44, &[44, 45]);
        if warp == 0 {
            code.lanes(0xff);
            code.mem("STG.E.128", 16, None, &[22, 44], |lane| {
                OUTPUT + query + u64::from(lane) * 16
            });
            code.lanes(FULL);
        }
        code.op("EXIT", None, &[]);
    }
}
