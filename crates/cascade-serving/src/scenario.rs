//! A whole question as data: an engine, a workload and what to report. The step time comes from outside.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::metrics::{Collector, MetricsOptions, Report};
use crate::scheduler::SchedulerConfig;
use crate::sim::{DEFAULT_MAX_STEPS, SimError, Totals, simulate};
use crate::step_time::StepTime;
use crate::workload::{Source, Workload, WorkloadError};

/// An engine's settings, a load and what to keep of the outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The engine.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
    /// The load.
    pub workload: Workload,
    /// What to report.
    #[serde(default)]
    pub metrics: MetricsOptions,
    /// Steps after which the simulation stops with an error.
    #[serde(default = "default_max_steps")]
    pub max_steps: u64,
}

fn default_max_steps() -> u64 {
    DEFAULT_MAX_STEPS
}

/// Why a scenario has no outcome.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScenarioError {
    /// The workload is not one.
    #[error("workload: {0}")]
    Workload(#[from] WorkloadError),
    /// The simulation stopped.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// What a scenario comes to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The sums.
    pub report: Report,
    /// Steps and records kept.
    pub collector: Collector,
    /// Steps and time simulated.
    pub totals: Totals,
}

impl Scenario {
    /// Simulates the scenario.
    pub fn run(&self, time: &impl StepTime) -> Result<Outcome, ScenarioError> {
        let mut source = self.workload.source()?;
        self.run_source(time, source.as_mut())
    }

    /// Simulates the scenario with another load than its own, such as a trace.
    pub fn run_source(
        &self,
        time: &impl StepTime,
        source: &mut dyn Source,
    ) -> Result<Outcome, ScenarioError> {
        let mut collector = Collector::new(self.metrics.clone());
        let totals = simulate(&self.scheduler, time, source, &mut collector, self.max_steps)?;
        Ok(Outcome {
            report: collector.report(),
            collector,
            totals,
        })
    }
}
