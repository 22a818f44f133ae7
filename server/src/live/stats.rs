//! What an engine counts, by the names of vLLM's metrics.

use cascade_serving::scheduler::Seq;
use cascade_serving::sim::{Record, StepRecord};

/// vLLM's buckets for the time to the first token, in s (`vllm/v1/metrics`, 0.30).
const TTFT: &[f64] = &[
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0,
    80.0, 160.0, 640.0, 2560.0,
];
/// vLLM's buckets for times between tokens, in s.
const TOKEN: &[f64] = &[
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0,
];
/// vLLM's buckets for times of whole requests, in s.
const REQUEST: &[f64] = &[
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0,
    960.0, 1920.0, 7680.0,
];
/// Buckets for lateness, in s: from a timer's jitter to where nothing is as predicted any more.
const LATENESS: &[f64] = &[
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
];

/// A Prometheus histogram.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    pub(super) bounds: &'static [f64],
    /// Observations up to each bound and above the one before; those above all come last.
    pub(super) counts: Vec<u64>,
    pub(super) sum: f64,
}

impl Histogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// A histogram of how late tokens are.
    pub(super) fn lateness() -> Self {
        Self::new(LATENESS)
    }

    /// Adds `count` observations of `ns`.
    pub(super) fn observe(&mut self, ns: f64, count: u64) {
        let seconds = ns / 1e9;
        let at = self.bounds.partition_point(|bound| *bound < seconds);
        if let Some(bucket) = self.counts.get_mut(at) {
            *bucket += count;
        }
        self.sum += seconds * count as f64;
    }
}

/// Everything one engine counts. Times are predicted ones.
#[derive(Clone, Debug)]
pub(super) struct Stats {
    pub(super) running: u64,
    pub(super) waiting: u64,
    /// Share of the KV blocks in use.
    pub(super) kv_usage: f64,
    pub(super) prompt_tokens: u64,
    pub(super) generation_tokens: u64,
    pub(super) preemptions: u64,
    /// Prompt tokens looked up in the prefix cache, and those found.
    pub(super) prefix_queries: u64,
    pub(super) prefix_hits: u64,
    /// Requests that ended with all their tokens, were given up, or were refused by the engine.
    pub(super) length: u64,
    pub(super) abort: u64,
    pub(super) error: u64,
    /// Requests refused since the queue was full.
    pub(super) rejected: u64,
    pub(super) ttft: Histogram,
    pub(super) inter_token: Histogram,
    pub(super) per_token: Histogram,
    pub(super) e2e: Histogram,
    pub(super) queue: Histogram,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            running: 0,
            waiting: 0,
            kv_usage: 0.0,
            prompt_tokens: 0,
            generation_tokens: 0,
            preemptions: 0,
            prefix_queries: 0,
            prefix_hits: 0,
            length: 0,
            abort: 0,
            error: 0,
            rejected: 0,
            ttft: Histogram::new(TTFT),
            inter_token: Histogram::new(TOKEN),
            per_token: Histogram::new(TOKEN),
            e2e: Histogram::new(REQUEST),
            queue: Histogram::new(REQUEST),
        }
    }
}

impl Stats {
    pub(super) fn step(&mut self, step: &StepRecord) {
        self.preemptions += u64::from(step.preempted);
    }

    /// A token of `seq` is out. With the first, its prompt has been computed.
    pub(super) fn token(&mut self, seq: &Seq, at_ns: u64, caching: bool) {
        self.generation_tokens += 1;
        if seq.emitted == 1 {
            self.prompt_tokens += u64::from(seq.prompt);
            if caching {
                self.prefix_queries += u64::from(seq.prompt);
                self.prefix_hits += u64::from(seq.cached_tokens);
            }
            self.ttft
                .observe(at_ns.saturating_sub(seq.times.arrival) as f64, 1);
        }
    }

    pub(super) fn ended(&mut self, record: &Record) {
        if record.refusal.is_some() {
            self.error += 1;
            return;
        }
        self.length += 1;
        self.e2e.observe(record.e2e_ns() as f64, 1);
        self.queue.observe(record.queue_ns() as f64, 1);
        if let Some(ns) = record.tpot_ns() {
            self.per_token.observe(ns, 1);
        }
    }
}
