//! One request inside the scheduler.

use crate::content::{Chain, Content};
use crate::request::Request;

/// Index of a sequence in the scheduler's table; reused once the sequence has left.
pub type Slot = u32;

/// A sequence's milestones, in ns; 0 until reached where `emitted` or `admissions` says it was not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Arrival at the engine.
    pub arrival: u64,
    /// Start of the first step that computes any of it.
    pub first_scheduled: u64,
    /// End of the step that sampled its first token.
    pub first_token: u64,
    /// End of the step that sampled its latest token.
    pub last_token: u64,
}

/// A request from its arrival to its last token.
#[derive(Debug)]
pub struct Seq {
    /// The caller's name for it.
    pub id: u64,
    /// Smaller is more urgent.
    pub priority: i32,
    /// Prompt length in tokens.
    pub prompt: u32,
    /// Tokens that it will emit: what was asked for, or less where `max_model_len` ends it.
    pub target: u32,
    /// Tokens emitted.
    pub emitted: u32,
    /// Tokens whose keys and values are in the cache, those of steps in flight included.
    pub computed: u32,
    /// KV blocks held.
    pub held: u32,
    /// Tokens that steps in flight will emit (asynchronous scheduling).
    pub in_flight: u32,
    /// Times that it was admitted.
    pub admissions: u32,
    /// Times that it was preempted.
    pub preemptions: u32,
    /// Prompt tokens found in the prefix cache at its first admission.
    pub cached_tokens: u32,
    /// When things happened to it.
    pub times: Times,
    pub(crate) prefix: Option<Box<Prefix>>,
}

/// What prefix caching keeps of a sequence.
#[derive(Debug)]
pub(crate) struct Prefix {
    pub(crate) content: Content,
    pub(crate) chain: Chain,
    /// The blocks held, first to last.
    pub(crate) table: Vec<u32>,
    /// How many of them are registered in the cache.
    pub(crate) registered: u32,
}

impl Seq {
    pub(super) fn new(request: Request, target: u32, caching: bool) -> Self {
        let prefix = caching.then(|| {
            let content = request.content.unwrap_or_else(|| own_content(request.id));
            Box::new(Prefix {
                content,
                chain: Chain::default(),
                table: Vec::new(),
                registered: 0,
            })
        });
        Self {
            id: request.id,
            priority: request.priority,
            prompt: request.prompt_tokens,
            target,
            emitted: 0,
            computed: 0,
            held: 0,
            in_flight: 0,
            admissions: 0,
            preemptions: 0,
            cached_tokens: 0,
            times: Times {
                arrival: request.arrival_ns,
                ..Times::default()
            },
            prefix,
        }
    }

    /// Tokens known: prompt and emitted.
    pub fn known(&self) -> u32 {
        self.prompt + self.emitted
    }

    /// Tokens to compute before the next one can be sampled, those in flight taken as known.
    pub(super) fn pending(&self) -> u32 {
        (self.known() + self.in_flight).saturating_sub(self.computed)
    }

    /// Whether the steps in flight emit its last token, so that no further step is needed.
    pub(super) fn ending(&self) -> bool {
        self.in_flight > 0 && self.emitted + self.in_flight >= self.target
    }
}

/// Top bit of the text names that the scheduler makes up for requests without content.
const OWN: u64 = 1 << 63;

fn own_content(id: u64) -> Content {
    // The answer continues the prompt's own text, so one run covers both.
    Content {
        prompt: Box::from([]),
        output: OWN | id,
    }
}
