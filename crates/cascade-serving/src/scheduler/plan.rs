//! What one step does.

use serde::{Deserialize, Serialize};

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

/// Why the head of the queue was not admitted by a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Blocked {
    /// The step preempted, and such a step admits nothing.
    Preemption,
    /// The step's token budget is used up.
    Budget,
    /// As many requests run as may.
    Seqs,
    /// Its prompt does not fit what is left of the budget, and chunked prefill is off.
    Chunk,
    /// Too few KV blocks are free.
    Blocks {
        /// Blocks that admission asks for.
        needed: u32,
        /// Blocks free.
        free: u32,
    },
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
    pub(super) blocked: Option<Blocked>,
    pub(super) batch: Batch,
}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.admitted.clear();
        self.preempted.clear();
        self.applied = 0;
        self.uniform = false;
        self.blocked = None;
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

    /// Why the request that is now at the head of the queue was not admitted. None if nobody waits.
    pub fn blocked(&self) -> Option<Blocked> {
        self.blocked
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
