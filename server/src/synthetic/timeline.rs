//! The timeline that goes with a synthetic trace of forward passes.
//!
//! Nothing was measured, so its times are assigned by a plain rule. They let step timing be tried without a
//! GPU; its `meta` says so, and no error is worth anything against them.

use std::sync::Arc;

use cascade_accelsim::synth::{NO_GPU, PROMPT, SynthKernel};
use cascade_steps::{Kernel, MappedKernel, Request, Shape, Stamp, Step, Timeline};
use serde_json::json;

/// Host time assigned to each step, in ns.
const HOST_NS: i64 = 2_000_000;
/// Gap assigned before each step but the first, in ns.
const GAP_NS: i64 = 40_000;
/// From the request's arrival to its first step, in ns.
const BEFORE_NS: i64 = 100_000;
/// When the request arrives, in ns of the timeline's clock.
const ARRIVAL_NS: i64 = 1_000_000_000;
/// Time between two kernels of a step, in ns.
const BETWEEN_NS: i64 = 5_000;
/// Time of a kernel: this, in ns, and ...
const KERNEL_NS: u64 = 1_500;
/// ... 1 ns for so many warp instructions.
const WARP_INSTRS_PER_NS: u64 = 50;

/// What the files say of themselves.
const NOTE: &str =
    "synthetic times: assigned by a rule, nothing was measured, so errors against them mean nothing";

/// The timeline of one request whose steps are the passes of `kernels`, and the mapping of every kernel.
pub(super) fn timeline(model: &str, kernels: &[SynthKernel], steps: u32) -> (Timeline, Vec<MappedKernel>) {
    let per_step = kernels.len() / (steps.max(1) as usize);
    let mut made = Timeline::default();
    let mut mapping = Vec::with_capacity(kernels.len());
    let mut now = ARRIVAL_NS + BEFORE_NS;
    let mut ends = Vec::new();
    for (number, pass) in (0i64..).zip(kernels.chunks(per_step.max(1))) {
        let gap = (number > 0).then_some(GAP_NS);
        now += gap.unwrap_or(0);
        let (launches, busy) = launches(pass);
        for (kernel, launch) in pass.iter().zip(&launches) {
            mapping.push(MappedKernel {
                uid: mapping.len() as u64 + 1,
                name: kernel.name().to_owned(),
                step: number,
                seq: launch.seq,
                ..MappedKernel::default()
            });
        }
        let (start, wall) = (now, HOST_NS + busy);
        now += wall;
        ends.push(now);
        made.steps.push(Step {
            step: number,
            kind: if number == 0 { "prefill" } else { "decode" }.to_owned(),
            num_reqs: Some(1),
            num_scheduled_tokens: Some(if number == 0 { PROMPT.into() } else { 1 }),
            baseline_wall_ns: Some(wall as f64),
            profiled_wall_ns: Some(wall as f64),
            gpu_busy_ns: Some(busy as f64),
            host_ns: Some(HOST_NS as f64),
            kernels: launches,
            baseline_wall_start_ns: Some(Stamp::from_ns(start)),
            baseline_wall_end_ns: Some(Stamp::from_ns(now)),
            baseline_gap_before_ns: gap.map(|ns| ns as f64),
            ..Step::default()
        });
    }
    made.requests.extend(request(&ends));
    for (field, value) in [
        ("run_name", json!("synthetic")),
        ("model", json!(model)),
        ("repeats", json!(1)),
        ("gpu_name", json!(NO_GPU)),
        ("synthetic", json!(true)),
        ("note", json!(NOTE)),
    ] {
        made.meta.insert(field.to_owned(), value);
    }
    (made, mapping)
}

/// A pass's launches one after the other, and the sum of their times in ns.
fn launches(pass: &[SynthKernel]) -> (Vec<Kernel>, i64) {
    let mut busy = 0;
    let of = |(seq, kernel): (i64, &SynthKernel)| {
        let ns = KERNEL_NS + kernel.counts().warp_instrs / WARP_INSTRS_PER_NS;
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        let grid = kernel.grid();
        let shape = Shape {
            name: kernel.name().to_owned(),
            grid: Some(format!("{}x{}x{}", grid.x, grid.y, grid.z)),
            block: Some(format!("{}x1x1", kernel.threads())),
        };
        let start = busy + BETWEEN_NS * (seq + 1);
        busy += ns;
        Kernel::new(seq, Arc::new(shape), ns as f64, Some(start as f64))
    };
    let launches = (0i64..).zip(pass).map(of).collect();
    (launches, busy)
}

/// The request whose tokens come when a step ends.
fn request(ends: &[i64]) -> Option<Request> {
    let (first, last) = (*ends.first()?, *ends.last()?);
    let ms = |ns: i64| ns as f64 / 1e6;
    let between: Vec<i64> = ends
        .windows(2)
        .filter_map(|w| Some(w.last()? - w.first()?))
        .collect();
    let mean = (last - first) as f64 / 1e6 / between.len() as f64;
    let mut sorted = between.clone();
    sorted.sort_unstable();
    let middle = sorted
        .get(sorted.len() / 2)
        .zip(sorted.get(sorted.len().saturating_sub(1) / 2));
    Some(Request {
        queued_ms: Some(0.0),
        ttft_ms: Some(ms(first - ARRIVAL_NS)),
        itl_ms_mean: (!between.is_empty()).then_some(mean),
        itl_ms_p50: middle.map(|(a, b)| (ms(*a) + ms(*b)) / 2.0),
        e2e_ms: Some(ms(last - ARRIVAL_NS)),
        num_output_tokens: Some(ends.len() as u64),
        arrival_ns: Some(Stamp::from_ns(ARRIVAL_NS)),
        pre_first_step_ns: Some(BEFORE_NS as f64),
        post_last_step_ns: Some(0.0),
        first_step_start_ns: Some(Stamp::from_ns(ARRIVAL_NS + BEFORE_NS)),
        last_step_end_ns: Some(Stamp::from_ns(last)),
        first_token_ns: Some(Stamp::from_ns(first)),
        last_token_ns: Some(Stamp::from_ns(last)),
        ..Request::default()
    })
}

#[cfg(test)]
mod tests {
    use cascade_accelsim::synth::{Arch, model_like};

    use super::timeline;

    #[test]
    fn pages_know_a_gpu_that_is_none() {
        assert_eq!(cascade_accelsim::synth::NO_GPU, cascade_api::SYNTHETIC_GPU);
    }

    #[test]
    fn every_kernel_has_its_place_and_the_parts_make_the_request() {
        let trace = model_like("opt-125m", 3, Arch::new(90).unwrap()).unwrap();
        let (made, mapping) = timeline("facebook/opt-125m", trace.kernels(), 3);
        made.check("made").unwrap();
        assert_eq!((made.steps.len(), mapping.len()), (3, trace.kernels().len()));
        let kinds: Vec<_> = made.steps.iter().map(|s| s.kind.as_str()).collect();
        assert_eq!(kinds, ["prefill", "decode", "decode"]);
        for (uid, mapped) in (1..).zip(&mapping) {
            assert_eq!(mapped.uid, uid);
            let step = made.steps.iter().find(|s| s.step == mapped.step).unwrap();
            let launch = step.kernels.iter().find(|k| k.seq == mapped.seq).unwrap();
            assert_eq!(launch.shape.name, mapped.name);
        }
        let walls: f64 = made.steps.iter().filter_map(|s| s.baseline_wall_ns).sum();
        let e2e = made.requests[0].e2e_ms.unwrap() * 1e6;
        assert!((e2e - (100_000.0 + walls + 2.0 * 40_000.0)).abs() < 1e-3);
    }
}
