//! The simulation: arrivals, steps and tokens in the order in which they happen.
//!
//! Time is in whole ns. Events at one time are ordered by kind (a step ends, requests arrive, a step is
//! scheduled) and then by number. Synchronous scheduling alternates host and GPU. Asynchronous scheduling
//! follows vLLM's engine loop with a queue of two: step k+1 is scheduled while step k runs, so a request that
//! arrives or ends in step k makes its difference in step k+2, and host time hides behind the GPU's.

mod core;
mod record;

use thiserror::Error;

pub use self::core::Core;
pub use record::{Record, Sink, StepRecord};

use crate::scheduler::{ConfigError, SchedulerConfig};
use crate::step_time::StepTime;
use crate::workload::Source;

/// Steps after which a simulation stops unless told otherwise: a minute or so of computing, so that a load
/// that thrashes ends with a message.
pub const DEFAULT_MAX_STEPS: u64 = 1_000_000_000;

/// Why a simulation stopped early.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimError {
    /// The limit of steps was reached with requests left.
    #[error(
        "stopped after {limit} steps with requests left: raise the limit, or give the load more KV blocks if it preempts itself without end"
    )]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// The engine's settings are not possible.
    #[error("scheduler: {0}")]
    Config(#[from] ConfigError),
}

/// What a simulation came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Steps that computed something.
    pub steps: u64,
    /// End of the last step, in ns.
    pub end_ns: u64,
}

/// Runs `source` through an engine until every request has left. Records go to `sink`.
pub fn simulate(
    config: &SchedulerConfig,
    time: &impl StepTime,
    source: &mut dyn Source,
    sink: &mut impl Sink,
    max_steps: u64,
) -> Result<Totals, SimError> {
    let mut core = Core::new(config.clone(), time)?;
    while core.turn(source, sink) {
        if core.totals().steps >= max_steps && core.has_work() {
            return Err(SimError::StepLimit { limit: max_steps });
        }
    }
    Ok(core.totals())
}

#[cfg(test)]
mod tests;
