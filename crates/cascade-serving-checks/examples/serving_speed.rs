//! How fast the request layer simulates: loads of the public comparison, Llama-3.1-8B-like on an H100.
//!
//! `cargo run --release -p cascade-serving-checks --example serving_speed [FOLDER OF WORKLOADS [LOAD]]`
//!
//! With the name of a load it is simulated once, for whoever times the process (`cargo xtask bench`).
//! Step times are the roofline's, from datasheet figures. Times include making or reading the load.

#![expect(clippy::print_stdout, reason = "the example's output")]
#![expect(clippy::expect_used, reason = "an example stops at the first surprise")]

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use cascade_serving::metrics::{Collector, MetricsOptions};
use cascade_serving::sim::{DEFAULT_MAX_STEPS, simulate};
use cascade_serving::workload::{Arrivals, Source, TraceOptions, read_trace};
use cascade_serving_checks::loads::{W1_ARRIVALS, config, open, roofline};

/// Simulates five times (once if it takes over a second, or is the only load asked for) and prints the median.
fn measure(name: &str, caching: bool, source: impl Fn() -> Box<dyn Source>) {
    let only = std::env::args().nth(2);
    if only.as_ref().is_some_and(|only| only != name) {
        return;
    }
    let times = if only.is_some() { 1 } else { 5 };
    let time = roofline();
    let mut seconds = Vec::new();
    let mut line = String::new();
    while seconds.len() < times && seconds.iter().sum::<f64>() < 3.0 {
        let start = Instant::now();
        let mut collector = Collector::new(MetricsOptions::default());
        let mut source = source();
        let config = config(caching);
        simulate(&config, &time, source.as_mut(), &mut collector, DEFAULT_MAX_STEPS).expect("ends");
        let report = collector.report();
        seconds.push(start.elapsed().as_secs_f64());
        line = format!(
            "{:>8} requests {:>9} steps  makespan {:>8.1} s  TTFT {:>9.1} ms  ITL {:>6.2} ms  {:>6.0} tok/s  {} preemptions",
            report.completed,
            report.steps,
            report.duration,
            report.ttft.mean,
            report.itl.mean,
            report.output_throughput,
            report.preemptions,
        );
        line += &format!("  hits {:.1} %", 100.0 * report.prefix_hit_rate);
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    println!("{name:<8} {:>9.2} ms  {line}", median * 1e3);
}

fn main() {
    let made =
        |requests, arrivals: Arrivals| move || open(requests, arrivals.clone()).source().expect("valid");
    measure("W1", false, made(1000, W1_ARRIVALS));
    measure("W2", false, made(1000, Arrivals::AtOnce));
    measure("W1x100", false, made(100_000, W1_ARRIVALS));
    measure("W2x20", false, made(20_000, Arrivals::AtOnce));
    let Some(folder) = std::env::args().nth(1) else {
        return;
    };
    for (name, file, caching) in [
        ("AZ", "AzureLLMInferenceTrace_conv.csv", false),
        ("MC2000", "mooncake_conversation_2000.jsonl", true),
    ] {
        let path = Path::new(&folder).join(file);
        measure(name, caching, || {
            let input = BufReader::new(File::open(&path).expect("the folder has the trace"));
            Box::new(read_trace(file, input, TraceOptions::default()).expect("a trace"))
        });
    }
}
