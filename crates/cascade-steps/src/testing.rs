//! Timelines for tests: made by hand, and drawn at random.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::timeline::{Extra, Kernel, Request, Shape, Stamp, Step, Timeline};
use crate::{Provenance, SimDuration, SimDurations};

/// A shape of which only the name matters.
pub(crate) fn shape(name: &str) -> Arc<Shape> {
    Arc::new(Shape {
        name: name.to_owned(),
        grid: Some("1x1x1".to_owned()),
        block: Some("32x1x1".to_owned()),
    })
}

/// A simulated time.
pub(crate) fn time(repeat: i64, step: i64, seq: i64, duration_ns: f64) -> SimDuration {
    SimDuration {
        repeat,
        step,
        seq,
        duration_ns,
        provenance: Provenance::Exact,
        uid: None,
        cycles: None,
        extra: Extra::new(),
    }
}

/// A file of simulated times.
pub(crate) fn durations(durations: Vec<SimDuration>) -> SimDurations {
    SimDurations {
        durations,
        ..SimDurations::default()
    }
}

/// Kernels as (gap before, negative where it overlaps; duration) with names by their place.
pub(crate) type Plan = Vec<(i32, u16)>;

/// A step whose busy time is what its kernels cover and `unmodeled`.
pub(crate) fn step(repeat: i64, number: i64, host: u32, unmodeled: u16, plan: &Plan) -> Step {
    let (mut end, mut covered) = (0.0_f64, 0.0);
    let mut last_start = 0.0;
    let mut kernels = Vec::new();
    for (seq, &(gap, duration)) in plan.iter().enumerate() {
        let start = (end + f64::from(gap)).max(last_start);
        let stop = start + f64::from(duration);
        covered += (stop - end.max(start)).max(0.0);
        end = end.max(stop);
        last_start = start;
        let kernel = Kernel::new(
            seq as i64,
            shape(&format!("k{seq}")),
            f64::from(duration),
            Some(start),
        );
        kernels.push(kernel);
    }
    let busy = covered + f64::from(unmodeled);
    Step {
        step: number,
        repeat,
        kind: if number == 0 { "prefill" } else { "decode" }.to_owned(),
        num_reqs: Some(1),
        num_scheduled_tokens: Some(if number == 0 { 6 } else { 1 }),
        baseline_wall_ns: Some(f64::from(host) + busy),
        profiled_wall_ns: Some(end + 1000.0),
        gpu_busy_ns: Some(busy),
        host_ns: Some(f64::from(host)),
        kernels,
        ..Step::default()
    }
}

/// Sets times and gaps of a repeat's steps and makes its request, whose tokens come at the ends of steps.
pub(crate) fn lay_out(
    repeat: i64,
    arrival: i64,
    pre: u16,
    post: i16,
    gap: u16,
    steps: &mut [Step],
) -> Request {
    let arrival = Stamp::from_ns(arrival);
    let mut clock = arrival.plus(f64::from(pre));
    let mut ends = Vec::new();
    for (i, step) in steps.iter_mut().enumerate() {
        if i > 0 {
            step.baseline_gap_before_ns = Some(f64::from(gap));
            clock = clock.plus(f64::from(gap));
        }
        step.baseline_wall_start_ns = Some(clock);
        clock = clock.plus(step.baseline_wall_ns.unwrap());
        step.baseline_wall_end_ns = Some(clock);
        step.profiled_wall_start_ns = Some(Stamp::from_ns(7));
        ends.push(clock);
    }
    let intervals = ends.len() as f64 - 1.0;
    let mut between: Vec<f64> = ends.windows(2).map(|w| w[1].since(w[0])).collect();
    Request {
        repeat,
        queued_ms: Some(0.5),
        ttft_ms: Some(ends[0].since(arrival) / 1e6),
        itl_ms_mean: (intervals > 0.0).then(|| clock.since(ends[0]) / 1e6 / intervals),
        itl_ms_p50: crate::stats::quantile(&mut between, 0.5).map(|ns| ns / 1e6),
        e2e_ms: Some(clock.plus(f64::from(post)).since(arrival) / 1e6),
        num_output_tokens: Some(ends.len() as u64),
        arrival_ns: Some(arrival),
        pre_first_step_ns: Some(f64::from(pre)),
        post_last_step_ns: Some(f64::from(post)),
        first_step_start_ns: Some(arrival.plus(f64::from(pre))),
        last_step_end_ns: Some(clock),
        first_token_ns: Some(ends[0]),
        last_token_ns: Some(clock),
        ..Request::default()
    }
}

fn repeat_plan() -> impl Strategy<Value = Vec<(u32, u16, Plan)>> {
    vec(
        (
            0..9_000_000_u32,
            any::<u16>(),
            vec((-3000..30_000_i32, any::<u16>()), 1..6),
        ),
        1..5,
    )
}

/// Timelines of a warm-up and one or two repeats, whole numbers of ns since 1970 throughout.
pub(crate) fn timelines() -> impl Strategy<Value = Timeline> {
    let repeat = (repeat_plan(), any::<(u16, i16, u16)>());
    vec(repeat, 1..3).prop_map(|repeats| {
        let mut timeline = Timeline::default();
        let mut warmup = step(-1, -1, 9_000_000, 0, &Vec::new());
        warmup.warmup = true;
        timeline.steps.push(warmup);
        timeline.requests.push(Request {
            repeat: -1,
            warmup: true,
            ttft_ms: Some(9.0),
            ..Request::default()
        });
        for (number, (plan, (pre, post, gap))) in repeats.into_iter().enumerate() {
            let number = number as i64;
            let steps = plan.iter().enumerate();
            let mut steps: Vec<Step> = steps
                .map(|(i, (host, rest, plan))| step(number, i as i64, *host, *rest, plan))
                .collect();
            let arrival = 1_764_451_992_123_456_789 + number * 1_000_000_000;
            timeline
                .requests
                .push(lay_out(number, arrival, pre, post, gap, &mut steps));
            timeline.steps.extend(steps);
        }
        timeline
    })
}

/// The measured duration of every kernel, as if simulated.
pub(crate) fn measured(timeline: &Timeline) -> SimDurations {
    let of = |step: &Step| {
        let (repeat, number) = (step.repeat, step.step);
        let times = step.kernels.iter();
        times
            .map(move |k| time(repeat, number, k.seq, k.duration_ns))
            .collect::<Vec<_>>()
    };
    durations(timeline.steps.iter().flat_map(of).collect())
}

/// A timeline and simulated times of some of its kernels.
pub(crate) fn simulated_timelines() -> impl Strategy<Value = (Timeline, SimDurations)> {
    (timelines(), vec((any::<bool>(), 0.0..90_000.0_f64), 64)).prop_map(|(timeline, draws)| {
        let mut times = measured(&timeline);
        let mut draws = draws.into_iter();
        times.durations.retain_mut(|time| {
            let (keep, ns) = draws.next().unwrap();
            time.duration_ns = ns;
            keep
        });
        (timeline, times)
    })
}
