//! Which sectors have been touched: exact up to a limit, estimated beyond it, always the same answer for the
//! same accesses.

use super::coalesce::SECTOR_BYTES;

/// Lines that are tracked exactly: 2^21 lines of 128 bytes, a footprint of 256 MiB, in 38 MiB of memory.
/// Sectors of further lines are counted with a HyperLogLog sketch.
pub const MAX_EXACT_LINES: usize = 1 << 21;

/// Slots of a fresh table.
const FIRST_SLOTS: usize = 1 << 10;

/// A set of lines with a small state for each; open addressing, no deletion.
#[derive(Debug)]
pub(super) struct LineTable {
    /// Line number + 1, 0 for an empty slot.
    keys: Vec<u64>,
    states: Vec<u8>,
    used: usize,
    limit: usize,
}

impl LineTable {
    /// An empty table that takes at most `limit` lines.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            keys: vec![0; FIRST_SLOTS],
            states: vec![0; FIRST_SLOTS],
            used: 0,
            limit,
        }
    }

    /// Forgets all lines; keeps as much memory as the last use needed.
    pub(super) fn clear(&mut self) {
        if self.used > 0 {
            let slots = (self.used * 2 + 2)
                .next_power_of_two()
                .clamp(FIRST_SLOTS, self.keys.len());
            self.keys.truncate(slots);
            self.states.truncate(slots);
            self.keys.fill(0);
            self.used = 0;
        }
    }

    /// The state of `line`, added with state 0 when new; `None` when the table is full and lacks it.
    pub(super) fn entry(&mut self, line: u64) -> Option<&mut u8> {
        if self.used * 2 >= self.keys.len() && self.used < self.limit {
            self.grow();
        }
        let key = line.wrapping_add(1);
        let mask = self.keys.len() - 1;
        let mut slot = mix(line) as usize & mask;
        loop {
            let found = self.keys.get_mut(slot)?;
            if *found == key {
                return self.states.get_mut(slot);
            }
            if *found == 0 {
                if self.used >= self.limit {
                    return None;
                }
                *found = key;
                self.used += 1;
                let state = self.states.get_mut(slot)?;
                *state = 0;
                return Some(state);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let slots = self.keys.len() * 2;
        let keys = std::mem::replace(&mut self.keys, vec![0; slots]);
        let states = std::mem::replace(&mut self.states, vec![0; slots]);
        let mask = slots - 1;
        for (key, state) in keys.into_iter().zip(states).filter(|(key, _)| *key != 0) {
            let mut slot = mix(key - 1) as usize & mask;
            while self.keys.get(slot).is_some_and(|found| *found != 0) {
                slot = (slot + 1) & mask;
            }
            if let (Some(k), Some(s)) = (self.keys.get_mut(slot), self.states.get_mut(slot)) {
                (*k, *s) = (key, state);
            }
        }
    }
}

/// splitmix64's finaliser (Steele, Lea and Flood, OOPSLA 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Counts different values in 16 KiB with a standard error of 0.8 % (Flajolet et al., HyperLogLog, 2007).
#[derive(Debug)]
struct Sketch {
    registers: Vec<u8>,
}

/// Register index bits of a [`Sketch`].
const SKETCH_BITS: u32 = 14;

impl Sketch {
    fn new() -> Self {
        Self {
            registers: vec![0; 1 << SKETCH_BITS],
        }
    }

    fn add(&mut self, value: u64) {
        let hash = mix(value);
        let rank = u8::try_from((hash << SKETCH_BITS | 1 << (SKETCH_BITS - 1)).leading_zeros() + 1)
            .unwrap_or(u8::MAX);
        if let Some(register) = self.registers.get_mut((hash >> (64 - SKETCH_BITS)) as usize) {
            *register = rank.max(*register);
        }
    }

    fn count(&self) -> u64 {
        let m = self.registers.len() as f64;
        let zeros = self.registers.iter().filter(|register| **register == 0).count() as f64;
        let sum: f64 = self
            .registers
            .iter()
            .map(|register| libm::exp2(-f64::from(*register)))
            .sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        // Linear counting for small ranges, as the paper does.
        if raw <= 2.5 * m && zeros > 0.0 {
            (m * libm::log(m / zeros)) as u64
        } else {
            raw as u64
        }
    }
}

/// The sectors that a kernel reads and writes.
#[derive(Debug)]
pub struct Footprint {
    lines: LineTable,
    read_sectors: u64,
    written_sectors: u64,
    beyond: Option<Box<(Sketch, Sketch)>>,
}

impl Default for Footprint {
    fn default() -> Self {
        Self::with_limit(MAX_EXACT_LINES)
    }
}

impl Footprint {
    pub(super) fn with_limit(limit: usize) -> Self {
        Self {
            lines: LineTable::new(limit),
            read_sectors: 0,
            written_sectors: 0,
            beyond: None,
        }
    }

    /// Notes an access to sectors `mask` of `line`. True when it reads a sector that nothing touched before,
    /// which DRAM must deliver.
    pub fn touch(&mut self, line: u64, mask: u8, reads: bool, writes: bool) -> bool {
        let Some(state) = self.lines.entry(line) else {
            self.touch_beyond(line, mask, reads, writes);
            return reads;
        };
        // Low half: sectors known to be in L2; high half: sectors written.
        let fresh = mask & !*state & 0x0f;
        let fresh_writes = if writes { mask & !(*state >> 4) } else { 0 };
        *state |= mask | (fresh_writes << 4);
        self.written_sectors += u64::from(fresh_writes.count_ones());
        if reads {
            self.read_sectors += u64::from(fresh.count_ones());
        }
        reads && fresh != 0
    }

    fn touch_beyond(&mut self, line: u64, mask: u8, reads: bool, writes: bool) {
        let sketches = self
            .beyond
            .get_or_insert_with(|| Box::new((Sketch::new(), Sketch::new())));
        for sector in (0..4).filter(|sector| mask & (1 << sector) != 0) {
            let value = line.wrapping_mul(4).wrapping_add(sector);
            if reads {
                sketches.0.add(value);
            }
            if writes {
                sketches.1.add(value);
            }
        }
    }

    /// Bytes that DRAM delivers at least: each sector once, unless the kernel wrote it first.
    pub fn read_bytes(&self) -> u64 {
        let beyond = self.beyond.as_ref().map_or(0, |sketches| sketches.0.count());
        (self.read_sectors + beyond) * SECTOR_BYTES
    }

    /// Bytes written, each sector once.
    pub fn written_bytes(&self) -> u64 {
        let beyond = self.beyond.as_ref().map_or(0, |sketches| sketches.1.count());
        (self.written_sectors + beyond) * SECTOR_BYTES
    }

    /// Whether the counts are exact (the footprint stayed within [`MAX_EXACT_LINES`]).
    pub fn is_exact(&self) -> bool {
        self.beyond.is_none()
    }
}
