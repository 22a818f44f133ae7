//! What memory instructions cost: load/store cycles, the level that serves them, traffic below L1.

use cascade_accelsim::trace::{Instr, KernelHeader, MemAccess, ThreadBlock};

use super::coalesce::{Lines, SECTOR_BYTES, bank_passes};
use super::footprint::{Footprint, LineTable};
use crate::gpu::GpuModel;
use crate::opcode::{MemKind, MemOp, Space};

/// Lines of one CTA whose L1 state is tracked (128 MiB); further lines count as misses.
const MAX_CTA_LINES: usize = 1 << 20;
/// Bytes of the shared and local windows in the generic address space (CUDA gives each 16 MiB).
const WINDOW_BYTES: u64 = 1 << 24;

/// One memory instruction's cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Cycles that it occupies the SM's load/store path.
    pub(super) lsu_cycles: f64,
    /// Cycles until its data is there, unloaded.
    pub(super) latency: f64,
    /// Bytes between L1 and L2.
    pub(super) l2_bytes: u64,
    /// Whether no register waits for it: copies into shared memory, and writes, which only the kernel's end
    /// waits for (a kernel is over when its writes have reached L2).
    pub(super) asynchronous: bool,
}

/// Which lines the kernel and the current CTA have touched.
#[derive(Debug)]
pub(super) struct Memory {
    lines: Lines,
    cta_lines: LineTable,
    /// The kernel's footprint in L2 and DRAM.
    pub(super) footprint: Footprint,
    /// Sectors asked of L1 so far.
    pub(super) sectors: u64,
    shared_window: Option<u64>,
}

impl Memory {
    /// Cold caches for the kernel of `header`.
    pub(super) fn new(header: &KernelHeader) -> Self {
        Self {
            lines: Lines::default(),
            cta_lines: LineTable::new(MAX_CTA_LINES),
            footprint: Footprint::default(),
            sectors: 0,
            shared_window: header.shmem_base.filter(|base| *base != 0),
        }
    }

    /// A new CTA starts with an empty L1.
    pub(super) fn start_cta(&mut self) {
        self.cta_lines.clear();
    }

    /// Performs one memory instruction.
    pub(super) fn access(
        &mut self,
        gpu: &GpuModel,
        block: &ThreadBlock,
        instr: &Instr,
        op: MemOp,
        mem: &MemAccess,
    ) -> Access {
        let core = &gpu.sm_core;
        let bytes = u64::from(op.bytes);
        if self.space(block, instr, op) == Space::Shared {
            let passes = f64::from(bank_passes(
                block,
                instr,
                mem,
                bytes,
                core.shared_banks.count(),
                op.address_lanes(),
            ));
            return Access {
                lsu_cycles: passes.max(core.lsu_interval.value),
                latency: gpu.latency.shared.value + (passes - 1.0).max(0.0),
                l2_bytes: 0,
                asynchronous: false,
            };
        }
        if op.kind.is_bulk() {
            // The tensor memory accelerator passes L1's tags by: it only moves its bytes.
            self.lines.coalesce_bulk(block, mem);
            let moved = mem.bulk.map_or(0, |bulk| bulk.bytes);
            let (missed, latency) = self.touch(gpu, op);
            let lsu_cycles = (moved as f64 / core.l1_bandwidth.value).max(core.lsu_interval.value);
            return Access {
                lsu_cycles,
                latency,
                l2_bytes: missed.max(moved),
                asynchronous: true,
            };
        }
        self.lines.coalesce(block, instr, mem, bytes);
        let (missed, latency) = self.touch(gpu, op);
        // One line's tags a cycle, and the data at L1's width.
        let lines = self.lines.as_slice().len() as f64;
        let moved = (u64::from(instr.active()) * bytes) as f64 / core.l1_bandwidth.value;
        Access {
            lsu_cycles: lines.max(moved).max(core.lsu_interval.value),
            latency: latency + (lines - 1.0).max(0.0),
            l2_bytes: missed,
            asynchronous: matches!(op.kind, MemKind::Store | MemKind::Reduction | MemKind::AsyncCopy),
        }
    }

    /// Touches the collected lines: bytes that L1 passes on and the latency of the farthest level needed.
    fn touch(&mut self, gpu: &GpuModel, op: MemOp) -> (u64, f64) {
        let (reads, writes) = match op.kind {
            MemKind::Atomic | MemKind::Reduction => (true, true),
            kind => (!kind.writes(), kind.writes()),
        };
        let mut missed = 0_u64;
        let mut latency = gpu.latency.l1.value;
        for (line, mask) in self.lines.as_slice() {
            if self.footprint.touch(*line, *mask, reads, writes) {
                latency = latency.max(gpu.latency.dram.value);
            }
            let mut miss = *mask;
            if reads
                && !op.bypass_l1
                && let Some(state) = self.cta_lines.entry(*line)
            {
                miss = *mask & !*state;
                *state |= *mask;
            }
            if miss != 0 {
                latency = latency.max(gpu.latency.l2.value);
                missed += u64::from(miss.count_ones());
            }
        }
        self.sectors += self.lines.sectors();
        (missed * SECTOR_BYTES, latency)
    }

    /// Where an access goes: what the opcode says or, for generic ones, the window of the first address.
    fn space(&self, block: &ThreadBlock, instr: &Instr, op: MemOp) -> Space {
        if op.space != Space::Generic {
            return op.space;
        }
        let mut first = None;
        block.for_each_address(instr, |_, address| first = first.or(Some(address)));
        let shared = self
            .shared_window
            .zip(first)
            .is_some_and(|(base, address)| address.wrapping_sub(base) < WINDOW_BYTES);
        if shared { Space::Shared } else { Space::Global }
    }
}
