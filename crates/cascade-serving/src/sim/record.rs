//! What a simulation tells, as it goes: a record per request and per step, so that memory need not grow.

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::request::{Refusal, Request};
use crate::scheduler::{Blocked, Seq};
use crate::step_time::{Envelope, StepCost};

/// What happened to a request. Times are ns since the start of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The request's name.
    pub id: u64,
    /// Arrival.
    pub arrival_ns: u64,
    /// Start of the first step that computed any of it; the arrival if none did.
    pub first_scheduled_ns: u64,
    /// End of the step that sampled its first token. None without output tokens.
    pub first_token_ns: Option<u64>,
    /// Completion: the end of its last step and the profile's envelope, which can be negative.
    pub end_ns: u64,
    /// Prompt length in tokens.
    pub prompt_tokens: u32,
    /// Tokens emitted.
    pub output_tokens: u32,
    /// Prompt tokens found in the prefix cache at the first admission.
    pub cached_tokens: u32,
    /// Times that it was preempted.
    pub preemptions: u32,
    /// Why it was refused, if it was.
    pub refusal: Option<Refusal>,
}

impl Record {
    pub(super) fn finished(seq: &Seq, envelope: Envelope) -> Self {
        let last = seq.times.last_token;
        Self {
            id: seq.id,
            arrival_ns: seq.times.arrival,
            first_scheduled_ns: seq.times.first_scheduled,
            first_token_ns: (seq.emitted > 0).then_some(seq.times.first_token),
            end_ns: last
                .saturating_add_signed(envelope.after_ns)
                .max(seq.times.first_scheduled),
            prompt_tokens: seq.prompt,
            output_tokens: seq.emitted,
            cached_tokens: seq.cached_tokens,
            preemptions: seq.preemptions,
            refusal: None,
        }
    }

    /// A request to which nothing has happened.
    pub(super) fn new(request: &Request) -> Self {
        Self {
            id: request.id,
            arrival_ns: request.arrival_ns,
            first_scheduled_ns: request.arrival_ns,
            first_token_ns: None,
            end_ns: request.arrival_ns,
            prompt_tokens: request.prompt_tokens,
            output_tokens: 0,
            cached_tokens: 0,
            preemptions: 0,
            refusal: None,
        }
    }

    pub(super) fn given_up(seq: &Seq, refusal: Refusal, now_ns: u64) -> Self {
        let refused = Self {
            refusal: Some(refusal),
            end_ns: now_ns,
            ..Self::finished(seq, Envelope::default())
        };
        if seq.admissions == 0 {
            Self {
                first_scheduled_ns: seq.times.arrival,
                ..refused
            }
        } else {
            refused
        }
    }

    /// Time to first token, in ns.
    pub fn ttft_ns(&self) -> Option<u64> {
        Some(self.first_token_ns?.saturating_sub(self.arrival_ns))
    }

    /// End-to-end latency, in ns.
    pub fn e2e_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.arrival_ns)
    }

    /// Time from arrival to the start of the first step, in ns.
    pub fn queue_ns(&self) -> u64 {
        self.first_scheduled_ns.saturating_sub(self.arrival_ns)
    }

    /// Time per output token after the first, in ns: `(E2E − TTFT) / (output tokens − 1)`, as
    /// `vllm bench serve` defines it. None with fewer than two tokens.
    pub fn tpot_ns(&self) -> Option<f64> {
        let rest = self.output_tokens.checked_sub(1).filter(|rest| *rest > 0)?;
        Some(self.e2e_ns().saturating_sub(self.ttft_ns()?) as f64 / f64::from(rest))
    }
}

/// What a step was. Times are ns since the start of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepRecord {
    /// Number of the step, from 0.
    pub index: u64,
    /// Start: the host's work included in synchronous scheduling, the GPU's alone in asynchronous scheduling.
    pub start_ns: u64,
    /// End of the GPU's work.
    pub end_ns: u64,
    /// What it computed.
    pub batch: Batch,
    /// Its time and where that comes from.
    pub cost: StepCost,
    /// Running requests after it was scheduled.
    pub running: u32,
    /// Waiting requests after it was scheduled.
    pub waiting: u32,
    /// KV blocks in use after it was scheduled.
    pub used_blocks: u32,
    /// Requests admitted by it.
    pub admitted: u32,
    /// Requests preempted by it.
    pub preempted: u32,
    /// Why the head of the queue was not admitted; none if nobody waits.
    pub blocked: Option<Blocked>,
}

/// Hears a simulation's records as they come.
pub trait Sink {
    /// A request has ended or was refused.
    fn request(&mut self, record: &Record);
    /// A step was scheduled; steps come in order.
    fn step(&mut self, step: &StepRecord);
    /// `count` requests emitted a token `gap_ns` after their previous one.
    fn inter_token(&mut self, gap_ns: u64, count: u32);
    /// `seq` emitted a token at `at_ns`. Every token is told so only after [`super::Core::tell_tokens`].
    fn token(&mut self, seq: &Seq, at_ns: u64) {
        let _ = (seq, at_ns);
    }
}
