//! The same scenario with one or two inputs varied.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::scenario::Scenario;

/// Most scenarios of a sweep.
pub const MAX_POINTS: usize = 10_000;

/// An input and its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// JSON pointer into the scenario, such as `/scheduler/max_num_seqs`.
    pub input: String,
    /// What it is set to.
    pub values: Vec<Value>,
}

/// One scenario of a sweep and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point<T> {
    /// The value of each axis.
    pub values: Vec<Value>,
    /// What came of it.
    pub outcome: T,
}

/// Why a sweep ends.
#[derive(Debug, Error)]
pub enum SweepError<E> {
    /// One or two axes make a sweep.
    #[error("a sweep has {0} axes: give one or two")]
    Axes(usize),
    /// Too many scenarios.
    #[error("the sweep has {0} points, at most {MAX_POINTS} are run: give fewer values")]
    TooMany(usize),
    /// There is no such input.
    #[error("{input}: the scenario has no such input")]
    NoInput {
        /// The axis.
        input: String,
    },
    /// The input does not take the value.
    #[error("{input} = {value}: {error}")]
    Value {
        /// The axes.
        input: String,
        /// Their values.
        value: String,
        /// What is wrong with one of them.
        error: serde_json::Error,
    },
    /// The scenario cannot be written as JSON, as with a rate that is not a number.
    #[error("the scenario is not valid JSON: {0}")]
    Scenario(serde_json::Error),
    /// A simulation failed.
    #[error("{input} = {value}: {error}")]
    Run {
        /// The axes.
        input: String,
        /// Their values.
        value: String,
        /// What is wrong.
        error: E,
    },
}

/// Runs `base` with every combination of the axes' values, the last axis fastest.
pub fn sweep<T, E>(
    base: &Scenario,
    axes: &[Axis],
    mut run: impl FnMut(&Scenario) -> Result<T, E>,
) -> Result<Vec<Point<T>>, SweepError<E>> {
    if !(1..=2).contains(&axes.len()) {
        return Err(SweepError::Axes(axes.len()));
    }
    let count = axes
        .iter()
        .fold(1usize, |count, axis| count.saturating_mul(axis.values.len()));
    if count > MAX_POINTS {
        return Err(SweepError::TooMany(count));
    }
    let plain = serde_json::to_value(base).map_err(SweepError::Scenario)?;
    let mut points = Vec::with_capacity(count);
    for number in 0..count {
        let mut rest = number;
        let mut values = Vec::new();
        for axis in axes.iter().rev() {
            values.extend(axis.values.get(rest % axis.values.len()).cloned());
            rest /= axis.values.len();
        }
        values.reverse();
        let mut changed = plain.clone();
        for (axis, value) in axes.iter().zip(&values) {
            let no_input = || SweepError::NoInput {
                input: axis.input.clone(),
            };
            *changed.pointer_mut(&axis.input).ok_or_else(no_input)? = value.clone();
        }
        let input = axes
            .iter()
            .map(|axis| axis.input.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let value = values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let scenario: Scenario = match serde_json::from_value(changed) {
            Ok(scenario) => scenario,
            Err(error) => return Err(SweepError::Value { input, value, error }),
        };
        let outcome = run(&scenario).map_err(|error| SweepError::Run { input, value, error })?;
        points.push(Point { values, outcome });
    }
    Ok(points)
}

/// The choices that no other one beats, in order of gain: `choices` are (gain, loss), and a choice is beaten
/// by one with no less gain and no more loss and one of the two better. Of equal choices the first stays.
pub fn pareto(choices: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..choices.len()).collect();
    // By gain from the most, then by loss from the least: what follows has no more gain.
    let key = |at: &usize| choices.get(*at).copied().unwrap_or_default();
    order.sort_by(|a, b| key(b).0.total_cmp(&key(a).0).then(key(a).1.total_cmp(&key(b).1)));
    let mut least = f64::INFINITY;
    order.retain(|at| {
        let better = key(at).1 < least;
        if better {
            least = key(at).1;
        }
        better
    });
    order.reverse();
    order
}
