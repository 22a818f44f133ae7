//! Simulated kernel times in place of measured ones: `simulated_timeline.json`.
//!
//! Only kernel durations change. A step's GPU busy time grows by the sum of the changes; its host residual
//! (`wall - busy`), the gap before it, and GPU time that no kernel explains stay as measured, so its wall grows
//! by the same sum. Steps then follow each other as before and requests are rebuilt from them: the first token
//! comes at the end of the prefill, the last at the end of the last step. Warm-up passes through unchanged.

mod request;
pub(crate) mod step;
mod summary;

use std::collections::BTreeMap;

use crate::timeline::{Extra, MAX_TIME, Stamp, Step, Timeline};
use crate::{SimDuration, SimDurations};

pub use summary::{Coverage, GapSummary, KindSummary, Simulation, StepCoverage};

/// Why simulated times do not fit a timeline.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulateError {
    /// A time for a launch that the timeline does not have.
    #[error(
        "repeat {repeat}, step {step}, seq {seq} has a simulated time, but the timeline has no such kernel; \
         the mapping and the timeline must come from one profile"
    )]
    NoKernel {
        /// The repeat named.
        repeat: i64,
        /// The step named.
        step: i64,
        /// The seq named.
        seq: i64,
    },
    /// Two times for one launch.
    #[error("repeat {repeat}, step {step}, seq {seq} has two simulated times; give one")]
    Twice {
        /// The repeat named.
        repeat: i64,
        /// The step named.
        step: i64,
        /// The seq named.
        seq: i64,
    },
    /// A time that cannot be.
    #[error(
        "repeat {repeat}, step {step}, seq {seq}: a duration of {ns} ns; it must be a number from 0 to {MAX_TIME:e}"
    )]
    Duration {
        /// The repeat named.
        repeat: i64,
        /// The step named.
        step: i64,
        /// The seq named.
        seq: i64,
        /// The time.
        ns: f64,
    },
}

/// Puts simulated durations in place of measured ones.
///
/// Durations of warm-up steps are not used. Where the measured timeline has null, so has the result, except in
/// `summary`, which is made anew.
///
/// # Errors
/// Durations that do not fit the timeline: the first one is named.
pub fn simulate(real: &Timeline, durations: &SimDurations) -> Result<Timeline, SimulateError> {
    let times = in_order(&durations.durations)?;
    let mut used = 0;
    let mut coverage = Vec::new();
    let mut provenance: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut last: BTreeMap<i64, (&Step, Option<Stamp>)> = BTreeMap::new();
    let mut steps = Vec::with_capacity(real.steps.len());
    for before in &real.steps {
        let mine = of_step(&times, before);
        used += mine.len();
        if before.warmup {
            steps.push(before.clone());
            continue;
        }
        let (mut after, covered) = step::replace(before, mine)?;
        for time in mine {
            *provenance.entry(time.provenance.label()).or_default() += 1;
        }
        let start = match last.get(&before.repeat) {
            None => before
                .baseline_wall_start_ns
                .or_else(|| first_start(before.repeat, real)),
            Some(&(earlier, end)) => end.zip(gap_ns(earlier, before)).map(|(end, gap)| end.plus(gap)),
        };
        let end = place(before, &mut after, start);
        last.insert(before.repeat, (before, end));
        coverage.extend(covered);
        steps.push(after);
    }
    if used != times.len() {
        return Err(stray(&times, real));
    }
    let requests = real.requests.iter().map(|r| request::rebuild(r, real, &steps));
    let mut simulated = Timeline {
        meta: real.meta.clone(),
        requests: requests.collect(),
        steps,
        summary: Extra::new(),
        extra: real.extra.clone(),
    };
    simulated.summary = summary::summarise(&simulated, coverage, provenance, durations);
    Ok(simulated)
}

/// The times by (repeat, step, seq).
pub(crate) fn by_place(durations: &[SimDuration]) -> Vec<&SimDuration> {
    let mut times: Vec<&SimDuration> = durations.iter().collect();
    if !times.is_sorted_by_key(|d| place_of(d)) {
        times.sort_by_key(|d| place_of(d));
    }
    times
}

fn place_of(time: &SimDuration) -> (i64, i64, i64) {
    (time.repeat, time.step, time.seq)
}

/// [`by_place`], each time checked.
fn in_order(durations: &[SimDuration]) -> Result<Vec<&SimDuration>, SimulateError> {
    let times = by_place(durations);
    for (i, &time) in times.iter().enumerate() {
        let (repeat, step, seq) = place_of(time);
        let ns = time.duration_ns;
        if !(0.0..=MAX_TIME).contains(&ns) {
            return Err(SimulateError::Duration {
                repeat,
                step,
                seq,
                ns,
            });
        }
        if times
            .get(i + 1)
            .is_some_and(|next| place_of(next) == (repeat, step, seq))
        {
            return Err(SimulateError::Twice { repeat, step, seq });
        }
    }
    Ok(times)
}

/// The times of one step.
pub(crate) fn of_step<'a, 'b>(times: &'b [&'a SimDuration], step: &Step) -> &'b [&'a SimDuration] {
    let key = (step.repeat, step.step);
    let from = times.partition_point(|d| (d.repeat, d.step) < key);
    let rest = times.get(from..).unwrap_or_default();
    let length = rest.partition_point(|d| (d.repeat, d.step) == key);
    rest.get(..length).unwrap_or_default()
}

/// The first time whose step is not there.
fn stray(times: &[&SimDuration], real: &Timeline) -> SimulateError {
    let steps: std::collections::BTreeSet<_> = real.steps.iter().map(|s| (s.repeat, s.step)).collect();
    let first = times.iter().find(|d| !steps.contains(&(d.repeat, d.step)));
    let (repeat, step, seq) = first.map_or((0, 0, 0), |d| (d.repeat, d.step, d.seq));
    SimulateError::NoKernel { repeat, step, seq }
}

/// From the end of one step to the start of the next; none where neither the gap nor both times are known.
fn gap_ns(earlier: &Step, step: &Step) -> Option<f64> {
    let times = step.baseline_wall_start_ns.zip(earlier.baseline_wall_end_ns);
    let between = times.map(|(start, end)| start.since(end));
    step.baseline_gap_before_ns.or(between)
}

/// Sets the step's start and end, and what it shows of itself under a profiler to the same. Returns the end.
fn place(before: &Step, after: &mut Step, start: Option<Stamp>) -> Option<Stamp> {
    let end = start
        .zip(after.baseline_wall_ns)
        .map(|(start, wall)| start.plus(wall));
    after.baseline_wall_start_ns = before.baseline_wall_start_ns.and(start);
    after.baseline_wall_end_ns = before.baseline_wall_end_ns.and(end);
    after.profiled_wall_ns = before.profiled_wall_ns.and(after.baseline_wall_ns);
    after.profiled_wall_start_ns = before.profiled_wall_start_ns.and(after.baseline_wall_start_ns);
    after.profiled_wall_end_ns = before.profiled_wall_end_ns.and(after.baseline_wall_end_ns);
    after.profiled_gap_before_ns = before.profiled_gap_before_ns.and(after.baseline_gap_before_ns);
    end
}

/// When the repeat's request lets its first step start.
fn first_start(repeat: i64, real: &Timeline) -> Option<Stamp> {
    let request = real.requests.iter().find(|r| r.repeat == repeat)?;
    Some(request.arrival_ns?.plus(request.pre_first_step_ns?))
}

#[cfg(test)]
pub(crate) mod tests;
