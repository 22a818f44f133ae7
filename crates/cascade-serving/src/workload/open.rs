//! Requests that arrive whatever became of others.

use super::arrivals::Arrivals;
use super::lengths::Lengths;
use super::spec::SharedPrefix;
use super::{Source, to_ns};
use crate::content::{Content, Segment};
use crate::random::Random;
use crate::request::Request;

/// Draws the lengths and the content of one request after the other.
pub(super) struct Maker {
    lengths: Lengths,
    prefix: Option<SharedPrefix>,
    random: Random,
}

impl Maker {
    pub(super) fn new(seed: u64, lengths: Lengths, prefix: Option<SharedPrefix>) -> Self {
        Self {
            lengths,
            prefix,
            random: Random::new(seed, 2),
        }
    }

    pub(super) fn make(&mut self, id: u64, arrival_ns: u64) -> Request {
        let own = self.lengths.prompt.draw(&mut self.random);
        let output = self.lengths.output.draw(&mut self.random);
        let Some(prefix) = self.prefix else {
            return Request::new(id, arrival_ns, own, output);
        };
        let group = self.random.between(0, prefix.groups.saturating_sub(1));
        let prompt = Box::from([
            Segment {
                id: u64::from(group),
                start: 0,
                len: prefix.tokens,
            },
            Segment {
                id: (1 << 32) | id,
                start: 0,
                len: own,
            },
        ]);
        let content = Some(Content {
            prompt,
            output: (1 << 48) | id,
        });
        Request {
            content,
            ..Request::new(id, arrival_ns, prefix.tokens.saturating_add(own), output)
        }
    }
}

pub(super) struct Open {
    arrivals: Arrivals,
    count: u64,
    made: u64,
    /// Arrival of the next request, in seconds.
    next_s: f64,
    gaps: Random,
    maker: Maker,
}

impl Open {
    pub(super) fn new(
        seed: u64,
        count: u64,
        arrivals: Arrivals,
        lengths: Lengths,
        prefix: Option<SharedPrefix>,
    ) -> Self {
        let mut gaps = Random::new(seed, 1);
        let next_s = arrivals.next(0, count, 0.0, &mut gaps);
        Self {
            arrivals,
            count,
            made: 0,
            next_s,
            gaps,
            maker: Maker::new(seed, lengths, prefix),
        }
    }
}

impl Source for Open {
    fn next_arrival_ns(&mut self) -> Option<u64> {
        (self.made < self.count).then(|| to_ns(self.next_s))
    }

    fn pop(&mut self) -> Option<Request> {
        let arrival_ns = self.next_arrival_ns()?;
        let request = self.maker.make(self.made, arrival_ns);
        self.made += 1;
        self.next_s = self
            .arrivals
            .next(self.made, self.count, self.next_s, &mut self.gaps);
        Some(request)
    }
}
