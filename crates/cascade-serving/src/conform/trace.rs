//! A step trace as a JSON file.

use serde::Deserialize;
use thiserror::Error;

use crate::scheduler::SchedulerConfig;

/// Most requests that the short form `"N x P/O at step S"` may ask for.
pub const MAX_REQUESTS: u32 = 1_000_000;

/// Why a file is not a step trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// Not JSON, or not of the expected form.
    #[error("not a step trace: {0}")]
    Json(#[from] serde_json::Error),
    /// `requests` is a text of another form.
    #[error(
        "requests: \"{0}\" is not a list and not of the form \"1000 x 512/128 at step 1\" with at most {MAX_REQUESTS} requests"
    )]
    Requests(String),
}

/// A step trace.
#[derive(Debug, Deserialize)]
pub struct Trace {
    /// The engine's settings.
    pub config: SchedulerConfig,
    requests: Requests,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Requests {
    List(Vec<TraceRequest>),
    Short(String),
}

/// A request of a step trace.
#[derive(Debug, Clone, Deserialize)]
pub struct TraceRequest {
    /// Its name.
    pub id: String,
    #[serde(default)]
    prompt_tokens: u32,
    /// Token ids, where they matter.
    #[serde(default)]
    pub prompt: Vec<u32>,
    /// Tokens to generate.
    pub output_tokens: u32,
    /// Smaller is more urgent.
    #[serde(default)]
    pub priority: i32,
    /// The call of `schedule()`, counted from 1, before which it arrives.
    #[serde(default = "first")]
    pub arrive_step: u64,
}

impl TraceRequest {
    /// Prompt length in tokens.
    pub fn prompt_tokens(&self) -> u32 {
        self.prompt_tokens.max(self.prompt.len() as u32)
    }
}

fn first() -> u64 {
    1
}

/// One call, in full or summed up.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    pub(super) step: u64,
    pub(super) preempted: Vec<String>,
    pub(super) running: Names,
    pub(super) waiting: Names,
    pub(super) scheduled: Option<Vec<(String, u32)>>,
    pub(super) computed_after: Option<std::collections::BTreeMap<String, u32>>,
    pub(super) free_blocks: Option<u32>,
    pub(super) finished: Option<Vec<String>>,
    /// Scheduled sequences and tokens, in traces that do not list them.
    pub(super) n: Option<u64>,
    pub(super) tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Names {
    List(Vec<String>),
    Count(u64),
}

impl Trace {
    /// Reads a trace from a file's text.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The requests, the short form written out.
    pub fn requests(&self) -> Result<Vec<TraceRequest>, TraceError> {
        match &self.requests {
            Requests::List(list) => Ok(list.clone()),
            Requests::Short(text) => short(text).ok_or_else(|| TraceError::Requests(text.clone())),
        }
    }
}

fn short(text: &str) -> Option<Vec<TraceRequest>> {
    let (count, rest) = text.split_once(" x ")?;
    let (lengths, step) = rest.split_once(" at step ")?;
    let (prompt, output) = lengths.split_once('/')?;
    let count = count.parse().ok().filter(|count| *count <= MAX_REQUESTS)?;
    let (prompt_tokens, output_tokens) = (prompt.parse().ok()?, output.parse().ok()?);
    let arrive_step = step.parse().ok()?;
    let request = |index| TraceRequest {
        id: format!("r{index}"),
        prompt_tokens,
        prompt: Vec::new(),
        output_tokens,
        priority: 0,
        arrive_step,
    };
    Some((0..count).map(request).collect())
}
