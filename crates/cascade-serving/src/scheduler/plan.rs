//! What one step does.

use super::seq::Slot;
use crate::batch::Batch;

/// A sequence's part in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The sequence.
    pub slot: Slot,
    /// Its query tokens.
    pub tokens: u32,
    /// Whether they reach the end of its tokens, so that the step samples one.
    pub samples: bool,
}

/// One step, from the moment it is scheduled to the moment its tokens are out.
#[derive(Debug, Default)]
pub struct Plan {
    pub(super) entries: Vec<Entry>,
    /// Entries whose effect on their sequences is applied already.
    pub(super) applied: usize,
    /// Every running sequence decodes one token; `entries` is left empty.
    pub(super) uniform: bool,
    pub(super) admitted: Vec<Slot>,
    pub(super) preempted: Vec<Slot>,
    pub(super) batch: Batch,
}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.admitted.clear();
        self.preempted.clear();
        self.applied = 0;
        self.uniform = false;
        self.batch = Batch::default();
    }

    /// Whether the step computes nothing.
    pub fn is_empty(&self) -> bool {
        !self.uniform && self.entries.is_empty()
    }

    /// What the step computes, summed up.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Sequences that it admits, in order.
    pub fn admitted(&self) -> &[Slot] {
        &self.admitted
    }

    /// Sequences that it preempts, in order.
    pub fn preempted(&self) -> &[Slot] {
        &self.preempted
    }
}
