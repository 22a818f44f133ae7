//! The simulation: arrivals, steps and tokens in the order in which they happen.
//!
//! Time is in whole ns. Events at one time are ordered by kind (a step ends, requests arrive, a step is
//! scheduled) and then by number. Synchronous scheduling alternates host and GPU. Asynchronous scheduling
//! follows vLLM's engine loop with a queue of two: step k+1 is scheduled while step k runs, so a request that
//! arrives or ends in step k makes its difference in step k+2, and host time hides behind the GPU's.

mod record;

use std::collections::VecDeque;

use thiserror::Error;

pub use record::{Record, Sink, StepRecord};

use crate::scheduler::{ConfigError, Emissions, Scheduler, SchedulerConfig, Seq};
use crate::step_time::{Envelope, StepTime};
use crate::workload::Source;

/// Steps after which a simulation stops unless told otherwise: a minute or so of computing, so that a load
/// that thrashes ends with a message.
pub const DEFAULT_MAX_STEPS: u64 = 1_000_000_000;

/// Why a simulation stopped early.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimError {
    /// The limit of steps was reached with requests left.
    #[error(
        "stopped after {limit} steps with requests left: raise the limit, or give the load more KV blocks if it preempts itself without end"
    )]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// The engine's settings are not possible.
    #[error("scheduler: {0}")]
    Config(#[from] ConfigError),
}

/// What a simulation came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Steps that computed something.
    pub steps: u64,
    /// End of the last step, in ns.
    pub end_ns: u64,
}

/// Runs `source` through an engine until every request has left. Records go to `sink`.
pub fn simulate(
    config: &SchedulerConfig,
    time: &impl StepTime,
    source: &mut dyn Source,
    sink: &mut impl Sink,
    max_steps: u64,
) -> Result<Totals, SimError> {
    let depth = if config.async_scheduling { 2 } else { 1 };
    let scheduler = Scheduler::new(config.clone())?;
    let ends = VecDeque::with_capacity(depth);
    let (envelope, totals) = (time.envelope(), Totals::default());
    let mut engine = Engine {
        scheduler,
        time,
        envelope,
        source,
        sink,
        depth,
        ends,
        now: 0,
        gpu_free: 0,
        latest_start: 0,
        totals,
    };
    while engine.turn()? {
        if engine.totals.steps >= max_steps && engine.has_work() {
            return Err(SimError::StepLimit { limit: max_steps });
        }
    }
    Ok(engine.totals)
}

struct Engine<'a, T, S> {
    scheduler: Scheduler,
    time: &'a T,
    envelope: Envelope,
    source: &'a mut dyn Source,
    sink: &'a mut S,
    /// Steps that can be in flight.
    depth: usize,
    /// When each step in flight ends.
    ends: VecDeque<u64>,
    /// When the engine's host loop is.
    now: u64,
    /// When the GPU can start the next step.
    gpu_free: u64,
    latest_start: u64,
    totals: Totals,
}

impl<T: StepTime, S: Sink> Engine<'_, T, S> {
    fn has_work(&self) -> bool {
        !self.scheduler.running().is_empty() || self.scheduler.waiting_len() > 0
    }

    /// One turn of the host's loop. False once everything is done.
    fn turn(&mut self) -> Result<bool, SimError> {
        let mut idle = false;
        if !self.has_work() && self.ends.is_empty() {
            let Some(next) = self.source.next_arrival_ns() else {
                return Ok(false);
            };
            idle = next >= self.now;
            self.now = self.now.max(next);
        }
        self.arrive();
        if !self.has_work() {
            return Ok(true);
        }
        self.scheduler.schedule();
        let dispatched = self.dispatch(idle);
        if !dispatched && self.ends.is_empty() {
            self.unstick();
        }
        // With a step on the GPU and room for another, schedule that first.
        if !dispatched || self.scheduler.in_flight() >= self.depth {
            self.complete_oldest(dispatched);
        }
        Ok(true)
    }

    fn arrive(&mut self) {
        while self.source.next_arrival_ns().is_some_and(|next| next <= self.now) {
            let Some(request) = self.source.pop() else { break };
            let record = Record::new(&request);
            if let Err(refusal) = self.scheduler.add(request) {
                self.sink.request(&Record {
                    refusal: Some(refusal),
                    ..record
                });
                self.source.finished(record.id, self.now);
            }
        }
    }

    /// Starts the step just scheduled. False if it computes nothing.
    fn dispatch(&mut self, idle: bool) -> bool {
        let Some(plan) = self.scheduler.newest() else {
            return false;
        };
        if plan.is_empty() {
            return false;
        }
        let (batch, blocked) = (*plan.batch(), plan.blocked());
        let (admitted, preempted) = (plan.admitted().len() as u32, plan.preempted().len() as u32);
        let cost = self.time.cost(&batch);
        let lead = if idle {
            i64::try_from(self.envelope.before_ns).unwrap_or(i64::MAX)
        } else {
            cost.gap_ns
        };
        let (start, gpu_start) = if self.depth > 1 {
            // All that the host does, it does while the GPU works on the step before.
            let host = cost.host_ns.saturating_add_signed(lead);
            let start = self.gpu_free.max(self.now.saturating_add(host));
            self.now = self.now.saturating_add(host);
            (start, start)
        } else {
            let start = self.now.saturating_add_signed(lead).max(self.latest_start);
            (start, start.saturating_add(cost.host_ns))
        };
        self.latest_start = start;
        let end = gpu_start.saturating_add(cost.gpu_ns);
        self.gpu_free = end;
        self.ends.push_back(end);
        self.scheduler.start_admitted(start);
        self.sink.step(&StepRecord {
            index: self.totals.steps,
            start_ns: start,
            end_ns: end,
            batch,
            cost,
            running: self.scheduler.running().len() as u32,
            waiting: self.scheduler.waiting_len() as u32,
            used_blocks: self.scheduler.usable_blocks() - self.scheduler.free_blocks(),
            admitted,
            preempted,
            blocked,
        });
        self.totals.steps += 1;
        self.totals.end_ns = end;
        true
    }

    fn complete_oldest(&mut self, dispatched: bool) {
        if let Some(end) = self.ends.pop_front() {
            let mut out = Out {
                sink: self.sink,
                source: self.source,
                envelope: self.envelope,
            };
            self.scheduler.complete(end, &mut out);
            self.now = self.now.max(end);
        }
        if !dispatched {
            // The empty step, which was scheduled behind the one that has just ended.
            let mut out = Out {
                sink: self.sink,
                source: self.source,
                envelope: self.envelope,
            };
            self.scheduler.complete(self.now, &mut out);
        }
    }

    /// Nothing is in flight and nothing can be scheduled: the head of the queue never will be, unless blocks
    /// were only just taken back.
    fn unstick(&mut self) {
        let preempted = self
            .scheduler
            .newest()
            .is_some_and(|plan| !plan.preempted().is_empty());
        if preempted || !self.scheduler.running().is_empty() {
            return;
        }
        if let Some((slot, refusal)) = self.scheduler.refuse_head() {
            let record = Record::given_up(self.scheduler.seq(slot), refusal, self.now);
            self.sink.request(&record);
            self.source.finished(record.id, self.now);
        }
    }
}

/// Hands the scheduler's emissions on.
struct Out<'a, S> {
    sink: &'a mut S,
    source: &'a mut dyn Source,
    envelope: Envelope,
}

impl<S: Sink> Emissions for Out<'_, S> {
    fn first_token(&mut self, _: &Seq) {}

    fn later_tokens(&mut self, gap_ns: u64, count: u32) {
        self.sink.inter_token(gap_ns, count);
    }

    fn finished(&mut self, seq: &Seq) {
        let record = Record::finished(seq, self.envelope);
        self.sink.request(&record);
        self.source
            .finished(seq.id, record.end_ns.max(seq.times.last_token));
    }
}

#[cfg(test)]
mod tests;
