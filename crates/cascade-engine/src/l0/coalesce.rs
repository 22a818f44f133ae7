//! From the addresses of one warp instruction to cache lines, sectors and shared-memory wavefronts.

use cascade_accelsim::trace::{AddressMode, Instr, MemAccess, ThreadBlock};

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 128;
/// Bytes of a sector, the unit of L2 and DRAM traffic.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a shared-memory bank word.
const WORD_BYTES: u64 = 4;
/// Most lines followed for one bulk copy: 256 KiB, more than an SM's shared memory holds. What lies beyond
/// counts as traffic only.
const MAX_BULK_LINES: u64 = 2_048;

/// Lines touched by one instruction, each with a mask of its four sectors; lines ascending, reused.
#[derive(Debug, Default)]
pub struct Lines {
    entries: Vec<(u64, u8)>,
}

impl Lines {
    /// Line numbers (address / 128) with masks of their sectors.
    pub fn as_slice(&self) -> &[(u64, u8)] {
        &self.entries
    }

    /// Sectors over all lines.
    pub fn sectors(&self) -> u64 {
        self.entries
            .iter()
            .map(|(_, mask)| u64::from(mask.count_ones()))
            .sum()
    }

    /// Collects the lines that the active lanes of `instr` touch, `bytes` for each lane.
    pub fn coalesce(&mut self, block: &ThreadBlock, instr: &Instr, mem: &MemAccess, bytes: u64) {
        self.entries.clear();
        if instr.mask == 0 {
            return;
        }
        if let Some((first, last)) = dense_span(instr, mem, bytes) {
            self.push_span(first, last);
            return;
        }
        block.for_each_address(instr, |_, address| {
            self.push_span(address, address.saturating_add(bytes - 1))
        });
        self.merge();
    }

    /// Collects the lines of a bulk copy: its bytes spread evenly over the listed addresses.
    pub fn coalesce_bulk(&mut self, block: &ThreadBlock, mem: &MemAccess) {
        self.entries.clear();
        let Some(bulk) = mem.bulk else { return };
        let starts = block
            .addresses
            .get(mem.range.0 as usize..mem.range.1 as usize)
            .unwrap_or(&[]);
        if starts.is_empty() || bulk.bytes == 0 {
            return;
        }
        let chunk = bulk
            .bytes
            .div_ceil(starts.len() as u64)
            .min(MAX_BULK_LINES * LINE_BYTES / starts.len() as u64)
            .max(1);
        for start in starts {
            self.push_span(*start, start.saturating_add(chunk - 1));
        }
        self.merge();
    }

    fn push_span(&mut self, first: u64, last: u64) {
        let (first, last) = (first / SECTOR_BYTES, last / SECTOR_BYTES);
        for line in first / 4..=last / 4 {
            let low = first.saturating_sub(line * 4).min(3);
            let high = (last - line * 4).min(3);
            let mask = (0x0f_u8 >> (3 - high)) & (0x0f_u8 << low);
            match self.entries.last_mut() {
                Some((previous, sectors)) if *previous == line => *sectors |= mask,
                _ => self.entries.push((line, mask)),
            }
        }
    }

    fn merge(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 |= next.1;
            }
            same
        });
    }
}

/// First and last byte of an access whose lanes touch every sector between them: a stride of at most one
/// sector cannot skip one.
fn dense_span(instr: &Instr, mem: &MemAccess, bytes: u64) -> Option<(u64, u64)> {
    let AddressMode::BaseStride { base, stride } = mem.mode else {
        return None;
    };
    let stride = u64::try_from(stride)
        .ok()
        .filter(|stride| *stride <= SECTOR_BYTES)?;
    let first_lane = instr.mask.trailing_zeros();
    let run = instr.mask >> first_lane;
    if run & run.wrapping_add(1) != 0 {
        return None;
    }
    let last_lane = u64::from(run.count_ones() - 1);
    Some((base, base.checked_add(last_lane * stride + bytes - 1)?))
}

/// Cycles that a shared-memory access occupies the banks: lanes are served in groups of at most 128 bytes,
/// and each group takes as many passes as its busiest bank has different words. Lanes from `lanes` on are
/// ignored (matrix loads use the addresses of some lanes only).
pub fn bank_passes(
    block: &ThreadBlock,
    instr: &Instr,
    mem: &MemAccess,
    bytes: u64,
    banks: u64,
    lanes: u32,
) -> u32 {
    let group_lanes = (LINE_BYTES / bytes.max(WORD_BYTES)).max(1);
    if let AddressMode::BaseStride { base, stride } = mem.mode {
        // The common case without a sort: neighbouring lanes, neighbouring words.
        let dense = stride.unsigned_abs() == bytes && bytes >= WORD_BYTES && base % bytes == 0 && banks == 32;
        if stride == 0 || dense {
            let active = u64::from(instr.active().min(lanes));
            let groups = if stride == 0 {
                active.min(1)
            } else {
                active.div_ceil(group_lanes)
            };
            return u32::try_from(groups).unwrap_or(u32::MAX);
        }
    }
    let mut passes = 0;
    let mut words = [0_u64; 64];
    let (mut used, mut group) = (0_usize, 0_u64);
    block.for_each_address(instr, |lane, address| {
        if lane >= lanes {
            return;
        }
        if u64::from(lane) / group_lanes != group {
            passes += busiest_bank(&mut words, used, banks);
            (used, group) = (0, u64::from(lane) / group_lanes);
        }
        for word in address / WORD_BYTES..=address.saturating_add(bytes - 1) / WORD_BYTES {
            if let Some(slot) = words.get_mut(used) {
                *slot = word;
                used += 1;
            }
        }
    });
    passes + busiest_bank(&mut words, used, banks)
}

/// Different words that fall into the busiest bank, among the first `used` words.
fn busiest_bank(words: &mut [u64; 64], used: usize, banks: u64) -> u32 {
    let Some(words) = words.get_mut(..used) else {
        return 0;
    };
    words.sort_unstable();
    let mut counts = [0_u32; 32];
    let mut previous = None;
    for word in words {
        if previous != Some(*word)
            && let Some(count) = counts.get_mut((*word % banks.clamp(1, 32)) as usize)
        {
            *count += 1;
        }
        previous = Some(*word);
    }
    counts.into_iter().max().unwrap_or(0)
}
