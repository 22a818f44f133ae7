//! Tags: the L1 of one SM and the L2 of the chip, both with sectors, hashed sets and LRU replacement.

use super::consts::{L1_WAYS, L2_WAYS};

/// A time that is not known yet.
pub(super) const NEVER: u32 = u32::MAX;

/// splitmix64's finaliser (Steele, Lea and Flood, OOPSLA 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Place of a line among `n` sets or slices: every run of `n` lines meets each once, from a place that looks
/// random, so neither streams nor strides gather in one.
pub(super) fn spread(line: u64, n: usize) -> usize {
    let n = n as u64;
    let (run, within) = (line / n, line % n);
    ((within + mix(run) % n) % n) as usize
}

#[derive(Clone, Copy, Debug)]
struct L1Line {
    tag: u64,
    used: u32,
    valid: u8,
    /// When each sector is there; [`NEVER`] while it is under way.
    ready: [u32; 4],
}

const EMPTY: L1Line = L1Line {
    tag: u64::MAX,
    used: 0,
    valid: 0,
    ready: [0; 4],
};

/// Result of a look-up in L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct L1Found {
    /// Sectors that must be fetched.
    pub(super) missing: u8,
    /// Sectors that are under way.
    pub(super) pending: u8,
    /// When the others are there.
    pub(super) ready: u32,
}

/// The L1 data cache of one SM. Misses take their line at once; any number may be under way.
#[derive(Clone, Debug)]
pub(super) struct L1 {
    lines: Vec<L1Line>,
    sets: usize,
    clock: u32,
}

impl L1 {
    pub(super) fn new(bytes: u64) -> Self {
        let sets = ((bytes / 128) as usize / L1_WAYS).max(1);
        Self {
            lines: vec![EMPTY; sets * L1_WAYS],
            sets,
            clock: 0,
        }
    }

    fn set(&mut self, line: u64) -> &mut [L1Line] {
        let first = spread(line, self.sets) * L1_WAYS;
        self.lines.get_mut(first..first + L1_WAYS).unwrap_or(&mut [])
    }

    /// Looks up sectors for a load and takes them as under way when they are missing.
    pub(super) fn load(&mut self, line: u64, mask: u8) -> L1Found {
        self.clock += 1;
        let clock = self.clock;
        let set = self.set(line);
        let mut victim = 0;
        let mut oldest = u32::MAX;
        let mut way = None;
        for (i, entry) in set.iter().enumerate() {
            if entry.tag == line {
                way = Some(i);
                break;
            }
            if entry.used < oldest {
                (victim, oldest) = (i, entry.used);
            }
        }
        let Some(entry) = set.get_mut(way.unwrap_or(victim)) else {
            return L1Found {
                missing: mask,
                ..L1Found::default()
            };
        };
        if way.is_none() {
            *entry = L1Line { tag: line, ..EMPTY };
        }
        entry.used = clock;
        let mut found = L1Found {
            missing: mask & !entry.valid,
            ..L1Found::default()
        };
        entry.valid |= mask;
        for (i, ready) in entry.ready.iter_mut().enumerate() {
            let bit = 1 << i;
            if found.missing & bit != 0 {
                *ready = NEVER;
            } else if mask & bit != 0 {
                if *ready == NEVER {
                    found.pending |= bit;
                } else {
                    found.ready = found.ready.max(*ready);
                }
            }
        }
        found
    }

    /// Sectors arrive.
    pub(super) fn fill(&mut self, line: u64, mask: u8, time: u32) {
        for entry in self.set(line).iter_mut().filter(|entry| entry.tag == line) {
            for (i, ready) in entry.ready.iter_mut().enumerate() {
                if mask & (1 << i) != 0 && *ready == NEVER {
                    *ready = time;
                }
            }
        }
    }

    /// When sectors that were under way arrive; `None` when the line was replaced meanwhile.
    pub(super) fn arrival(&mut self, line: u64, mask: u8) -> Option<u32> {
        let entry = self.set(line).iter().find(|entry| entry.tag == line)?;
        let mut latest = 0;
        for (i, ready) in entry.ready.iter().enumerate() {
            if mask & (1 << i) != 0 {
                if *ready == NEVER {
                    return None;
                }
                latest = latest.max(*ready);
            }
        }
        Some(latest)
    }
}

/// What L2 does with a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct L2Found {
    /// Sectors that DRAM must deliver.
    pub(super) missing: u8,
    /// Dirty sectors that were thrown out.
    pub(super) written_back: u8,
    /// When sectors that are under way arrive.
    pub(super) ready: u32,
    /// Where the line is.
    pub(super) place: usize,
}

/// The L2 of the chip. It survives kernels.
#[derive(Clone, Debug)]
pub(super) struct L2 {
    tags: Vec<u64>,
    used: Vec<u32>,
    ready: Vec<u32>,
    /// Low half: valid sectors; high half: dirty ones.
    state: Vec<u8>,
    /// When the slice takes the last read of the line, and its sectors.
    asked: Vec<(f64, u8)>,
    sets: usize,
    clock: u32,
}

impl L2 {
    pub(super) fn new(bytes: u64) -> Self {
        let sets = ((bytes / 128) as usize / L2_WAYS).max(1);
        let lines = sets * L2_WAYS;
        Self {
            tags: vec![u64::MAX; lines],
            used: vec![0; lines],
            ready: vec![0; lines],
            state: vec![0; lines],
            asked: vec![(0.0, 0); lines],
            sets,
            clock: 0,
        }
    }

    /// A new kernel counts time from 0.
    pub(super) fn restart_clock(&mut self) {
        self.ready.fill(0);
        self.asked.fill((0.0, 0));
        // So that 32 bits of use counts last for any number of kernels.
        let clock = self.clock;
        if clock > u32::MAX / 2 {
            self.used
                .iter_mut()
                .for_each(|used| *used = used.saturating_sub(clock / 2));
            self.clock = clock - clock / 2;
        }
    }

    /// Valid sectors.
    pub(super) fn sectors(&self) -> u64 {
        self.state
            .iter()
            .map(|state| u64::from((state & 0x0f).count_ones()))
            .sum()
    }

    /// Sectors of a line that are here.
    pub(super) fn holds(&self, line: u64) -> u8 {
        let first = spread(line, self.sets) * L2_WAYS;
        let held = (first..first + L2_WAYS).find(|at| self.tags[*at] == line);
        held.map_or(0, |at| self.state[at] & 0x0f)
    }

    /// Reads or writes sectors; a line is taken when L2 lacks it. Writes need no fetch.
    pub(super) fn access(&mut self, line: u64, mask: u8, reads: bool, writes: bool) -> L2Found {
        // Wraps only after 4 G accesses within one kernel, which MAX_CYCLES makes unreachable in practice.
        self.clock = self.clock.wrapping_add(1);
        let first = spread(line, self.sets) * L2_WAYS;
        let set = first..first + L2_WAYS;
        let mut found = L2Found::default();
        let hit = self.tags[set.clone()].iter().position(|tag| *tag == line);
        let at = if let Some(way) = hit {
            first + way
        } else {
            let mut victim = first;
            for at in set {
                if self.used[at] < self.used[victim] {
                    victim = at;
                }
            }
            found.written_back = self.state[victim] >> 4;
            self.tags[victim] = line;
            self.state[victim] = 0;
            self.ready[victim] = 0;
            self.asked[victim] = (0.0, 0);
            victim
        };
        found.place = at;
        self.used[at] = self.clock;
        let state = &mut self.state[at];
        if reads {
            found.missing = mask & !*state;
        }
        if reads && found.missing & mask != mask {
            found.ready = self.ready[at];
        }
        *state |= mask;
        if writes {
            *state |= mask << 4;
        }
        found
    }

    /// When the slice takes a read of these sectors that still waits at `now`, to which another may be joined.
    pub(super) fn waiting(&self, place: usize, mask: u8, now: f64) -> Option<f64> {
        let (start, sectors) = *self.asked.get(place)?;
        (start > now && sectors & mask == mask).then_some(start)
    }

    /// The slice takes a read of these sectors at `start`.
    pub(super) fn ask(&mut self, place: usize, mask: u8, start: f64) {
        if let Some(asked) = self.asked.get_mut(place) {
            *asked = (start, mask);
        }
    }

    /// Sectors of a line that was just accessed are under way until `time`.
    pub(super) fn under_way(&mut self, line: u64, time: u32) {
        let first = spread(line, self.sets) * L2_WAYS;
        for at in first..first + L2_WAYS {
            if self.tags[at] == line {
                self.ready[at] = self.ready[at].max(time);
            }
        }
    }
}
