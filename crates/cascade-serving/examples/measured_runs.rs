//! Fits step times to the first third of real vLLM runs and holds the simulation against all of each run.
//!
//! `cargo run --release -p cascade-serving --example measured_runs FOLDER`
//!
//! `FOLDER` has a folder per run with `meta.json`, `requests.jsonl` and `timeseries.csv`. Every fit is also tried on the other
//! runs, which ran on other GPUs.

#![expect(clippy::print_stdout, reason = "the example's output")]
#![expect(clippy::expect_used, reason = "an example stops at the first surprise")]

use std::path::Path;

use cascade_serving::fit::{MeasuredRun, compare, fit};

/// KV blocks where a run does not tell its own: more than `max_num_seqs` of its requests can hold at once.
const PLENTY_OF_BLOCKS: u32 = 33_500;

fn read(folder: &Path) -> MeasuredRun {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a run's file");
    let [meta, requests, timeseries] = ["meta.json", "requests.jsonl", "timeseries.csv"].map(text);
    let mut run = MeasuredRun::parse(&meta, &requests, &timeseries).expect("a run");
    if run.config.num_gpu_blocks == 0 {
        run.config.num_gpu_blocks = PLENTY_OF_BLOCKS;
    }
    run
}

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of the runs");
    let mut folders: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let runs: Vec<_> = folders.iter().map(|path| (name(path), read(path))).collect();
    for (fitted, source) in &runs {
        let fit = fit(source, source.duration_ns() / 3).expect("enough to fit");
        println!(
            "fit to the first third of {fitted}: {} recorded tokens, {:.0} ms off on average there",
            fit.tokens, fit.off_ms
        );
        let time = fit.time;
        println!(
            "  step {:.3} ms + {:.3} us/query token + {:.3} ns/context token + {:.3} us/sequence",
            time.step_ns / 1e6,
            time.query_token_ns / 1e3,
            time.context_token_ns,
            time.seq_ns / 1e3,
        );
        for (name, run) in &runs {
            let comparison = compare(run, &time).expect("a replay");
            println!("  {name}: {} preemptions predicted", comparison.preemptions);
            println!("    latency figure   measured ms  predicted ms    error");
            for line in &comparison.lines {
                println!(
                    "    {:<7} {:<6} {:>13.1} {:>13.1} {:>+7.1} %",
                    line.metric,
                    line.figure,
                    line.measured_ms,
                    line.predicted_ms,
                    line.error_percent(),
                );
            }
        }
    }
}
