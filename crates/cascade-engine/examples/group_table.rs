//! Simulates kernels of the shapes of one OPT-125m decode step on an H100, beside published mean times of the real
//! ones. The kernels are synthetic (`mma.sync` tiles, no TMA), so this shows what size of error the model's fixed costs and
//! memory give, and nothing about the real kernels' code. `docs/engine.md` says when it was evaluated.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for the developer's terminal"
)]

use std::io::Cursor;

use cascade_accelsim::synth::{Arch, Copy, Decode, Gemm, KernelShape, LayerNorm, Reduction, SynthKernel};
use cascade_accelsim::trace::{
    self, AddressMode, BlockSink, BlockSource, KernelHeader, OpcodeTable, ThreadBlock, TraceError,
    TraceFormat,
};
use cascade_engine::{Engine, GpuModel, L2State, Options, gpu};

/// Published means of the real kernels, microseconds, by group.
const REAL: [(&str, f64); 10] = [
    ("QKV GEMM", 4.689),
    ("attention", 6.327),
    ("KV write", 2.052),
    ("out-proj GEMM", 4.079),
    ("MLP up GEMM", 4.875),
    ("MLP down GEMM", 5.007),
    ("split-K reduction", 1.940),
    ("lm_head GEMM", 30.62),
    ("small elementwise", 1.385),
    ("layer norm", 3.404),
];
const LAYERS: u64 = 12;
const HIDDEN: u32 = 768;
/// Where synthetic kernels have their second input: the weights, which differ from layer to layer.
const WEIGHTS: std::ops::Range<u64> = 0x7e10_0000_0000..0x7e20_0000_0000;

/// A trace whose weights lie `by` bytes further on.
struct Moved {
    inner: Box<dyn BlockSource>,
    by: u64,
}

impl BlockSource for Moved {
    fn header(&self) -> &KernelHeader {
        self.inner.header()
    }
    fn header_text(&self) -> &[u8] {
        self.inner.header_text()
    }
    fn opcodes(&self) -> &OpcodeTable {
        self.inner.opcodes()
    }
    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        let more = self.inner.next_block(block)?;
        let moved = |address: &mut u64| {
            if WEIGHTS.contains(address) {
                *address += self.by;
            }
        };
        block.addresses.iter_mut().for_each(moved);
        for instr in block.warps.iter_mut().flat_map(|warp| &mut warp.instrs) {
            if let Some(mem) = &mut instr.mem
                && let AddressMode::BaseStride { base, .. } = &mut mem.mode
            {
                moved(base);
            }
        }
        Ok(more)
    }
    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        self.inner.copy_block(sink)
    }
}

fn time(shape: KernelShape, by: u64, gpu: &GpuModel, state: &mut L2State) -> f64 {
    let arch = Arch::new(gpu.sm).expect("an architecture with synthetic code");
    let kernel = SynthKernel::new("k", shape, arch).expect("a shape");
    let mut bytes = Vec::new();
    kernel.write(1, &mut bytes, TraceFormat::Text).expect("in memory");
    let inner = trace::open(Cursor::new(bytes), "k.traceg").expect("a trace");
    let mut source = Moved { inner, by };
    Engine::simulate_next_kernel(&mut source, gpu, &Options::default(), state)
        .expect("simulates")
        .time_ns
        / 1e3
}

fn main() {
    let models = gpu::builtin().expect("valid");
    let h100 = models
        .into_iter()
        .find(|gpu| gpu.name == "SM90_H100")
        .expect("built in");
    let gemm = |n, k| {
        KernelShape::Gemm(Gemm {
            m: 1,
            n,
            k,
            tile_m: 32,
            tile_n: 32,
        })
    };
    let elementwise = |numbers: u32| {
        KernelShape::Copy(Copy {
            bytes: u64::from(numbers) * 2,
            threads: 128,
        })
    };
    let norm = KernelShape::LayerNorm(LayerNorm {
        rows: 1,
        hidden: HIDDEN,
    });
    let attention = KernelShape::Decode(Decode {
        sequences: 1,
        heads: 12,
        context: 32,
    });
    let reduction = KernelShape::Reduction(Reduction {
        elements: u64::from(HIDDEN) * 4,
        threads: 128,
        loads: 4,
    });
    let kv = KernelShape::Copy(Copy {
        bytes: u64::from(HIDDEN) * 4,
        threads: 256,
    });
    let layer = [
        (9, norm),
        (0, gemm(3 * HIDDEN, HIDDEN)),
        (2, kv),
        (1, attention),
        (3, gemm(HIDDEN, HIDDEN)),
        (8, elementwise(HIDDEN)),
        (9, norm),
        (4, gemm(4 * HIDDEN, HIDDEN)),
        (8, elementwise(4 * HIDDEN)),
        (5, gemm(HIDDEN, 4 * HIDDEN)),
        (6, reduction),
        (8, elementwise(HIDDEN)),
    ];
    let mut state = L2State::cold(&h100);
    let mut sums = [(0.0, 0_u32); REAL.len()];
    // The first step fills L2 as a running server has it; the second is reported.
    for step in 0..2 {
        for at in 0..LAYERS {
            for (i, (group, shape)) in (0_u64..).zip(layer) {
                let took = time(shape, (at * 16 + i) << 28, &h100, &mut state);
                if let (1, Some((sum, count))) = (step, sums.get_mut(group)) {
                    (*sum, *count) = (*sum + took, *count + 1);
                }
            }
        }
        let took = time(gemm(50_272, HIDDEN), LAYERS << 32, &h100, &mut state);
        if let (1, Some(sum)) = (step, sums.get_mut(7)) {
            *sum = (took, 1);
        }
    }
    let (mut absolute, mut weighted, mut real_sum, mut sum_all) = (0.0, 0.0, 0.0, 0.0);
    for ((name, real), (sum, count)) in REAL.iter().zip(sums) {
        let mean = sum / f64::from(count.max(1));
        let error = mean / real - 1.0;
        println!("| {name} | {real:.3} | {mean:.3} | {:+.1} % |", error * 100.0);
        absolute += error.abs();
        weighted += (mean - real).abs() * f64::from(count);
        real_sum += real * f64::from(count);
        sum_all += sum;
    }
    println!(
        "mean of groups {:.1} %, weighted by time {:.1} %, all {:+.1} %",
        absolute / REAL.len() as f64 * 100.0,
        weighted / real_sum * 100.0,
        (sum_all / real_sum - 1.0) * 100.0
    );
}
