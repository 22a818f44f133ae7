//! The numbers that the explorer shows for each GPU.

use serde::{Deserialize, Serialize};

use crate::format;

/// A number that a scenario comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is defined by its entry in the table")]
pub enum Metric {
    TtftP50,
    TtftP90,
    TtftP99,
    TpotP50,
    TpotP90,
    TpotP99,
    ItlP50,
    ItlP90,
    ItlP99,
    E2eP50,
    E2eP90,
    E2eP99,
    OutputRate,
    RequestRate,
    Goodput,
    Attainment,
    Cost,
    Preemptions,
    KvPeak,
    PrefixHits,
    GpuBusy,
}

/// Every metric's value, in the order of [`Metric::ALL`]; none where there is none.
pub type Values = Vec<Option<f64>>;

/// Metrics that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// What its numbers mean.
    pub meaning: &'static str,
    /// Its metrics.
    pub metrics: &'static [Metric],
}

/// The cards of the page.
pub const GROUPS: [Group; 5] = [
    Group {
        name: "Time to first token",
        meaning: "From a request's arrival to its first token, its time in the queue included.",
        metrics: &[Metric::TtftP50, Metric::TtftP90, Metric::TtftP99],
    },
    Group {
        name: "Time per output token",
        meaning: "(E2E − TTFT) / (output tokens − 1), a mean for each request.",
        metrics: &[Metric::TpotP50, Metric::TpotP90, Metric::TpotP99],
    },
    Group {
        name: "Time between tokens",
        meaning: "Every interval between two tokens of a request (ITL), all requests pooled.",
        metrics: &[Metric::ItlP50, Metric::ItlP90, Metric::ItlP99],
    },
    Group {
        name: "End to end",
        meaning: "From a request's arrival to its last token.",
        metrics: &[Metric::E2eP50, Metric::E2eP90, Metric::E2eP99],
    },
    Group {
        name: "Capacity",
        meaning: "Rates are over the time from the first arrival to the last completion; goodput counts the requests that keep every limit.",
        metrics: &[
            Metric::OutputRate,
            Metric::RequestRate,
            Metric::Goodput,
            Metric::Attainment,
            Metric::Cost,
            Metric::Preemptions,
            Metric::KvPeak,
            Metric::PrefixHits,
            Metric::GpuBusy,
        ],
    },
];

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 21] = [
        Self::TtftP50,
        Self::TtftP90,
        Self::TtftP99,
        Self::TpotP50,
        Self::TpotP90,
        Self::TpotP99,
        Self::ItlP50,
        Self::ItlP90,
        Self::ItlP99,
        Self::E2eP50,
        Self::E2eP90,
        Self::E2eP99,
        Self::OutputRate,
        Self::RequestRate,
        Self::Goodput,
        Self::Attainment,
        Self::Cost,
        Self::Preemptions,
        Self::KvPeak,
        Self::PrefixHits,
        Self::GpuBusy,
    ];

    /// What it reads within its group.
    pub fn name(self) -> &'static str {
        match self {
            Self::TtftP50 | Self::TpotP50 | Self::ItlP50 | Self::E2eP50 => "p50",
            Self::TtftP90 | Self::TpotP90 | Self::ItlP90 | Self::E2eP90 => "p90",
            Self::TtftP99 | Self::TpotP99 | Self::ItlP99 | Self::E2eP99 => "p99",
            Self::OutputRate => "Output tokens/s",
            Self::RequestRate => "Requests/s",
            Self::Goodput => "Goodput, requests/s",
            Self::Attainment => "Within limits",
            Self::Cost => "Cost per M tokens",
            Self::Preemptions => "Preemptions",
            Self::KvPeak => "KV peak",
            Self::PrefixHits => "Prefix hits",
            Self::GpuBusy => "GPU busy",
        }
    }

    /// The value as a page shows it.
    pub fn text(self, value: Option<f64>) -> String {
        let Some(value) = value else {
            return format::NONE.to_owned();
        };
        match self {
            Self::OutputRate | Self::RequestRate | Self::Goodput => format::compact(value),
            Self::Attainment | Self::KvPeak | Self::PrefixHits | Self::GpuBusy => {
                format::fixed(value * 100.0, 1, "%")
            }
            Self::Cost => format::fixed(value, 3, "").trim_end().to_owned(),
            // A count.
            Self::Preemptions => format::count(value as u64),
            _ => format::duration_ns(value * 1e6),
        }
    }

    /// The metric's value among all.
    pub fn of(self, values: &Values) -> Option<f64> {
        values.get(self as usize).copied().flatten()
    }

    /// Low and high as a page shows them, if both are there and differ as written.
    pub fn range(self, band: &(Values, Values)) -> Option<String> {
        let (low, high) = (self.of(&band.0)?, self.of(&band.1)?);
        let (low, high) = (self.text(Some(low.min(high))), self.text(Some(low.max(high))));
        (low != high).then(|| format!("{low} – {high}"))
    }
}

/// The least and the most of each value over several runs.
pub fn extremes(runs: &[&Values]) -> (Values, Values) {
    let fold = |pick: fn(f64, f64) -> f64| {
        let one = |metric: &Metric| {
            let mut all = runs.iter().map(|values| metric.of(values));
            let first = all.next().flatten();
            all.fold(first, |so_far, next| so_far.zip(next).map(|(a, b)| pick(a, b)))
        };
        Metric::ALL.iter().map(one).collect()
    };
    (fold(f64::min), fold(f64::max))
}

/// Latencies that have a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Latency {
    /// Time to first token.
    Ttft,
    /// Time per output token.
    Tpot,
    /// End to end.
    E2e,
    /// Time in the queue.
    Queue,
}

impl Latency {
    /// Every latency, in the order of the answer's distributions.
    pub const ALL: [Self; 4] = [Self::Ttft, Self::Tpot, Self::E2e, Self::Queue];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Tpot => "TPOT",
            Self::E2e => "E2E",
            Self::Queue => "Queue",
        }
    }
}
