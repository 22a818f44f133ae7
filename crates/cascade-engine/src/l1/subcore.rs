//! One scheduler of an SM: its resident warps, its units and the choice of the next warp.

use super::caches::NEVER;
use super::consts::MEM_QUEUE;
use super::isa::{LSU, NO_UNIT, Static, UNIT_SLOTS};
use crate::l0::costs::{MULTIPLY, TENSOR, UNITS};

/// Index of the FP32 lanes, which integer multiplies share.
const FP32: usize = 1;

/// A sub-core. A lane is a place for one warp.
#[derive(Clone, Debug)]
pub(super) struct SubCore {
    /// When each lane's next instruction may issue as far as the warp itself is concerned.
    pub(super) earliest: Vec<u32>,
    /// Unit that each lane's next instruction needs.
    pub(super) unit: Vec<u8>,
    /// Launch number of each lane's CTA: higher is younger.
    pub(super) age: Vec<u32>,
    pub(super) resident: usize,
    /// When the next instruction may issue at all.
    issue_free: u32,
    unit_free: [f64; UNITS],
    unit_ready: [u32; UNIT_SLOTS],
    agu_free: u32,
    queue: [u32; MEM_QUEUE],
    queue_at: usize,
    last: usize,
    /// Cached choice: time and lane; `None` when something changed.
    choice: Option<(u32, usize)>,
}

impl SubCore {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            earliest: vec![NEVER; lanes],
            unit: vec![NO_UNIT; lanes],
            age: vec![0; lanes],
            resident: 0,
            issue_free: 0,
            unit_free: [0.0; UNITS],
            unit_ready: [0; UNIT_SLOTS],
            agu_free: 0,
            queue: [0; MEM_QUEUE],
            queue_at: 0,
            last: 0,
            choice: None,
        }
    }

    /// Adds a lane; its number.
    pub(super) fn grow(&mut self) -> usize {
        self.earliest.push(NEVER);
        self.unit.push(NO_UNIT);
        self.age.push(0);
        self.earliest.len() - 1
    }

    /// Sets when and on which unit a lane goes on.
    #[inline]
    pub(super) fn set(&mut self, lane: usize, earliest: u32, unit: u8) {
        self.earliest[lane] = earliest;
        self.unit[lane] = unit;
        self.choice = None;
    }

    /// The next issue: time and lane. Among the warps that can issue, the last one goes on, else the
    /// youngest does (greedy then youngest: MICRO 2025, arXiv 2503.20481).
    #[inline]
    pub(super) fn next(&mut self) -> (u32, usize) {
        if let Some(choice) = self.choice {
            return choice;
        }
        let ready = |earliest: u32, unit: u8| earliest.max(self.unit_ready[usize::from(unit)]);
        let mut first = NEVER;
        for (earliest, unit) in self.earliest.iter().zip(&self.unit) {
            first = first.min(ready(*earliest, *unit));
        }
        let time = first.max(self.issue_free);
        let mut lane = self.last;
        let greedy = first != NEVER && ready(self.earliest[lane], self.unit[lane]) <= time;
        if first != NEVER && !greedy {
            let mut best = None;
            for (i, (earliest, unit)) in self.earliest.iter().zip(&self.unit).enumerate() {
                if ready(*earliest, *unit) <= time && best.is_none_or(|(age, _)| self.age[i] >= age) {
                    best = Some((self.age[i], i));
                }
            }
            lane = best.map_or(lane, |(_, i)| i);
        }
        let choice = (if first == NEVER { NEVER } else { time }, lane);
        self.choice = Some(choice);
        choice
    }

    /// When a unit takes its next instruction.
    #[inline]
    pub(super) fn unit_ready(&self, unit: u8) -> u32 {
        self.unit_ready[usize::from(unit)]
    }

    /// A lane issues at `time`; its unit becomes busy.
    #[inline]
    pub(super) fn issue(&mut self, lane: usize, time: u32, inst: &Static) {
        self.issue_free = time + 1;
        self.last = lane;
        self.choice = None;
        let unit = usize::from(inst.unit);
        if unit >= UNITS {
            return;
        }
        if unit == MULTIPLY {
            occupy(&mut self.unit_free[FP32], time, inst.interval);
            occupy(&mut self.unit_free[MULTIPLY], time, inst.multiply);
            self.unit_ready[FP32] = self.unit_free[FP32].ceil() as u32;
        } else {
            occupy(&mut self.unit_free[unit], time, inst.interval);
            self.unit_ready[unit] = self.unit_free[unit].ceil() as u32;
        }
        self.unit_ready[MULTIPLY] = self.unit_free[FP32].max(self.unit_free[MULTIPLY]).ceil() as u32;
    }

    /// Queues work for the tensor core without waiting for it; when it will be done.
    pub(super) fn queue_tensor(&mut self, time: u32, interval: f64) -> u32 {
        let free = &mut self.unit_free[TENSOR];
        *free = free.max(f64::from(time)) + interval;
        self.unit_ready[TENSOR] = free.ceil() as u32;
        self.choice = None;
        self.unit_ready[TENSOR]
    }

    /// Sends a memory instruction on its way to the SM's shared path, free at `shared_free`: the time at
    /// which it gets there.
    #[inline]
    pub(super) fn dispatch(&mut self, time: u32, shared_free: u32, agu_interval: u32) -> u32 {
        let at = time.max(self.agu_free).max(shared_free);
        self.agu_free = at + agu_interval;
        self.queue[self.queue_at] = at;
        self.queue_at = (self.queue_at + 1) % MEM_QUEUE;
        self.unit_ready[usize::from(LSU)] = self.queue[self.queue_at];
        self.choice = None;
        at
    }
}

/// Occupies something from `time` on for `interval` cycles; fractions carry over while it is kept busy.
#[inline]
pub(super) fn occupy(free: &mut f64, time: u32, interval: f64) {
    let time = f64::from(time);
    let start = if *free > time - 1.0 { *free } else { time };
    *free = start + interval;
}
