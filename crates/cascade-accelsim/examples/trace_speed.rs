//! Prints how fast processed traces are read: `cargo run --release --example trace_speed -- FILE…`.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use cascade_accelsim::trace::{self, ThreadBlock};

#[expect(clippy::print_stdout, reason = "the example exists to print its measurement")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let name = Path::new(&path)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = std::fs::metadata(&path)?.len();
        let start = Instant::now();
        let mut source = trace::open(File::open(&path)?, &name)?;
        let (mut instrs, mut threads, mut block) = (0, 0, ThreadBlock::default());
        while source.next_block(&mut block)? {
            for instr in block.warps.iter().flat_map(|warp| &warp.instrs) {
                instrs += 1;
                threads += u64::from(instr.active());
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{path}: {instrs} warp and {threads} thread instructions, {:.0} MB/s of file, {:.1} M instructions/s",
            bytes as f64 / 1e6 / seconds,
            f64::from(instrs) / 1e6 / seconds
        );
    }
    Ok(())
}
