//! A workload as data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Source;
use super::arrivals::Arrivals;
use super::closed::ClosedLoop;
use super::lengths::{Length, Lengths};
use super::open::Open;
use super::sessions::Sessions;

/// Most requests of a workload.
pub const MAX_REQUESTS: u64 = 100_000_000;

/// Most clients of a closed loop.
pub const MAX_CLIENTS: u64 = 1_000_000;
/// Most turns of a session.
pub const MAX_TURNS: u32 = 1000;

/// What is wrong with a workload.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} {message}")]
pub struct WorkloadError {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it and what to do.
    pub message: String,
}

impl WorkloadError {
    pub(super) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self {
            field,
            message: message.into(),
        }
    }
}

pub(super) fn positive(field: &'static str, value: f64) -> Result<(), WorkloadError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(WorkloadError::new(
            field,
            format!("is {value}: give a number above 0"),
        ))
    }
}

fn count(field: &'static str, value: u64, most: u64) -> Result<(), WorkloadError> {
    if (1..=most).contains(&value) {
        Ok(())
    } else {
        Err(WorkloadError::new(
            field,
            format!("is {value}: give a number from 1 to {most}"),
        ))
    }
}

/// A prefix that prompts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedPrefix {
    /// Its length in tokens, which come before the prompt's own.
    pub tokens: u32,
    /// How many different ones there are; a request has each with the same probability.
    #[serde(default = "one")]
    pub groups: u32,
}

fn one() -> u32 {
    1
}

/// Who sends requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Requests that arrive whatever became of others.
    Open {
        /// How many.
        requests: u64,
        /// When.
        arrivals: Arrivals,
        /// How long.
        lengths: Lengths,
        /// What they share.
        #[serde(default)]
        prefix: Option<SharedPrefix>,
    },
    /// Clients that send a request, wait for its end, think, and send the next.
    ClosedLoop {
        /// How many requests in all.
        requests: u64,
        /// How many clients.
        clients: u64,
        /// Seconds between an answer and the next request, on average.
        #[serde(default)]
        think_s: f64,
        /// Whether that time is exponential rather than always the same.
        #[serde(default)]
        random_think: bool,
        /// How long.
        lengths: Lengths,
        /// What they share.
        #[serde(default)]
        prefix: Option<SharedPrefix>,
    },
    /// Conversations: each turn's prompt repeats all that was said before.
    Sessions {
        /// How many conversations.
        sessions: u64,
        /// When they begin.
        arrivals: Arrivals,
        /// Turns of a conversation.
        turns: Length,
        /// Tokens that all conversations begin with.
        #[serde(default)]
        system_tokens: u32,
        /// What a user adds per turn, and how long the answers are.
        lengths: Lengths,
        /// Seconds between an answer and the next turn, exponential with this mean.
        #[serde(default)]
        think_s: f64,
    },
}

/// A workload: a load and the seed of everything random in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The same seed gives the same requests on every platform.
    #[serde(default)]
    pub seed: u64,
    /// Who sends requests.
    pub load: Load,
}

impl Workload {
    /// Checks the workload and makes its source.
    pub fn source(&self) -> Result<Box<dyn Source>, WorkloadError> {
        match self.load.clone() {
            Load::Open {
                requests,
                arrivals,
                lengths,
                prefix,
            } => {
                count("requests", requests, MAX_REQUESTS)?;
                arrivals.check()?;
                check_lengths(&lengths)?;
                Ok(Box::new(Open::new(
                    self.seed, requests, arrivals, lengths, prefix,
                )))
            }
            Load::ClosedLoop {
                requests,
                clients,
                think_s,
                random_think,
                lengths,
                prefix,
            } => {
                count("requests", requests, MAX_REQUESTS)?;
                count("clients", clients, MAX_CLIENTS)?;
                check_think(think_s)?;
                check_lengths(&lengths)?;
                let think = super::closed::Think {
                    mean_s: think_s,
                    random: random_think,
                };
                Ok(Box::new(ClosedLoop::new(
                    self.seed, requests, clients, think, lengths, prefix,
                )))
            }
            Load::Sessions {
                sessions,
                arrivals,
                turns,
                system_tokens,
                lengths,
                think_s,
            } => {
                count("sessions", sessions, MAX_REQUESTS)?;
                arrivals.check()?;
                turns.check("turns")?;
                count("turns", u64::from(turns.most()), MAX_TURNS.into())?;
                check_think(think_s)?;
                check_lengths(&lengths)?;
                let starts = super::sessions::Starts {
                    count: sessions,
                    arrivals,
                };
                Ok(Box::new(Sessions::new(
                    self.seed,
                    starts,
                    turns,
                    system_tokens,
                    lengths,
                    think_s,
                )))
            }
        }
    }
}

fn check_think(think_s: f64) -> Result<(), WorkloadError> {
    if think_s.is_finite() && think_s >= 0.0 {
        Ok(())
    } else {
        Err(WorkloadError::new(
            "think_s",
            format!("is {think_s}: give seconds from 0 up"),
        ))
    }
}

fn check_lengths(lengths: &Lengths) -> Result<(), WorkloadError> {
    lengths
        .prompt
        .check("prompt")
        .and_then(|()| lengths.output.check("output"))
}
