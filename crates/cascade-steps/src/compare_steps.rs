//! A simulated timeline against the measured one: `compare.json`.

use std::collections::BTreeMap;

use cascade_api::RealSim;
use serde::{Deserialize, Serialize};

use crate::stats::{mean, quantile};
use crate::timeline::{Extra, Request, Step, Timeline};

/// Errors of steps and requests. Warm-up is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepComparison {
    /// Each steady step, in the order of the measured timeline.
    pub steps: Vec<StepErrors>,
    /// Each steady request.
    pub requests: Vec<RequestErrors>,
    /// Over the steps.
    pub summary: ErrorSummaries,
    /// Fields that have no name here.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Errors of one step, in ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepErrors {
    /// The repeat.
    pub repeat: i64,
    /// The step.
    pub step: i64,
    /// `prefill` or `decode`.
    pub kind: String,
    /// Wall time.
    pub wall_ns: RealSim,
    /// GPU busy time.
    pub gpu_busy_ns: RealSim,
}

/// Errors of one request, in ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestErrors {
    /// The repeat.
    pub repeat: i64,
    /// Time to first token.
    pub ttft_ms: RealSim,
    /// Mean inter-token latency.
    pub itl_ms_mean: RealSim,
    /// Median inter-token latency.
    pub itl_ms_p50: RealSim,
    /// From arrival to end.
    pub e2e_ms: RealSim,
}

/// Errors over the steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorSummaries {
    /// Wall times.
    pub wall_ns: ErrorSummary,
    /// GPU busy times.
    pub gpu_busy_ns: ErrorSummary,
}

/// Errors of one quantity over the steps that have it on both sides, in ns and per cent of the measured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// Steps with an error.
    pub count: u64,
    /// Mean of signed errors.
    pub mean_error: Option<f64>,
    /// Mean of absolute errors.
    pub mean_abs_error: Option<f64>,
    /// Median absolute error.
    pub p50_abs_error: Option<f64>,
    /// 95th percentile of absolute errors; quantiles interpolate linearly.
    pub p95_abs_error: Option<f64>,
    /// The same, per cent.
    pub mean_error_pct: Option<f64>,
    /// The same, per cent.
    pub mean_abs_error_pct: Option<f64>,
    /// The same, per cent.
    pub p50_abs_error_pct: Option<f64>,
    /// The same, per cent.
    pub p95_abs_error_pct: Option<f64>,
}

/// Why two timelines cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// A step of one is not in the other.
    #[error("repeat {repeat}, step {step} is only in the {side} timeline; compare timelines of one profile")]
    Step {
        /// Its repeat.
        repeat: i64,
        /// Its number.
        step: i64,
        /// `measured` or `simulated`.
        side: &'static str,
    },
    /// A request of one is not in the other.
    #[error(
        "the request of repeat {repeat} is only in the {side} timeline; compare timelines of one profile"
    )]
    Request {
        /// Its repeat.
        repeat: i64,
        /// `measured` or `simulated`.
        side: &'static str,
    },
}

/// A measured and a simulated value with their error; null where one side is null, per cent also where the
/// measured value is 0.
pub fn real_sim(real: Option<f64>, simulated: Option<f64>) -> RealSim {
    let error = real.zip(simulated).map(|(real, simulated)| simulated - real);
    let error_pct = error
        .zip(real.filter(|r| *r != 0.0))
        .map(|(error, real)| 100.0 * error / real);
    RealSim {
        real,
        simulated,
        error,
        error_pct,
    }
}

/// Compares two timelines of one profile.
///
/// # Errors
/// A steady step or request that only one of them has.
pub fn compare_steps(real: &Timeline, simulated: &Timeline) -> Result<StepComparison, CompareError> {
    let steps = pair_steps(real, simulated)?;
    let requests = pair_requests(real, simulated)?;
    let steps: Vec<StepErrors> = steps.into_iter().map(|(r, s)| step_errors(r, s)).collect();
    Ok(StepComparison {
        requests: requests.into_iter().map(|(r, s)| request_errors(r, s)).collect(),
        summary: ErrorSummaries {
            wall_ns: ErrorSummary::of(steps.iter().map(|s| &s.wall_ns)),
            gpu_busy_ns: ErrorSummary::of(steps.iter().map(|s| &s.gpu_busy_ns)),
        },
        steps,
        extra: Extra::new(),
    })
}

/// The steady steps of both, matched by repeat and number.
pub(crate) fn pair_steps<'a>(
    real: &'a Timeline,
    simulated: &'a Timeline,
) -> Result<Vec<(&'a Step, &'a Step)>, CompareError> {
    let numbered = |timeline: &'a Timeline| timeline.steady().map(|s| ((s.repeat, s.step), s));
    pair(numbered(real), numbered(simulated)).map_err(|((repeat, step), side)| CompareError::Step {
        repeat,
        step,
        side,
    })
}

/// The steady requests of both, matched by repeat.
pub(crate) fn pair_requests<'a>(
    real: &'a Timeline,
    simulated: &'a Timeline,
) -> Result<Vec<(&'a Request, &'a Request)>, CompareError> {
    pair(numbered(real), numbered(simulated))
        .map_err(|((repeat, _), side)| CompareError::Request { repeat, side })
}

/// Steady requests by repeat and place.
fn numbered(timeline: &Timeline) -> impl Iterator<Item = ((i64, usize), &Request)> {
    let steady = timeline.requests.iter().enumerate().filter(|(_, r)| !r.warmup);
    steady.map(|(place, r)| ((r.repeat, place), r))
}

/// Matches two lists by key, in the order of the first; a key that one lacks is the error.
fn pair<K: Ord + Copy, T>(
    real: impl Iterator<Item = (K, T)>,
    simulated: impl Iterator<Item = (K, T)>,
) -> Result<Vec<(T, T)>, (K, &'static str)> {
    let mut simulated: BTreeMap<K, T> = simulated.collect();
    let pairs = real.map(|(key, real)| match simulated.remove(&key) {
        Some(simulated) => Ok((real, simulated)),
        None => Err((key, "measured")),
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    match simulated.first_key_value() {
        Some((key, _)) => Err((*key, "simulated")),
        None => Ok(pairs),
    }
}

fn step_errors(real: &Step, simulated: &Step) -> StepErrors {
    StepErrors {
        repeat: real.repeat,
        step: real.step,
        kind: real.kind.clone(),
        wall_ns: real_sim(real.baseline_wall_ns, simulated.baseline_wall_ns),
        gpu_busy_ns: real_sim(real.gpu_busy_ns, simulated.gpu_busy_ns),
    }
}

fn request_errors(real: &Request, simulated: &Request) -> RequestErrors {
    RequestErrors {
        repeat: real.repeat,
        ttft_ms: real_sim(real.ttft_ms, simulated.ttft_ms),
        itl_ms_mean: real_sim(real.itl_ms_mean, simulated.itl_ms_mean),
        itl_ms_p50: real_sim(real.itl_ms_p50, simulated.itl_ms_p50),
        e2e_ms: real_sim(real.e2e_ms, simulated.e2e_ms),
    }
}

impl ErrorSummary {
    /// Over pairs; those without an error do not count.
    pub fn of<'a>(pairs: impl Iterator<Item = &'a RealSim> + Clone) -> Self {
        let errors: Vec<f64> = pairs.clone().filter_map(|p| p.error).collect();
        let percents: Vec<f64> = pairs.filter_map(|p| p.error_pct).collect();
        let mut absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let mut absolute_pct: Vec<f64> = percents.iter().map(|e| e.abs()).collect();
        Self {
            count: errors.len() as u64,
            mean_error: mean(&errors),
            mean_abs_error: mean(&absolute),
            p50_abs_error: quantile(&mut absolute, 0.5),
            p95_abs_error: quantile(&mut absolute, 0.95),
            mean_error_pct: mean(&percents),
            mean_abs_error_pct: mean(&absolute_pct),
            p50_abs_error_pct: quantile(&mut absolute_pct, 0.5),
            p95_abs_error_pct: quantile(&mut absolute_pct, 0.95),
        }
    }
}

#[cfg(test)]
mod tests;
