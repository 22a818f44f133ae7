//! When requests arrive that do not wait for each other.

use serde::{Deserialize, Serialize};

use super::spec::{WorkloadError, positive};
use crate::random::Random;

/// How a ramp gets from its first rate to its last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RampShape {
    /// By equal steps per request.
    #[default]
    Linear,
    /// By an equal factor per request.
    Exponential,
}

/// The arrival process. Rates are in requests per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "process", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// All at time 0.
    AtOnce,
    /// Request i at `i / rate`.
    Fixed {
        /// Requests per second.
        rate: f64,
    },
    /// Exponential gaps.
    Poisson {
        /// Requests per second on average.
        rate: f64,
    },
    /// Gamma gaps, as `vllm bench serve --burstiness`: shape `burstiness`, so 1 is Poisson and less is burstier.
    Gamma {
        /// Requests per second on average.
        rate: f64,
        /// Shape of the gaps' distribution.
        burstiness: f64,
    },
    /// `size` requests at once, every `period_s` seconds.
    Burst {
        /// Requests in a burst.
        size: u64,
        /// Seconds from burst to burst.
        period_s: f64,
    },
    /// Exponential gaps whose rate changes from request to request, as `vllm bench serve --ramp-up-strategy`.
    Ramp {
        /// Rate at the first request.
        from_rate: f64,
        /// Rate at the last request.
        to_rate: f64,
        /// How it changes.
        #[serde(default)]
        shape: RampShape,
    },
}

impl Arrivals {
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        match self {
            Self::AtOnce => Ok(()),
            Self::Fixed { rate } | Self::Poisson { rate } => positive("rate", *rate),
            Self::Gamma { rate, burstiness } => {
                positive("rate", *rate).and_then(|()| positive("burstiness", *burstiness))
            }
            Self::Burst { size, period_s } => {
                positive("size", *size as f64).and_then(|()| positive("period_s", *period_s))
            }
            Self::Ramp {
                from_rate, to_rate, ..
            } => positive("from_rate", *from_rate).and_then(|()| positive("to_rate", *to_rate)),
        }
    }

    /// The arrival of request `index` of `count`, in seconds, given that of the one before it.
    pub(super) fn next(&self, index: u64, count: u64, previous: f64, random: &mut Random) -> f64 {
        match self {
            Self::AtOnce => 0.0,
            Self::Fixed { rate } => index as f64 / rate,
            Self::Poisson { rate } => previous + random.exponential() / rate,
            Self::Gamma { rate, burstiness } => previous + random.gamma(*burstiness) / (rate * burstiness),
            Self::Burst { size, period_s } => (index / (*size).max(1)) as f64 * period_s,
            Self::Ramp {
                from_rate,
                to_rate,
                shape,
            } => {
                let progress = index as f64 / (count.saturating_sub(1)).max(1) as f64;
                let rate = match shape {
                    RampShape::Linear => from_rate + (to_rate - from_rate) * progress,
                    RampShape::Exponential => from_rate * libm::pow(to_rate / from_rate, progress),
                };
                previous + random.exponential() / rate
            }
        }
    }
}
