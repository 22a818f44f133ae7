//! What a kernel leaves in L2, without simulating it: the lines that it touches in the order of its trace.
//!
//! The state of L2 between kernels is made of these and of nothing else, so a kernel finds the same lines
//! whether those before it were simulated, shared another's result or were known from an earlier run.

use std::collections::VecDeque;

use cascade_accelsim::trace::{BlockSink, BlockSource, KernelHeader, OpcodeTable, ThreadBlock, TraceError};

use super::image::in_shared_window;
use super::memory::L2State;
use crate::l0::Lines;
use crate::opcode::{Class, MemKind, OpInfo, Space};

/// Touches kept from a kernel's start, and as many from its end; what lies between changes the digest only.
/// 2^22 lines are 512 MiB, ten times the largest L2.
const MAX_KEPT: usize = 1 << 22;
/// Places of the filter that leaves out lines touched a short while ago.
const RECENT: usize = 1 << 10;

const READS: u64 = 1 << 4;
const WRITES: u64 = 1 << 5;
/// Bits below the line number of a packed touch: four sectors, read, written.
const FLAG_BITS: u32 = 6;

/// Lines of L2 that a kernel touches, in the order of its trace: block after block, warp after warp.
#[derive(Clone, Debug)]
pub struct Touches {
    first: Vec<u64>,
    last: VecDeque<u64>,
    recent: Vec<u64>,
    digest: [u64; 2],
}

impl Default for Touches {
    fn default() -> Self {
        Self {
            first: Vec::new(),
            last: VecDeque::new(),
            recent: vec![u64::MAX; RECENT],
            digest: [0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b],
        }
    }
}

impl Touches {
    fn add(&mut self, line: u64, sectors: u8, reads: bool, writes: bool) {
        let flag = |set: bool, flag: u64| if set { flag } else { 0 };
        let flags = u64::from(sectors & 0x0f) | flag(reads, READS) | flag(writes, WRITES);
        let touch = line << FLAG_BITS | flags;
        if let Some(recent) = self.recent.get_mut((line % RECENT as u64) as usize) {
            if *recent >> FLAG_BITS != line {
                *recent = touch;
            } else if *recent & touch == touch {
                return;
            } else {
                *recent |= touch;
            }
        }
        let [a, b] = &mut self.digest;
        *a = (a.rotate_left(23) ^ touch).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *b = (b.rotate_left(31) ^ touch).wrapping_mul(0xc2b2_ae3d_27d4_eb4f) ^ *a;
        if self.first.len() < MAX_KEPT {
            self.first.push(touch);
        } else {
            if self.last.len() == MAX_KEPT {
                self.last.pop_front();
            }
            self.last.push_back(touch);
        }
    }

    fn each(&self) -> impl Iterator<Item = (u64, u8, bool, bool)> + '_ {
        self.first.iter().chain(&self.last).map(|touch| {
            (
                touch >> FLAG_BITS,
                (touch & 0x0f) as u8,
                touch & READS != 0,
                touch & WRITES != 0,
            )
        })
    }

    /// 32 hex digits that two kernels share only when they touch the same lines in the same order.
    pub fn digest(&self) -> String {
        let [a, b] = self.digest;
        format!("{a:016x}{b:016x}")
    }
}

impl L2State {
    /// Does to L2 what a kernel does: its lines are there, the oldest others are not.
    pub fn touch(&mut self, touches: &Touches) {
        self.tags.restart_clock();
        for (line, sectors, reads, writes) in touches.each() {
            self.tags.access(line, sectors, reads, writes);
        }
    }

    /// Which of the sectors that a kernel reads are here now, as text: the sectors there of each touch, hashed, and
    /// how many there are. Two kernels that do the same work find the same in L2 when these are equal.
    pub fn warmth(&self, touches: &Touches) -> String {
        let (mut hash, mut sectors) = (0x3c6e_f372_fe94_f82b_u64, 0_u64);
        for (line, mask, _, _) in touches.each().filter(|(_, _, reads, _)| *reads) {
            let there = self.tags.holds(line) & mask;
            sectors += u64::from(there.count_ones());
            hash = (hash.rotate_left(5) ^ u64::from(there)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        format!("{hash:016x}:{sectors}")
    }
}

/// A source that notes what is touched by the blocks that are read from it.
pub struct Recorded<'a, S: ?Sized> {
    inner: &'a mut S,
    touches: Touches,
    lines: Lines,
    ops: Vec<OpInfo>,
}

impl<'a, S: BlockSource + ?Sized> Recorded<'a, S> {
    /// Wraps a source of which no block was read yet.
    pub fn new(inner: &'a mut S) -> Self {
        Self {
            inner,
            touches: Touches::default(),
            lines: Lines::default(),
            ops: Vec::new(),
        }
    }

    /// What the blocks read so far touch.
    pub fn into_touches(self) -> Touches {
        self.touches
    }

    fn record(&mut self, block: &ThreadBlock) {
        let known = self.ops.len();
        let new = self.inner.opcodes().iter().skip(known);
        self.ops.extend(new.map(|(_, name)| OpInfo::parse(name)));
        let shared_window = self.inner.header().shmem_base.filter(|base| *base != 0);
        for instr in block.warps.iter().flat_map(|warp| &warp.instrs) {
            let (Some(mem), Some(op)) = (&instr.mem, self.ops.get(usize::from(instr.opcode.0))) else {
                continue;
            };
            let Some(access) = op.mem.filter(|_| op.class == Class::Lsu) else {
                continue;
            };
            let shared = access.space == Space::Shared
                || access.space == Space::Generic
                    && shared_window.is_some_and(|base| in_shared_window(block, instr, base));
            if shared || instr.mask == 0 {
                continue;
            }
            if access.kind.is_bulk() {
                self.lines.coalesce_bulk(block, mem);
            } else {
                self.lines.coalesce(block, instr, mem, u64::from(access.bytes));
            }
            let writes = access.kind.writes();
            let reads = !writes || matches!(access.kind, MemKind::Atomic | MemKind::Reduction);
            for (line, sectors) in self.lines.as_slice() {
                self.touches.add(*line, *sectors, reads, writes);
            }
        }
    }
}

impl<S: BlockSource + ?Sized> BlockSource for Recorded<'_, S> {
    fn header(&self) -> &KernelHeader {
        self.inner.header()
    }

    fn header_text(&self) -> &[u8] {
        self.inner.header_text()
    }

    fn opcodes(&self) -> &OpcodeTable {
        self.inner.opcodes()
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        let more = self.inner.next_block(block)?;
        if more {
            self.record(block);
        }
        Ok(more)
    }

    /// Blocks that are only copied are not looked at.
    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        self.inner.copy_block(sink)
    }
}
