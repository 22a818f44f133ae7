//! A finished step timeline as a performance profile: what each group of kernels took, and what surrounds it.

mod build;
mod group;
mod notes;
mod recorded;

pub use build::ProfileError;
pub use group::{Group, GroupTimes, classify};
pub use recorded::{MAX_RUN_FILE_BYTES, RUN_FILE, RunDocument, WORKLOAD_FILE};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::datasheet::{Datasheet, DatasheetError, Efficiency};
use crate::facts::ModelFacts;
use crate::kv::ASSUMED_UTILIZATION;

/// What a profile's GPU times rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A traced workload whose kernels were simulated.
    Trace,
    /// The GPU's datasheet alone: no kernel was simulated.
    Datasheet,
}

/// What one kind of step took at one size: medians over the repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Prompt tokens of a prefill; context of a decode, its own token included.
    pub tokens: u32,
    /// Summed kernel time of each group, in ns.
    pub groups: GroupTimes,
    /// GPU busy time that no kernel accounts for, in ns; negative where kernels overlap.
    pub unattributed_ns: i64,
    /// Steps behind the medians.
    pub steps: u32,
}

impl Floor {
    /// GPU busy time, in ns.
    pub fn gpu_ns(&self) -> u64 {
        self.groups.total().saturating_add_signed(self.unattributed_ns)
    }
}

/// Time outside the GPU, in ns: medians over all steps of a kind, held whatever is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTime {
    /// Wall minus GPU busy time of a step with prefill.
    pub prefill_ns: i64,
    /// Wall minus GPU busy time of a step of decodes.
    pub decode_ns: i64,
    /// Before a step with prefill that follows another step; none counts as 0. Repeats of one request record
    /// none: their prefill follows no step.
    pub prefill_gap_ns: Option<i64>,
    /// Before a step of decodes.
    pub decode_gap_ns: i64,
    /// From a request's arrival to its first step, once in each busy period; none counts as 0.
    pub pre_first_step_ns: Option<i64>,
    /// From the end of a request's last step to its end, negative where it ends before the step; none counts
    /// as 0.
    pub post_last_step_ns: Option<i64>,
}

impl HostTime {
    /// Wall minus GPU busy time of a step, with prefill or of decodes alone.
    pub fn residual_ns(&self, prefill: bool) -> i64 {
        if prefill { self.prefill_ns } else { self.decode_ns }
    }

    /// The time between a step and the one before it in the same busy period.
    pub fn gap_ns(&self, prefill: bool) -> i64 {
        if prefill {
            self.prefill_gap_ns.unwrap_or(0)
        } else {
            self.decode_gap_ns
        }
    }
}

/// The run that was traced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfiledRun {
    /// Prompt tokens of its request.
    pub prompt_tokens: u32,
    /// Output tokens of its request.
    pub output_tokens: u32,
    /// Repeats that count.
    pub repeats: u32,
    /// The GPU on which host times were measured.
    pub measured_on: Option<String>,
    /// The program that simulated the kernels; none where their times were measured.
    pub engine: Option<String>,
    /// The share of kernels whose time was simulated; the others keep their measured time.
    pub simulated_share: Option<f64>,
    /// What the trace says of its own origin.
    pub note: Option<String>,
    /// `gpu_memory_utilization` of the run, where recorded.
    pub gpu_memory_utilization: Option<f64>,
    /// `max_model_len` of the run, where recorded.
    pub max_model_len: Option<u32>,
    /// `max_tokens` of its request, where recorded.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The file that each of these settings is from; the timeline where none is named.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// Records that could not be used, and why.
    #[serde(default)]
    pub unused: Vec<String>,
}

/// All that the estimate of a step needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerfProfile {
    /// What the GPU times rest on.
    pub basis: Basis,
    /// The model.
    pub model: ModelFacts,
    /// The GPU that was simulated, or only described.
    pub gpu: Datasheet,
    /// Fractions of the datasheet's peaks.
    pub efficiency: Efficiency,
    /// The traced run; none without a trace.
    pub run: Option<ProfiledRun>,
    /// The prefill step; none without a trace.
    pub prefill: Option<Floor>,
    /// Decode steps by context, ascending; empty without a trace.
    pub decode: Vec<Floor>,
    /// Time outside the GPU.
    pub host: HostTime,
    /// What was assumed, in sentences.
    pub assumptions: Vec<String>,
    /// What looks wrong, in sentences.
    pub warnings: Vec<String>,
}

impl PerfProfile {
    /// A profile without a trace: GPU times are the roofline's, `host` is whatever is assumed.
    ///
    /// # Errors
    /// Figures or efficiencies that cannot be.
    pub fn from_datasheet(
        model: ModelFacts,
        gpu: Datasheet,
        efficiency: Efficiency,
        host: HostTime,
    ) -> Result<Self, DatasheetError> {
        gpu.check()?;
        efficiency.check()?;
        let mut profile = Self {
            basis: Basis::Datasheet,
            model,
            gpu,
            efficiency,
            run: None,
            prefill: None,
            decode: Vec::new(),
            host,
            assumptions: Vec::new(),
            warnings: Vec::new(),
        };
        profile.note();
        Ok(profile)
    }

    /// The same profile with other efficiencies.
    ///
    /// # Errors
    /// Efficiencies that cannot be.
    pub fn with_efficiency(mut self, efficiency: Efficiency) -> Result<Self, DatasheetError> {
        efficiency.check()?;
        self.efficiency = efficiency;
        self.note();
        Ok(self)
    }

    /// The share of the GPU's memory that vLLM may use: the profiled run's, else the assumed one.
    pub fn gpu_memory_utilization(&self) -> f64 {
        let recorded = self.run.as_ref().and_then(|run| run.gpu_memory_utilization);
        recorded.unwrap_or(ASSUMED_UTILIZATION)
    }

    /// Prompt sizes and contexts that were profiled, each as (smallest, largest).
    pub fn calibration(&self) -> Calibration {
        let range = |first: Option<&Floor>, last: Option<&Floor>| Some((first?.tokens, last?.tokens));
        Calibration {
            prefill_tokens: range(self.prefill.as_ref(), self.prefill.as_ref()),
            decode_context: range(self.decode.first(), self.decode.last()),
        }
    }
}

/// The sizes that a profile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Prompt tokens of the profiled prefill.
    pub prefill_tokens: Option<(u32, u32)>,
    /// Contexts of the profiled decodes.
    pub decode_context: Option<(u32, u32)>,
}

#[cfg(test)]
pub(crate) mod tests;
