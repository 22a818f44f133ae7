//! Questions over many simulations: the highest load within limits, sweeps, and what is worth choosing.

mod goal;
mod sweep;

pub use goal::{Goal, Limit, Metric, Statistic};
pub use sweep::{Axis, MAX_POINTS, Point, SweepError, pareto, sweep};

use serde::{Deserialize, Serialize};

use crate::metrics::Report;

/// Simulations after which a search for a rate ends, whatever its tolerance.
pub const MAX_TRIES: usize = 64;

/// One simulation of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// The rate.
    pub rate: f64,
    /// Whether it meets the goal.
    pub good: bool,
}

/// The outcome of a search for the highest rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateSearch {
    /// The highest rate found to meet the goal, and its report. None if even the lowest does not.
    pub best: Option<(f64, Report)>,
    /// The lowest rate above it found not to meet the goal. None if all tried rates do.
    pub bound: Option<f64>,
    /// Every rate tried, in the order tried.
    pub tries: Vec<Try>,
}

/// Finds the highest rate in `low..=high` that meets `goal`, to one part in `1 / tolerance`.
///
/// `run` simulates a rate. The goal is taken to be met below the highest rate that meets it: where that is not
/// so, the answer is still a rate that meets the goal beside one that does not. Rates double from `low` until
/// one fails, then the interval is halved.
pub fn highest_rate<E>(
    mut run: impl FnMut(f64) -> Result<Report, E>,
    goal: &Goal,
    (low, high): (f64, f64),
    tolerance: f64,
) -> Result<RateSearch, E> {
    let mut search = RateSearch {
        best: None,
        bound: None,
        tries: Vec::new(),
    };
    let mut rate = low;
    while search.tries.len() < MAX_TRIES {
        let report = run(rate)?;
        let good = goal.met_by(&report);
        search.tries.push(Try { rate, good });
        if good {
            search.best = Some((rate, report));
        } else {
            search.bound = Some(rate);
        }
        rate = match (&search.best, search.bound) {
            (None, _) => break,
            (Some((best, _)), None) if *best >= high => break,
            (Some((best, _)), None) => (best * 2.0).min(high),
            (Some((best, _)), Some(bound)) if bound - best <= tolerance * best => break,
            (Some((best, _)), Some(bound)) => (best + bound) / 2.0,
        };
    }
    Ok(search)
}

#[cfg(test)]
mod tests;
