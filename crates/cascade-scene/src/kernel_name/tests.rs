//! Names as traces of vLLM, BabelStream and Rodinia hold them.

use super::readable;

#[test]
fn mangled_and_templated_names_become_readable() {
    let rows = [
        ("_Z11init_kernelIdEvPT_S1_S1_S0_S0_S0_", "init_kernel"),
        ("_Z10dot_kernelIdEvPKT_S2_PS0_i", "dot_kernel"),
        ("_Z6vecAddPdS_S_i", "vecAdd"),
        (
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
            "vectorized_elementwise_kernel<CUDAFunctor_add>",
        ),
        (
            "_ZN7cutlass7Kernel2I66cutlass_80_tensorop_s16816gemm_f16_64x64_sliced1x2_ldg8_f16f_tn_al8EEvNT_6ParamsE",
            "cutlass_80_tensorop_s16816gemm_f16_64x64_sliced1x2_ldg8_f16f_tn_al",
        ),
        (
            "_ZN4vllm21rms_norm_kernelVectorILi8EfEEvPT0_",
            "rms_norm_kernelVector",
        ),
        ("_ZN2at6native12_GLOBAL__N_114softmax_warp_fEv", "softmax_warp_f"),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, x>(int)",
            "vectorized_elementwise_kernel<CUDAFunctor_add>",
        ),
        (
            "void cutlass::Kernel2<cutlass_80_wmma_tensorop_gemm>(cutlass_80_wmma_tensorop_gemm::Params)",
            "cutlass_80_wmma_tensorop_gemm",
        ),
        ("void reduce<float, (int)4>(float*, int)", "reduce"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        (
            "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT",
            "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT",
        ),
        ("", ""),
    ];
    for (name, short) in rows {
        assert_eq!(readable(name), short, "{name}");
    }
}

#[test]
fn a_name_it_cannot_follow_stays_as_it_is() {
    for name in [
        "_Z",
        "_ZN",
        "_Z99short",
        "_ZNS",
        "_ZN3foo",
        "_ZL",
        "_Z5ab",
        "<",
        "(",
        "::",
        "_ZNK",
        "_Z3é",
    ] {
        let short = readable(name);
        assert!(short == name || name.contains(&short), "{name} became {short}");
    }
}
