//! What a transformer's shape says about its weights, its KV cache and its arithmetic.

mod builtin;
mod config;

pub use builtin::{builtin, builtin_names};
pub use config::{FactsError, MAX_CONFIG_BYTES};

use serde::{Deserialize, Serialize};

/// The shape of a decoder-only transformer, dense or with experts.
///
/// Biases and norm parameters are left out of every count: below 0.2 % of the models in the built-in table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The model's name, such as `facebook/opt-125m`.
    pub name: String,
    /// Its family: `model_type` or the first of `architectures`.
    pub architecture: String,
    /// Transformer layers.
    pub layers: u32,
    /// Width of the residual stream.
    pub hidden: u32,
    /// Query heads.
    pub heads: u32,
    /// Key and value heads; fewer than `heads` is grouped-query attention.
    pub kv_heads: u32,
    /// Width of a head.
    pub head_dim: u32,
    /// Width between the projections of a dense feed-forward block.
    pub ffn: u32,
    /// Whether a feed-forward block has a gate, and so three projections rather than two.
    pub gated: bool,
    /// Tokens of the vocabulary.
    pub vocab: u32,
    /// Whether the output projection is the embedding table.
    pub tied: bool,
    /// Rows of a learned position table; 0 with rotary positions.
    pub position_rows: u32,
    /// The longest sequence, in tokens.
    pub max_positions: Option<u32>,
    /// Experts, where feed-forward blocks are mixtures.
    pub experts: Option<Experts>,
    /// Latent attention (MLA), where keys and values are cached compressed.
    pub latent: Option<Latent>,
    /// Bytes of a weight, an activation and a cached key or value.
    pub dtype_bytes: u32,
    /// What was assumed where the configuration says nothing.
    pub assumptions: Vec<String>,
}

/// A mixture of experts in place of a feed-forward block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experts {
    /// Routed experts of a layer.
    pub total: u32,
    /// Routed experts that a token uses.
    pub active: u32,
    /// Width of a routed expert.
    pub ffn: u32,
    /// Width of the shared experts together; 0 without.
    pub shared_ffn: u32,
    /// Layers that have experts; the others have a dense block.
    pub layers: u32,
}

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latent {
    /// Width of the compressed keys and values.
    pub kv_rank: u32,
    /// Width of the compressed queries; 0 where queries are projected at once.
    pub q_rank: u32,
    /// Width of the part of a head that carries positions; its key is shared by all heads.
    pub rope_dim: u32,
    /// Width of a value head; `head_dim` is a query head's, positions included.
    pub v_dim: u32,
}

impl ModelFacts {
    /// Parameters of one layer's attention: the query, key, value and output projections.
    pub fn attention_params(&self) -> u64 {
        let [h, heads, kv_heads, dim] =
            [self.hidden, self.heads, self.kv_heads, self.head_dim].map(u64::from);
        let Some(latent) = self.latent else {
            return 2 * h * heads * dim + 2 * h * kv_heads * dim;
        };
        let [kv_rank, q_rank, rope, v] =
            [latent.kv_rank, latent.q_rank, latent.rope_dim, latent.v_dim].map(u64::from);
        let query = match q_rank {
            0 => h * heads * dim,
            rank => h * rank + rank * heads * dim,
        };
        let down = h * (kv_rank + rope);
        let up = kv_rank * heads * (dim.saturating_sub(rope) + v);
        query + down + up + heads * v * h
    }

    /// Parameters of a feed-forward block of this width.
    fn ffn_params(&self, width: u32) -> u64 {
        let projections = if self.gated { 3 } else { 2 };
        projections * u64::from(self.hidden) * u64::from(width)
    }

    /// Parameters that every token uses: attention, dense blocks, shared experts and routers.
    pub fn dense_params(&self) -> u64 {
        let layers = u64::from(self.layers);
        let attention = layers * self.attention_params();
        let Some(experts) = self.experts else {
            return attention + layers * self.ffn_params(self.ffn);
        };
        let with_experts = u64::from(experts.layers);
        let router = u64::from(self.hidden) * u64::from(experts.total);
        attention
            + layers.saturating_sub(with_experts) * self.ffn_params(self.ffn)
            + with_experts * (router + self.ffn_params(experts.shared_ffn))
    }

    /// Parameters of all routed experts of all layers; 0 in a dense model.
    pub fn expert_params(&self) -> u64 {
        self.experts.map_or(0, |experts| {
            u64::from(experts.layers) * u64::from(experts.total) * self.ffn_params(experts.ffn)
        })
    }

    /// Parameters of the layers, all experts included: everything but embeddings and output projection.
    pub fn body_params(&self) -> u64 {
        self.dense_params() + self.expert_params()
    }

    /// Parameters of the layers that one token uses.
    pub fn active_params(&self) -> u64 {
        let routed = self.experts.map_or(0, |experts| {
            u64::from(experts.layers) * u64::from(experts.active) * self.ffn_params(experts.ffn)
        });
        self.dense_params() + routed
    }

    /// Parameters of the output projection, `hidden × vocabulary`.
    pub fn head_params(&self) -> u64 {
        u64::from(self.hidden) * u64::from(self.vocab)
    }

    /// Parameters of the embedding table, the output projection where it is not the same, and positions.
    pub fn embedding_params(&self) -> u64 {
        let tables = if self.tied { 1 } else { 2 };
        tables * self.head_params() + u64::from(self.position_rows) * u64::from(self.hidden)
    }

    /// All parameters.
    pub fn total_params(&self) -> u64 {
        self.body_params() + self.embedding_params()
    }

    /// Bytes of all weights.
    pub fn weight_bytes(&self) -> u64 {
        self.total_params() * u64::from(self.dtype_bytes)
    }

    /// Bytes that one token adds to the KV cache, over all layers.
    ///
    /// `2 × layers × KV heads × head dimension × bytes`; with latent attention, `layers × (rank + positions)
    /// × bytes`.
    pub fn kv_bytes_per_token(&self) -> u64 {
        let cached = match self.latent {
            None => 2 * u64::from(self.kv_heads) * u64::from(self.head_dim),
            Some(latent) => u64::from(latent.kv_rank) + u64::from(latent.rope_dim),
        };
        u64::from(self.layers) * cached * u64::from(self.dtype_bytes)
    }

    /// FLOPs of attention for one query token and one token of context, over all layers: a multiplication
    /// and an addition each for the score and for the value.
    ///
    /// `4 × layers × heads × head dimension`; with latent attention, that of the uncompressed heads.
    pub fn attention_flops(&self) -> u64 {
        let per_head = match self.latent {
            None => 4 * u64::from(self.head_dim),
            Some(latent) => 2 * (u64::from(self.head_dim) + u64::from(latent.v_dim)),
        };
        u64::from(self.layers) * u64::from(self.heads) * per_head
    }

    /// FLOPs of one token at this context, its output projection included.
    pub fn flops_per_token(&self, context: u64) -> f64 {
        2.0 * (self.active_params() + self.head_params()) as f64
            + self.attention_flops() as f64 * context as f64
    }
}

impl Experts {
    /// The share of the routed experts that `tokens` are expected to use together: `1 − (1 − k/E)^tokens`, as
    /// if the router chose evenly.
    pub fn share_used(&self, tokens: f64) -> f64 {
        let idle = 1.0 - f64::from(self.active) / f64::from(self.total.max(1));
        1.0 - libm::pow(idle, tokens)
    }
}

#[cfg(test)]
mod tests;
