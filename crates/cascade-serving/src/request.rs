//! What enters the scheduler: one request, and why one can be refused.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::content::Content;

/// One request as a client sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The caller's name for it: handed back in every record. The position in the workload, as a rule.
    pub id: u64,
    /// When it arrives, in ns since the start of the simulation.
    pub arrival_ns: u64,
    /// Prompt length in tokens.
    pub prompt_tokens: u32,
    /// Tokens to generate. No stop token is modelled, so this is also the number emitted.
    pub output_tokens: u32,
    /// Smaller is more urgent; used under the queue discipline `priority` only.
    pub priority: i32,
    /// What the prompt consists of, for prefix caching. `None` shares nothing with any other request.
    pub content: Option<Content>,
}

impl Request {
    /// A request that arrives at `arrival_ns`, of default priority and with a prompt of its own.
    pub fn new(id: u64, arrival_ns: u64, prompt_tokens: u32, output_tokens: u32) -> Self {
        Self {
            id,
            arrival_ns,
            prompt_tokens,
            output_tokens,
            priority: 0,
            content: None,
        }
    }
}

/// Why a request never ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Refusal {
    /// There is nothing to prefill.
    #[error("the prompt is empty: give at least one prompt token")]
    EmptyPrompt,
    /// The prompt leaves no room for an output token.
    #[error("the prompt has {prompt_tokens} tokens and max_model_len is {max_model_len}: shorten the prompt")]
    PromptTooLong {
        /// Prompt length in tokens.
        prompt_tokens: u32,
        /// The model's limit in tokens.
        max_model_len: u32,
    },
    /// Without chunked prefill a prompt must fit one step.
    #[error(
        "the prompt has {prompt_tokens} tokens, max_num_batched_tokens is {max_num_batched_tokens} and chunked prefill is off: raise the budget or allow chunks"
    )]
    PromptOverBudget {
        /// Prompt length in tokens.
        prompt_tokens: u32,
        /// The step's token budget.
        max_num_batched_tokens: u32,
    },
    /// Even alone on the GPU its context does not fit the KV cache.
    #[error("its context needs {needed} KV blocks and the cache has {usable}: shorten it or add blocks")]
    KvCapacity {
        /// Blocks that its longest context needs.
        needed: u32,
        /// Blocks that requests can use.
        usable: u32,
    },
    /// It stands first in an idle engine and still cannot be scheduled, so it never can.
    #[error("it has {tokens} tokens to compute and cannot be scheduled even on an idle engine")]
    NeverFits {
        /// Prompt plus already emitted tokens.
        tokens: u32,
    },
}
