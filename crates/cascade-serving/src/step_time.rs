//! How long a step takes: the seam between the scheduler and a model of the hardware.

mod profiled;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;

/// Where a step's time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Provenance {
    /// The step's shape matches a profiled one.
    #[serde(rename = "measured")]
    Measured,
    /// The step's shape lies between profiled ones.
    #[serde(rename = "interpolated")]
    Interpolated,
    /// The step's shape lies outside what was profiled, and the roofline grows it.
    #[serde(rename = "extrapolated:roofline")]
    Extrapolated,
    /// No profile: the GPU's datasheet alone.
    #[serde(rename = "datasheet")]
    Datasheet,
    /// Coefficients fitted to a real run.
    #[serde(rename = "fitted")]
    Fitted,
    /// A number that someone gave.
    #[serde(rename = "given")]
    Given,
    /// Host time held at what was profiled for another shape.
    #[serde(rename = "assumed-host")]
    AssumedHost,
}

/// The time of one step, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepCost {
    /// Time that the GPU works.
    pub gpu_ns: u64,
    /// Time that the host needs beside it: before it in synchronous scheduling, during the step before it in
    /// asynchronous scheduling.
    pub host_ns: u64,
    /// Time between the end of the step before it and its start, if the engine had work all the while. Negative
    /// where a profile's steps overlap.
    pub gap_ns: i64,
    /// Where `gpu_ns` comes from.
    pub gpu: Provenance,
    /// Where `host_ns` and `gap_ns` come from.
    pub host: Provenance,
}

/// What surrounds steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Between an arrival at an idle engine and its first step, in ns.
    pub before_ns: u64,
    /// Between the end of a request's last step and its completion, in ns. Negative where a profile's steps
    /// end after the request was seen to be complete.
    pub after_ns: i64,
}

/// A model of how long steps take. It is pure: the same batch always takes the same time.
pub trait StepTime {
    /// The time of a step with this batch.
    fn cost(&self, batch: &Batch) -> StepCost;

    /// What surrounds steps.
    fn envelope(&self) -> Envelope {
        Envelope::default()
    }
}

impl<T: StepTime + ?Sized> StepTime for &T {
    fn cost(&self, batch: &Batch) -> StepCost {
        (**self).cost(batch)
    }

    fn envelope(&self) -> Envelope {
        (**self).envelope()
    }
}

/// A step time that is linear in what the step computes. Coefficients are in ns; they can come from a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// GPU time of any step.
    pub step_ns: f64,
    /// GPU time per query token.
    pub query_token_ns: f64,
    /// GPU time per token of context (the length of each sequence's KV cache, summed).
    pub context_token_ns: f64,
    /// GPU time per sequence.
    pub seq_ns: f64,
    /// Host time of any step.
    pub host_ns: u64,
    /// Where the coefficients come from.
    pub provenance: Provenance,
}

impl Affine {
    /// Every step takes `step_ns`.
    pub fn constant(step_ns: u64) -> Self {
        Self {
            step_ns: step_ns as f64,
            query_token_ns: 0.0,
            context_token_ns: 0.0,
            seq_ns: 0.0,
            host_ns: 0,
            provenance: Provenance::Given,
        }
    }
}

impl StepTime for Affine {
    fn cost(&self, batch: &Batch) -> StepCost {
        let gpu = self.step_ns
            + self.query_token_ns * batch.query_tokens as f64
            + self.context_token_ns * batch.context_tokens as f64
            + self.seq_ns * f64::from(batch.seqs);
        StepCost {
            // The cast turns negative and undefined values to 0; no step takes less than 1 ns.
            gpu_ns: (gpu as u64).max(1),
            host_ns: self.host_ns,
            gap_ns: 0,
            gpu: self.provenance,
            host: self.provenance,
        }
    }
}
