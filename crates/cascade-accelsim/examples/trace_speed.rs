//! Prints how fast processed traces are read: `cargo run --release --example trace_speed [-- FILE…]`.
//!
//! Without files it reads a tiled GEMM that it synthesises in memory, as text and, where compression is built in,
//! packed.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;
use std::time::Instant;

use cascade_accelsim::synth::{Arch, Gemm, KernelShape, SynthKernel};
use cascade_accelsim::trace::{self, ThreadBlock, TraceFormat};

/// A GEMM of about a million warp instructions.
const GEMM: Gemm = Gemm {
    m: 1024,
    n: 1024,
    k: 512,
    tile_m: 32,
    tile_n: 64,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for path in &files {
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        measure(path, std::fs::metadata(path)?.len(), &name, File::open(path)?)?;
    }
    if files.is_empty() {
        let kernel = SynthKernel::new("gemm", KernelShape::Gemm(GEMM), Arch::new(80)?)?;
        for format in [TraceFormat::Text, TraceFormat::Packed] {
            let mut bytes = Cursor::new(Vec::new());
            kernel.write(1, &mut bytes, format)?;
            let name = format!("kernel-1{}", format.suffix());
            let size = bytes.get_ref().len() as u64;
            bytes.set_position(0);
            measure(&format!("synthetic GEMM, {name}"), size, &name, bytes)?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the example exists to print its measurement")]
fn measure(
    label: &str,
    size: u64,
    name: &str,
    input: impl Read + Seek + 'static,
) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut source = trace::open(input, name)?;
    let (mut instrs, mut threads, mut block) = (0, 0, ThreadBlock::default());
    while source.next_block(&mut block)? {
        for instr in block.warps.iter().flat_map(|warp| &warp.instrs) {
            instrs += 1;
            threads += u64::from(instr.active());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{label}: {instrs} warp and {threads} thread instructions, {:.0} MB/s of {:.1} MB, {:.1} M instructions/s",
        size as f64 / 1e6 / seconds,
        size as f64 / 1e6,
        f64::from(instrs) / 1e6 / seconds
    );
    Ok(())
}
