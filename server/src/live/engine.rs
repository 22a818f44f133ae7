//! One engine: a scheduler and a step-time model on the wall clock, on a thread of its own.
//!
//! A thread rather than a task, since tokio's timer has a grain of 1 ms, an eighth of a step.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cascade_serving::roofline::Roofline;
use cascade_serving::scheduler::{SchedulerConfig, Seq};
use cascade_serving::sim::{Core, Record, SimError, Sink, StepRecord};
use cascade_serving::workload::List;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::inbox::{Inbox, Mail, QueueFull, Recipient, Sequence};
use super::stats::{Histogram, Stats};

/// What is told of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Told {
    /// The next token of a sequence is out.
    Token {
        /// Which of the caller's sequences.
        choice: usize,
        /// When it was due, in ns since the engine started.
        due_ns: u64,
    },
    /// A sequence has ended, or was refused. The last that is told of it.
    Ended {
        /// Which of the caller's sequences.
        choice: usize,
        /// What happened to it, in ns since the engine started.
        record: Record,
    },
}

/// A handle on an engine. The thread ends with the last one.
#[derive(Debug)]
pub(crate) struct Engine {
    origin: Instant,
    inbox: Arc<Inbox>,
    stats: Arc<Mutex<Stats>>,
    lateness: Mutex<Histogram>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.inbox.close();
    }
}

impl Engine {
    /// Starts an engine in which at most `limit` requests wait.
    pub(super) fn start(
        config: SchedulerConfig,
        time: Roofline,
        limit: usize,
    ) -> Result<Self, super::StartError> {
        let caching = config.enable_prefix_caching;
        let mut core = Core::new(config, time).map_err(|error| match error {
            SimError::Config(error) => super::StartError::Config(error),
            // Nothing has been simulated yet.
            SimError::StepLimit { .. } => super::StartError::Thread(std::io::ErrorKind::Other.into()),
        })?;
        core.tell_tokens();
        let engine = Self {
            origin: Instant::now(),
            inbox: Arc::new(Inbox::new(limit)),
            stats: Arc::default(),
            lateness: Mutex::new(Histogram::lateness()),
        };
        let pacer = Pacer {
            origin: engine.origin,
            inbox: Arc::clone(&engine.inbox),
            stats: Arc::clone(&engine.stats),
            core,
            source: List::default(),
            recipients: BTreeMap::new(),
            endings: BTreeMap::new(),
            caching,
        };
        let thread = std::thread::Builder::new().name("cascade-live".to_owned());
        thread
            .spawn(move || pacer.run())
            .map_err(super::StartError::Thread)?;
        Ok(engine)
    }

    /// Lets sequences arrive together, as if at `received`.
    pub(crate) fn submit(
        self: &Arc<Self>,
        received: Instant,
        sequences: Vec<Sequence>,
    ) -> Result<Ticket, QueueFull> {
        let arrival = received.saturating_duration_since(self.origin);
        let open = sequences.len();
        let put = self.inbox.put(nanos(arrival), sequences);
        let (ids, told) = put.inspect_err(|_| self.stats().rejected += 1)?;
        Ok(Ticket {
            engine: Arc::clone(self),
            ids,
            told,
            open,
        })
    }

    /// Whether a request runs or waits.
    pub(super) fn is_busy(&self) -> bool {
        let stats = self.stats();
        stats.running + stats.waiting > 0
    }

    pub(super) fn stats(&self) -> MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lateness(&self) -> MutexGuard<'_, Histogram> {
        self.lateness.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller's hold on its sequences: gives up on them when it is dropped before they have ended.
#[derive(Debug)]
pub(crate) struct Ticket {
    engine: Arc<Engine>,
    ids: Range<u64>,
    told: mpsc::Receiver<Told>,
    open: usize,
}

impl Ticket {
    /// What comes next; none once every sequence has ended. How late each token is goes into a metric.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        if self.open == 0 {
            return None;
        }
        let told = self.told.recv().await;
        match told {
            Some(Told::Token { due_ns, .. }) => {
                let late = nanos(self.engine.origin.elapsed()).saturating_sub(due_ns);
                self.engine.lateness().observe(late as f64, 1);
            }
            Some(Told::Ended { .. }) => self.open -= 1,
            None => self.open = 0,
        }
        told
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.open > 0 {
            self.engine.inbox.give_up(self.ids.clone());
        }
    }
}

/// The engine's thread.
struct Pacer {
    origin: Instant,
    inbox: Arc<Inbox>,
    stats: Arc<Mutex<Stats>>,
    core: Core<Roofline>,
    source: List,
    recipients: BTreeMap<u64, Recipient>,
    /// Ends that are still to be told, by when they are due: a completion can come after the last token.
    endings: BTreeMap<(u64, u64), Record>,
    caching: bool,
}

impl Pacer {
    /// Lets every event happen at its own time. Times are absolute, so that a delay of one does not add to the next:
    /// after one, the thread goes through what it has missed without a pause.
    fn run(mut self) {
        loop {
            let due = self.due();
            let deadline = due.and_then(|(ns, _)| self.origin.checked_add(Duration::from_nanos(ns)));
            let mail = self.inbox.take(deadline, self.waiting());
            if mail.closed {
                return;
            }
            self.accept(mail);
            if let Some((ns, what)) = self.due()
                && ns <= nanos(self.origin.elapsed())
            {
                self.happen(ns, what);
            }
            self.gauge();
        }
    }

    /// The next event, and when it is. Ends come before what the engine does at the same time.
    fn due(&mut self) -> Option<(u64, Event)> {
        let end = self.endings.first_key_value().map(|(key, _)| (key.0, Event::End));
        let step = self.core.next_ns(&mut self.source).map(|ns| (ns, Event::Step));
        [end, step].into_iter().flatten().min()
    }

    fn waiting(&self) -> usize {
        self.source.len() + self.core.scheduler().waiting_len()
    }

    fn accept(&mut self, mail: Mail) {
        for arrival in mail.arrivals {
            self.recipients.insert(arrival.request.id, arrival.to);
            self.source.push(arrival.request);
        }
        for id in mail.given_up {
            if self.recipients.remove(&id).is_some() && (self.source.remove(id) || self.core.abort(id)) {
                lock(&self.stats).abort += 1;
            }
        }
    }

    fn happen(&mut self, ns: u64, what: Event) {
        match what {
            Event::Step => {
                let mut sink = Deliver {
                    stats: lock(&self.stats),
                    recipients: &self.recipients,
                    endings: &mut self.endings,
                    now_ns: ns,
                    caching: self.caching,
                };
                self.core.advance(&mut self.source, &mut sink);
            }
            Event::End => {
                let Some(((_, id), record)) = self.endings.pop_first() else {
                    return;
                };
                if let Some(to) = self.recipients.remove(&id) {
                    let choice = to.choice;
                    tell(&to, Told::Ended { choice, record });
                }
            }
        }
    }

    fn gauge(&self) {
        let waiting = self.waiting() as u64;
        let scheduler = self.core.scheduler();
        let free = f64::from(scheduler.free_blocks()) / f64::from(scheduler.usable_blocks().max(1));
        let mut stats = lock(&self.stats);
        stats.running = scheduler.running().len() as u64;
        stats.waiting = waiting;
        stats.kv_usage = 1.0 - free;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End,
    Step,
}

/// Passes on what a step brings.
struct Deliver<'a> {
    stats: MutexGuard<'a, Stats>,
    recipients: &'a BTreeMap<u64, Recipient>,
    endings: &'a mut BTreeMap<(u64, u64), Record>,
    now_ns: u64,
    caching: bool,
}

impl Sink for Deliver<'_> {
    fn request(&mut self, record: &Record) {
        self.stats.ended(record);
        self.endings
            .insert((record.end_ns.max(self.now_ns), record.id), *record);
    }

    fn step(&mut self, step: &StepRecord) {
        self.stats.step(step);
    }

    fn inter_token(&mut self, gap_ns: u64, count: u32) {
        self.stats.inter_token.observe(gap_ns as f64, u64::from(count));
    }

    fn token(&mut self, seq: &Seq, at_ns: u64) {
        self.stats.token(seq, at_ns, self.caching);
        if let Some(to) = self.recipients.get(&seq.id) {
            let choice = to.choice;
            let due_ns = at_ns;
            tell(to, Told::Token { choice, due_ns });
        }
    }
}

/// Tells the caller, unless it is gone.
fn tell(to: &Recipient, told: Told) {
    let sent = to.told.try_send(told);
    // The channel has room for all that is ever told.
    debug_assert!(!matches!(sent, Err(TrySendError::Full(_))));
}

fn lock(stats: &Mutex<Stats>) -> MutexGuard<'_, Stats> {
    stats.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whole ns; 584 years fit.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
