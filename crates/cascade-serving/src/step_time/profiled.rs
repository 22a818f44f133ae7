//! Step times from a profile and its roofline.

use super::{Envelope, Provenance, StepCost, StepTime};
use crate::batch::Batch;
use crate::roofline::{self, Roofline};

impl From<roofline::Provenance> for Provenance {
    fn from(provenance: roofline::Provenance) -> Self {
        match provenance {
            roofline::Provenance::Measured => Self::Measured,
            roofline::Provenance::Interpolated => Self::Interpolated,
            roofline::Provenance::Extrapolated => Self::Extrapolated,
            roofline::Provenance::Datasheet => Self::Datasheet,
        }
    }
}

impl StepTime for Roofline {
    fn cost(&self, batch: &Batch) -> StepCost {
        let step = self.step(batch);
        StepCost {
            gpu_ns: step.gpu_ns,
            host_ns: step.host_ns,
            gap_ns: self.host().gap_ns(batch.has_prefill()),
            gpu: step.provenance.into(),
            host: Provenance::AssumedHost,
        }
    }

    fn envelope(&self) -> Envelope {
        let host = self.host();
        Envelope {
            before_ns: host.pre_first_step_ns.unwrap_or(0).try_into().unwrap_or(0),
            after_ns: host.post_last_step_ns.unwrap_or(0),
        }
    }
}
