//! `cascade trace synth`: traces with a known instruction stream, always marked as synthetic.

use std::path::{Path, PathBuf};

use cascade_accelsim::post::folder::PROCESSED_LIST;
use cascade_accelsim::synth::{
    Arch, Copy, Counts, Decode, FmaChain, Gemm, KernelShape, LayerNorm, NO_GPU, Reduction, SynthKernel,
    model_like,
};
use cascade_accelsim::trace::TraceFormat;
use cascade_server::synthetic;
use serde_json::json;

use super::format;
use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::numbers::{counted, grouped};
use crate::cli::out::Out;

/// What to write and where.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A kernel with sizes, such as gemm:m=512,n=512,k=512; may be given several times. Kinds: copy (bytes,
    /// threads), fma (blocks, threads, iterations, chains), gemm (m, n, k, tile_m, tile_n), reduction (elements,
    /// threads, loads), layer-norm (rows, hidden), decode (sequences, heads, context)
    #[arg(long = "kind", value_name = "KIND[:SIZE=N,…]", value_parser = shape)]
    kinds: Vec<KernelShape>,
    /// Kernels like those of a model's forward passes, scaled down, such as opt-125m
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with = "kinds",
        required_unless_present = "kinds"
    )]
    model_like: Option<String>,
    /// Forward passes: the first is the prefill, each further one a decode step
    #[arg(long, value_name = "N", default_value_t = 1, requires = "model_like")]
    steps: u32,
    /// Write a timeline of the steps as well, with assigned times, so that request time can be tried
    #[arg(long, requires = "model_like")]
    timeline: bool,
    /// The architecture: sm_70, sm_75, sm_80, sm_86, sm_89 or sm_90
    #[arg(long, default_value = "sm_90", value_parser = arch)]
    arch: Arch,
    /// Format of the kernels
    #[arg(long, default_value = "tracez", value_parser = format)]
    format: TraceFormat,
    /// The folder to write: metadata.json, and the trace in `traces`
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

fn arch(text: &str) -> Result<Arch, String> {
    let number = text.strip_prefix("sm_").unwrap_or(text);
    let number = number
        .parse()
        .map_err(|error| format!("{text:?} must look like sm_90: {error}"))?;
    Arch::new(number).map_err(|error| error.to_string())
}

/// The sizes of a kind, in the order in which the help lists them.
const SIZES: [(&str, &[(&str, u64)]); 6] = [
    ("copy", &[("bytes", 16 << 20), ("threads", 256)]),
    (
        "fma",
        &[
            ("blocks", 80),
            ("threads", 128),
            ("iterations", 64),
            ("chains", 1),
        ],
    ),
    (
        "gemm",
        &[("m", 256), ("n", 256), ("k", 256), ("tile_m", 64), ("tile_n", 64)],
    ),
    (
        "reduction",
        &[("elements", 1 << 20), ("threads", 256), ("loads", 4)],
    ),
    ("layer-norm", &[("rows", 32), ("hidden", 768)]),
    ("decode", &[("sequences", 8), ("heads", 12), ("context", 256)]),
];

fn shape(text: &str) -> Result<KernelShape, String> {
    let (kind, given) = text.split_once(':').unwrap_or((text, ""));
    let (_, known) = SIZES.iter().find(|(name, _)| *name == kind).ok_or_else(|| {
        let names: Vec<_> = SIZES.iter().map(|(name, _)| *name).collect();
        format!("no kind {kind:?}; there are {}", names.join(", "))
    })?;
    let mut sizes: Vec<(&str, u64)> = known.to_vec();
    for pair in given.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("{pair:?} must look like size=number"))?;
        let slot = sizes.iter_mut().find(|(name, _)| *name == key).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            format!("{kind} has no size {key:?}; it has {}", names.join(", "))
        })?;
        slot.1 = value.parse().map_err(|error| format!("{key}={value}: {error}"))?;
    }
    let long = |key: &str| {
        sizes
            .iter()
            .find(|(name, _)| *name == key)
            .map_or(0, |(_, value)| *value)
    };
    let int = |key: &str| u32::try_from(long(key)).map_err(|error| format!("{key}: {error}"));
    Ok(match kind {
        "copy" => KernelShape::Copy(Copy {
            bytes: long("bytes"),
            threads: int("threads")?,
        }),
        "fma" => KernelShape::FmaChain(FmaChain {
            blocks: int("blocks")?,
            threads: int("threads")?,
            iterations: int("iterations")?,
            chains: u8::try_from(long("chains")).map_err(|error| format!("chains: {error}"))?,
        }),
        "gemm" => KernelShape::Gemm(Gemm {
            m: int("m")?,
            n: int("n")?,
            k: int("k")?,
            tile_m: int("tile_m")?,
            tile_n: int("tile_n")?,
        }),
        "reduction" => KernelShape::Reduction(Reduction {
            elements: long("elements"),
            threads: int("threads")?,
            loads: int("loads")?,
        }),
        "layer-norm" => KernelShape::LayerNorm(LayerNorm {
            rows: int("rows")?,
            hidden: int("hidden")?,
        }),
        _ => KernelShape::Decode(Decode {
            sequences: int("sequences")?,
            heads: int("heads")?,
            context: int("context")?,
        }),
    })
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let traces = args.output.join("traces");
    if traces.join(PROCESSED_LIST).exists() {
        return Err(Fail::usage(format_args!(
            "{} already holds a trace: choose another folder",
            args.output.display()
        )));
    }
    std::fs::create_dir_all(&traces).map_err(Fail::file(&traces))?;
    let folder = Folder {
        traces: &traces,
        root: &args.output,
        format: args.format,
    };
    let (kernels, counts) = match &args.model_like {
        Some(model) => {
            let trace = model_like(model, args.steps, args.arch).map_err(Fail::usage)?;
            if args.timeline {
                synthetic::steps(&args.output, model, &trace, args.steps).map_err(Fail::failed)?;
            }
            synthetic::model(&args.output, &trace, args.format).map_err(Fail::failed)?;
            (trace.kernels().len(), trace.counts())
        }
        None => folder.kinds(&args.kinds, args.arch)?,
    };
    if out.is_json() {
        return out.json(&json!({
            "folder": args.output,
            "kernels": kernels,
            "warp_insts": counts.warp_instrs,
            "thread_insts": counts.thread_instrs,
            "arch": format!("sm_{}", args.arch.binary()),
            "suggested_sim_config": args.arch.config(),
            "synthetic": true,
        }));
    }
    out.line(format_args!(
        "{}: synthetic trace of {} for sm_{}, {} warp and {} thread instructions",
        args.output.display(),
        counted(kernels as u64, "kernel"),
        args.arch.binary(),
        grouped(counts.warp_instrs),
        grouped(counts.thread_instrs)
    ))
}

/// The folder that is written.
struct Folder<'a> {
    root: &'a Path,
    traces: &'a Path,
    format: TraceFormat,
}

impl Folder<'_> {
    fn kinds(&self, shapes: &[KernelShape], arch: Arch) -> Result<(usize, Counts)> {
        let mut list = String::new();
        let mut counts = Counts::default();
        for (id, shape) in (1u64..).zip(shapes) {
            let name = format!("synthetic_{}", kind(shape).replace('-', "_"));
            let kernel = SynthKernel::new(&name, *shape, arch).map_err(Fail::usage)?;
            let file = format!("kernel-{id}{}", self.format.suffix());
            let path = self.traces.join(&file);
            synthetic::kernel(&path, |out| kernel.write(id, out, self.format)).map_err(Fail::failed)?;
            counts.warp_instrs += kernel.counts().warp_instrs;
            counts.thread_instrs += kernel.counts().thread_instrs;
            list.push_str(&file);
            list.push('\n');
        }
        let metadata = json!({
            "status": "ok",
            "model": null,
            "gpu": NO_GPU,
            "trace_gpu_arch": format!("sm_{}", arch.binary()),
            "suggested_sim_config": arch.config(),
            "synthetic": true,
            "note": "Synthetic trace: written by Cascade, not recorded on a GPU.",
        });
        let text = |path: &Path, text: &str| synthetic::text(path, text).map_err(Fail::failed);
        text(&self.root.join("metadata.json"), &format!("{metadata:#}\n"))?;
        text(&self.traces.join(PROCESSED_LIST), &list)?;
        Ok((shapes.len(), counts))
    }
}

fn kind(shape: &KernelShape) -> &'static str {
    match shape {
        KernelShape::Copy(_) => "copy",
        KernelShape::FmaChain(_) => "fma",
        KernelShape::Gemm(_) => "gemm",
        KernelShape::Reduction(_) => "reduction",
        KernelShape::LayerNorm(_) => "layer-norm",
        KernelShape::Decode(_) => "decode",
    }
}
