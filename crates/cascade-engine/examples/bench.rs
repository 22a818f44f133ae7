//! Times the engine: `bench TRACE GPU [L0|L1|parse] [sample] [sms=N] [parallel] [k=N]`, where TRACE is a file or
//! `lm_head`, a synthetic matrix multiply of the size of OPT-125m's last layer at decode, `k` columns deep. `parse` only
//! reads the trace.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for the developer's terminal"
)]

use std::fs::File;
use std::io::Cursor;
use std::time::Instant;

use cascade_accelsim::synth::{Arch, Gemm, KernelShape, SynthKernel};
use cascade_accelsim::trace::{self, BlockSource, ThreadBlock, TraceFormat};
use cascade_engine::{Engine, GpuModel, Level, Options, gpu};

fn lm_head(gpu: &GpuModel, k: u32) -> Vec<u8> {
    let shape = Gemm {
        m: 64,
        n: 50_272,
        k,
        tile_m: 64,
        tile_n: 64,
    };
    let arch = Arch::new(gpu.sm).expect("an architecture with synthetic code");
    let kernel = SynthKernel::new("lm_head", KernelShape::Gemm(shape), arch).expect("a shape");
    let mut bytes = Vec::new();
    kernel.write(1, &mut bytes, TraceFormat::Text).expect("in memory");
    bytes
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| args.iter().skip(2).any(|arg| arg == word);
    let file = args.first().expect("a trace file, or lm_head");
    let name = args.get(1).expect("a GPU such as SM90_H100");
    let model = gpu::builtin()
        .expect("valid")
        .into_iter()
        .find(|gpu| gpu.name == *name)
        .expect("a built-in GPU");
    let options = Options {
        level: if has("L0") { Level::L0 } else { Level::L1 },
        allow_other_arch: true,
        sample: has("sample"),
        sample_sms: args.iter().find_map(|arg| arg.strip_prefix("sms=")?.parse().ok()),
        parallel: has("parallel"),
        ..Options::default()
    };
    let k = args.iter().find_map(|arg| arg.strip_prefix("k=")?.parse().ok());
    let k = k.unwrap_or(768);
    let synthetic = (file == "lm_head").then(|| lm_head(&model, k));
    let start = Instant::now();
    let mut source: Box<dyn BlockSource> = match synthetic {
        Some(bytes) => trace::open(Cursor::new(bytes), "lm_head.traceg").expect("a trace"),
        None => trace::open(File::open(file).expect("opens"), file).expect("a trace"),
    };
    if has("parse") {
        let mut block = ThreadBlock::default();
        let mut insts = 0;
        while source.next_block(&mut block).expect("a whole trace") {
            insts += block.warps.iter().map(|warp| warp.instrs.len()).sum::<usize>();
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{insts} instructions read in {seconds:.3} s: {:.0}/s",
            insts as f64 / seconds
        );
        return;
    }
    let result = Engine::simulate_kernel(&mut *source, &model, &options);
    let seconds = start.elapsed().as_secs_f64();
    match result {
        Ok(kernel) => {
            println!("{kernel:#?}");
            println!(
                "{} cycles, body {:.0}, {} warp instructions in {seconds:.3} s: {:.0}/s",
                kernel.cycles,
                kernel.body_cycles,
                kernel.warp_insts,
                kernel.warp_insts as f64 / seconds
            );
        }
        Err(error) => println!("{error}"),
    }
}
