//! What a kernel does, guessed from its name and grid.
//!
//! The roles are inferred: no profiler range says them. Which projection a GEMM computes shows only in its
//! grid, and only for a model and a kernel library whose grids are known; elsewhere it is `GEMM`.

use std::fmt;

use crate::timeline::Shape;

/// The role of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The projection to query, key and value.
    Qkv,
    /// Attention over the KV cache.
    Attention,
    /// Writing keys and values into the cache.
    KvWrite,
    /// The projection of attention's output.
    OutProj,
    /// The MLP's first projection.
    MlpUp,
    /// The MLP's second projection.
    MlpDown,
    /// Adding up the parts of a split-K GEMM.
    SplitK,
    /// The projection to the vocabulary.
    LmHead,
    /// A matrix product whose place in the model is not known.
    Gemm,
    /// Element by element: adding, activating, converting, copying.
    Elementwise,
    /// Layer and RMS norms.
    LayerNorm,
    /// Anything else: setup, index selection, reductions.
    Other,
}

/// Grid-Y of an `nvjet` GEMM of OPT-125m and the projection it computes, as published with that profile:
/// the tiles along the output width (2304, 768, 3072, 768, 50272) at the tile that the library chose.
const OPT_125M_NVJET: [(u64, Role); 5] = [
    (9, Role::Qkv),
    (3, Role::OutProj),
    (12, Role::MlpUp),
    (6, Role::MlpDown),
    (66, Role::LmHead),
];

/// Parts of names in the order in which they are tried: a cache write or the set-up of an attention call may name
/// the attention library, a split-K reduction the GEMM library, an elementwise kernel an index.
const NAMES: [(&[&str], Role); 7] = [
    (
        &["reshape_and_cache", "concat_and_cache", "kv_cache"],
        Role::KvWrite,
    ),
    (&["prepare_varlen"], Role::Other),
    (&["flash", "attention", "attn", "fmha"], Role::Attention),
    (&["splitkreduce"], Role::SplitK),
    (
        &[
            "nvjet", "gemm", "gemv", "cutlass", "xmma", "cublas", "matmul", "wgmma",
        ],
        Role::Gemm,
    ),
    (
        &["layer_norm", "layernorm", "rms_norm", "rmsnorm"],
        Role::LayerNorm,
    ),
    (
        &["elementwise", "act_and_mul", "copy_kernel", "activation_kernel"],
        Role::Elementwise,
    ),
];

impl Role {
    /// The role of a kernel; `model` is the timeline's `meta.model`.
    pub fn of(shape: &Shape, model: Option<&str>) -> Self {
        let name = shape.name.to_ascii_lowercase();
        let holds = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let role = NAMES.iter().find(|(parts, _)| holds(parts));
        match role.map_or(Self::Other, |(_, role)| *role) {
            Self::Gemm => projection(&name, shape, model).unwrap_or(Self::Gemm),
            role => role,
        }
    }

    /// The role's name on pages and in files.
    pub fn label(self) -> &'static str {
        match self {
            Self::Qkv => "QKV GEMM",
            Self::Attention => "Attention",
            Self::KvWrite => "KV-cache write",
            Self::OutProj => "Out-proj GEMM",
            Self::MlpUp => "MLP up GEMM",
            Self::MlpDown => "MLP down GEMM",
            Self::SplitK => "Split-K reduction",
            Self::LmHead => "lm_head GEMM",
            Self::Gemm => "GEMM",
            Self::Elementwise => "Small elementwise",
            Self::LayerNorm => "Layer norm",
            Self::Other => "Other setup/index/reduction",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Which projection a GEMM computes, where its grid says so.
fn projection(name: &str, shape: &Shape, model: Option<&str>) -> Option<Role> {
    let known = name.contains("nvjet") && model.is_some_and(|m| m.to_ascii_lowercase().contains("opt-125m"));
    let y: u64 = shape
        .grid
        .as_deref()
        .filter(|_| known)?
        .split('x')
        .nth(1)?
        .parse()
        .ok()?;
    let found = OPT_125M_NVJET.iter().find(|(grid_y, _)| *grid_y == y);
    found.map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, grid: &str, model: &str) -> Role {
        let shape = Shape {
            name: name.to_owned(),
            grid: Some(grid.to_owned()),
            block: None,
        };
        Role::of(&shape, Some(model))
    }

    #[test]
    fn names_say_the_role() {
        let of = |name: &str| role(name, "1x1x1", "any");
        assert_eq!(of("_ZN4vllm30reshape_and_cache_flash_kernelI"), Role::KvWrite);
        assert_eq!(
            of("_ZN7cutlass13device_kernelIN5flash11FlashAttnFwdSm90"),
            Role::Attention
        );
        assert_eq!(
            of("_ZN5flash32prepare_varlen_num_blocks_kernelILi1E"),
            Role::Other
        );
        assert_eq!(of("_ZN8cublasLt19splitKreduce_kernelILi32E"), Role::SplitK);
        assert_eq!(
            of("_ZN2at6native29vectorized_elementwise_kernelILi8E"),
            Role::Elementwise
        );
        assert_eq!(of("vectorized_layer_norm_kernel"), Role::LayerNorm);
        assert_eq!(of("indexSelectSmallIndex"), Role::Other);
        assert_eq!(of("_ZN2at6native13reduce_kernelILi512E"), Role::Other);
        assert_eq!(of("ampere_fp16_s16816gemm_fp16_64x64"), Role::Gemm);
    }

    #[test]
    fn a_grid_says_the_projection_of_a_known_model_only() {
        for (y, wanted) in OPT_125M_NVJET {
            let grid = format!("1x{y}x1");
            assert_eq!(role("nvjet_hsh_64x8", &grid, "facebook/opt-125m"), wanted);
            assert_eq!(role("nvjet_hsh_64x8", &grid, "facebook/opt-1.3b"), Role::Gemm);
        }
        assert_eq!(role("nvjet_hsh_64x8", "1x7x1", "facebook/opt-125m"), Role::Gemm);
        assert_eq!(role("nvjet_hsh_64x8", "odd", "facebook/opt-125m"), Role::Gemm);
    }
}
