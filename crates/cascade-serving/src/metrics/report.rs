//! The sums that a collector comes to.

use serde::{Deserialize, Serialize};

use super::{Collector, PROVENANCES, Slo, Stats};
use crate::step_time::Provenance;

/// What to compute and to keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsOptions {
    /// Percentiles of every latency, 0 to 100.
    pub percentiles: Vec<f64>,
    /// What makes a request good.
    pub slo: Slo,
    /// Most steps kept over time.
    pub series_points: usize,
    /// Most request records kept.
    pub keep_requests: usize,
    /// Price of a GPU for an hour, in any currency.
    pub price_per_gpu_hour: Option<f64>,
    /// GPUs that the engine runs on.
    pub gpus: u32,
}

impl Default for MetricsOptions {
    fn default() -> Self {
        Self {
            percentiles: vec![50.0, 90.0, 99.0],
            slo: Slo::default(),
            series_points: 2000,
            keep_requests: 0,
            price_per_gpu_hour: None,
            gpus: 1,
        }
    }
}

/// Steps whose time has this provenance. A step counts for its GPU's and for its host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenanceCount {
    /// The provenance.
    pub provenance: Provenance,
    /// Steps.
    pub steps: u64,
}

/// The outcome of a simulation. Latencies are in ms, rates per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// First arrival to last completion, in seconds.
    pub duration: f64,
    /// Requests that emitted all their tokens.
    pub completed: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Prompt tokens of completed requests.
    pub total_input_tokens: u64,
    /// Tokens that they emitted.
    pub total_output_tokens: u64,
    /// `completed / duration`.
    pub request_throughput: f64,
    /// Good requests per second; none if no limit is set.
    pub request_goodput: Option<f64>,
    /// Share of all requests, refused ones too, that were good; none if no limit is set.
    pub slo_attainment: Option<f64>,
    /// `total_output_tokens / duration`.
    pub output_throughput: f64,
    /// `(total_input_tokens + total_output_tokens) / duration`.
    pub total_token_throughput: f64,
    /// Time to first token: arrival to the end of the step that sampled it.
    pub ttft: Stats,
    /// Time per output token after the first, a mean per request: `(E2EL − TTFT) / (output tokens − 1)`.
    pub tpot: Stats,
    /// Time between tokens, pooled over all requests.
    pub itl: Stats,
    /// End-to-end latency: arrival to completion.
    pub e2el: Stats,
    /// Arrival to the start of the first step.
    pub queue: Stats,
    /// Steps that computed something.
    pub steps: u64,
    /// Share of the duration in which the GPU worked.
    pub gpu_busy: f64,
    /// Running requests over time.
    pub mean_running: f64,
    /// Most running requests.
    pub peak_running: u32,
    /// Waiting requests over time, as steps saw them.
    pub mean_waiting: f64,
    /// Most waiting requests.
    pub peak_waiting: u32,
    /// Most requests in the engine.
    pub max_concurrent_requests: u32,
    /// KV blocks in use over time.
    pub mean_used_blocks: f64,
    /// Most KV blocks in use.
    pub peak_used_blocks: u32,
    /// Preemptions.
    pub preemptions: u64,
    /// Requests preempted at least once.
    pub preempted_requests: u64,
    /// Prompt tokens found in the prefix cache at first admission.
    pub prefix_cached_tokens: u64,
    /// `prefix_cached_tokens / total_input_tokens`.
    pub prefix_hit_rate: f64,
    /// Price of a million output tokens, all GPU time charged to them.
    pub cost_per_million_output_tokens: Option<f64>,
    /// Price of a million tokens, input and output alike.
    pub cost_per_million_tokens: Option<f64>,
    /// Where the steps' times come from.
    pub provenance: Vec<ProvenanceCount>,
}

/// `a / b`, and 0 where there is nothing to divide by.
fn per(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

impl Collector {
    /// Sums up.
    pub fn report(&mut self) -> Report {
        let last_end = self.steps.latest.map_or(0, |step| step.end_ns);
        self.steps.close(last_end);
        let steps = &self.steps;
        let duration_ns = self
            .last_end
            .saturating_sub(self.first_arrival.unwrap_or_default()) as f64;
        let duration = duration_ns / 1e9;
        let (input, output) = (self.input_tokens as f64, self.output_tokens as f64);
        let good = self.options.slo.is_set().then_some(self.good as f64);
        let qs = &self.options.percentiles;
        let price = self.options.price_per_gpu_hour;
        let paid = price.map(|price| price * f64::from(self.options.gpus) * duration / 3600.0);
        let per_million = |tokens: f64| paid.map(|paid| per(paid * 1e6, tokens));
        Report {
            duration,
            completed: self.completed,
            refused: self.refused,
            total_input_tokens: self.input_tokens,
            total_output_tokens: self.output_tokens,
            request_throughput: per(self.completed as f64, duration),
            request_goodput: good.map(|good| per(good, duration)),
            slo_attainment: good.map(|good| per(good, (self.completed + self.refused) as f64)),
            output_throughput: per(output, duration),
            total_token_throughput: per(input + output, duration),
            ttft: self.ttft.stats(qs),
            tpot: self.tpot.stats(qs),
            itl: self.itl.stats(qs),
            e2el: self.e2e.stats(qs),
            queue: self.queue.stats(qs),
            steps: steps.count,
            gpu_busy: per(steps.gpu_ns as f64, duration_ns),
            mean_running: per(steps.running as f64, duration_ns),
            peak_running: steps.peak_running,
            mean_waiting: per(steps.waiting as f64, duration_ns),
            peak_waiting: steps.peak_waiting,
            max_concurrent_requests: steps.peak_concurrency,
            mean_used_blocks: per(steps.used_blocks as f64, duration_ns),
            peak_used_blocks: steps.peak_used_blocks,
            preemptions: self.preemptions,
            preempted_requests: self.preempted_requests,
            prefix_cached_tokens: self.cached_tokens,
            prefix_hit_rate: per(self.cached_tokens as f64, input),
            cost_per_million_output_tokens: per_million(output),
            cost_per_million_tokens: per_million(input + output),
            provenance: PROVENANCES
                .into_iter()
                .zip(self.provenance)
                .filter(|(_, steps)| *steps > 0)
                .map(|(provenance, steps)| ProvenanceCount { provenance, steps })
                .collect(),
        }
    }
}
