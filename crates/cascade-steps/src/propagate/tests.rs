//! Tests of propagation.

use std::sync::Arc;

use super::*;
use crate::simulate;
use crate::testing::{durations, shape, step, time};
use crate::timeline::Kernel;

/// Two repeats of a prefill of 6 tokens and 31 decodes; each step runs `a`, `b`, `a`.
fn timeline() -> Timeline {
    let (a, b) = (shape("a"), shape("b"));
    let mut timeline = Timeline::default();
    for repeat in 1..3 {
        for number in 0..32 {
            let mut step = step(repeat, number, 1000, 0, &Vec::new());
            step.kernels = [&a, &b, &a]
                .iter()
                .enumerate()
                .map(|(seq, shape)| Kernel::new(seq as i64, Arc::clone(shape), 10.0, Some(seq as f64 * 50.0)))
                .collect();
            timeline.steps.push(step);
        }
    }
    timeline
}

/// Times of steps 0, 2, 10 and 26 of repeat 1, whose contexts are 6, 8, 16 and 32.
fn traced(b: impl Fn(f64) -> f64) -> SimDurations {
    let steps = [(0, 6.0), (2, 8.0), (10, 16.0), (26, 32.0)];
    let times = steps.iter().flat_map(|&(number, context)| {
        [(0, 100.0), (1, b(context)), (2, 300.0)].map(|(seq, ns)| time(1, number, seq, ns))
    });
    durations(times.collect())
}

fn counts(times: &SimDurations) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for time in &times.durations {
        *counts.entry(time.provenance.label()).or_default() += 1;
    }
    counts
}

#[test]
fn times_that_agree_go_to_every_launch_of_the_shape_at_the_same_place() {
    let real = timeline();
    let all = propagate(&real, &traced(|_| 200.0), Propagate::Identical);
    assert_eq!(
        counts(&all),
        BTreeMap::from([("exact", 12), ("identical", 2 * 32 * 3 - 12)])
    );
    for time in &all.durations {
        assert_eq!(time.duration_ns, [100.0, 200.0, 300.0][time.seq as usize]);
    }
    simulate(&real, &all).unwrap();
    assert_eq!(
        propagate(&real, &traced(|_| 200.0), Propagate::Off),
        traced(|_| 200.0)
    );
}

#[test]
fn times_that_differ_are_interpolated_over_context_or_left_measured() {
    let real = timeline();
    let times = traced(|context| 10.0 * context);
    let identical = propagate(&real, &times, Propagate::Identical);
    // The prefill of repeat 2 has one traced prefill to go by; no decode has.
    let of_b = |all: &SimDurations| all.durations.iter().filter(|d| d.seq == 1).count();
    assert_eq!(of_b(&identical), 5);
    let interp = propagate(&real, &times, Propagate::Interp);
    assert_eq!(counts(&interp)["interp"], 2 * 31 - 3);
    let at = |step: i64| {
        let mut found = interp.durations.iter();
        found
            .find(|d| (d.repeat, d.step, d.seq) == (2, step, 1))
            .unwrap()
            .duration_ns
    };
    assert_eq!((at(1), at(2), at(4), at(31)), (80.0, 80.0, 100.0, 320.0));
    assert_eq!(simulate(&real, &interp).unwrap().steps.len(), 64);
}

#[test]
fn agreement_is_within_one_per_cent() {
    let near = traced(|context| if context > 20.0 { 1009.0 } else { 1000.0 });
    let all = propagate(&timeline(), &near, Propagate::Interp);
    assert!(!counts(&all).contains_key("interp"));
    let last = all
        .durations
        .iter()
        .find(|d| (d.repeat, d.step, d.seq) == (1, 31, 1));
    assert_eq!(last.unwrap().duration_ns, 1009.0);
    let apart = traced(|context| if context > 20.0 { 1011.0 } else { 1000.0 });
    assert!(counts(&propagate(&timeline(), &apart, Propagate::Interp)).contains_key("interp"));
}

#[test]
fn another_grid_or_kind_takes_nothing() {
    let mut real = timeline();
    for step in real.steps.iter_mut().filter(|s| s.repeat == 2) {
        let other = Shape {
            grid: Some("2x1x1".to_owned()),
            ..(*step.kernels[1].shape).clone()
        };
        step.kernels[1].shape = Arc::new(other);
    }
    let all = propagate(&real, &traced(|_| 200.0), Propagate::Interp);
    assert!(!all.durations.iter().any(|d| d.repeat == 2 && d.seq == 1));
    let prefill = durations(vec![time(1, 0, 1, 5.0)]);
    assert_eq!(
        propagate(&timeline(), &prefill, Propagate::Interp)
            .durations
            .len(),
        2
    );
}

#[test]
fn steps_without_token_counts_go_by_their_number() {
    let mut real = timeline();
    real.steps[40].num_scheduled_tokens = None;
    let all = propagate(&real, &traced(|context| 10.0 * context), Propagate::Interp);
    let at = all
        .durations
        .iter()
        .find(|d| (d.repeat, d.step, d.seq) == (2, 4, 1));
    assert_eq!(at.unwrap().duration_ns, 100.0);
}
