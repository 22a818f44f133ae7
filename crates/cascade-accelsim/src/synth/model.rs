//! Kernels like those of a language model's forward passes, scaled down.

use std::fmt::Write as _;
use std::io::Write;

use super::{Arch, Copy, Counts, Decode, Gemm, KernelShape, LayerNorm, Reduction, SynthError, SynthKernel};
use crate::trace::{TraceErrorKind, TraceFormat};

/// Most forward passes in one trace.
pub const MAX_STEPS: u32 = 64;
/// CUDA context that the files are named after.
const CONTEXT: &str = "0x5ca1ed";
/// What a synthetic trace names as the GPU it was recorded on.
pub const NO_GPU: &str = "none (synthetic)";
/// Tokens in the prompt of the first pass.
pub const PROMPT: u32 = 32;
/// KV cache that a pass copies from block to block, as beam search and parallel sampling do: the one kernel of a
/// pass that is bound by DRAM, so that GPUs with different memories differ.
const COPIED_BYTES: u64 = 3 << 20;
/// Queries that one block of the prefill's attention takes together.
const QUERIES_A_BLOCK: u32 = 16;

/// A model that kernels can be made like: real name and scaled extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPreset {
    /// Short name, as on the command line.
    pub name: &'static str,
    /// Name on the model hub.
    pub full_name: &'static str,
    /// Layers, hidden size, heads, feed-forward size and vocabulary of the real model.
    pub real: [u32; 5],
    /// The same, as synthesised; heads have 64 numbers.
    pub scaled: [u32; 5],
}

/// Every known model. Real extents from the models' published configurations.
pub const MODELS: [ModelPreset; 2] = [
    ModelPreset {
        name: "opt-125m",
        full_name: "facebook/opt-125m",
        real: [12, 768, 12, 3072, 50_272],
        scaled: [1, 192, 3, 768, 768],
    },
    ModelPreset {
        name: "opt-350m",
        full_name: "facebook/opt-350m",
        real: [24, 1024, 16, 4096, 50_272],
        scaled: [2, 256, 4, 1024, 1024],
    },
];

/// The known models' names, for messages.
pub(super) fn known() -> String {
    MODELS.map(|model| model.name).join(", ")
}

/// A synthetic trace folder: kernels in launch order and the files beside them.
#[derive(Clone, Debug)]
pub struct SynthTrace {
    model: ModelPreset,
    arch: Arch,
    steps: u32,
    kernels: Vec<SynthKernel>,
}

/// Kernels like those of `steps` forward passes of `model` on `arch`: the first is the prefill of 32
/// tokens, each further one decodes a token. Layers and extents are scaled down (see [`MODELS`]), so that a
/// pass takes a few MB and simulates quickly; names are like those that vLLM's kernels have.
///
/// # Errors
/// When the model is unknown or `steps` is out of range.
pub fn model_like(model: &str, steps: u32, arch: Arch) -> Result<SynthTrace, SynthError> {
    let preset = MODELS
        .into_iter()
        .find(|preset| model == preset.name || model == preset.full_name);
    let model = preset.ok_or_else(|| SynthError::UnknownModel(model.chars().take(60).collect()))?;
    if !(1..=MAX_STEPS).contains(&steps) {
        return Err(SynthError::BadSteps(steps));
    }
    let mut pass = Pass {
        arch,
        kernels: Vec::new(),
    };
    for step in 0..steps {
        let tokens = if step == 0 { PROMPT } else { 1 };
        pass.forward(&model, tokens, PROMPT + step)?;
    }
    Ok(SynthTrace {
        model,
        arch,
        steps,
        kernels: pass.kernels,
    })
}

/// Collects the kernels of forward passes.
struct Pass {
    arch: Arch,
    kernels: Vec<SynthKernel>,
}

impl Pass {
    fn add(&mut self, name: &str, shape: KernelShape) -> Result<(), SynthError> {
        self.kernels.push(SynthKernel::new(name, shape, self.arch)?);
        Ok(())
    }

    fn elementwise(&mut self, what: &str, numbers: u32) -> Result<(), SynthError> {
        let name =
            format!("void at::native::vectorized_elementwise_kernel<4, at::native::{what}>(int, c10::Half*)");
        self.add(
            &name,
            KernelShape::Copy(Copy {
                bytes: u64::from(numbers) * 2,
                threads: 128,
            }),
        )
    }

    fn layer_norm(&mut self, rows: u32, hidden: u32) -> Result<(), SynthError> {
        let name =
            "void at::native::vectorized_layer_norm_kernel<c10::Half, float>(int, float, c10::Half const*)";
        self.add(name, KernelShape::LayerNorm(LayerNorm { rows, hidden }))
    }

    fn gemm(&mut self, m: u32, n: u32, k: u32) -> Result<(), SynthError> {
        let name = match self.arch.binary() {
            70 => "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn",
            75 => "turing_fp16_s1688gemm_fp16_64x64_ldg8_f2f_tn",
            90 => "nvjet_hsh_64x32_64x16_2x1_v_bz_TNT",
            _ => "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn",
        };
        self.add(
            name,
            KernelShape::Gemm(Gemm {
                m,
                n,
                k,
                tile_m: 32,
                tile_n: 64,
            }),
        )
    }

    fn attention(&mut self, tokens: u32, heads: u32, context: u32) -> Result<(), SynthError> {
        let name = match tokens {
            1 => {
                "void vllm::paged_attention_v1_kernel<unsigned short, 64, 16, 128>(unsigned short*, int const*)"
            }
            _ => {
                "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 16, 128, 4>>(Flash_fwd_params)"
            }
        };
        let sequences = tokens.div_ceil(QUERIES_A_BLOCK);
        self.add(
            name,
            KernelShape::Decode(Decode {
                sequences,
                heads,
                context,
            }),
        )
    }

    fn forward(&mut self, model: &ModelPreset, tokens: u32, context: u32) -> Result<(), SynthError> {
        let [layers, hidden, heads, feed_forward, vocabulary] = model.scaled;
        self.add(
            "void at::native::indexSelectLargeIndex<c10::Half, long, unsigned int, 2, 2, -2, true>(c10::Half*)",
            KernelShape::Copy(Copy { bytes: u64::from(tokens * hidden) * 2, threads: 128 }),
        )?;
        self.add(
            "void vllm::copy_blocks_kernel<unsigned short>(long*, long*, long const*, int)",
            KernelShape::Copy(Copy {
                bytes: COPIED_BYTES,
                threads: 1024,
            }),
        )?;
        for _ in 0..layers {
            self.layer_norm(tokens, hidden)?;
            self.gemm(tokens, 3 * hidden, hidden)?;
            self.add(
                "void vllm::reshape_and_cache_flash_kernel<unsigned short, unsigned short>(unsigned short const*, int)",
                KernelShape::Copy(Copy { bytes: u64::from(tokens * hidden) * 4, threads: 256 }),
            )?;
            self.attention(tokens, heads, context)?;
            self.gemm(tokens, hidden, hidden)?;
            self.elementwise("CUDAFunctor_add<c10::Half>", tokens * hidden)?;
            self.layer_norm(tokens, hidden)?;
            self.gemm(tokens, feed_forward, hidden)?;
            self.elementwise("launch_clamp_scalar", tokens * feed_forward)?;
            self.gemm(tokens, hidden, feed_forward)?;
            self.elementwise("CUDAFunctor_add<c10::Half>", tokens * hidden)?;
        }
        self.layer_norm(tokens, hidden)?;
        self.gemm(1, vocabulary, hidden)?;
        self.add(
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>>>(int)",
            KernelShape::Reduction(Reduction { elements: vocabulary.into(), threads: 256, loads: 4 }),
        )
    }
}

impl SynthTrace {
    /// Name of the statistics file.
    pub const STATS_FILE: &'static str = "stats_ctx_0x5ca1ed";

    /// The kernels in launch order.
    pub fn kernels(&self) -> &[SynthKernel] {
        &self.kernels
    }

    /// All instructions together.
    pub fn counts(&self) -> Counts {
        self.kernels
            .iter()
            .map(SynthKernel::counts)
            .fold(Counts::default(), |sum, counts| Counts {
                warp_instrs: sum.warp_instrs + counts.warp_instrs,
                thread_instrs: sum.thread_instrs + counts.thread_instrs,
            })
    }

    /// File name of the kernel at `index` of [`Self::kernels`].
    pub fn file_name(&self, index: usize, format: TraceFormat) -> String {
        format!("kernel-{}-ctx_{CONTEXT}{}", index + 1, format.suffix())
    }

    /// Writes the trace of the kernel at `index`; nothing when there is none.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_kernel(
        &self,
        index: usize,
        output: impl Write,
        format: TraceFormat,
    ) -> Result<(), TraceErrorKind> {
        match self.kernels.get(index) {
            Some(kernel) => kernel.write(index as u64 + 1, output, format),
            None => Ok(()),
        }
    }

    /// Text of `kernelslist.g`.
    pub fn kernels_list(&self, format: TraceFormat) -> String {
        (0..self.kernels.len())
            .map(|index| self.file_name(index, format) + "\n")
            .collect()
    }

    /// Text of [`Self::STATS_FILE`], with the names of raw traces as a tracer writes them.
    pub fn stats(&self) -> String {
        let mut text = String::from(
            "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, \
             block_dimZ, #threads, total_insts, total_reported_insts\n",
        );
        for (index, kernel) in self.kernels.iter().enumerate() {
            let (file, grid, threads) = (
                self.file_name(index, TraceFormat::RawXz),
                kernel.grid(),
                kernel.threads(),
            );
            let (name, blocks, instrs) = (kernel.name(), grid.count(), kernel.counts().warp_instrs);
            let written = writeln!(
                text,
                "{file}, {name}, {}, {}, {}, {blocks}, {threads}, 1, 1, {threads}, {instrs},{instrs}",
                grid.x, grid.y, grid.z
            );
            debug_assert!(written.is_ok());
        }
        text
    }

    /// Text of `metadata.json`. Every string in it is this file's own, so none needs escaping.
    pub fn metadata(&self) -> String {
        let names = [
            "layers",
            "hidden size",
            "heads",
            "feed-forward size",
            "vocabulary",
        ];
        let scaling: Vec<String> = names
            .iter()
            .zip(self.model.scaled.iter().zip(self.model.real))
            .map(|(name, (scaled, real))| format!("{name} {scaled} instead of {real}"))
            .collect();
        let passes: Vec<String> = (0..self.steps)
            .map(|step| {
                format!(
                    "\"step {step} ({})\"",
                    if step == 0 { "prefill" } else { "decode" }
                )
            })
            .collect();
        format!(
            "{{\n  \"status\": \"ok\",\n  \"model\": \"{}\",\n  \"layers\": [{}],\n  \"gpu\": \"{NO_GPU}\",\n  \
             \"trace_gpu_arch\": \"sm_{}\",\n  \"suggested_sim_config\": \"{}\",\n  \"synthetic\": true,\n  \
             \"note\": \"Synthetic trace: written by Cascade, not recorded on a GPU. Kernels are like those of the \
             model but scaled down: {}. Prompt of {PROMPT} tokens.\"\n}}\n",
            self.model.full_name,
            passes.join(", "),
            self.arch.binary(),
            self.arch.config(),
            scaling.join(", "),
        )
    }
}
