//! The loop itself, one event at a time, so that whoever keeps the time can let it pass: [`super::simulate`] jumps
//! from event to event, a live engine waits for each.

use std::collections::VecDeque;

use super::record::{Record, Sink, StepRecord};
use super::{SimError, Totals};
use crate::scheduler::{Emissions, Scheduler, SchedulerConfig, Seq};
use crate::step_time::{Envelope, StepTime};
use crate::workload::Source;

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// The host takes in arrivals and schedules a step.
    Host,
    /// The oldest step in flight ends.
    End {
        /// Whether the host's last turn put a step in flight. If not, the empty one ends with it.
        dispatched: bool,
    },
}

/// An engine between two events.
///
/// [`Core::next_ns`] says when the next one is and [`Core::advance`] lets it happen. Every request that arrives
/// up to then has to be in the source by then; one that comes later is taken in by a later turn.
#[derive(Debug)]
pub struct Core<T> {
    scheduler: Scheduler,
    time: T,
    envelope: Envelope,
    /// Steps that can be in flight.
    depth: usize,
    /// When each step in flight ends.
    ends: VecDeque<u64>,
    due: Due,
    /// When the engine's host loop is.
    now: u64,
    /// When the GPU can start the next step.
    gpu_free: u64,
    latest_start: u64,
    totals: Totals,
}

impl<T: StepTime> Core<T> {
    /// An empty engine at time 0.
    pub fn new(config: SchedulerConfig, time: T) -> Result<Self, SimError> {
        let depth = if config.async_scheduling { 2 } else { 1 };
        Ok(Self {
            scheduler: Scheduler::new(config)?,
            envelope: time.envelope(),
            time,
            depth,
            ends: VecDeque::with_capacity(depth),
            due: Due::Host,
            now: 0,
            gpu_free: 0,
            latest_start: 0,
            totals: Totals::default(),
        })
    }

    /// Makes [`Sink::token`] hear of every token, for time by running sequence in every step.
    pub fn tell_tokens(&mut self) {
        self.scheduler.step_singly();
    }

    /// Whether a request runs or waits.
    pub fn has_work(&self) -> bool {
        !self.scheduler.running().is_empty() || self.scheduler.waiting_len() > 0
    }

    /// Steps so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The scheduler's state.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// What surrounds steps.
    pub fn envelope(&self) -> Envelope {
        self.envelope
    }

    /// Ends a request that has been taken from the source; see [`Scheduler::abort`].
    pub fn abort(&mut self, id: u64) -> bool {
        self.scheduler.abort(id)
    }

    /// When the next event is, in ns. None while the engine is idle and the source has no request.
    pub fn next_ns(&self, source: &mut dyn Source) -> Option<u64> {
        match self.due {
            Due::End { .. } => Some(self.ends.front().map_or(self.now, |end| *end)),
            Due::Host if self.has_work() || !self.ends.is_empty() => Some(self.now),
            Due::Host => source.next_arrival_ns().map(|next| next.max(self.now)),
        }
    }

    /// Lets the next event happen. False if there is none.
    pub fn advance(&mut self, source: &mut dyn Source, sink: &mut impl Sink) -> bool {
        match self.due {
            Due::Host => self.schedule(source, sink),
            Due::End { dispatched } => {
                self.due = Due::Host;
                self.complete_oldest(dispatched, source, sink);
                true
            }
        }
    }

    /// One turn of the host's loop, up to where the host can go on. False once everything is done.
    pub(super) fn turn(&mut self, source: &mut dyn Source, sink: &mut impl Sink) -> bool {
        if !self.schedule(source, sink) {
            return false;
        }
        if let Due::End { dispatched } = self.due {
            self.due = Due::Host;
            self.complete_oldest(dispatched, source, sink);
        }
        true
    }

    fn schedule(&mut self, source: &mut dyn Source, sink: &mut impl Sink) -> bool {
        let mut idle = false;
        if !self.has_work() && self.ends.is_empty() {
            let Some(next) = source.next_arrival_ns() else {
                return false;
            };
            idle = next >= self.now;
            self.now = self.now.max(next);
        }
        self.arrive(source, sink);
        if !self.has_work() {
            if !self.ends.is_empty() {
                // All that the step in flight computes for was aborted.
                self.due = Due::End { dispatched: true };
            }
            return true;
        }
        self.scheduler.schedule();
        let dispatched = self.dispatch(idle, sink);
        if !dispatched && self.ends.is_empty() {
            self.unstick(source, sink);
        }
        // With a step on the GPU and room for another, schedule that first.
        if !dispatched || self.scheduler.in_flight() >= self.depth {
            self.due = Due::End { dispatched };
        }
        true
    }

    fn arrive(&mut self, source: &mut dyn Source, sink: &mut impl Sink) {
        while source.next_arrival_ns().is_some_and(|next| next <= self.now) {
            let Some(request) = source.pop() else { break };
            let record = Record::new(&request);
            if let Err(refusal) = self.scheduler.add(request) {
                sink.request(&Record {
                    refusal: Some(refusal),
                    ..record
                });
                source.finished(record.id, self.now);
            }
        }
    }

    /// Starts the step just scheduled. False if it computes nothing.
    fn dispatch(&mut self, idle: bool, sink: &mut impl Sink) -> bool {
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
        sink.step(&StepRecord {
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

    fn complete_oldest(&mut self, dispatched: bool, source: &mut dyn Source, sink: &mut impl Sink) {
        if let Some(end) = self.ends.pop_front() {
            self.complete(end, source, sink);
            self.now = self.now.max(end);
        }
        if !dispatched {
            // The empty step, which was scheduled behind the one that has just ended.
            self.complete(self.now, source, sink);
        }
    }

    fn complete(&mut self, now_ns: u64, source: &mut dyn Source, sink: &mut impl Sink) {
        let envelope = self.envelope;
        let mut out = Out {
            sink,
            source,
            envelope,
            now_ns,
        };
        self.scheduler.complete(now_ns, &mut out);
    }

    /// Nothing is in flight and nothing can be scheduled: the head of the queue never will be, unless blocks
    /// were only just taken back.
    fn unstick(&mut self, source: &mut dyn Source, sink: &mut impl Sink) {
        let preempted = self
            .scheduler
            .newest()
            .is_some_and(|plan| !plan.preempted().is_empty());
        if preempted || !self.scheduler.running().is_empty() {
            return;
        }
        if let Some((slot, refusal)) = self.scheduler.refuse_head() {
            let record = Record::given_up(self.scheduler.seq(slot), refusal, self.now);
            sink.request(&record);
            source.finished(record.id, self.now);
        }
    }
}

/// Hands the scheduler's emissions on.
struct Out<'a, S> {
    sink: &'a mut S,
    source: &'a mut dyn Source,
    envelope: Envelope,
    now_ns: u64,
}

impl<S: Sink> Emissions for Out<'_, S> {
    fn first_token(&mut self, seq: &Seq) {
        self.sink.token(seq, self.now_ns);
    }

    fn later_tokens(&mut self, gap_ns: u64, count: u32) {
        self.sink.inter_token(gap_ns, count);
    }

    fn later_token(&mut self, seq: &Seq, gap_ns: u64) {
        self.sink.inter_token(gap_ns, 1);
        self.sink.token(seq, self.now_ns);
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
