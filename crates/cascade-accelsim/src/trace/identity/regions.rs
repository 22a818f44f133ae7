//! Addresses relative to where each instruction starts, and which instructions share memory.

use rustc_hash::FxHashMap;

use super::key::Writer;
use crate::trace::KernelHeader;

/// Buffers may move by multiples of this, bytes: what `cudaMalloc` aligns to at least (CUDA C++ Programming
/// Guide, "Device Memory Accesses"), and a multiple of a cache line and of a row of shared-memory banks.
pub const ALIGNMENT: u64 = 256;
/// Cache lines of 128 bytes up to which a trace's key leaves out where its buffers lie: the engine tracks as
/// many exactly for each thread block, and twice as many for a kernel.
pub const MAX_RELOCATABLE_LINES: u64 = 1 << 20;
/// Instructions that have an anchor of their own; further ones share the last.
const MAX_ANCHORS: usize = 1 << 16;
/// Bytes of a cache line.
const LINE_BYTES: u64 = 128;
/// Bytes beyond an access that an engine may still touch because it reads the width from the opcode.
const SLACK_BYTES: u64 = 64;
/// Addresses of GPUs end far below; what lies above is written as it is, so that no sum overflows.
const TOP: u64 = 1 << 56;
/// Bytes of the shared and the local window in the generic address space (CUDA gives each 16 MiB).
const WINDOW_BYTES: u64 = 1 << 24;

/// First and last byte that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    low: u64,
    high: u64,
}

impl Span {
    pub(super) fn new(address: u64, bytes: u64) -> Self {
        Self {
            low: address,
            high: address.saturating_add(bytes.saturating_add(SLACK_BYTES)),
        }
    }

    pub(super) fn with(self, address: u64, bytes: u64) -> Self {
        let other = Self::new(address, bytes);
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// One instruction's memory.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    at: u64,
    span: Span,
}

/// All instructions' memory.
pub(super) struct Regions {
    by_pc: FxHashMap<u32, usize>,
    /// In order of first use.
    anchors: Vec<Anchor>,
    windows: [Option<u64>; 2],
    /// Lines that the accesses touch at most, counted without regard to reuse.
    lines: u64,
}

impl Regions {
    pub(super) fn new(header: &KernelHeader) -> Self {
        let window = |base: Option<u64>| base.filter(|base| *base != 0);
        Self {
            by_pc: FxHashMap::default(),
            anchors: Vec::new(),
            windows: [window(header.shmem_base), window(header.local_base)],
            lines: 0,
        }
    }

    /// Writes the first address of an access of `lanes` addresses with `bytes` each by the instruction at `pc`.
    pub(super) fn access(
        &mut self,
        out: &mut Writer,
        pc: u32,
        first: u64,
        span: Span,
        lanes: u64,
        bytes: u64,
    ) {
        let each = bytes.saturating_add(SLACK_BYTES) / LINE_BYTES + 2;
        let spanned = (span.high - span.low) / LINE_BYTES + 2;
        self.lines = self.lines.saturating_add(lanes.saturating_mul(each).min(spanned));
        let count = self.anchors.len();
        let index = *self.by_pc.entry(pc).or_insert_with(|| count.min(MAX_ANCHORS - 1));
        if index == count {
            self.anchors.push(Anchor { at: first, span });
        }
        let Some(anchor) = self.anchors.get_mut(index) else {
            return;
        };
        anchor.span.low = anchor.span.low.min(span.low);
        anchor.span.high = anchor.span.high.max(span.high);
        let distance = first.wrapping_sub(anchor.at);
        out.u8(self.window(first) | self.window(span.low) << 2 | self.window(span.high) << 4);
        out.u32(index as u32);
        out.u64(distance);
    }

    /// 1 in the shared window, 2 in the local one, 0 outside.
    fn window(&self, address: u64) -> u8 {
        let inside = |base: &Option<u64>| base.is_some_and(|base| address.wrapping_sub(base) < WINDOW_BYTES);
        let [shared, local] = &self.windows;
        u8::from(inside(shared)) | u8::from(inside(local)) << 1
    }

    /// Writes which instructions share memory, and how their anchors lie.
    pub(super) fn finish(&self, out: &mut Writer) {
        let mut by_address: Vec<(usize, Anchor)> = self.anchors.iter().copied().enumerate().collect();
        by_address.sort_by_key(|(index, anchor)| (anchor.span.low, *index));
        // For each anchor the one that stands for its region: the first used.
        let mut head = vec![0; self.anchors.len()];
        let mut lines = 0_u64;
        let mut rest = by_address.as_slice();
        while let Some((_, first)) = rest.first() {
            let mut end = block(first.span.high);
            let length = rest
                .iter()
                .take_while(|(_, anchor)| {
                    let joins = block(anchor.span.low) <= end;
                    end = if joins {
                        end.max(block(anchor.span.high))
                    } else {
                        end
                    };
                    joins
                })
                .count();
            let (region, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            let oldest = region.iter().map(|(index, _)| *index).min().unwrap_or(0);
            for (index, _) in region {
                if let Some(head) = head.get_mut(*index) {
                    *head = oldest;
                }
            }
            let blocks = end - block(first.span.low) + 1;
            lines = lines.saturating_add(blocks.saturating_mul(ALIGNMENT / LINE_BYTES));
            rest = others;
        }
        let top = by_address.iter().any(|(_, anchor)| anchor.span.high >= TOP);
        let absolute = top || lines.min(self.lines) > MAX_RELOCATABLE_LINES;
        out.u8(u8::from(absolute));
        for (anchor, head) in self.anchors.iter().zip(head) {
            let base = self.anchors.get(head).map_or(0, |head| head.at);
            out.u32(head as u32);
            out.u64(anchor.at.wrapping_sub(base));
            out.u64(if absolute {
                anchor.at
            } else {
                anchor.at % ALIGNMENT
            });
        }
    }
}

/// Number of the block of [`ALIGNMENT`] bytes.
fn block(address: u64) -> u64 {
    address / ALIGNMENT
}
