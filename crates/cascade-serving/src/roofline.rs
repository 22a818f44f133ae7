//! GPU time of any batch: what a profile holds, grown by a roofline outside the profiled sizes.
//!
//! For each group of kernels, `roofline = max(FLOPs / (e_c × peak compute), bytes / (e_b × peak bandwidth))` and
//! `time = max(floor, anchor × roofline)`. The floor is the profiled time; the anchor, at most 1, keeps the
//! roofline at or below the floor at every profiled size. A step costs the sum over the groups plus GPU time
//! that no kernel accounts for. The cost of an estimate does not depend on the number of sequences.

mod floors;
mod work;

use serde::{Deserialize, Serialize};

pub use work::{ELEMENTWISE_PASSES, LINEAR_PASSES};

use crate::batch::Batch;
use crate::datasheet::Bound;
use crate::profile::{Basis, GroupTimes, HostTime, PerfProfile};
use floors::Floors;
use work::Work;

/// How well the profile covers a step's GPU time. Host time is assumed in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Provenance {
    /// One request, at a size that the profile holds. The profile's times are simulated, not hardware's.
    #[serde(rename = "measured")]
    Measured,
    /// One decode, between two contexts that the profile holds.
    #[serde(rename = "interpolated")]
    Interpolated,
    /// Any other size, or several sequences, or part of a prompt: an unvalidated prediction.
    #[serde(rename = "extrapolated:roofline")]
    Extrapolated,
    /// No trace: the roofline of the datasheet.
    #[serde(rename = "datasheet")]
    Datasheet,
}

/// The estimate of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepEstimate {
    /// Time of each group of kernels, in ns.
    pub groups: GroupTimes,
    /// GPU time of no kernel, in ns.
    pub unattributed_ns: i64,
    /// GPU time, in ns.
    pub gpu_ns: u64,
    /// Host time, in ns: assumed.
    pub host_ns: u64,
    /// How well the profile covers the GPU time.
    pub provenance: Provenance,
}

impl StepEstimate {
    /// Wall time, in ns.
    pub fn wall_ns(&self) -> u64 {
        self.gpu_ns.saturating_add(self.host_ns)
    }
}

/// A profile, prepared for many estimates at one end of the efficiency ranges.
#[derive(Clone, Debug)]
pub struct Roofline {
    basis: Basis,
    host: HostTime,
    work: Work,
    /// ns for a FLOP and for a byte, at the assumed efficiencies.
    ns_per_flop: f64,
    ns_per_byte: f64,
    /// ns for a byte at the datasheet's bandwidth.
    least_ns_per_byte: f64,
    prefill: Floors,
    decode: Floors,
}

impl Roofline {
    /// Prepares `profile`.
    pub fn new(profile: &PerfProfile, bound: Bound) -> Self {
        let (compute, bandwidth) = (
            profile.efficiency.compute.at(bound),
            profile.efficiency.bandwidth.at(bound),
        );
        let mut roofline = Self {
            basis: profile.basis,
            host: profile.host,
            work: Work::new(&profile.model),
            ns_per_flop: 1e9 / (compute * profile.gpu.compute_tflops * 1e12),
            ns_per_byte: 1e9 / (bandwidth * profile.gpu.bandwidth_tbs * 1e12),
            least_ns_per_byte: 1e9 / (profile.gpu.bandwidth_tbs * 1e12),
            prefill: Floors::default(),
            decode: Floors::default(),
        };
        // Without floors an anchor is 1, so these are the plain rooflines of the profiled sizes.
        let prefills = profile.prefill.iter().map(|floor| {
            let mut batch = Batch::default();
            batch.push(floor.tokens, floor.tokens, true, true);
            (*floor, roofline.plain(&batch))
        });
        let decodes = profile.decode.iter().map(|floor| {
            (
                *floor,
                roofline.plain(&Batch::decodes(1, u64::from(floor.tokens))),
            )
        });
        let (prefill, decode) = (Floors::new(prefills), Floors::new(decodes));
        (roofline.prefill, roofline.decode) = (prefill, decode);
        roofline
    }

    /// Time outside the GPU.
    pub fn host(&self) -> &HostTime {
        &self.host
    }

    /// The roofline of each group, in ns, before floors and anchors.
    fn plain(&self, batch: &Batch) -> [f64; 6] {
        self.work
            .of(batch)
            .map(|(flops, bytes)| (flops * self.ns_per_flop).max(bytes * self.ns_per_byte))
    }

    /// The estimate of a step.
    pub fn step(&self, batch: &Batch) -> StepEstimate {
        let prefill = batch.has_prefill();
        let floors = if prefill { &self.prefill } else { &self.decode };
        let size = batch.context_tokens as f64 / f64::from(batch.seqs.max(1));
        let (groups, unattributed_ns) = floors.raise(self.plain(batch), size, batch.sampling_seqs > 0);
        let gpu_ns = groups.total().saturating_add_signed(unattributed_ns);
        StepEstimate {
            groups,
            unattributed_ns,
            gpu_ns,
            host_ns: u64::try_from(self.host.residual_ns(prefill)).unwrap_or(0),
            provenance: self.provenance(batch),
        }
    }

    fn provenance(&self, batch: &Batch) -> Provenance {
        if self.basis == Basis::Datasheet {
            return Provenance::Datasheet;
        }
        let whole = batch.query_tokens == batch.context_tokens && batch.sampling_seqs == 1;
        match (batch.seqs, batch.has_prefill()) {
            (1, true) if whole && self.prefill.holds(batch.query_tokens) => Provenance::Measured,
            (1, false) if self.decode.holds(batch.context_tokens) => Provenance::Measured,
            (1, false) if self.decode.spans(batch.context_tokens) => Provenance::Interpolated,
            _ => Provenance::Extrapolated,
        }
    }

    /// The least time in which the GPU can read once the weights that a step needs, in ns: at the datasheet's
    /// bandwidth, all of it. A step that is faster is physically impossible unless a cache holds the weights.
    pub fn weight_read_ns(&self, query_tokens: u64, sampling_seqs: u32) -> u64 {
        (self.work.weight_bytes(query_tokens, sampling_seqs) * self.least_ns_per_byte) as u64
    }

    /// Whether a step's GPU time is below [`Roofline::weight_read_ns`].
    pub fn beats_weight_read(&self, batch: &Batch, cost: &StepEstimate) -> bool {
        cost.gpu_ns < self.weight_read_ns(batch.query_tokens, batch.sampling_seqs)
    }
}

#[cfg(test)]
mod tests;
