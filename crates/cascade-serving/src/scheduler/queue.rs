//! Requests that wait to be admitted.

use std::collections::{BTreeSet, VecDeque};

use super::config::Policy;
use super::seq::{Seq, Slot};

#[derive(Debug)]
pub(super) enum Waiting {
    Fcfs(VecDeque<Slot>),
    /// Ordered by (priority, arrival, id), as vLLM's heap.
    Priority(BTreeSet<(i32, u64, u64, Slot)>),
}

fn key(seq: &Seq, slot: Slot) -> (i32, u64, u64, Slot) {
    (seq.priority, seq.times.arrival, seq.id, slot)
}

impl Waiting {
    pub(super) fn new(policy: Policy) -> Self {
        match policy {
            Policy::Fcfs => Self::Fcfs(VecDeque::new()),
            Policy::Priority => Self::Priority(BTreeSet::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fcfs(queue) => queue.len(),
            Self::Priority(set) => set.len(),
        }
    }

    pub(super) fn head(&self) -> Option<Slot> {
        match self {
            Self::Fcfs(queue) => queue.front().copied(),
            Self::Priority(set) => set.first().map(|key| key.3),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Slot> {
        match self {
            Self::Fcfs(queue) => queue.pop_front(),
            Self::Priority(set) => set.pop_first().map(|key| key.3),
        }
    }

    /// Adds a request that has just arrived.
    pub(super) fn add(&mut self, seq: &Seq, slot: Slot) {
        match self {
            Self::Fcfs(queue) => queue.push_back(slot),
            Self::Priority(set) => {
                set.insert(key(seq, slot));
            }
        }
    }

    /// Adds a preempted request: first in line, as far as its priority lets it.
    pub(super) fn add_first(&mut self, seq: &Seq, slot: Slot) {
        match self {
            Self::Fcfs(queue) => queue.push_front(slot),
            Self::Priority(set) => {
                set.insert(key(seq, slot));
            }
        }
    }

    /// Takes out a request that ended while it waited.
    pub(super) fn remove(&mut self, seq: &Seq, slot: Slot) {
        match self {
            Self::Fcfs(queue) => queue.retain(|other| *other != slot),
            Self::Priority(set) => {
                set.remove(&key(seq, slot));
            }
        }
    }

    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = Slot> + '_> {
        match self {
            Self::Fcfs(queue) => Box::new(queue.iter().copied()),
            Self::Priority(set) => Box::new(set.iter().map(|key| key.3)),
        }
    }
}
