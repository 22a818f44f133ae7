//! What a profile assumes and what looks wrong in it, in sentences.

use super::{Basis, Floor, Group, PerfProfile, ProfiledRun};
use crate::datasheet::Bound;
use crate::roofline::{self, Roofline};

impl PerfProfile {
    /// Writes `assumptions` and `warnings` anew.
    pub(super) fn note(&mut self) {
        self.assumptions = self.assumed();
        self.warnings = self.suspicious();
    }

    fn assumed(&self) -> Vec<String> {
        let (compute, bandwidth) = (self.efficiency.compute, self.efficiency.bandwidth);
        let mut notes = vec![
            format!(
                "Kernels reach {} of {} TFLOP/s ({} to {}) and {} of {} TB/s ({} to {}): assumed, not calibrated.",
                compute.assumed,
                self.gpu.compute_tflops,
                compute.low,
                compute.high,
                bandwidth.assumed,
                self.gpu.bandwidth_tbs,
                bandwidth.low,
                bandwidth.high
            ),
            format!(
                "A layer's matrix products move {} times, its other operations {} times, the hidden states of all query tokens.",
                roofline::LINEAR_PASSES,
                roofline::ELEMENTWISE_PASSES
            ),
            "Biases and norm parameters are left out of weights and arithmetic.".to_owned(),
        ];
        match self.basis {
            Basis::Trace => {
                notes.extend(self.run.iter().flat_map(origin));
                notes.push("Kernels are grouped by name and launch shape.".to_owned());
                notes.push(
                    "Outside the profiled sizes only the roofline grows; nothing there was measured."
                        .to_owned(),
                );
                notes.push(
                    "Host time, gaps and request envelopes stay at their profiled medians, whatever the batch."
                        .to_owned(),
                );
                if self.host.prefill_gap_ns.is_none() {
                    notes.push("No gap before a prefill was recorded: none is counted.".to_owned());
                }
                if self.host.pre_first_step_ns.is_none() {
                    notes.push("No time before the first step was recorded: none is counted.".to_owned());
                }
                if self.host.post_last_step_ns.is_none() {
                    notes.push("No time after the last step was recorded: none is counted.".to_owned());
                }
            }
            Basis::Datasheet => {
                notes.push("There is no trace: GPU time is the roofline of the datasheet, with no launch or kernel overhead.".to_owned());
                notes.push(format!(
                    "Host time is assumed: {} ns for a step with prefill, {} ns for one of decodes.",
                    self.host.prefill_ns, self.host.decode_ns
                ));
            }
        }
        if self.model.latent.is_some() {
            notes.push("Attention arithmetic is that of uncompressed heads.".to_owned());
        }
        if self.model.experts.is_some() {
            notes.push("Tokens are spread evenly over experts.".to_owned());
        }
        notes.extend(self.model.assumptions.iter().cloned());
        notes
    }

    fn suspicious(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let floors: Vec<&Floor> = self.prefill.iter().chain(&self.decode).collect();
        if floors.is_empty() {
            return warnings;
        }
        for group in [Group::LmHead, Group::KvWrite, Group::Sampler] {
            if floors.iter().all(|floor| floor.groups.get(group) == 0) {
                warnings.push(format!(
                    "No kernel of the group `{}` was recognised: its work is taken to be part of another.",
                    group.name()
                ));
            }
        }
        let roofline = Roofline::new(self, Bound::Assumed);
        let weights = roofline.weight_read_ns(1, 1);
        let fast = self
            .decode
            .iter()
            .filter(|floor| floor.gpu_ns() < weights)
            .count();
        if fast > 0 {
            warnings.push(format!(
                "{fast} of {} profiled decodes take less than the {weights} ns in which {} can read the weights once: \
                 the simulated times are too short, or the weights fit its cache.",
                self.decode.len(), self.gpu.gpu
            ));
        }
        warnings
    }
}

/// Where the times of a traced run come from.
fn origin(run: &ProfiledRun) -> Vec<String> {
    let mut notes = Vec::new();
    match (&run.engine, run.simulated_share) {
        (Some(engine), share) => notes.push(format!(
            "Kernel times are simulated by {engine}{}.",
            share
                .filter(|share| *share < 1.0)
                .map_or(String::new(), |share| format!(
                    " for {:.1} % of the kernels; the others keep their measured times",
                    share * 100.0
                ))
        )),
        (None, _) => notes.push("The timeline names no engine that simulated its kernels.".to_owned()),
    }
    if let Some(gpu) = &run.measured_on {
        notes.push(format!("Host times were measured on {gpu}."));
    }
    notes.extend(
        run.note
            .iter()
            .map(|note| format!("The trace says of itself: {note}.")),
    );
    notes.extend(run.settings_notes());
    notes
}
