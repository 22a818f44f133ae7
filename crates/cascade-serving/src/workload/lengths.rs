//! How long prompts and answers are.

use serde::{Deserialize, Serialize};

use super::spec::{WorkloadError, positive};
use crate::random::Random;

/// A number of tokens, drawn anew for each use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "dist", rename_all = "snake_case", deny_unknown_fields)]
pub enum Length {
    /// Always the same.
    Fixed {
        /// Tokens.
        tokens: u32,
    },
    /// Uniform, both ends included.
    Uniform {
        /// Fewest tokens.
        low: u32,
        /// Most tokens.
        high: u32,
    },
    /// The exponential of a normal variable, rounded and held within limits.
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Fewest tokens.
        #[serde(default = "one")]
        min: u32,
        /// Most tokens.
        #[serde(default = "any")]
        max: u32,
    },
}

fn one() -> u32 {
    1
}

/// A million tokens, the longest context of today's models.
fn any() -> u32 {
    1 << 20
}

impl Length {
    pub(super) fn check(&self, field: &'static str) -> Result<(), WorkloadError> {
        let ordered = match self {
            Self::Fixed { .. } => true,
            Self::Uniform { low, high } => low <= high,
            Self::Lognormal { mu, sigma, min, max } => {
                positive("sigma", *sigma)?;
                mu.is_finite() && min <= max
            }
        };
        let wrong = || {
            WorkloadError::new(
                field,
                "has limits that leave no length: let the lower be the smaller",
            )
        };
        if ordered { Ok(()) } else { Err(wrong()) }
    }

    /// The longest that can be drawn.
    pub(super) fn most(&self) -> u32 {
        match self {
            Self::Fixed { tokens } => *tokens,
            Self::Uniform { high, .. } => *high,
            Self::Lognormal { max, .. } => *max,
        }
    }

    /// Draws a length.
    pub fn draw(&self, random: &mut Random) -> u32 {
        match self {
            Self::Fixed { tokens } => *tokens,
            Self::Uniform { low, high } => random.between(*low, *high),
            Self::Lognormal { mu, sigma, min, max } => {
                let tokens = libm::exp(mu + sigma * random.normal());
                (tokens.round() as u32).clamp(*min, *max)
            }
        }
    }
}

/// The lengths of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// Prompt tokens that no other request shares.
    pub prompt: Length,
    /// Tokens to generate.
    pub output: Length,
}
