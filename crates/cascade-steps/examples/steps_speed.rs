//! Measures a million kernels: reading the timeline, replacing every duration, comparing, and what follows.
//!
//! `cargo run --release -p cascade-steps --example steps_speed`
#![expect(clippy::print_stderr, reason = "its output is the measurement")]

use std::sync::Arc;
use std::time::Instant;

use cascade_steps::{
    Correction, DigestOptions, Kernel, Propagate, Provenance, Request, Shape, SimDuration, SimDurations,
    Stamp, Step, Timeline, compare_steps, digest, propagate, simulate,
};

const REPEATS: i64 = 4;
const STEPS: i64 = 1250;
const KERNELS: i64 = 200;

fn timeline() -> Timeline {
    let name = |i: i64| {
        format!(
            "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addI{i}{}",
            "x".repeat(120)
        )
    };
    let shapes: Vec<Arc<Shape>> = (0..40)
        .map(|i| {
            Arc::new(Shape {
                name: name(i),
                grid: Some(format!("{}x1x1", i + 1)),
                block: Some("128x1x1".to_owned()),
            })
        })
        .collect();
    let mut timeline = Timeline::default();
    for repeat in 0..REPEATS {
        let arrival = Stamp::from_ns(1_764_451_992_000_000_000 + repeat * 100_000_000_000);
        let mut clock = arrival.plus(300_000.0);
        for step in 0..STEPS {
            let kernels: Vec<Kernel> = (0..KERNELS)
                .zip(shapes.iter().cycle())
                .map(|(seq, shape)| {
                    Kernel::new(
                        seq,
                        Arc::clone(shape),
                        1500.0 + seq as f64,
                        Some(seq as f64 * 40_000.5),
                    )
                })
                .collect();
            let busy: f64 = kernels.iter().map(|k| k.duration_ns).sum();
            let gap = (step > 0).then_some(36_000.0);
            let start = clock.plus(gap.unwrap_or(0.0));
            clock = start.plus(7_400_000.0 + busy);
            timeline.steps.push(Step {
                step,
                repeat,
                kind: if step == 0 { "prefill" } else { "decode" }.to_owned(),
                num_scheduled_tokens: Some(1),
                baseline_wall_ns: Some(7_400_000.0 + busy),
                profiled_wall_ns: Some(8_200_000.0),
                gpu_busy_ns: Some(busy),
                host_ns: Some(7_400_000.0),
                kernels,
                baseline_wall_start_ns: Some(start),
                baseline_wall_end_ns: Some(clock),
                baseline_gap_before_ns: gap,
                ..Step::default()
            });
        }
        timeline.requests.push(Request {
            repeat,
            ttft_ms: Some(8.0),
            itl_ms_mean: Some(8.0),
            e2e_ms: Some(9000.0),
            num_output_tokens: Some(1250),
            arrival_ns: Some(arrival),
            pre_first_step_ns: Some(300_000.0),
            post_last_step_ns: Some(-200_000.0),
            ..Request::default()
        });
    }
    timeline
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    eprintln!("{what:<28}{:>9.1} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let real = timeline();
    let json = serde_json::to_vec(&real)?;
    eprintln!(
        "{} kernels, {} MB of JSON",
        REPEATS * STEPS * KERNELS,
        json.len() / 1_000_000
    );
    let times = real.steps.iter().flat_map(|step| {
        step.kernels.iter().map(|kernel| SimDuration {
            repeat: step.repeat,
            step: step.step,
            seq: kernel.seq,
            duration_ns: kernel.duration_ns * 1.5,
            provenance: Provenance::Identical,
            uid: None,
            cycles: None,
            extra: Default::default(),
        })
    });
    let times = SimDurations {
        durations: times.collect(),
        ..SimDurations::default()
    };
    let real = timed("read", || Timeline::parse("speed", &json))?;
    let simulated = timed("simulate", || simulate(&real, &times))?;
    let comparison = timed("compare", || compare_steps(&real, &simulated))?;
    let options = DigestOptions {
        gpu_config: "SM90_H100",
        real_gpu_config: Some("SM90_H100"),
        corrections: &[Correction::launch_constant(3000, 1980.0)],
    };
    let digest = timed("digest", || digest(&real, &simulated, &options))?;
    timed("write", || serde_json::to_vec(&simulated))?;
    let traced = SimDurations {
        durations: times.durations.iter().take(800).cloned().collect(),
        ..SimDurations::default()
    };
    let all = timed("propagate", || propagate(&real, &traced, Propagate::Interp));
    eprintln!("{} launches from {}", all.durations.len(), traced.durations.len());
    eprintln!("digest of {} bytes", serde_json::to_vec(&digest)?.len());
    eprintln!("mean error {:?} %", comparison.summary.wall_ns.mean_error_pct);
    Ok(())
}
