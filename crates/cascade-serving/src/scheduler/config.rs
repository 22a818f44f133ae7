//! The scheduler's settings, by vLLM's names, and vLLM's defaults for them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Whose rules decide what runs in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// vLLM 0.33.0's v1 scheduler, step by step.
    #[default]
    VllmV1,
    /// A plainer scheduler: decodes before prefills, admission whenever a block is free. See `reference.rs`.
    Reference,
}

/// The order of waiting requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// First come, first served.
    #[default]
    Fcfs,
    /// By (priority, arrival), smaller first. Rules `vllm-v1` only.
    Priority,
}

/// Settings of one engine. Names are vLLM's; the default values are those of its `SchedulerConfig` class and
/// engine arguments, save `num_gpu_blocks`, which has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Whose rules.
    pub rules: Rules,
    /// Order of the waiting queue.
    pub policy: Policy,
    /// KV blocks. Under `vllm-v1` one of them is the null block, which no request gets.
    pub num_gpu_blocks: u32,
    /// Tokens in a KV block.
    pub block_size: u32,
    /// Most running requests.
    pub max_num_seqs: u32,
    /// Most query tokens in a step.
    pub max_num_batched_tokens: u32,
    /// Longest prompt plus output, in tokens.
    pub max_model_len: u32,
    /// Longest prefill chunk while others are present; 0 sets no such limit.
    pub long_prefill_token_threshold: u32,
    /// Whether a prompt can be computed over several steps.
    pub enable_chunked_prefill: bool,
    /// Whether admission asks for the whole prompt's blocks to be free.
    pub scheduler_reserve_full_isl: bool,
    /// Share of the blocks that admission leaves free while others run.
    pub watermark: f64,
    /// Whether equal prefixes share blocks.
    pub enable_prefix_caching: bool,
    /// Whether step k+1 is scheduled while step k runs.
    pub async_scheduling: bool,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            rules: Rules::VllmV1,
            policy: Policy::Fcfs,
            num_gpu_blocks: 0,
            block_size: 16,
            max_num_seqs: 128,
            max_num_batched_tokens: 2048,
            max_model_len: u32::MAX,
            long_prefill_token_threshold: 0,
            enable_chunked_prefill: true,
            scheduler_reserve_full_isl: true,
            watermark: 0.0,
            enable_prefix_caching: true,
            async_scheduling: false,
        }
    }
}

/// Largest block, in tokens; vLLM's are at most a few hundred.
pub const MAX_BLOCK_SIZE: u32 = 1 << 16;

/// What is wrong with an engine's settings.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConfigError {
    /// There is no such engine.
    #[error("{field} is 0: set it to at least 1")]
    Zero {
        /// The setting.
        field: &'static str,
    },
    /// Blocks are larger than [`MAX_BLOCK_SIZE`].
    #[error("block_size is {0}: set it to at most {MAX_BLOCK_SIZE}")]
    BlockSize(u32),
    /// The watermark is not a share.
    #[error("watermark is {0}: set it to a share from 0 to 1")]
    Watermark(f64),
}

impl SchedulerConfig {
    /// Checks that an engine can have these settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        let zero = [
            ("block_size", self.block_size),
            ("max_num_seqs", self.max_num_seqs),
            ("max_num_batched_tokens", self.max_num_batched_tokens),
        ];
        if let Some((field, _)) = zero.into_iter().find(|(_, value)| *value == 0) {
            return Err(ConfigError::Zero { field });
        }
        if self.block_size > MAX_BLOCK_SIZE {
            return Err(ConfigError::BlockSize(self.block_size));
        }
        if !(0.0..=1.0).contains(&self.watermark) {
            return Err(ConfigError::Watermark(self.watermark));
        }
        Ok(())
    }

    /// Blocks that requests can use.
    pub fn usable_blocks(&self) -> u32 {
        match self.rules {
            Rules::VllmV1 => self.num_gpu_blocks.saturating_sub(1),
            Rules::Reference => self.num_gpu_blocks,
        }
    }

    /// The same settings with vLLM 0.33.0's default limits for a GPU and a use, bounded as it bounds them: a
    /// whole prompt fits the budget if it cannot be cut, no budget exceeds what the sequences can hold, and no
    /// more sequences run than the budget has tokens for.
    pub fn with_default_limits(self, gpu_name: &str, memory_bytes: u64, usage: Usage) -> Self {
        let (tokens, seqs) = default_limits(gpu_name, memory_bytes, usage);
        let tokens = if self.enable_chunked_prefill {
            tokens
        } else {
            tokens.max(self.max_model_len)
        };
        let max_num_batched_tokens = tokens.min(seqs.saturating_mul(self.max_model_len));
        Self {
            max_num_batched_tokens,
            max_num_seqs: seqs.min(max_num_batched_tokens),
            ..self
        }
    }

    /// Blocks that admission leaves free while others run: vLLM's `int(watermark * num_blocks)`.
    pub(crate) fn watermark_blocks(&self) -> u32 {
        (self.watermark * f64::from(self.num_gpu_blocks)) as u32
    }
}

/// How an engine is used: vLLM's defaults differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Usage {
    /// The `LLM` class, offline.
    Offline,
    /// The OpenAI-compatible server.
    Server,
}

/// vLLM 0.33.0's `max_num_batched_tokens` and `max_num_seqs` for a GPU, before a model's length bounds them
/// (`vllm/engine/arg_utils.py`): large memory gets larger steps, an A100 counts as small whatever it has.
pub fn default_limits(gpu_name: &str, memory_bytes: u64, usage: Usage) -> (u32, u32) {
    const GIB: u64 = 1 << 30;
    let a100 = gpu_name.to_ascii_lowercase().contains("a100");
    match (memory_bytes / GIB, usage) {
        (160.., _) => (16_384, 1024),
        (70.., Usage::Offline) if !a100 => (16_384, 1024),
        (70.., Usage::Server) if !a100 => (8192, 1024),
        (_, Usage::Offline) => (8192, 256),
        (_, Usage::Server) => (2048, 256),
    }
}
