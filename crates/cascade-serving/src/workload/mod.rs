//! Who sends what, and when.
//!
//! A [`Source`] hands requests to the simulation one at a time, so a long load need not be held in memory, and
//! hears when they end, so that closed loops and sessions can go on. [`Workload`] describes one in data.

mod arrivals;
mod closed;
mod lengths;
mod open;
mod sessions;
mod spec;
pub mod trace;

pub use arrivals::{Arrivals, RampShape};
pub use lengths::{Length, Lengths};
pub use spec::{Load, MAX_CLIENTS, MAX_REQUESTS, MAX_TURNS, SharedPrefix, Workload, WorkloadError};
pub use trace::{TraceFileError, TraceOptions, read_trace};

use std::collections::VecDeque;

use crate::request::Request;

/// Hands out requests in order of arrival.
pub trait Source {
    /// When the next request arrives, in ns. None while there is none, for good or until one ends.
    fn next_arrival_ns(&mut self) -> Option<u64>;
    /// Takes the next request.
    fn pop(&mut self) -> Option<Request>;
    /// The request `id` has ended, or was refused, at `now_ns`. No request may arrive before that because of it.
    fn finished(&mut self, id: u64, now_ns: u64) {
        let _ = (id, now_ns);
    }
}

/// Requests that are known beforehand, such as a trace's.
#[derive(Debug, Clone, Default)]
pub struct List(VecDeque<Request>);

impl List {
    /// Sorts `requests` by arrival; those that arrive together keep their order.
    pub fn new(mut requests: Vec<Request>) -> Self {
        requests.sort_by_key(|request| request.arrival_ns);
        Self(requests.into())
    }

    /// Adds a request that has become known: behind those that arrive before it or with it.
    pub fn push(&mut self, request: Request) {
        let at = self
            .0
            .partition_point(|other| other.arrival_ns <= request.arrival_ns);
        self.0.insert(at, request);
    }

    /// Takes out a request that has not arrived yet. False if there is none of this name.
    pub fn remove(&mut self, id: u64) -> bool {
        let at = self.0.iter().position(|request| request.id == id);
        at.is_some_and(|at| self.0.remove(at).is_some())
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Source for List {
    fn next_arrival_ns(&mut self) -> Option<u64> {
        self.0.front().map(|request| request.arrival_ns)
    }

    fn pop(&mut self) -> Option<Request> {
        self.0.pop_front()
    }
}

/// Latest arrival, in ns: 146 years, far from where adding a step's time could overflow.
const LATEST_NS: f64 = (u64::MAX / 4) as f64;

/// Seconds to ns, rounded; at most [`LATEST_NS`].
pub(crate) fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round().min(LATEST_NS) as u64
}

#[cfg(test)]
mod tests;
