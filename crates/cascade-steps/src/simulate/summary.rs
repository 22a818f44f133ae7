//! How a simulated timeline was made, and its mean steps.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SimDurations;
use crate::stats::{mean, quantile};
use crate::timeline::{Extra, Timeline};

/// `summary.simulation` of a simulated timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// How host time is modelled: `scaled-gaps`, the measured host time between kernels as under the profiler.
    pub host_model: String,
    /// What was fitted for it: nothing.
    #[serde(default)]
    pub host_fit: Extra,
    /// How much was simulated.
    pub coverage: Coverage,
    /// How requests are put together.
    pub request_assumption: String,
    /// How gaps between steps are modelled: `measured`.
    #[serde(default)]
    pub gap_model: Option<String>,
    /// What was fitted for it: nothing.
    #[serde(default)]
    pub gap_fit: Extra,
    /// The program that made the kernel times.
    #[serde(default)]
    pub engine: Option<String>,
    /// The GPU it simulated.
    #[serde(default)]
    pub gpu_config: Option<String>,
    /// The clock that turned its cycles into time, in MHz.
    #[serde(default)]
    pub core_clock_mhz: Option<f64>,
    /// Replaced launches by label: `exact`, `dedup`, `identical`, `interp`.
    #[serde(default)]
    pub provenance: BTreeMap<String, u64>,
}

/// How much of the steady steps was simulated. Coverage is no accuracy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Kernels.
    pub kernels: u64,
    /// Kernels with a simulated time.
    pub simulated_kernels: u64,
    /// `simulated_kernels / kernels`; 0 of none.
    pub kernel_fraction: f64,
    /// `covered_measured_gpu_ns / measured_gpu_ns`; 0 of none.
    pub gpu_time_fraction: f64,
    /// Measured GPU busy time.
    pub measured_gpu_ns: f64,
    /// Measured time of the simulated kernels.
    pub covered_measured_gpu_ns: f64,
    /// Measured GPU busy time in which no kernel of the timeline ran; kept.
    pub unmodeled_gpu_ns: f64,
    /// The same for each step.
    pub steps: Vec<StepCoverage>,
}

/// How much of one step was simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepCoverage {
    /// The repeat.
    pub repeat: i64,
    /// The step.
    pub step: i64,
    /// Its kernels.
    pub kernels: u64,
    /// Those with a simulated time.
    pub simulated_kernels: u64,
    /// Its measured GPU busy time; the time its kernels cover where that is null.
    pub measured_gpu_ns: f64,
    /// Measured time of the simulated kernels.
    pub simulated_coverage_gpu_ns: f64,
    /// Measured busy time that no kernel explains; negative where kernels cover more than the busy time.
    pub unmodeled_gpu_ns: f64,
    /// How much longer its kernels are together than the time in which any of them ran.
    pub measured_kernel_overlap_ns: f64,
}

/// The mean step of one kind, over the steady steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindSummary {
    /// How many there are.
    pub steps: u64,
    /// Mean wall time of those that have one.
    pub wall_ns_mean: Option<f64>,
    /// Mean GPU busy time of those that have one.
    pub gpu_busy_ns_mean: Option<f64>,
    /// The gaps before them; absent where none has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_before_ns: Option<GapSummary>,
}

/// Gaps before steps, in ns. Quantiles interpolate linearly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GapSummary {
    /// How many.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// Their median.
    pub p50: f64,
    /// Their 95th percentile.
    pub p95: f64,
}

impl Coverage {
    fn of(steps: Vec<StepCoverage>) -> Self {
        let sum = |f: fn(&StepCoverage) -> f64| steps.iter().map(f).sum::<f64>();
        let count = |f: fn(&StepCoverage) -> u64| steps.iter().map(f).sum::<u64>();
        let fraction = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        let (kernels, simulated) = (count(|s| s.kernels), count(|s| s.simulated_kernels));
        let (measured, covered) = (sum(|s| s.measured_gpu_ns), sum(|s| s.simulated_coverage_gpu_ns));
        Self {
            kernels,
            simulated_kernels: simulated,
            kernel_fraction: fraction(simulated as f64, kernels as f64),
            gpu_time_fraction: fraction(covered, measured),
            measured_gpu_ns: measured,
            covered_measured_gpu_ns: covered,
            unmodeled_gpu_ns: sum(|s| s.unmodeled_gpu_ns),
            steps,
        }
    }
}

/// Mean steps by kind, in order of first appearance.
pub(crate) fn per_kind(timeline: &Timeline) -> IndexMap<&str, KindSummary> {
    let mut kinds: IndexMap<&str, [Vec<f64>; 3]> = IndexMap::new();
    let mut counts: IndexMap<&str, u64> = IndexMap::new();
    for step in timeline.steady() {
        *counts.entry(&step.kind).or_default() += 1;
        let [walls, busy, gaps] = kinds.entry(&step.kind).or_default();
        walls.extend(step.baseline_wall_ns);
        busy.extend(step.gpu_busy_ns);
        gaps.extend(step.baseline_gap_before_ns);
    }
    let summary = |(kind, [walls, busy, mut gaps]): (_, [Vec<f64>; 3])| {
        let summary = KindSummary {
            steps: counts.get(kind).copied().unwrap_or_default(),
            wall_ns_mean: mean(&walls),
            gpu_busy_ns_mean: mean(&busy),
            gap_before_ns: gap_summary(&mut gaps),
        };
        (kind, summary)
    };
    kinds.into_iter().map(summary).collect()
}

fn gap_summary(gaps: &mut [f64]) -> Option<GapSummary> {
    Some(GapSummary {
        n: gaps.len() as u64,
        mean: mean(gaps)?,
        p50: quantile(gaps, 0.5)?,
        p95: quantile(gaps, 0.95)?,
    })
}

/// The `summary` of a simulated timeline.
pub(super) fn summarise(
    simulated: &Timeline,
    coverage: Vec<StepCoverage>,
    provenance: BTreeMap<&'static str, u64>,
    durations: &SimDurations,
) -> Extra {
    let simulation = Simulation {
        host_model: "scaled-gaps".to_owned(),
        coverage: Coverage::of(coverage),
        request_assumption: "one request per repeat; queued (or arrival) + pre/steps/inter-step gaps/post"
            .to_owned(),
        gap_model: Some("measured".to_owned()),
        engine: durations.engine.clone(),
        gpu_config: durations.gpu_config.clone(),
        core_clock_mhz: durations.core_clock_mhz,
        provenance: provenance
            .into_iter()
            .map(|(label, n)| (label.to_owned(), n))
            .collect(),
        ..Simulation::default()
    };
    // Both are plain data: neither can fail to become JSON.
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
    Extra::from([
        ("simulation".to_owned(), json(serde_json::to_value(&simulation))),
        (
            "per_kind".to_owned(),
            json(serde_json::to_value(per_kind(simulated))),
        ),
    ])
}
