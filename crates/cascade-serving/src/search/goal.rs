//! What a simulation must come to.

use serde::{Deserialize, Serialize};

use crate::metrics::{Report, Stats};

/// A latency of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time to first token.
    Ttft,
    /// Time per output token after the first.
    Tpot,
    /// Time between tokens.
    Itl,
    /// End-to-end latency.
    E2el,
    /// Time to the first step.
    Queue,
}

/// Which number of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The percentile, 0 to 100; it must be among those that the report has, or be 50.
    Percentile(f64),
}

/// A limit on one number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Of which latency.
    pub metric: Metric,
    /// Which number of it.
    pub statistic: Statistic,
    /// The most that it may be, in ms.
    pub at_most_ms: f64,
}

/// What makes a simulation good: all of it must hold, and no request may be refused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Goal {
    /// Limits on latencies.
    pub limits: Vec<Limit>,
    /// Least share of requests within the SLO of the metrics' options, 0 to 1.
    pub attainment: Option<f64>,
}

impl Statistic {
    /// The number in ms. None if the report does not have it.
    pub fn of(self, stats: &Stats) -> Option<f64> {
        match self {
            Self::Mean => Some(stats.mean),
            Self::Percentile(q) => {
                let found = stats.percentiles.iter().find(|percentile| percentile.q == q);
                found
                    .map(|percentile| percentile.value)
                    .or((q == 50.0).then_some(stats.median))
            }
        }
    }
}

impl Metric {
    /// The latency's numbers.
    pub fn of(self, report: &Report) -> &Stats {
        match self {
            Self::Ttft => &report.ttft,
            Self::Tpot => &report.tpot,
            Self::Itl => &report.itl,
            Self::E2el => &report.e2el,
            Self::Queue => &report.queue,
        }
    }
}

impl Goal {
    /// Whether a report meets the goal. A number that the report does not have meets no limit.
    pub fn met_by(&self, report: &Report) -> bool {
        let keeps = |limit: &Limit| {
            limit
                .statistic
                .of(limit.metric.of(report))
                .is_some_and(|value| value <= limit.at_most_ms)
        };
        report.refused == 0
            && self.limits.iter().all(keeps)
            && self
                .attainment
                .is_none_or(|least| report.slo_attainment.is_some_and(|share| share >= least))
    }
}
