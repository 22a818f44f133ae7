//! What the page draws of one run: every metric, and lines of a bounded number of points.

mod steps;
mod time;

use cascade_scenario::{Ran, Scenario, provenance};
use cascade_scene::explorer::{Figures, QUANTILES, Values};
use cascade_serving::metrics::{Report, Stats, Wait};
use cascade_serving::profile::{Basis, PerfProfile};
use cascade_serving::sim::Record;

use crate::rows::reason;

/// Everything of one run.
pub(crate) fn figures(profile: &PerfProfile, scenario: &Scenario<'_>, ran: &Ran) -> Figures {
    let counts = provenance(&ran.report);
    let named = [
        ("measured", counts.measured),
        ("interpolated", counts.interpolated),
        ("extrapolated:roofline", counts.extrapolated),
        ("datasheet", counts.datasheet),
        ("assumed-host", counts.assumed_host),
    ];
    let quantiles = [
        quantiles(ran, |record| record.ttft_ns().map(|ns| ns as f64)),
        quantiles(ran, Record::tpot_ns),
        quantiles(ran, |record| Some(record.e2e_ns() as f64)),
        quantiles(ran, |record| Some(record.queue_ns() as f64)),
    ];
    Figures {
        values: values(&ran.report, ran.blocks()),
        requests: ran.requests.len() as u64,
        refused: ran.report.refused,
        steps: ran.report.steps,
        provenance: named
            .into_iter()
            .filter(|(_, steps)| *steps > 0)
            .map(|(name, steps)| (name.to_owned(), steps))
            .collect(),
        basis: basis(profile),
        assumptions: scenario.assumptions(),
        warnings: profile.warnings.clone(),
        settings: scenario.settings(),
        kv: scenario.kv_cache(),
        blocks: ran.blocks(),
        quantiles,
        time: time::lines(ran),
        per_step: steps::lines(ran),
        waits_ms: waits(ran),
    }
}

/// Every metric, in the order of the page's table.
pub(crate) fn values(report: &Report, blocks: u64) -> Values {
    let of = |stats: &Stats, q: f64| {
        let found = stats.percentiles.iter().find(|percentile| percentile.q == q);
        found.map(|percentile| percentile.value)
    };
    let latencies = [&report.ttft, &report.tpot, &report.itl, &report.e2el];
    let mut values: Values = latencies
        .into_iter()
        .flat_map(|stats| [50.0, 90.0, 99.0].map(|q| of(stats, q)))
        .collect();
    values.extend([
        Some(report.output_throughput),
        Some(report.request_throughput),
        report.request_goodput,
        report.slo_attainment,
        report.cost_per_million_tokens,
        Some(report.preemptions as f64),
        Some(f64::from(report.peak_used_blocks) / blocks.max(1) as f64),
        Some(report.prefix_hit_rate),
        Some(report.gpu_busy),
    ]);
    values
}

/// What step times rest on.
fn basis(profile: &PerfProfile) -> String {
    match (profile.basis, &profile.run) {
        (Basis::Trace, Some(run)) => {
            let engine = run.engine.as_deref().unwrap_or("measured times");
            format!(
                "Kernel times of a traced request ({} prompt and {} output tokens) from {engine}, grown by a roofline",
                run.prompt_tokens, run.output_tokens
            )
        }
        _ => "The GPU's datasheet alone: no kernel was traced or simulated".to_owned(),
    }
}

/// A latency at each whole percentile, in ms, interpolated linearly.
fn quantiles(ran: &Ran, of: impl Fn(&Record) -> Option<f64>) -> Vec<f64> {
    let served = ran.requests.iter().filter(|record| record.refusal.is_none());
    let mut all: Vec<f64> = served.filter_map(of).collect();
    all.sort_by(f64::total_cmp);
    let last = all.len().saturating_sub(1);
    let at = |percent: usize| {
        let rank = percent as f64 / (QUANTILES - 1) as f64 * last as f64;
        let low = *all.get(rank.floor() as usize)?;
        let high = *all.get(rank.ceil() as usize)?;
        Some(round((low + (high - low) * rank.fract()) / 1e6))
    };
    (0..QUANTILES).filter_map(at).collect()
}

/// Time that all requests waited, in ms, by reason; the longest first.
fn waits(ran: &Ran) -> Vec<(String, f64)> {
    let mut sums = [0.0; Wait::ALL.len()];
    for record in &ran.requests {
        for (sum, ns) in sums.iter_mut().zip(ran.waits().of(record)) {
            *sum += ns as f64 / 1e6;
        }
    }
    let named = Wait::ALL.into_iter().zip(sums).filter(|(_, ms)| *ms > 0.0);
    let mut waits: Vec<_> = named
        .map(|(wait, ms)| (reason(wait.name()).to_owned(), ms))
        .collect();
    waits.sort_by(|a, b| b.1.total_cmp(&a.1));
    waits
}

/// A value for a picture: four significant digits say it, and make the message short.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let mut scale = 1.0;
    while value.abs() * scale < 1e3 && scale < 1e12 {
        scale *= 10.0;
    }
    (value * scale).round() / scale
}
