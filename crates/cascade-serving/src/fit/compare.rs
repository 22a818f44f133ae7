//! A replay of a whole run against what was measured.

use super::{MeasuredRun, Replay};
use crate::metrics::{Distribution, Stats};
use crate::sim::SimError;
use crate::step_time::Affine;

/// Percentiles that are compared beside the mean.
const PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];

/// One figure of one latency, in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The latency, by vLLM's name.
    pub metric: &'static str,
    /// Mean or percentile.
    pub figure: &'static str,
    /// As measured.
    pub measured_ms: f64,
    /// As predicted.
    pub predicted_ms: f64,
}

impl Line {
    /// How far the prediction is off, in percent of what was measured.
    pub fn error_percent(&self) -> f64 {
        100.0 * (self.predicted_ms / self.measured_ms - 1.0)
    }
}

/// TTFT, TPOT and E2E of a run, measured and predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Every figure of every latency.
    pub lines: Vec<Line>,
    /// Preemptions predicted; a run does not record its own.
    pub preemptions: u32,
}

impl Comparison {
    /// The figure that is furthest off.
    pub fn worst(&self) -> Option<&Line> {
        let off = |line: &&Line| line.error_percent().abs();
        self.lines.iter().max_by(|a, b| off(a).total_cmp(&off(b)))
    }
}

/// Replays all of `run` with step times `time`. Latencies count from when the engine queued the request, as the
/// recorder's own summaries do.
pub fn compare(run: &MeasuredRun, time: &Affine) -> Result<Comparison, SimError> {
    let replay = Replay::of(run, time)?;
    let mut measured = Latencies::default();
    for request in &run.requests {
        let [first, last] =
            [request.first_token_ns, request.last_token_ns].map(|ns| ns.saturating_sub(request.queued_ns));
        measured.push(first, last, request.output_tokens);
    }
    let mut predicted = Latencies::default();
    for record in &replay.records {
        if let Some(ttft) = record.ttft_ns() {
            predicted.push(ttft, record.e2e_ns(), record.output_tokens);
        }
    }
    let mut lines = Vec::new();
    for ((metric, measured), (_, predicted)) in measured.stats().into_iter().zip(predicted.stats()) {
        for ((figure, measured_ms), (_, predicted_ms)) in figures(&measured).zip(figures(&predicted)) {
            lines.push(Line {
                metric,
                figure,
                measured_ms,
                predicted_ms,
            });
        }
    }
    let preemptions = replay.records.iter().map(|record| record.preemptions).sum();
    Ok(Comparison { lines, preemptions })
}

#[derive(Default)]
struct Latencies {
    ttft: Distribution,
    tpot: Distribution,
    e2e: Distribution,
}

impl Latencies {
    fn push(&mut self, ttft_ns: u64, e2e_ns: u64, output_tokens: u32) {
        self.ttft.push(ttft_ns, 1);
        self.e2e.push(e2e_ns, 1);
        if output_tokens > 1 {
            let tpot = (e2e_ns - ttft_ns.min(e2e_ns)) as f64 / f64::from(output_tokens - 1);
            self.tpot.push(tpot.round() as u64, 1);
        }
    }

    fn stats(&mut self) -> [(&'static str, Stats); 3] {
        [
            ("TTFT", &mut self.ttft),
            ("TPOT", &mut self.tpot),
            ("E2E", &mut self.e2e),
        ]
        .map(|(name, latency)| (name, latency.stats(&PERCENTILES)))
    }
}

fn figures(stats: &Stats) -> impl Iterator<Item = (&'static str, f64)> {
    let percentiles = stats.percentiles.iter().map(|percentile| percentile.value);
    ["mean", "p50", "p90", "p99"]
        .into_iter()
        .zip(std::iter::once(stats.mean).chain(percentiles))
}
