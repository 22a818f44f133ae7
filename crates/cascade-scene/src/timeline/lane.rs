//! One lane: kernels in order of time, laid out and indexed so that any range is summed up without reading it.
//!
//! Beside each [`BLOCK`]th kernel stands how much time the kernels before it took, colour by colour. The sums of a
//! range are the difference of two of these plus a few kernels at its ends: exact at every zoom, in constant time.

use super::groups::{DIM, PAINTS, Painted};

/// Kernels between two entries of the index.
const BLOCK: usize = 16;

/// One step of the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSpan {
    /// Its kind, number and repeat, as a label: `decode 3`.
    pub label: String,
    /// Whether it is of the first kind of steps, for a colour of its own.
    pub first_kind: bool,
    /// When it starts, in ns.
    pub from: f64,
    /// When it ends.
    pub to: f64,
}

/// The kernels of a lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    kind: Vec<u32>,
    /// Kernel numbers; empty where they are the positions.
    index: Vec<u64>,
    ns: Vec<f64>,
    /// Starts as given; empty where kernels are laid end to end.
    given: Vec<f64>,
    start: Vec<f64>,
    end: Vec<f64>,
    sums: Vec<[f64; PAINTS]>,
}

impl Track {
    /// Kernels from their columns. Columns of different lengths are cut to the shortest; a time that is no number,
    /// or below 0, counts as 0.
    pub fn new(
        mut kind: Vec<u32>,
        mut ns: Vec<f64>,
        given: Option<Vec<f64>>,
        index: Option<Vec<u64>>,
    ) -> Self {
        let mut count = kind.len().min(ns.len());
        let (mut given, mut index) = (given.unwrap_or_default(), index.unwrap_or_default());
        if !given.is_empty() {
            count = count.min(given.len());
        }
        if !index.is_empty() {
            count = count.min(index.len());
        }
        kind.truncate(count);
        ns.truncate(count);
        given.truncate(count);
        index.truncate(count);
        for value in ns.iter_mut().chain(&mut given) {
            *value = if value.is_finite() { value.max(0.0) } else { 0.0 };
        }
        Self {
            kind,
            index,
            ns,
            given,
            ..Self::default()
        }
    }

    /// How many kernels it has.
    pub fn len(&self) -> usize {
        self.ns.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.ns.is_empty()
    }

    /// Puts each kernel into its place: into the slot of its number, where there are slots, otherwise where it was
    /// given, otherwise after the one before. What would begin before the last one ended is cut at the front.
    pub(super) fn lay(&mut self, slots: Option<&[f64]>) {
        self.start.clear();
        self.end.clear();
        self.start.reserve(self.ns.len());
        self.end.reserve(self.ns.len());
        let mut at = 0.0_f64;
        for (i, ns) in self.ns.iter().enumerate() {
            let place = match slots {
                Some(slots) => {
                    let number = self.index.get(i).map_or(i, |n| *n as usize);
                    slots.get(number).copied()
                }
                None => self.given.get(i).copied(),
            };
            let place = place.unwrap_or(at);
            let from = place.max(at);
            at = (place + ns).max(from);
            self.start.push(from);
            self.end.push(at);
        }
    }

    /// Sums up times by colour.
    pub(super) fn paint(&mut self, painted: &Painted) {
        self.sums.clear();
        self.sums.reserve(self.len() / BLOCK + 1);
        let mut sum = [0.0; PAINTS];
        for (i, ((kind, from), to)) in self.kind.iter().zip(&self.start).zip(&self.end).enumerate() {
            if i.is_multiple_of(BLOCK) {
                self.sums.push(sum);
            }
            if let Some(sum) = sum.get_mut(usize::from(painted.of(*kind))) {
                *sum += to - from;
            }
        }
        self.sums.push(sum);
    }

    /// When the last kernel ends, in ns.
    pub fn total(&self) -> f64 {
        self.end.last().copied().unwrap_or(0.0)
    }

    /// Start and end of a kernel as drawn, in ns.
    pub fn place(&self, at: usize) -> Option<(f64, f64)> {
        Some((*self.start.get(at)?, *self.end.get(at)?))
    }

    /// A kernel's duration in ns.
    pub fn ns(&self, at: usize) -> Option<f64> {
        self.ns.get(at).copied()
    }

    /// A kernel's kind.
    pub fn kind(&self, at: usize) -> Option<u32> {
        self.kind.get(at).copied()
    }

    /// A kernel's number.
    pub fn number(&self, at: usize) -> Option<u64> {
        match self.index.is_empty() {
            true => (at < self.len()).then_some(at as u64),
            false => self.index.get(at).copied(),
        }
    }

    /// The position of the kernel of that number.
    pub fn position(&self, number: u64) -> Option<usize> {
        if self.index.is_empty() {
            return usize::try_from(number).ok().filter(|at| *at < self.len());
        }
        self.index.binary_search(&number).ok()
    }

    /// Kinds and durations in order.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (u32, f64)> {
        self.kind.iter().copied().zip(self.ns.iter().copied())
    }

    /// The first kernel that ends after `time`; [`Self::len`] where none does.
    pub fn first_after(&self, time: f64) -> usize {
        self.end.partition_point(|end| *end <= time)
    }

    /// As [`Self::first_after`] where that is `from` or later, found the quicker the nearer it is: a picture goes
    /// from column to column, and a search of the whole lane for each would leave the processor's cache.
    pub(super) fn next_after(&self, from: usize, time: f64) -> usize {
        let (mut low, mut step) = (from, 1);
        while self.end.get(low + step - 1).is_some_and(|end| *end <= time) {
            low += step;
            step *= 2;
        }
        let high = (low + step - 1).min(self.len());
        let ends = self.end.get(low..high).unwrap_or_default();
        low + ends.partition_point(|end| *end <= time)
    }

    /// The first kernel that starts at `time` or later; after it, with `past`.
    pub(super) fn first_from(&self, time: f64, past: bool) -> usize {
        self.start
            .partition_point(|start| *start < time || (past && *start == time))
    }

    /// The kernel that runs at `time`.
    pub fn at(&self, time: f64) -> Option<usize> {
        let at = self.first_after(time);
        self.start.get(at).filter(|start| **start <= time).map(|_| at)
    }

    /// The kernel that runs at `time`, or the nearest one within `reach` ns.
    pub fn near(&self, time: f64, reach: f64) -> Option<usize> {
        let next = self.first_after(time);
        let after = self.start.get(next).map(|start| (start - time).max(0.0));
        let before = next.checked_sub(1).and_then(|at| self.end.get(at));
        let before = before.map(|end| time - end);
        let best = match (before, after) {
            (Some(before), Some(after)) if before < after => (before, next - 1),
            (_, Some(after)) => (after, next),
            (Some(before), None) => (before, next - 1),
            (None, None) => return None,
        };
        (best.0 <= reach).then_some(best.1)
    }

    /// The kernel's edge nearest to `time` and how far off it is.
    pub fn nearest_edge(&self, time: f64) -> Option<(f64, f64)> {
        let next = self.first_after(time);
        let around = next.saturating_sub(1)..(next + 2).min(self.len());
        let edges = around.filter_map(|at| self.place(at));
        let edges = edges.flat_map(|(from, to)| [from, to]);
        edges
            .map(|edge| (edge, (edge - time).abs()))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Time of the kernels `from..to` by colour, as drawn, in ns.
    pub(super) fn shares(&self, from: usize, to: usize, painted: &Painted) -> [f64; PAINTS] {
        let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
        let mut shares = [0.0; PAINTS];
        let mut add = |range: std::ops::Range<usize>| {
            let (Some(kinds), Some(starts), Some(ends)) = (
                self.kind.get(range.clone()),
                self.start.get(range.clone()),
                self.end.get(range),
            ) else {
                return;
            };
            for ((kind, from), to) in kinds.iter().zip(starts).zip(ends) {
                if let Some(share) = shares.get_mut(usize::from(painted.of(*kind))) {
                    *share += to - from;
                }
            }
        };
        let (Some(low), Some(high)) = (self.sums.get(first), self.sums.get(last)) else {
            add(from..to);
            return shares;
        };
        if first >= last {
            add(from..to);
            return shares;
        }
        add(from..first * BLOCK);
        add(last * BLOCK..to);
        for (share, (low, high)) in shares.iter_mut().zip(low.iter().zip(high)) {
            *share += high - low;
        }
        shares
    }

    /// The first kernel after `at` that is not dimmed.
    pub(super) fn next_hit(&self, mut at: usize, painted: &Painted) -> Option<usize> {
        while let Some(kind) = self.kind.get(at) {
            if painted.of(*kind) != DIM {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// The last kernel before `at` that is not dimmed.
    pub(super) fn previous_hit(&self, at: usize, painted: &Painted) -> Option<usize> {
        let before = self.kind.get(..at.min(self.len()))?;
        before.iter().rposition(|kind| painted.of(*kind) != DIM)
    }
}
