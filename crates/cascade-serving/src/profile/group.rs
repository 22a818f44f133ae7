//! Groups of kernels, told apart by name and launch shape.

use serde::{Deserialize, Serialize};

/// What a kernel does in a transformer's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Matrix products of the layers.
    Linear,
    /// Attention over the KV cache.
    Attention,
    /// Writing keys and values into the cache.
    KvWrite,
    /// The output projection.
    LmHead,
    /// Choosing a token from the logits.
    Sampler,
    /// All else: norms, activations, reductions, copies.
    Elementwise,
}

impl Group {
    /// All groups in the order of [`GroupTimes`].
    pub const ALL: [Self; 6] = [
        Self::Linear,
        Self::Attention,
        Self::KvWrite,
        Self::LmHead,
        Self::Sampler,
        Self::Elementwise,
    ];

    /// Its name in JSON and in the assumptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Attention => "attention",
            Self::KvWrite => "kv_write",
            Self::LmHead => "lm_head",
            Self::Sampler => "sampler",
            Self::Elementwise => "elementwise",
        }
    }
}

/// A time for each group, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTimes {
    /// Matrix products of the layers.
    pub linear: u64,
    /// Attention.
    pub attention: u64,
    /// Cache writes.
    pub kv_write: u64,
    /// Output projection.
    pub lm_head: u64,
    /// Sampling.
    pub sampler: u64,
    /// All else.
    pub elementwise: u64,
}

impl GroupTimes {
    /// From times in the order of [`Group::ALL`].
    pub fn from_array([linear, attention, kv_write, lm_head, sampler, elementwise]: [u64; 6]) -> Self {
        Self {
            linear,
            attention,
            kv_write,
            lm_head,
            sampler,
            elementwise,
        }
    }

    /// In the order of [`Group::ALL`].
    pub fn to_array(self) -> [u64; 6] {
        [
            self.linear,
            self.attention,
            self.kv_write,
            self.lm_head,
            self.sampler,
            self.elementwise,
        ]
    }

    /// One group's time.
    pub fn get(self, group: Group) -> u64 {
        self.to_array().get(group as usize).copied().unwrap_or(0)
    }

    /// Group by group, this plus the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let mut sums = self.to_array();
        for (sum, ns) in sums.iter_mut().zip(other.to_array()) {
            *sum = sum.saturating_add(ns);
        }
        Self::from_array(sums)
    }

    /// The sum.
    pub fn total(self) -> u64 {
        self.to_array().iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }
}

/// Parts of lower-case names, and the group that a name with one of them belongs to. The first line that
/// matches decides: a library's name (`flashinfer`, `cutlass`, `cublas`) says less than the operation's.
const NAMES: [(&[&str], Group); 7] = [
    (
        &[
            "reshape_and_cache",
            "concat_and_cache",
            "append_paged_kv",
            "store_kv",
            "write_kv",
            "set_kv_buffer",
        ],
        Group::KvWrite,
    ),
    // Expert routing, norms and split-K sums, which libraries named below also have.
    (
        &[
            "gating",
            "routing",
            "bitmatrix",
            "topk_forward",
            "topk_softmax",
            "grouped_topk",
            "moe_align",
            "moe_sum",
            "layernorm",
            "layer_norm",
            "rmsnorm",
            "rms_norm",
            "norm_kernel",
            "splitkreduce",
            "split_k_reduce",
        ],
        Group::Elementwise,
    ),
    (
        &[
            "sampling",
            "sample_",
            "top_k",
            "topk",
            "topp",
            "top_p",
            "min_p",
            "argmax",
            "multinomial",
            "exponential_kernel",
            "radixsort",
            "radix_sort",
            "penalt",
            "logprob",
            "log_softmax",
            "logsoftmax",
            "gumbel",
        ],
        Group::Sampler,
    ),
    (
        &[
            "flash",
            "attention",
            "attn",
            "fmha",
            "mha_",
            "mla_",
            "paged_kv",
            "splitkv",
        ],
        Group::Attention,
    ),
    (&["softmax"], Group::Sampler),
    (&["lm_head", "lmhead"], Group::LmHead),
    (
        &[
            "gemm",
            "gemv",
            "nvjet",
            "cublas",
            "cutlass",
            "xmma",
            "matmul",
            "fused_moe",
            "marlin",
            "machete",
            "cijk_",
            "s16816",
            "wgmma",
        ],
        Group::Linear,
    ),
];

/// The group that a kernel's name says; nothing recognised is [`Group::Elementwise`].
///
/// The output projection seldom has a name of its own: [`classify`] finds it by its launch.
fn by_name(name: &str) -> Group {
    let name = name.to_ascii_lowercase();
    let line = NAMES
        .iter()
        .find(|(parts, _)| parts.iter().any(|part| name.contains(part)));
    line.map_or(Group::Elementwise, |(_, group)| *group)
}

/// CTAs of a grid written `XxYxZ`.
fn ctas(grid: &str) -> Option<u64> {
    grid.split('x').try_fold(1_u64, |product, side| {
        product.checked_mul(side.trim().parse().ok()?)
    })
}

/// The groups of a step's kernels, given as (name, grid) in launch order.
///
/// Without a kernel that is named so, the last matrix product is the output projection if its grid has at
/// least twice the CTAs of the median matrix product.
pub fn classify<'a>(kernels: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<Group> {
    let mut grids = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for (name, grid) in kernels {
        let group = by_name(name);
        if group == Group::Linear {
            grids.push((groups.len(), grid.and_then(ctas)));
        }
        groups.push(group);
    }
    if groups.contains(&Group::LmHead) {
        return groups;
    }
    let mut sorted: Vec<u64> = grids.iter().filter_map(|(_, ctas)| *ctas).collect();
    sorted.sort_unstable();
    let middle = |i: usize| sorted.get(i).copied().unwrap_or(0);
    // Twice the median: the sum of the two middle values of an even number, which may be one and the same.
    let twice_median = middle(sorted.len() / 2).saturating_add(middle(sorted.len().saturating_sub(1) / 2));
    if let Some((last, Some(ctas))) = grids.last()
        && grids.len() > 1
        && *ctas >= twice_median
        && let Some(group) = groups.get_mut(*last)
    {
        *group = Group::LmHead;
    }
    groups
}
