//! How many KV blocks fit into a GPU's memory, with every term of the sum.

use serde::{Deserialize, Serialize};

use crate::datasheet::{Datasheet, GIB};
use crate::facts::ModelFacts;

/// `gpu_memory_utilization` where neither the user nor the profiled run gives it; assumed. It is no fraction
/// of a bandwidth, though the roofline's happens to be as large.
pub const ASSUMED_UTILIZATION: f64 = 0.8;

/// Activations for which the reference formula keeps 1 GiB.
const REFERENCE_RESERVE: f64 = GIB;

/// 32-bit copies of the logits that a profiling run of vLLM holds at its peak, while it samples for
/// `max_num_seqs` requests.
///
/// Fitted to the peak activation that vLLM printed on one H100 for Llama-3.1-8B (4.76 GiB), Qwen3-0.6B
/// (5.56), Qwen3-32B (5.64) and gpt-oss-20b (7.38) at 8,192 tokens and 1,024 sequences (llm-d-benchmark,
/// `empirical-vllm-memory-results.md`): 9.56 to 9.60 each, with one copy of the hidden states.
const LOGITS_COPIES: f64 = 9.58;

/// What CUDA itself takes on one GPU, in GiB: 0.13 to 0.14 in the same records.
const NON_TORCH_GIB: f64 = 0.13;

/// CUDA graphs, in GiB: vLLM subtracts an estimate since 0.21; 0.39 was measured for gpt-oss-20b.
const GRAPHS_GIB: f64 = 0.39;

/// One term of a sum of bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// What it is.
    pub name: String,
    /// Bytes; negative where they are taken away.
    pub bytes: f64,
    /// The formula with its values, or where the number comes from.
    pub source: String,
}

/// How the number of blocks came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KvPolicy {
    /// Stated by the user, or by the profiled run.
    Given,
    /// Datasheet memory, weights and a reserve of 1 GiB.
    Reference,
    /// vLLM's formula: memory that CUDA reports, weights, peak activation, CUDA's own and graphs.
    Vllm,
}

/// A number of KV blocks and the sum it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KvCapacity {
    /// How it came about.
    pub policy: KvPolicy,
    /// Blocks; vLLM keeps one of them as its null block.
    pub blocks: u64,
    /// Tokens of a block.
    pub block_size: u32,
    /// Bytes of a block.
    pub block_bytes: f64,
    /// The terms; their sum over `block_bytes`, rounded down, is `blocks`. Empty where it was given.
    pub terms: Vec<Term>,
}

/// Why no block fits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KvError {
    /// A setting that cannot be.
    #[error("{field} is {value}; it must be {wanted}")]
    Setting {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        wanted: &'static str,
    },
    /// Weights and reserves leave no room for one block.
    #[error(
        "{model} on {gpu}: weights and reserves take {used:.2} GiB of the {usable:.2} GiB that may be used; no \
         KV block of {block:.0} bytes fits: raise gpu_memory_utilization or take a GPU with more memory"
    )]
    NoRoom {
        /// The model.
        model: String,
        /// The GPU.
        gpu: String,
        /// What is taken, in GiB.
        used: f64,
        /// What may be used, in GiB.
        usable: f64,
        /// Bytes of a block.
        block: f64,
    },
}

/// Settings of vLLM's formula. A term that is given replaces its estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VllmMemory {
    /// `gpu_memory_utilization`; vLLM 0.33 takes 0.92 by default.
    pub utilization: f64,
    /// Tokens of a block; 16 by default.
    pub block_size: u32,
    /// `max_num_batched_tokens`.
    pub max_num_batched_tokens: u32,
    /// `max_num_seqs`.
    pub max_num_seqs: u32,
    /// Whether CUDA graphs are off.
    pub enforce_eager: bool,
    /// Peak activation of the profiling run, in bytes.
    pub activation_bytes: Option<f64>,
    /// What CUDA takes outside PyTorch, in bytes.
    pub non_torch_bytes: Option<f64>,
    /// The estimate of CUDA graphs, in bytes.
    pub graph_bytes: Option<f64>,
}

impl Default for VllmMemory {
    /// vLLM 0.33's server on an H100.
    fn default() -> Self {
        Self {
            utilization: 0.92,
            block_size: 16,
            max_num_batched_tokens: 8192,
            max_num_seqs: 1024,
            enforce_eager: false,
            activation_bytes: None,
            non_torch_bytes: None,
            graph_bytes: None,
        }
    }
}

impl KvCapacity {
    /// A number that is known.
    pub fn given(model: &ModelFacts, blocks: u64, block_size: u32) -> Self {
        Self {
            policy: KvPolicy::Given,
            blocks,
            block_size,
            block_bytes: block_bytes(model, block_size),
            terms: Vec::new(),
        }
    }

    /// `floor((memory × utilization − weights − 1 GiB) / (block size × KV bytes per token))`, with the
    /// datasheet's memory and one embedding table.
    ///
    /// # Errors
    /// A setting out of range, or no room for a block.
    pub fn reference(
        model: &ModelFacts,
        gpu: &Datasheet,
        utilization: f64,
        block_size: u32,
    ) -> Result<Self, KvError> {
        let params = model.body_params() + model.head_params();
        let weights = (params * u64::from(model.dtype_bytes)) as f64;
        let terms = vec![
            usable(gpu.memory_bytes(), utilization, "datasheet"),
            term(
                "weights",
                -weights,
                format!(
                    "(layers + one embedding table) = {params} parameters x {} bytes",
                    model.dtype_bytes
                ),
            ),
            term(
                "activation reserve",
                -REFERENCE_RESERVE,
                "assumed: 1 GiB".to_owned(),
            ),
        ];
        Self::from_terms(KvPolicy::Reference, model, gpu, utilization, block_size, terms)
    }

    /// vLLM's own sum: `ceil(CUDA memory × utilization) − weights − peak activation − CUDA − graphs`.
    ///
    /// # Errors
    /// A setting out of range, or no room for a block.
    pub fn vllm(model: &ModelFacts, gpu: &Datasheet, settings: &VllmMemory) -> Result<Self, KvError> {
        let (tokens, seqs) = (
            f64::from(settings.max_num_batched_tokens),
            f64::from(settings.max_num_seqs),
        );
        let (memory, memory_source) = match gpu.cuda_memory_gib {
            Some(gib) => (gib * GIB, "CUDA reports"),
            None => (gpu.memory_bytes(), "datasheet; what CUDA reports is not known"),
        };
        let logits = LOGITS_COPIES * seqs * f64::from(model.vocab) * 4.0;
        let states = tokens * f64::from(model.hidden) * f64::from(model.dtype_bytes);
        let graphs = if settings.enforce_eager {
            0.0
        } else {
            GRAPHS_GIB * GIB
        };
        let estimate = |name, given: Option<f64>, value: f64, source: String| match given {
            Some(bytes) => term(name, -bytes, "given".to_owned()),
            None => term(name, -value, source),
        };
        let terms = vec![
            usable(memory, settings.utilization, memory_source),
            term(
                "weights",
                -(model.weight_bytes() as f64),
                format!(
                    "{} parameters x {} bytes",
                    model.total_params(),
                    model.dtype_bytes
                ),
            ),
            estimate(
                "peak activation",
                settings.activation_bytes,
                logits + states,
                format!(
                    "estimated: {LOGITS_COPIES} x {seqs} sequences x {} logits x 4 bytes + {tokens} tokens x {} x {} bytes",
                    model.vocab, model.hidden, model.dtype_bytes
                ),
            ),
            estimate(
                "CUDA outside PyTorch",
                settings.non_torch_bytes,
                NON_TORCH_GIB * GIB,
                format!("assumed: {NON_TORCH_GIB} GiB"),
            ),
            estimate(
                "CUDA graphs",
                settings.graph_bytes,
                graphs,
                if settings.enforce_eager {
                    "none: enforce_eager".to_owned()
                } else {
                    format!("assumed: {GRAPHS_GIB} GiB")
                },
            ),
        ];
        Self::from_terms(
            KvPolicy::Vllm,
            model,
            gpu,
            settings.utilization,
            settings.block_size,
            terms,
        )
    }

    fn from_terms(
        policy: KvPolicy,
        model: &ModelFacts,
        gpu: &Datasheet,
        utilization: f64,
        block_size: u32,
        terms: Vec<Term>,
    ) -> Result<Self, KvError> {
        let setting = |field, value, wanted| Err(KvError::Setting { field, value, wanted });
        if !(utilization > 0.0 && utilization <= 1.0) {
            return setting("gpu_memory_utilization", utilization, "above 0 and at most 1");
        }
        if block_size == 0 {
            return setting("block_size", 0.0, "at least 1");
        }
        if let Some(bad) = terms.iter().find(|term| !term.bytes.is_finite()) {
            return setting("a memory term", bad.bytes, "a number of bytes");
        }
        let block_bytes = block_bytes(model, block_size);
        let free: f64 = terms.iter().map(|term| term.bytes).sum();
        if free < block_bytes {
            let usable = terms.first().map_or(0.0, |term| term.bytes);
            return Err(KvError::NoRoom {
                model: model.name.clone(),
                gpu: gpu.gpu.clone(),
                used: (usable - free) / GIB,
                usable: usable / GIB,
                block: block_bytes,
            });
        }
        // `as` is exact: a quotient of at most 1e14 bytes by at least one.
        let blocks = (free / block_bytes) as u64;
        Ok(Self {
            policy,
            blocks,
            block_size,
            block_bytes,
            terms,
        })
    }
}

fn block_bytes(model: &ModelFacts, block_size: u32) -> f64 {
    f64::from(block_size) * model.kv_bytes_per_token() as f64
}

fn term(name: &str, bytes: f64, source: String) -> Term {
    Term {
        name: name.to_owned(),
        bytes,
        source,
    }
}

/// The memory that may be used, rounded up to a byte as vLLM does.
fn usable(memory: f64, utilization: f64, source: &str) -> Term {
    let bytes = (memory * utilization).ceil();
    term(
        "usable memory",
        bytes,
        format!("{memory:.0} bytes ({source}) x {utilization}"),
    )
}

#[cfg(test)]
mod tests;
