//! Searches with a known answer.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::metrics::MetricsOptions;
use crate::scenario::{Scenario, ScenarioError};
use crate::scheduler::SchedulerConfig;
use crate::sim::DEFAULT_MAX_STEPS;
use crate::step_time::Affine;
use crate::workload::{Arrivals, Length, Lengths, Load, Workload};

/// One request at a time, 10 ms each: an M/D/1 queue.
fn md1(rate: f64) -> Scenario {
    let one = || Length::Fixed { tokens: 1 };
    let lengths = Lengths {
        prompt: one(),
        output: one(),
    };
    let load = Load::Open {
        requests: 60_000,
        arrivals: Arrivals::Poisson { rate },
        lengths,
        prefix: None,
    };
    Scenario {
        scheduler: SchedulerConfig {
            num_gpu_blocks: 100,
            max_num_seqs: 1,
            ..SchedulerConfig::default()
        },
        workload: Workload { seed: 9, load },
        metrics: MetricsOptions::default(),
        max_steps: DEFAULT_MAX_STEPS,
    }
}

fn run(scenario: &Scenario) -> Result<Report, ScenarioError> {
    scenario
        .run(&Affine::constant(10_000_000))
        .map(|outcome| outcome.report)
}

/// A mean TTFT of 15 ms is a mean wait of 5 ms, which the queue has at half its capacity of 100 per second.
#[test]
fn the_highest_rate_is_where_theory_has_it() {
    let limit = Limit {
        metric: Metric::Ttft,
        statistic: Statistic::Mean,
        at_most_ms: 15.0,
    };
    let goal = Goal {
        limits: vec![limit],
        attainment: None,
    };
    let search = highest_rate(|rate| run(&md1(rate)), &goal, (1.0, 1000.0), 0.01).unwrap();
    let (rate, report) = search.best.unwrap();
    assert!((rate / 50.0 - 1.0).abs() < 0.03, "{rate}");
    assert!(report.ttft.mean <= 15.0 && search.bound.unwrap() <= rate * 1.01);
    // A goal that nothing meets, and one that everything meets.
    let goal = |at_most_ms| Goal {
        limits: vec![Limit { at_most_ms, ..limit }],
        attainment: None,
    };
    let none = highest_rate(|rate| run(&md1(rate)), &goal(9.0), (1.0, 10.0), 0.01).unwrap();
    assert!(
        none.best.is_none()
            && none.tries
                == [Try {
                    rate: 1.0,
                    good: false
                }]
    );
    let all = highest_rate(|rate| run(&md1(rate)), &goal(1e6), (1.0, 10.0), 0.01).unwrap();
    assert!(all.bound.is_none() && all.best.is_some_and(|best| best.0 == 10.0));
}

#[test]
fn goals_ask_for_numbers_that_are_there() {
    let report = run(&md1(10.0)).unwrap();
    let limit = |q| Limit {
        metric: Metric::E2el,
        statistic: Statistic::Percentile(q),
        at_most_ms: 1e9,
    };
    let met = |goal: &Goal| goal.met_by(&report);
    assert!(met(&Goal {
        limits: vec![limit(99.0), limit(50.0)],
        attainment: None
    }));
    assert!(!met(&Goal {
        limits: vec![limit(98.0)],
        attainment: None
    }));
    // Attainment needs an SLO in the options.
    assert!(!met(&Goal {
        limits: vec![],
        attainment: Some(0.5)
    }));
}

#[test]
fn a_sweep_runs_every_combination_and_names_what_it_cannot_set() {
    let axis = |input: &str, values: serde_json::Value| Axis {
        input: input.into(),
        values: values.as_array().cloned().unwrap_or_default(),
    };
    let seqs = axis("/scheduler/max_num_seqs", json!([1, 2]));
    let rate = axis("/workload/load/arrivals/rate", json!([50.0, 90.0, 150.0]));
    let points = sweep(&md1(1.0), &[seqs.clone(), rate], run).unwrap();
    let waits: Vec<f64> = points.iter().map(|point| point.outcome.queue.mean).collect();
    assert_eq!(points[4].values, [json!(2), json!(90.0)]);
    // Waits grow with the rate and shrink with a second sequence in the batch.
    assert!(waits[0] < waits[1] && waits[1] < waits[2] && waits[3] < waits[4] && waits[4] < waits[5]);
    assert!((0..3).all(|at| waits[at + 3] < waits[at]), "{waits:?}");
    let error = |axes: &[Axis]| sweep(&md1(1.0), axes, run).unwrap_err().to_string();
    assert_eq!(
        error(&[axis("/scheduler/seqs", json!([1]))]),
        "/scheduler/seqs: the scenario has no such input"
    );
    assert!(
        error(&[axis("/scheduler/max_num_seqs", json!([-1]))]).starts_with("/scheduler/max_num_seqs = -1: ")
    );
    let rate = axis("/workload/load/arrivals/rate", json!([0]));
    assert!(error(&[rate]).ends_with("workload: rate is 0: give a number above 0"));
    assert_eq!(error(&[]), "a sweep has 0 axes: give one or two");
}

proptest! {
    /// What stays is beaten by nothing, and what goes is beaten or equalled by something that stays.
    #[test]
    fn the_pareto_front_is_what_nothing_beats(
        choices in proptest::collection::vec((0u8..9, 0u8..9), 0..30),
    ) {
        let choices: Vec<(f64, f64)> = choices.into_iter().map(|(a, b)| (a.into(), b.into())).collect();
        let front = pareto(&choices);
        let at_least = |a: usize, b: usize| choices[a].0 >= choices[b].0 && choices[a].1 <= choices[b].1;
        for choice in 0..choices.len() {
            let beaten = (0..choices.len()).any(|a| at_least(a, choice) && choices[a] != choices[choice]);
            prop_assert!(!(front.contains(&choice) && beaten));
            prop_assert!(front.iter().any(|stays| at_least(*stays, choice)));
        }
        prop_assert!(front.windows(2).all(|pair| choices[pair[0]].0 < choices[pair[1]].0));
    }
}
