//! Why a request waited: the time from its arrival to its first step, divided by what held the queue.
//!
//! A request in the queue is behind the head, or is the head; what keeps the head out keeps out all behind it.
//! Each step says why its head was not admitted, so one pass over the steps and two lookups per request suffice.

use crate::scheduler::Blocked;
use crate::sim::{Record, StepRecord};

/// What keeps a request waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// A step was under way when it came, or the engine was starting.
    Step,
    /// A step preempted, and such a step admits nothing.
    Preemption,
    /// The token budget of the steps was used up.
    Budget,
    /// As many requests ran as may.
    Seqs,
    /// The prompt at the head did not fit the budget, and chunked prefill is off.
    Chunk,
    /// Too few KV blocks were free.
    Blocks,
}

impl Wait {
    /// Every reason, in the order of [`Waited`].
    pub const ALL: [Self; 6] = [
        Self::Step,
        Self::Preemption,
        Self::Budget,
        Self::Seqs,
        Self::Chunk,
        Self::Blocks,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Preemption => "preemption",
            Self::Budget => "budget",
            Self::Seqs => "seqs",
            Self::Chunk => "chunk",
            Self::Blocks => "blocks",
        }
    }

    fn of(blocked: Option<Blocked>) -> Self {
        match blocked {
            None => Self::Step,
            Some(Blocked::Preemption) => Self::Preemption,
            Some(Blocked::Budget) => Self::Budget,
            Some(Blocked::Seqs) => Self::Seqs,
            Some(Blocked::Chunk) => Self::Chunk,
            Some(Blocked::Blocks { .. }) => Self::Blocks,
        }
    }
}

/// Time waited for each reason of [`Wait::ALL`], in ns.
pub type Waited = [u64; Wait::ALL.len()];

/// Reasons over time.
#[derive(Debug, Clone)]
pub struct Waits {
    /// Start of each step, in ns.
    starts: Vec<u64>,
    /// Time up to each step's start by reason, in ns.
    before: Vec<Waited>,
}

impl Waits {
    /// Reads all steps of a simulation, in order.
    pub fn new(steps: &[StepRecord]) -> Self {
        let mut sums = Waited::default();
        let mut waits = Self {
            starts: Vec::with_capacity(steps.len()),
            before: Vec::with_capacity(steps.len()),
        };
        let mut latest: Option<&StepRecord> = None;
        for step in steps {
            if let Some(latest) = latest {
                sums[Wait::of(latest.blocked) as usize] += step.start_ns.saturating_sub(latest.start_ns);
            }
            waits.starts.push(step.start_ns);
            waits.before.push(sums);
            latest = Some(step);
        }
        waits
    }

    /// How a request's time in the queue divides; the parts sum to [`Record::queue_ns`].
    pub fn of(&self, record: &Record) -> Waited {
        let queue = record.queue_ns();
        let from = self.starts.partition_point(|start| *start < record.arrival_ns);
        let to = self
            .starts
            .partition_point(|start| *start < record.first_scheduled_ns);
        let mut waited = Waited::default();
        if let (Some(early), Some(late)) = (self.before.get(from), self.before.get(to)) {
            for (waited, (early, late)) in waited.iter_mut().zip(early.iter().zip(late)) {
                *waited = late.saturating_sub(*early);
            }
        }
        let known: u64 = waited.iter().sum();
        waited[Wait::Step as usize] += queue.saturating_sub(known);
        waited
    }
}

#[cfg(test)]
mod tests;
