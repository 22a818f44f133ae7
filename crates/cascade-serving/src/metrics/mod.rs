//! What a simulation comes to, by the names and formulas of `vllm bench serve`.

mod distribution;
mod report;
mod series;
mod slo;
mod waits;

pub use distribution::{Distribution, EXACT_VALUES, Percentile, ROUNDED_BITS, Stats};
pub use report::{MetricsOptions, ProvenanceCount, Report};
pub use series::Series;
pub use slo::Slo;
pub use waits::{Wait, Waited, Waits};

use crate::sim::{Record, Sink, StepRecord};
use crate::step_time::Provenance;

/// Every provenance, in the order of its counts.
const PROVENANCES: [Provenance; 7] = [
    Provenance::Measured,
    Provenance::Interpolated,
    Provenance::Extrapolated,
    Provenance::Datasheet,
    Provenance::Fitted,
    Provenance::Given,
    Provenance::AssumedHost,
];

/// Takes a simulation's records and keeps what a [`Report`] needs. Memory is bounded by the options, save
/// 16 bytes per request for each latency, up to [`EXACT_VALUES`] requests.
#[derive(Debug, Clone)]
pub struct Collector {
    options: MetricsOptions,
    ttft: Distribution,
    tpot: Distribution,
    itl: Distribution,
    e2e: Distribution,
    queue: Distribution,
    completed: u64,
    refused: u64,
    good: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached_tokens: u64,
    preemptions: u64,
    preempted_requests: u64,
    first_arrival: Option<u64>,
    last_end: u64,
    steps: StepSums,
    provenance: [u64; PROVENANCES.len()],
    series: Series,
    requests: Vec<Record>,
}

/// Sums over steps, each weighted by the time until the next one starts.
#[derive(Debug, Clone, Default)]
struct StepSums {
    count: u64,
    gpu_ns: u64,
    latest: Option<StepRecord>,
    /// Requests in the engine, as far as steps and ends tell.
    present: u32,
    running: u128,
    waiting: u128,
    used_blocks: u128,
    peak_running: u32,
    peak_waiting: u32,
    peak_used_blocks: u32,
    peak_concurrency: u32,
}

impl StepSums {
    /// Weighs the latest step up to `now`, or up to its end if it left the engine empty.
    fn close(&mut self, now: u64) {
        let Some(step) = self.latest.take() else { return };
        let until = if self.present == 0 { step.end_ns } else { now };
        let time = u128::from(until.saturating_sub(step.start_ns));
        self.running += u128::from(step.running) * time;
        self.waiting += u128::from(step.waiting) * time;
        self.used_blocks += u128::from(step.used_blocks) * time;
    }

    fn push(&mut self, step: &StepRecord) {
        self.close(step.start_ns);
        self.count += 1;
        self.gpu_ns = self.gpu_ns.saturating_add(step.cost.gpu_ns);
        self.present = step.running + step.waiting;
        self.peak_running = self.peak_running.max(step.running);
        self.peak_waiting = self.peak_waiting.max(step.waiting);
        self.peak_used_blocks = self.peak_used_blocks.max(step.used_blocks);
        self.peak_concurrency = self.peak_concurrency.max(self.present);
        self.latest = Some(*step);
    }
}

impl Collector {
    /// Keeps what `options` ask for.
    pub fn new(options: MetricsOptions) -> Self {
        Self {
            series: Series::new(options.series_points),
            options,
            ttft: Distribution::default(),
            tpot: Distribution::default(),
            itl: Distribution::default(),
            e2e: Distribution::default(),
            queue: Distribution::default(),
            completed: 0,
            refused: 0,
            good: 0,
            input_tokens: 0,
            output_tokens: 0,
            cached_tokens: 0,
            preemptions: 0,
            preempted_requests: 0,
            first_arrival: None,
            last_end: 0,
            steps: StepSums::default(),
            provenance: [0; PROVENANCES.len()],
            requests: Vec::new(),
        }
    }

    /// Steps over time, thinned out.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// The first requests to end, as many as the options ask for.
    pub fn requests(&self) -> &[Record] {
        &self.requests
    }
}

impl Sink for Collector {
    fn request(&mut self, record: &Record) {
        if self.requests.len() < self.options.keep_requests {
            self.requests.push(*record);
        }
        self.first_arrival = Some(self.first_arrival.unwrap_or(u64::MAX).min(record.arrival_ns));
        self.preemptions += u64::from(record.preemptions);
        self.preempted_requests += u64::from(record.preemptions > 0);
        if record.refusal.is_some() {
            self.refused += 1;
            return;
        }
        self.steps.present = self.steps.present.saturating_sub(1);
        self.completed += 1;
        self.last_end = self.last_end.max(record.end_ns);
        self.good += u64::from(self.options.slo.met_by(record));
        self.input_tokens += u64::from(record.prompt_tokens);
        self.output_tokens += u64::from(record.output_tokens);
        self.cached_tokens += u64::from(record.cached_tokens);
        self.e2e.push(record.e2e_ns(), 1);
        self.queue.push(record.queue_ns(), 1);
        if let Some(ttft) = record.ttft_ns() {
            self.ttft.push(ttft, 1);
        }
        if let Some(tpot) = record.tpot_ns() {
            self.tpot.push(tpot.round() as u64, 1);
        }
    }

    fn step(&mut self, step: &StepRecord) {
        self.steps.push(step);
        self.provenance[step.cost.gpu as usize] += 1;
        self.provenance[step.cost.host as usize] += u64::from(step.cost.gpu != step.cost.host);
        self.series.push(step);
    }

    fn inter_token(&mut self, gap_ns: u64, count: u32) {
        self.itl.push(gap_ns, count);
    }
}

#[cfg(test)]
mod tests;
