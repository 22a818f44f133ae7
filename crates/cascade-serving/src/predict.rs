//! What one request alone would see: time to first token, time between tokens, end to end.

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::datasheet::Bound;
use crate::profile::{Calibration, GroupTimes, PerfProfile};
use crate::roofline::{Provenance, Roofline, StepEstimate};

/// The most prompt and output tokens of one estimate.
pub const MAX_TOKENS: u32 = 1_000_000;

/// Why a request is not estimated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PredictError {
    /// No prompt.
    #[error("prompt_tokens is 0; a request has at least 1")]
    NoPrompt,
    /// Longer than [`MAX_TOKENS`] or than the model's longest sequence.
    #[error("prompt and output are {tokens} tokens together; at most {most} fit ({limit})")]
    TooLong {
        /// Tokens of prompt and output.
        tokens: u64,
        /// The limit.
        most: u64,
        /// Whose limit it is.
        limit: &'static str,
    },
}

/// Times of one request, in ns. None where there is no such token or interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// From arrival to the end of the prefill.
    pub ttft_ns: Option<u64>,
    /// Mean time between tokens.
    pub itl_mean_ns: Option<f64>,
    /// Median time between tokens.
    pub itl_p50_ns: Option<f64>,
    /// From arrival to the request's end.
    pub e2e_ns: u64,
}

/// Steps by how well the profile covers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenanceCounts {
    /// At a profiled size.
    pub measured: u64,
    /// Between profiled sizes.
    pub interpolated: u64,
    /// Elsewhere.
    #[serde(rename = "extrapolated:roofline")]
    pub extrapolated: u64,
    /// Without a trace.
    pub datasheet: u64,
    /// With assumed host time: all.
    #[serde(rename = "assumed-host")]
    pub assumed_host: u64,
}

impl ProvenanceCounts {
    /// Counts a step.
    pub fn add(&mut self, provenance: Provenance) {
        self.assumed_host += 1;
        match provenance {
            Provenance::Measured => self.measured += 1,
            Provenance::Interpolated => self.interpolated += 1,
            Provenance::Extrapolated => self.extrapolated += 1,
            Provenance::Datasheet => self.datasheet += 1,
        }
    }
}

/// The estimate of one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Prompt tokens asked for.
    pub prompt_tokens: u32,
    /// Output tokens asked for.
    pub output_tokens: u32,
    /// At the assumed efficiencies.
    pub latency: Latency,
    /// The shortest times within the efficiency ranges.
    pub low: Latency,
    /// The longest times within the efficiency ranges.
    pub high: Latency,
    /// GPU time by group over all steps, in ns.
    pub groups: GroupTimes,
    /// Host time over all steps, in ns.
    pub host_ns: u64,
    /// Steps by provenance.
    pub provenance_counts: ProvenanceCounts,
    /// Steps that take less than reading their weights once.
    pub steps_below_weight_read: u64,
    /// What the profile holds.
    pub calibration_range: Calibration,
}

/// Estimates one request that is alone on the GPU: one prefill of the whole prompt, then a decode for each
/// further token.
///
/// # Errors
/// No prompt, or more tokens than fit.
pub fn simulate_request(profile: &PerfProfile, prompt: u32, output: u32) -> Result<Prediction, PredictError> {
    check(profile, prompt, output)?;
    let mut prediction = Prediction {
        prompt_tokens: prompt,
        output_tokens: output,
        latency: Latency::default(),
        low: Latency::default(),
        high: Latency::default(),
        groups: GroupTimes::default(),
        host_ns: 0,
        provenance_counts: ProvenanceCounts::default(),
        steps_below_weight_read: 0,
        calibration_range: profile.calibration(),
    };
    let roofline = Roofline::new(profile, Bound::Assumed);
    prediction.latency = run(&roofline, prompt, output, |batch, cost| {
        prediction.groups = prediction.groups.plus(cost.groups);
        prediction.host_ns += cost.host_ns;
        prediction.provenance_counts.add(cost.provenance);
        prediction.steps_below_weight_read += u64::from(roofline.beats_weight_read(batch, cost));
    });
    let ends =
        [Bound::Low, Bound::High].map(|bound| run(&Roofline::new(profile, bound), prompt, output, |_, _| {}));
    (prediction.low, prediction.high) = hull(prediction.latency, &ends);
    Ok(prediction)
}

fn check(profile: &PerfProfile, prompt: u32, output: u32) -> Result<(), PredictError> {
    if prompt == 0 {
        return Err(PredictError::NoPrompt);
    }
    let tokens = u64::from(prompt) + u64::from(output);
    let run = profile.run.as_ref().and_then(|run| run.max_model_len);
    let model = run.or(profile.model.max_positions).map_or(u64::MAX, u64::from);
    for (most, limit) in [
        (u64::from(MAX_TOKENS), "MAX_TOKENS"),
        (model, "the model's longest sequence"),
    ] {
        if tokens > most {
            return Err(PredictError::TooLong { tokens, most, limit });
        }
    }
    Ok(())
}

/// Runs the request's steps one after the other.
fn run(
    roofline: &Roofline,
    prompt: u32,
    output: u32,
    mut each: impl FnMut(&Batch, &StepEstimate),
) -> Latency {
    let host = roofline.host();
    let mut prefill = Batch::default();
    prefill.push(prompt, prompt, true, true);
    let cost = roofline.step(&prefill);
    each(&prefill, &cost);
    let mut now = cost
        .wall_ns()
        .saturating_add_signed(host.pre_first_step_ns.unwrap_or(0));
    let ttft_ns = (output > 0).then_some(now);
    let mut intervals = Vec::with_capacity(output.saturating_sub(1) as usize);
    for token in 1..output {
        let batch = Batch::decodes(1, u64::from(prompt) + u64::from(token));
        let cost = roofline.step(&batch);
        each(&batch, &cost);
        let interval = cost.wall_ns().saturating_add_signed(host.gap_ns(false));
        now = now.saturating_add(interval);
        intervals.push(interval);
    }
    let mean = intervals.iter().sum::<u64>() as f64 / intervals.len() as f64;
    intervals.sort_unstable();
    Latency {
        ttft_ns,
        itl_mean_ns: (!intervals.is_empty()).then_some(mean),
        itl_p50_ns: median(&intervals),
        e2e_ns: now.saturating_add_signed(host.post_last_step_ns.unwrap_or(0)),
    }
}

/// The median of sorted intervals, by linear interpolation.
fn median(sorted: &[u64]) -> Option<f64> {
    let high = sorted.get(sorted.len() / 2)?;
    let low = sorted.get(sorted.len().saturating_sub(1) / 2)?;
    Some((*low as f64 + *high as f64) / 2.0)
}

/// The shortest and longest of each time. Neither end of the ranges need be an extreme: where a roofline is
/// anchored to a floor, only the ratio of the two efficiencies counts.
fn hull(assumed: Latency, ends: &[Latency]) -> (Latency, Latency) {
    let (mut low, mut high) = (assumed, assumed);
    for end in ends {
        low = low.with(end, u64::min, f64::min);
        high = high.with(end, u64::max, f64::max);
    }
    (low, high)
}

impl Latency {
    fn with(self, other: &Self, whole: fn(u64, u64) -> u64, real: fn(f64, f64) -> f64) -> Self {
        Self {
            ttft_ns: self.ttft_ns.zip(other.ttft_ns).map(|(a, b)| whole(a, b)),
            itl_mean_ns: self.itl_mean_ns.zip(other.itl_mean_ns).map(|(a, b)| real(a, b)),
            itl_p50_ns: self.itl_p50_ns.zip(other.itl_p50_ns).map(|(a, b)| real(a, b)),
            e2e_ns: whole(self.e2e_ns, other.e2e_ns),
        }
    }
}

#[cfg(test)]
mod tests;
