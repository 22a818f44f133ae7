//! One step of the model: a prefill or a decode.

use super::{Kernel, Stamp, far, record, unfit};

record! {
    /// One step of a repeat. `baseline_*` is measured without a profiler, `profiled_*` under one.
    #[derive(Default)]
    Step {
        /// Its number in its repeat, from 0; -1 in a warm-up that has no numbers.
        must step: i64,
        /// The repeat of the workload; -1 in a warm-up that has no numbers.
        must repeat: i64,
        /// True for steps that no mean and no comparison counts.
        list warmup: bool,
        /// `prefill` or `decode`.
        must kind: String,
        /// Requests in the batch.
        null num_reqs: Option<u64>,
        /// Tokens that the step computes.
        null num_scheduled_tokens: Option<u64>,
        /// Wall time.
        null baseline_wall_ns: Option<f64>,
        /// Wall time under the profiler.
        null profiled_wall_ns: Option<f64>,
        /// Time in which the GPU does anything.
        null gpu_busy_ns: Option<f64>,
        /// Time in CUDA calls; may overlap GPU time.
        null cuda_api_ns: Option<f64>,
        /// `baseline_wall_ns - gpu_busy_ns`: a residual, not a measurement of the host alone.
        null host_ns: Option<f64>,
        /// Kernels in launch order; none where the step was not profiled.
        list kernels: Vec<Kernel>,
        /// When the step starts.
        null baseline_wall_start_ns: Option<Stamp>,
        /// When it ends.
        null baseline_wall_end_ns: Option<Stamp>,
        /// From the end of the step before; null for a repeat's first.
        null baseline_gap_before_ns: Option<f64>,
        /// When it starts under the profiler.
        null profiled_wall_start_ns: Option<Stamp>,
        /// When it ends under the profiler.
        null profiled_wall_end_ns: Option<Stamp>,
        /// The gap before it under the profiler.
        null profiled_gap_before_ns: Option<f64>,
    }
}

impl Step {
    /// The first field that cannot be, and why.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        let walls = [
            ("baseline_wall_ns", self.baseline_wall_ns),
            ("profiled_wall_ns", self.profiled_wall_ns),
            ("gpu_busy_ns", self.gpu_busy_ns),
        ];
        for (field, value) in walls {
            if let Some(problem) = value.and_then(unfit) {
                return Err((field.to_owned(), problem));
            }
        }
        // Residuals and gaps may be negative.
        let others = [
            ("cuda_api_ns", self.cuda_api_ns),
            ("host_ns", self.host_ns),
            ("baseline_gap_before_ns", self.baseline_gap_before_ns),
            ("profiled_gap_before_ns", self.profiled_gap_before_ns),
        ];
        for (field, value) in others {
            if let Some(problem) = value.and_then(far) {
                return Err((field.to_owned(), problem));
            }
        }
        for kernel in &self.kernels {
            if let Some(problem) = unfit(kernel.duration_ns) {
                return Err((format!("kernel {} duration_ns", kernel.seq), problem));
            }
            if let Some(problem) = kernel.start_offset_ns.and_then(far) {
                return Err((format!("kernel {} start_offset_ns", kernel.seq), problem));
            }
        }
        match self.repeated_seq() {
            Some(seq) => Err((format!("kernel {seq} seq"), "is there twice".to_owned())),
            None => Ok(()),
        }
    }

    /// A `seq` that two kernels have.
    fn repeated_seq(&self) -> Option<i64> {
        if self.kernels.is_sorted_by(|a, b| a.seq < b.seq) {
            return None;
        }
        let mut seqs: Vec<i64> = self.kernels.iter().map(|k| k.seq).collect();
        seqs.sort_unstable();
        let twice = seqs.windows(2).find(|pair| pair.first() == pair.last())?;
        twice.first().copied()
    }
}
