//! Kernels by role, and the codes that play them.

/// What a kernel does in the model. Roles were inferred from names and grids when the figures were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Qkv,
    Attention,
    KvWrite,
    OutProj,
    MlpUp,
    MlpDown,
    SplitK,
    LmHead,
    Elementwise,
    LayerNorm,
    Other,
}

/// Number of groups.
pub(crate) const GROUPS: usize = 11;

/// A kernel as it is launched: code and launch shape. Launches with the same one were simulated once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    pub(crate) group: Group,
    /// The function's mangled name: of the kind that the model's libraries have, not the recorded one.
    pub(crate) name: &'static str,
    pub(crate) grid: &'static str,
    pub(crate) block: &'static str,
    /// Its share of the group's measured time, against the group's others.
    pub(crate) weight: i64,
    /// Simulated cycles on each GPU config, in the order of the profile's configs.
    pub(crate) cycles: [u64; 2],
}

/// Where a kernel of a step comes from: the same code in every step, or one for prefill and one for decode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Same(Code),
    ByKind {
        prefill: Code,
        decode: Code,
    },
    /// Only in prefill.
    Prefill(Code),
}

pub(crate) const fn code(
    group: Group,
    name: &'static str,
    (grid, block): (&'static str, &'static str),
    weight: i64,
    cycles: [u64; 2],
) -> Code {
    Code {
        group,
        name,
        grid,
        block,
        weight,
        cycles,
    }
}

/// Names that both GPUs' libraries have.
pub(crate) mod names {
    pub(crate) const KV_WRITE: &str = "_ZN4vllm30reshape_and_cache_flash_kernelIttLNS_18Fp8KVCacheDataTypeE0EEEvPKT_S4_PT0_S6_PKlllllliiiPKfS9_";
    pub(crate) const SPLIT_K: &str =
        "_ZN8cublasLt19splitKreduce_kernelILi32ELi16Eif6__halffS1_Lb0ELb1ELb0EEEvPKT2_PT3_PKT4_i";
    pub(crate) const LAYER_NORM: &str =
        "_ZN2at6native28vectorized_layer_norm_kernelIN3c104HalfEfLb0EEEviT0_PKT_S6_S6_PS3_S7_PS4_";
    pub(crate) const INDEX_SELECT: &str =
        "_ZN2at6native21indexSelectSmallIndexIN3c104HalfElmLi2ELi2ELin2EEEvPT_PKS4_PKT0_iimm";
    pub(crate) const ARG_MAX: &str =
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_9ArgMaxOpsIfEEmlLi4ELi4EEEEEvT1_";
    pub(crate) const GATHER: &str = "_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb";
    pub(crate) const ADD: &str = "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c104HalfEEESt5arrayIPcLm3EEEEviT0_T1_";
    pub(crate) const RELU: &str = "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_19launch_clamp_scalarIN3c104HalfEEESt5arrayIPcLm2EEEEviT0_T1_";
    pub(crate) const COPY: &str = "_ZN2at6native27unrolled_elementwise_kernelINS0_19direct_copy_functorIN3c104HalfEEESt5arrayIPcLm2EELi4EEEviT_T0_";
    pub(crate) const TO_FLOAT: &str = "_ZN2at6native27unrolled_elementwise_kernelINS0_18float16_copy_floatIfEESt5arrayIPcLm2EELi4EEEviT_T0_";
    pub(crate) const ADD_LONG: &str = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIlEESt5arrayIPcLm2EEEEviT0_T1_";
    pub(crate) const FILL: &str =
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIiEESt5arrayIPcLm1EEEEviT0_T1_";
    pub(crate) const COMPARE: &str =
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_14CompareFunctorIfEESt5arrayIPcLm3EEEEviT0_T1_";
    pub(crate) const MUL: &str =
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10MulFunctorIfEESt5arrayIPcLm3EEEEviT0_T1_";
    pub(crate) const WHERE: &str =
        "_ZN2at6native27unrolled_elementwise_kernelINS0_12WhereFunctorIfEESt5arrayIPcLm4EELi4EEEviT_T0_";
    pub(crate) const CAST_LONG: &str = "_ZN2at6native27unrolled_elementwise_kernelINS0_19direct_copy_functorIlEESt5arrayIPcLm2EELi4EEEviT_T0_";
}
