//! What has come for an engine since it last looked: requests, and ids of requests that were given up.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cascade_serving::content::{Content, Segment};
use cascade_serving::request::Request;
use tokio::sync::mpsc;

use super::Told;

/// One sequence to compute.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    /// Its prompt tokens.
    pub(crate) prompt_tokens: u32,
    /// Its output tokens.
    pub(crate) output_tokens: u32,
    /// What its prompt consists of, for prefix caching. None shares nothing.
    pub(crate) content: Option<Box<[Segment]>>,
}

impl Sequence {
    /// A sequence whose prompt is known token by token: equal prefixes share blocks.
    pub(crate) fn of_tokens(ids: impl Iterator<Item = u32>, output_tokens: u32) -> Self {
        let token = |id| Segment {
            id: u64::from(id),
            start: 0,
            len: 1,
        };
        let prompt: Box<[Segment]> = ids.map(token).collect();
        Self {
            // Requests have fewer tokens than that.
            prompt_tokens: u32::try_from(prompt.len()).unwrap_or(u32::MAX),
            output_tokens,
            content: Some(prompt),
        }
    }
}

/// The first name of a generated text: behind the ids of tokens.
const OUTPUT: u64 = 1 << 32;

/// A request on its way to the engine.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) request: Request,
    pub(super) to: Recipient,
}

/// Who hears of a request.
#[derive(Clone, Debug)]
pub(super) struct Recipient {
    /// Which of the caller's sequences it is.
    pub(super) choice: usize,
    /// Has room for all that is ever told.
    pub(super) told: mpsc::Sender<Told>,
}

/// All that has come.
#[derive(Debug, Default)]
pub(super) struct Mail {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) given_up: Vec<u64>,
    /// Nobody can send any more.
    pub(super) closed: bool,
}

/// As many requests wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{limit} requests wait for this engine already, the most that may (CASCADE_V1_MAX_NUM_QUEUED_REQS)")]
pub(crate) struct QueueFull {
    /// The limit.
    pub(crate) limit: usize,
}

#[derive(Debug, Default)]
struct State {
    mail: Mail,
    /// Requests that wait behind this box.
    waiting: usize,
    next_id: u64,
}

#[derive(Debug)]
pub(super) struct Inbox {
    state: Mutex<State>,
    rung: Condvar,
    limit: usize,
}

impl Inbox {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            rung: Condvar::new(),
            limit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands in sequences that arrive together; returns their ids and hears of them through the receiver.
    pub(super) fn put(
        &self,
        arrival_ns: u64,
        sequences: Vec<Sequence>,
    ) -> Result<(Range<u64>, mpsc::Receiver<Told>), QueueFull> {
        let tokens = sequences.iter().map(|sequence| sequence.output_tokens as usize);
        // Each token and each end.
        let room = tokens.sum::<usize>() + sequences.len();
        let (told, receiver) = mpsc::channel(room.max(1));
        let mut state = self.lock();
        if state.waiting + state.mail.arrivals.len() + sequences.len() > self.limit {
            return Err(QueueFull { limit: self.limit });
        }
        let first = state.next_id;
        for (choice, sequence) in sequences.into_iter().enumerate() {
            let id = state.next_id;
            state.next_id += 1;
            let request = Request {
                content: sequence.content.map(|prompt| Content {
                    prompt,
                    output: OUTPUT + id,
                }),
                ..Request::new(id, arrival_ns, sequence.prompt_tokens, sequence.output_tokens)
            };
            let told = told.clone();
            let to = Recipient { choice, told };
            state.mail.arrivals.push(Arrival { request, to });
        }
        let ids = first..state.next_id;
        drop(state);
        self.rung.notify_one();
        Ok((ids, receiver))
    }

    /// Nobody waits for these any more.
    pub(super) fn give_up(&self, ids: Range<u64>) {
        self.lock().mail.given_up.extend(ids);
        self.rung.notify_one();
    }

    /// Nobody will send any more.
    pub(super) fn close(&self) {
        self.lock().mail.closed = true;
        self.rung.notify_one();
    }

    /// Takes what has come; with nothing there, waits for it until `deadline`. `waiting` requests wait behind.
    pub(super) fn take(&self, deadline: Option<Instant>, waiting: usize) -> Mail {
        let mut state = self.lock();
        state.waiting = waiting;
        loop {
            let mail = &state.mail;
            if mail.closed || !mail.arrivals.is_empty() || !mail.given_up.is_empty() {
                let closed = mail.closed;
                let taken = std::mem::take(&mut state.mail);
                state.waiting += taken.arrivals.len();
                state.mail.closed = closed;
                return taken;
            }
            state = match deadline {
                None => self.rung.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Mail::default();
                    }
                    let waited = self.rung.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}
