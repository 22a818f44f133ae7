//! Service level objectives: which requests were good.

use serde::{Deserialize, Serialize};

use crate::sim::Record;

/// Limits that a good request keeps, in ms, as `vllm bench serve --goodput`. None sets no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slo {
    /// Time to first token.
    pub ttft_ms: Option<f64>,
    /// Time per output token after the first; a request with one token keeps any.
    pub tpot_ms: Option<f64>,
    /// End-to-end latency.
    pub e2el_ms: Option<f64>,
}

impl Slo {
    /// Whether any limit is set.
    pub fn is_set(&self) -> bool {
        self.ttft_ms.is_some() || self.tpot_ms.is_some() || self.e2el_ms.is_some()
    }

    /// Whether a request was served within the limits. A refused one was not.
    pub fn met_by(&self, record: &Record) -> bool {
        let keeps = |limit: Option<f64>, ns: f64| limit.is_none_or(|limit| ns <= limit * 1e6);
        record.refusal.is_none()
            && keeps(self.ttft_ms, record.ttft_ns().unwrap_or_default() as f64)
            && keeps(self.tpot_ms, record.tpot_ns().unwrap_or_default())
            && keeps(self.e2el_ms, record.e2e_ns() as f64)
    }
}
