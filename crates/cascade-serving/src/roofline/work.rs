//! Arithmetic and memory traffic of each group, from a batch's sums.

use crate::batch::Batch;
use crate::facts::{Experts, ModelFacts};

/// How often a layer's matrix products move the hidden states of the query tokens; assumed.
pub const LINEAR_PASSES: f64 = 8.0;

/// How often a layer's other operations move them; assumed.
pub const ELEMENTWISE_PASSES: f64 = 16.0;

/// Bytes of a logit while it is sampled from.
const LOGIT_BYTES: f64 = 4.0;

/// FLOPs and bytes per unit of a batch's sums.
#[derive(Clone, Debug)]
pub(super) struct Work {
    dense_bytes: f64,
    expert_bytes: f64,
    experts: Option<Experts>,
    active_params: f64,
    head_params: f64,
    attention_flops: f64,
    kv_bytes: f64,
    /// Bytes of all layers' hidden states for one token.
    states_bytes: f64,
    vocab: f64,
    dtype_bytes: f64,
}

impl Work {
    pub(super) fn new(model: &ModelFacts) -> Self {
        let dtype_bytes = f64::from(model.dtype_bytes);
        Self {
            dense_bytes: model.dense_params() as f64 * dtype_bytes,
            expert_bytes: model.expert_params() as f64 * dtype_bytes,
            experts: model.experts,
            active_params: model.active_params() as f64,
            head_params: model.head_params() as f64,
            attention_flops: model.attention_flops() as f64,
            kv_bytes: model.kv_bytes_per_token() as f64,
            states_bytes: f64::from(model.hidden) * f64::from(model.layers) * dtype_bytes,
            vocab: f64::from(model.vocab),
            dtype_bytes,
        }
    }

    /// (FLOPs, bytes) of each group in the order of `Group::ALL`; nothing of the last layer's output where no
    /// sequence samples.
    pub(super) fn of(&self, batch: &Batch) -> [(f64, f64); 6] {
        let query = batch.query_tokens as f64;
        let sampling = f64::from(batch.sampling_seqs);
        let states = query * self.states_bytes;
        let head_bytes = if batch.sampling_seqs > 0 {
            self.head_params * self.dtype_bytes
        } else {
            0.0
        };
        [
            (
                2.0 * self.active_params * query,
                self.body_bytes(query) + LINEAR_PASSES * states,
            ),
            (
                self.attention_flops * batch.query_context as f64,
                self.kv_bytes * batch.context_tokens as f64,
            ),
            (0.0, self.kv_bytes * query),
            (2.0 * self.head_params * sampling, head_bytes),
            (0.0, LOGIT_BYTES * self.vocab * sampling),
            (0.0, ELEMENTWISE_PASSES * states),
        ]
    }

    /// Bytes of the layers' weights that a step reads.
    fn body_bytes(&self, query: f64) -> f64 {
        let share = self.experts.map_or(0.0, |experts| experts.share_used(query));
        self.dense_bytes + self.expert_bytes * share
    }

    /// Bytes of all weights that a step reads.
    pub(super) fn weight_bytes(&self, query_tokens: u64, sampling_seqs: u32) -> f64 {
        let head = if sampling_seqs > 0 {
            self.head_params * self.dtype_bytes
        } else {
            0.0
        };
        self.body_bytes(query_tokens as f64) + head
    }
}
