//! Conversations of several turns.

use std::collections::BTreeMap;

use super::arrivals::Arrivals;
use super::lengths::{Length, Lengths};
use super::{Source, to_ns};
use crate::content::{Content, Segment};
use crate::random::Random;
use crate::request::Request;

/// When conversations begin.
pub(super) struct Starts {
    pub(super) count: u64,
    pub(super) arrivals: Arrivals,
}

/// A conversation so far.
struct Session {
    number: u64,
    turn: u32,
    turns: u32,
    /// What the next prompt repeats.
    said: Vec<Segment>,
}

pub(super) struct Sessions {
    starts: Starts,
    begun: u64,
    next_start_s: f64,
    gaps: Random,
    turns: Length,
    system_tokens: u32,
    lengths: Lengths,
    think_s: f64,
    random: Random,
    /// Turns to come, by arrival and order of creation.
    pending: BTreeMap<(u64, u64), Session>,
    created: u64,
    /// Turns that the engine works on, by request id.
    active: BTreeMap<u64, Session>,
    made: u64,
}

impl Sessions {
    pub(super) fn new(
        seed: u64,
        starts: Starts,
        turns: Length,
        system_tokens: u32,
        lengths: Lengths,
        think_s: f64,
    ) -> Self {
        let mut gaps = Random::new(seed, 1);
        let next_start_s = starts.arrivals.next(0, starts.count, 0.0, &mut gaps);
        let mut sessions = Self {
            starts,
            begun: 0,
            next_start_s,
            gaps,
            turns,
            system_tokens,
            lengths,
            think_s,
            random: Random::new(seed, 2),
            pending: BTreeMap::new(),
            created: 0,
            active: BTreeMap::new(),
            made: 0,
        };
        sessions.begin();
        sessions
    }

    /// Puts the next conversation among those to come; there is always at most one that has not begun.
    fn begin(&mut self) {
        if self.begun == self.starts.count {
            return;
        }
        let turns = self.turns.draw(&mut self.random).max(1);
        let said = match self.system_tokens {
            0 => Vec::new(),
            len => vec![Segment { id: 0, start: 0, len }],
        };
        self.push(
            to_ns(self.next_start_s),
            Session {
                number: self.begun,
                turn: 0,
                turns,
                said,
            },
        );
        self.begun += 1;
        let Starts { count, arrivals } = &self.starts;
        self.next_start_s = arrivals.next(self.begun, *count, self.next_start_s, &mut self.gaps);
    }

    fn push(&mut self, arrival_ns: u64, session: Session) {
        self.pending.insert((arrival_ns, self.created), session);
        self.created += 1;
    }
}

/// Name of what the user (`side` 0) or the model (1) says in a turn.
fn text(session: u64, turn: u32, side: u64) -> u64 {
    ((session + 1) << 24) | (u64::from(turn) << 1) | side
}

impl Source for Sessions {
    fn next_arrival_ns(&mut self) -> Option<u64> {
        self.pending.first_key_value().map(|((arrival, _), _)| *arrival)
    }

    fn pop(&mut self) -> Option<Request> {
        let ((arrival_ns, _), mut session) = self.pending.pop_first()?;
        if session.turn == 0 {
            self.begin();
        }
        let user = self.lengths.prompt.draw(&mut self.random);
        let output = self.lengths.output.draw(&mut self.random);
        let answer = text(session.number, session.turn, 1);
        session.said.push(Segment {
            id: text(session.number, session.turn, 0),
            start: 0,
            len: user,
        });
        session.said.retain(|run| run.len > 0);
        let prompt_tokens = session
            .said
            .iter()
            .fold(0u32, |sum, run| sum.saturating_add(run.len));
        let content = Some(Content {
            prompt: session.said.clone().into(),
            output: answer,
        });
        let request = Request {
            content,
            ..Request::new(self.made, arrival_ns, prompt_tokens, output)
        };
        session.said.push(Segment {
            id: answer,
            start: 0,
            len: output,
        });
        session.turn += 1;
        if session.turn < session.turns {
            self.active.insert(self.made, session);
        }
        self.made += 1;
        Some(request)
    }

    fn finished(&mut self, id: u64, now_ns: u64) {
        if let Some(session) = self.active.remove(&id) {
            let think = to_ns(self.think_s * self.random.exponential());
            self.push(now_ns.saturating_add(think), session);
        }
    }
}
