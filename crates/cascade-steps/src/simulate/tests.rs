//! Tests of the replay: laws that hold for every timeline, and the published example.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::testing::{durations, lay_out, measured, shape, simulated_timelines, step, time, timelines};
use crate::timeline::{Kernel, Request};

/// What identity must keep of a step: all but kernel offsets and what is shown under a profiler.
fn essence(step: &Step) -> Step {
    let mut step = step.clone();
    for kernel in &mut step.kernels {
        kernel.start_offset_ns = None;
        kernel.provenance = None;
    }
    step.profiled_wall_ns = None;
    step.profiled_wall_start_ns = None;
    step
}

fn request<'a>(timeline: &'a Timeline, step: &Step) -> &'a Request {
    let mut all = timeline.requests.iter();
    all.find(|r| r.repeat == step.repeat).unwrap()
}

/// Every null of the first is null in the second.
fn nulls_stay(real: &Value, simulated: &Value) -> bool {
    match (real, simulated) {
        (Value::Null, other) => other.is_null(),
        (Value::Object(real), Value::Object(simulated)) => real
            .iter()
            .all(|(k, v)| nulls_stay(v, simulated.get(k).unwrap_or(&Value::Null))),
        (Value::Array(real), Value::Array(simulated)) => {
            real.len() == simulated.len() && real.iter().zip(simulated).all(|(r, s)| nulls_stay(r, s))
        }
        _ => true,
    }
}

proptest! {
    #[test]
    fn measured_times_give_the_real_timeline(real in timelines()) {
        let simulated = simulate(&real, &measured(&real)).unwrap();
        for (before, after) in real.steps.iter().zip(&simulated.steps) {
            prop_assert_eq!(essence(before), essence(after));
        }
        prop_assert_eq!(&real.requests, &simulated.requests);
        let simulation: Simulation = serde_json::from_value(simulated.summary["simulation"].clone()).unwrap();
        prop_assert_eq!(simulation.coverage.kernels, simulation.coverage.simulated_kernels);
    }

    #[test]
    fn a_longer_kernel_shortens_nothing((real, times) in simulated_timelines(), which in any::<prop::sample::Index>(), by in 0.0..1e6) {
        prop_assume!(!times.durations.is_empty());
        let mut longer = times.clone();
        let which = which.index(longer.durations.len());
        longer.durations[which].duration_ns += by;
        let (one, two) = (simulate(&real, &times).unwrap(), simulate(&real, &longer).unwrap());
        for (a, b) in one.steps.iter().zip(&two.steps) {
            prop_assert!(b.baseline_wall_ns >= a.baseline_wall_ns && b.gpu_busy_ns >= a.gpu_busy_ns);
            prop_assert!(b.baseline_wall_end_ns >= a.baseline_wall_end_ns);
        }
        for (a, b) in one.requests.iter().zip(&two.requests) {
            prop_assert!(b.ttft_ms >= a.ttft_ms && b.itl_ms_mean >= a.itl_ms_mean.map(|ms| ms - 1e-9) && b.e2e_ms >= a.e2e_ms);
        }
    }

    #[test]
    fn parts_add_up_to_walls((real, times) in simulated_timelines()) {
        let simulated = simulate(&real, &times).unwrap();
        let simulation: Simulation = serde_json::from_value(simulated.summary["simulation"].clone()).unwrap();
        let mut walls = std::collections::BTreeMap::<i64, f64>::new();
        for (part, step) in simulation.coverage.steps.iter().zip(simulated.steady()) {
            let kernels: f64 = step.kernels.iter().map(|k| k.duration_ns).sum();
            let longest = step.kernels.iter().map(|k| k.duration_ns).fold(0.0, f64::max);
            let busy = (kernels - part.measured_kernel_overlap_ns + part.unmodeled_gpu_ns).max(longest);
            let wall = step.baseline_wall_ns.unwrap();
            prop_assert!((step.host_ns.unwrap() + busy - wall).abs() < 1.0);
            *walls.entry(step.repeat).or_default() += wall + step.baseline_gap_before_ns.unwrap_or(0.0);
        }
        for request in simulated.requests.iter().filter(|r| !r.warmup) {
            let envelope = request.pre_first_step_ns.unwrap() + request.post_last_step_ns.unwrap();
            let e2e = request.e2e_ms.unwrap() * 1e6;
            prop_assert!((walls[&request.repeat] + envelope - e2e).abs() < 1.0);
        }
    }

    #[test]
    fn scaled_gaps_sum_to_host_time((real, times) in simulated_timelines()) {
        for step in simulate(&real, &times).unwrap().steady() {
            let starts: Vec<f64> = step.kernels.iter().map(|k| k.start_offset_ns.unwrap()).collect();
            prop_assert!(starts.is_sorted() && starts[0] >= 0.0);
            // The profiled step has 1,000 ns after its last kernel; with overlap the busy time is a model.
            if real.steps.iter().all(|s| s.kernels.windows(2).all(|w| w[0].start_offset_ns.unwrap() + w[0].duration_ns <= w[1].start_offset_ns.unwrap())) {
                let end = step.kernels.last().map(|k| k.start_offset_ns.unwrap() + k.duration_ns).unwrap();
                prop_assert!(end <= step.baseline_wall_ns.unwrap() + 1.0);
            }
        }
    }

    #[test]
    fn null_stays_null((mut real, times) in simulated_timelines(), holes in prop::collection::vec(any::<u16>(), 8)) {
        for (step, hole) in real.steps.iter_mut().zip(holes.iter().cycle()) {
            let gone = |bit: u16| hole >> bit & 1 == 1;
            if gone(0) { step.baseline_wall_ns = None; }
            if gone(1) { step.gpu_busy_ns = None; }
            if gone(2) { step.host_ns = None; }
            if gone(3) { step.profiled_wall_ns = None; }
            if gone(4) { step.baseline_wall_start_ns = None; }
            if gone(5) { step.baseline_gap_before_ns = None; }
            if let Some(kernel) = step.kernels.first_mut().filter(|_| gone(6)) { kernel.start_offset_ns = None; }
        }
        for (request, hole) in real.requests.iter_mut().zip(&holes) {
            let gone = |bit: u16| hole >> bit & 1 == 1;
            if gone(8) { request.ttft_ms = None; }
            if gone(9) { request.itl_ms_p50 = None; }
            if gone(10) { request.e2e_ms = None; }
            if gone(11) { request.arrival_ns = None; }
            if gone(12) { request.post_last_step_ns = None; }
        }
        let simulated = simulate(&real, &times).unwrap();
        let json = |t: &Timeline| (serde_json::to_value(&t.steps).unwrap(), serde_json::to_value(&t.requests).unwrap());
        let ((steps, requests), (sim_steps, sim_requests)) = (json(&real), json(&simulated));
        prop_assert!(nulls_stay(&steps, &sim_steps) && nulls_stay(&requests, &sim_requests));
        // Nothing unknown is taken for 0: with a gap or a wall missing the end is not known.
        for step in real.steady().filter(|s| s.baseline_wall_ns.is_none()) {
            prop_assert_eq!(request(&simulated, step).e2e_ms, None);
        }
    }
}

/// The example of the API's pages, rebuilt from its sums: four steps, of which two have simulated kernels.
pub(crate) fn example() -> (Timeline, SimDurations) {
    let mut steps = Vec::new();
    let rows = [
        (6_500_000.0, 536_835.0, 20_128.0),
        (4_790_000.0, 564_801.0, 4_768.0),
        (4_650_000.0, 563_000.0, 0.0),
        (4_900_000.0, 563_787.0, 0.0),
    ];
    for (number, (wall, busy, covered)) in rows.into_iter().enumerate() {
        let mut step = step(0, number as i64, 0, 0, &Vec::new());
        step.baseline_wall_ns = Some(wall);
        step.gpu_busy_ns = Some(busy);
        step.host_ns = Some(wall - busy);
        step.kernels = vec![
            Kernel::new(536, shape("a"), covered, Some(1000.0)),
            Kernel::new(537, shape("b"), busy - covered, Some(60_000.0)),
        ];
        steps.push(step);
    }
    let mut request = lay_out(0, 1_000_000_000, 0, 0, 1000, &mut steps);
    // The gaps differ; the step after each starts accordingly.
    let mut clock = Stamp::from_ns(1_000_200_000);
    for (step, gap) in steps
        .iter_mut()
        .zip([None, Some(800_000.0), Some(1_000_000.0), Some(1_200_000.0)])
    {
        step.baseline_gap_before_ns = gap;
        step.baseline_wall_start_ns = Some(clock.plus(gap.unwrap_or(0.0)));
        clock = clock.plus(gap.unwrap_or(0.0) + step.baseline_wall_ns.unwrap());
        step.baseline_wall_end_ns = Some(clock);
    }
    request.pre_first_step_ns = Some(200_000.0);
    request.post_last_step_ns = Some(0.0);
    request.ttft_ms = Some(6.7);
    request.itl_ms_mean = Some(5.78);
    request.itl_ms_p50 = Some(5.65);
    request.e2e_ms = Some(24.04);
    let real = Timeline {
        steps,
        requests: vec![request],
        ..Timeline::default()
    };
    let times = vec![
        time(0, 0, 536, 20_128.0 + 7_260.692579505267),
        time(0, 1, 536, 4_768.0 + 35_610.97526501771),
    ];
    (real, durations(times))
}

#[test]
fn the_published_example_comes_out() {
    let (real, times) = example();
    let simulated = simulate(&real, &times).unwrap();
    let near =
        |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-6 * b.abs().max(1.0), "{a:?} {b}");
    let [first, second, ..] = simulated.steps.as_slice() else {
        panic!("four steps");
    };
    near(first.baseline_wall_ns, 6_507_260.692579505);
    near(first.gpu_busy_ns, 544_095.6925795053);
    near(second.baseline_wall_ns, 4_825_610.975265018);
    assert_eq!(first.host_ns, Some(5_963_165.0));
    let end = serde_json::to_string(&first.baseline_wall_end_ns).unwrap();
    assert_eq!(end, "1006707260.6925795");
    let request = &simulated.requests[0];
    near(request.ttft_ms, 6.707260692579508);
    near(request.itl_ms_mean, 5.79187032508834);
    near(request.itl_ms_p50, 5.65);
    near(request.e2e_ms, 24.082871667844532);
    let summary = &simulated.summary;
    let number = |path: &str| {
        summary
            .get("simulation")
            .and_then(|s| s.pointer(path))
            .and_then(Value::as_f64)
    };
    assert_eq!(number("/coverage/measured_gpu_ns"), Some(2_228_423.0));
    assert_eq!(number("/coverage/covered_measured_gpu_ns"), Some(24_896.0));
    near(number("/coverage/gpu_time_fraction"), 0.011172026136868988);
    assert_eq!(number("/coverage/unmodeled_gpu_ns"), Some(0.0));
    let kind = |path: &str| {
        summary
            .get("per_kind")
            .and_then(|s| s.pointer(path))
            .and_then(Value::as_f64)
    };
    near(kind("/decode/wall_ns_mean"), 4_791_870.325088339);
    near(kind("/decode/gpu_busy_ns_mean"), 575_732.9917550059);
    assert_eq!(kind("/decode/gap_before_ns/p95"), Some(1_180_000.0));
    assert_eq!(summary["per_kind"]["prefill"].get("gap_before_ns"), None);
}

#[test]
fn times_that_do_not_fit_are_named() {
    let (real, _) = example();
    let error = |times| simulate(&real, &durations(times)).unwrap_err().to_string();
    let missing = "repeat 0, step 1, seq 9 has a simulated time, but the timeline has no such kernel; the mapping \
                   and the timeline must come from one profile";
    assert_eq!(error(vec![time(0, 1, 9, 1.0), time(0, 0, 536, 1.0)]), missing);
    assert!(error(vec![time(0, 9, 536, 1.0)]).starts_with("repeat 0, step 9, seq 536 has"));
    assert!(error(vec![time(0, 1, 537, 1.0), time(0, 1, 537, 1.0)]).contains("two simulated times"));
    assert!(error(vec![time(0, 1, 537, -1.0)]).contains("a duration of -1 ns"));
    assert!(error(vec![time(0, 1, 537, f64::NAN)]).contains("a duration of NaN ns"));
}

#[test]
fn requests_that_share_a_repeat_are_not_guessed() {
    let (mut real, times) = example();
    real.requests.push(real.requests[0].clone());
    let simulated = simulate(&real, &times).unwrap();
    assert!(
        simulated
            .requests
            .iter()
            .all(|r| r.e2e_ms.is_none() && r.arrival_ns.is_some())
    );
    assert!(simulated.steps.iter().all(|s| s.baseline_wall_ns.is_some()));
}
