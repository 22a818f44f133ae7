//! One step's batch as the step-time model sees it: sums over its sequences, kept up without looking at each.

use serde::{Deserialize, Serialize};

/// What a step computes.
///
/// The *context* of a sequence is the length of its KV cache at the end of the step: tokens computed before
/// plus the step's query tokens. A *decode* computes one token at or past the end of the prompt; all else,
/// recomputation after a preemption included, is *prefill*.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Sequences in the step.
    pub seqs: u32,
    /// Sequences that do prefill.
    pub prefill_seqs: u32,
    /// Sequences that sample a token: decodes and prefills that reach the end of their tokens.
    pub sampling_seqs: u32,
    /// Query tokens of all sequences.
    pub query_tokens: u64,
    /// Query tokens of the sequences that do prefill.
    pub prefill_tokens: u64,
    /// Sum of the contexts of all sequences, in tokens.
    pub context_tokens: u64,
    /// Sum of query tokens × context over all sequences.
    pub query_context: u64,
}

impl Batch {
    /// Adds a sequence that computes `query` tokens up to the length `context`.
    pub fn push(&mut self, query: u32, context: u32, prefill: bool, samples: bool) {
        self.seqs += 1;
        self.query_tokens += u64::from(query);
        self.context_tokens += u64::from(context);
        self.query_context += u64::from(query) * u64::from(context);
        self.sampling_seqs += u32::from(samples);
        if prefill {
            self.prefill_seqs += 1;
            self.prefill_tokens += u64::from(query);
        }
    }

    /// `seqs` decodes whose contexts sum to `context_tokens`.
    pub fn decodes(seqs: u32, context_tokens: u64) -> Self {
        Self {
            seqs,
            sampling_seqs: seqs,
            query_tokens: u64::from(seqs),
            context_tokens,
            query_context: context_tokens,
            ..Self::default()
        }
    }

    /// Whether the step does any prefill.
    pub fn has_prefill(&self) -> bool {
        self.prefill_seqs > 0
    }
}
