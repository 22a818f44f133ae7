//! Where steps and kernels are put.

use std::sync::Arc;

use super::*;

fn kernel(seq: i64, offset: f64, ns: f64) -> Kernel {
    let shape = Shape {
        name: format!("k{}", seq % 2),
        grid: None,
        block: None,
    };
    Kernel::new(seq, Arc::new(shape), ns, Some(offset))
}

fn step(number: i64, wall: f64, kernels: Vec<Kernel>) -> Step {
    Step {
        step: number,
        kind: if number == 0 { "prefill" } else { "decode" }.to_owned(),
        baseline_wall_ns: Some(wall),
        baseline_gap_before_ns: (number > 0).then_some(7.0),
        kernels,
        ..Step::default()
    }
}

#[test]
fn steps_follow_each_other_with_their_gaps() {
    let warmup = Step {
        warmup: true,
        ..step(-1, 1e6, vec![kernel(1, 0.0, 5.0)])
    };
    let timeline = Timeline {
        steps: vec![
            warmup,
            step(0, 100.0, vec![kernel(2, 30.0, 40.0), kernel(1, 5.0, 20.0)]),
            step(1, 50.0, vec![kernel(1, 0.0, 10.0)]),
        ],
        ..Timeline::default()
    };
    let lane = steps_lane(&timeline);
    assert_eq!(lane.steps.start_ns, [0.0, 107.0]);
    assert_eq!(lane.steps.wall_ns, [100.0, 50.0]);
    assert_eq!(lane.steps.kinds, ["prefill", "decode"]);
    assert_eq!(lane.start_ns, [5.0, 30.0, 107.0]);
    assert_eq!(lane.ns, [20.0, 40.0, 10.0]);
    assert_eq!(lane.kind, [0, 1, 0]);
}

#[test]
fn idle_time_shrinks_to_fit_the_step() {
    // 30 busy, 60 idle under the profiler, but only 50 in all without it: a third of the idle time is left.
    let kernels = [
        kernel(1, 30.0, 10.0),
        kernel(2, 60.0, 10.0),
        kernel(3, 80.0, 10.0),
    ];
    let kernels: Vec<&Kernel> = kernels.iter().collect();
    let starts = places(&kernels, 50.0);
    for (start, wanted) in starts.iter().zip([10.0, 10.0 + 10.0 + 20.0 / 3.0, 40.0]) {
        assert!((start - wanted).abs() < 1e-9, "{starts:?}");
    }
    assert_eq!(places(&kernels, 200.0), [30.0, 60.0, 80.0], "what fits stays");
}

#[test]
fn kernels_without_offsets_are_laid_end_to_end() {
    let mut kernels = [kernel(1, 0.0, 10.0), kernel(2, 0.0, 5.0)];
    for kernel in &mut kernels {
        kernel.start_offset_ns = None;
    }
    let kernels: Vec<&Kernel> = kernels.iter().collect();
    assert_eq!(places(&kernels, 100.0), [0.0, 10.0]);
}
