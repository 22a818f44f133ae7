//! One request: one repeat of the workload.

use super::{Stamp, far, record};

record! {
    /// One request from arrival to end; one for each repeat.
    #[derive(Default)]
    Request {
        /// The repeat whose steps it ran.
        must repeat: i64,
        /// True for a request that no mean and no comparison counts.
        list warmup: bool,
        /// From arrival to being scheduled.
        null queued_ms: Option<f64>,
        /// Time to first token.
        null ttft_ms: Option<f64>,
        /// Mean inter-token latency.
        null itl_ms_mean: Option<f64>,
        /// Median inter-token latency.
        null itl_ms_p50: Option<f64>,
        /// From arrival to end.
        null e2e_ms: Option<f64>,
        /// Tokens it made.
        null num_output_tokens: Option<u64>,
        /// When it arrived.
        maybe arrival_ns: Option<Stamp>,
        /// From arrival to its first step.
        maybe pre_first_step_ns: Option<f64>,
        /// From the end of its last step to its end; negative where it ended before the step did.
        maybe post_last_step_ns: Option<f64>,
        /// When its first step started.
        maybe first_step_start_ns: Option<Stamp>,
        /// When its last step ended.
        maybe last_step_end_ns: Option<Stamp>,
        /// When its first token came.
        maybe first_token_ns: Option<Stamp>,
        /// When its last token came.
        maybe last_token_ns: Option<Stamp>,
    }
}

impl Request {
    /// The first field that cannot be, and why.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        let ms = [
            ("queued_ms", self.queued_ms),
            ("ttft_ms", self.ttft_ms),
            ("itl_ms_mean", self.itl_ms_mean),
            ("itl_ms_p50", self.itl_ms_p50),
            ("e2e_ms", self.e2e_ms),
            ("pre_first_step_ns", self.pre_first_step_ns),
            ("post_last_step_ns", self.post_last_step_ns),
        ];
        for (field, value) in ms {
            if let Some(problem) = value.and_then(far) {
                return Err((field.to_owned(), problem));
            }
        }
        Ok(())
    }
}
