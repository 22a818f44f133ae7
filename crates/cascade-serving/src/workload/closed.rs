//! Clients that wait for an answer before they ask again.

use std::collections::VecDeque;

use super::lengths::Lengths;
use super::open::Maker;
use super::spec::SharedPrefix;
use super::{Source, to_ns};
use crate::random::Random;
use crate::request::Request;

/// The time between an answer and the next request.
pub(super) struct Think {
    pub(super) mean_s: f64,
    /// Exponential rather than always the same.
    pub(super) random: bool,
}

pub(super) struct ClosedLoop {
    /// Arrivals to come, in order.
    pending: VecDeque<u64>,
    left: u64,
    made: u64,
    think: Think,
    random: Random,
    maker: Maker,
}

impl ClosedLoop {
    /// Every client sends its first request at time 0.
    pub(super) fn new(
        seed: u64,
        requests: u64,
        clients: u64,
        think: Think,
        lengths: Lengths,
        prefix: Option<SharedPrefix>,
    ) -> Self {
        let first = clients.min(requests);
        Self {
            pending: (0..first).map(|_| 0).collect(),
            left: requests - first,
            made: 0,
            think,
            random: Random::new(seed, 1),
            maker: Maker::new(seed, lengths, prefix),
        }
    }
}

impl Source for ClosedLoop {
    fn next_arrival_ns(&mut self) -> Option<u64> {
        self.pending.front().copied()
    }

    fn pop(&mut self) -> Option<Request> {
        let arrival_ns = self.pending.pop_front()?;
        let request = self.maker.make(self.made, arrival_ns);
        self.made += 1;
        Some(request)
    }

    fn finished(&mut self, _: u64, now_ns: u64) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let factor = if self.think.random {
            self.random.exponential()
        } else {
            1.0
        };
        let arrival = now_ns.saturating_add(to_ns(self.think.mean_s * factor));
        let at = self.pending.partition_point(|other| *other <= arrival);
        self.pending.insert(at, arrival);
    }
}
