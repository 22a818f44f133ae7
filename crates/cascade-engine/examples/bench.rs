//! Times the engine on one trace: `bench FILE GPU [L0|L1]`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for the developer's terminal"
)]

use std::time::Instant;

use cascade_accelsim::trace;
use cascade_engine::{Engine, Level, Options, gpu};

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("a trace file");
    let name = args.next().expect("a GPU");
    let level = if args.next().as_deref() == Some("L0") {
        Level::L0
    } else {
        Level::L1
    };
    let model = gpu::builtin()
        .expect("valid")
        .into_iter()
        .find(|gpu| gpu.name == name)
        .expect("built in");
    let options = Options {
        level,
        allow_other_arch: true,
        ..Options::default()
    };
    let start = Instant::now();
    let mut source = trace::open(std::fs::File::open(&file).expect("opens"), &file).expect("a trace");
    let result = Engine::simulate_kernel(&mut *source, &model, &options);
    let seconds = start.elapsed().as_secs_f64();
    match result {
        Ok(kernel) => {
            println!("{kernel:#?}");
            println!(
                "{} cycles, body {:.0}, {:.3} s, {:.0} warp instructions/s",
                kernel.cycles,
                kernel.body_cycles,
                seconds,
                kernel.warp_insts as f64 / seconds
            );
        }
        Err(error) => println!("{error}"),
    }
}
