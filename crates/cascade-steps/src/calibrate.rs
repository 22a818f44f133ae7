//! What taking a constant off every simulated kernel would change: never applied, only shown.
//!
//! Accel-Sim counts the configured `-gpgpu_kernel_launch_latency` into every kernel's cycles, one for one; a
//! kernel time measured by a profiler does not hold the launch latency seen from the host, from which that
//! number is taken. Removing it fits nothing. A constant fitted to measured times is another matter: on the
//! kernels that it was fitted to (in-sample) its error says little.

use std::collections::BTreeMap;

use cascade_api::CorrectionDigest;

use crate::compare_steps::{CompareError, pair_requests, pair_steps};
use crate::launches::{Basis, Roles, Sum, pair_launches};
use crate::stats::mean;
use crate::timeline::{Request, Step, Timeline};
use crate::{Role, real_sim};

/// Whether a correction saw the measured times that it is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Nothing is corrected.
    None,
    /// It did not.
    OutOfSample,
    /// It was fitted to them.
    InSample,
}

impl Sample {
    /// Its name on the wire.
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OutOfSample => "out-of-sample",
            Self::InSample => "in-sample",
        }
    }
}

/// A constant to take off every simulated kernel, no time falling below 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// What it is, in words.
    pub label: String,
    /// Whether it was fitted to what it is judged by.
    pub sample: Sample,
    /// What is taken off, in ns.
    pub subtract_ns: f64,
}

impl Correction {
    /// The raw result.
    pub fn none() -> Self {
        Self::constant("none", Sample::None, 0.0)
    }

    /// Any constant, in ns.
    pub fn constant(label: impl Into<String>, sample: Sample, subtract_ns: f64) -> Self {
        Self {
            label: label.into(),
            sample,
            subtract_ns,
        }
    }

    /// Without the configured launch constant, in cycles at a core clock in MHz.
    pub fn launch_constant(cycles: u64, core_clock_mhz: f64) -> Self {
        let label = format!("launch constant of {} cycles removed", thousands(cycles));
        Self::constant(
            label,
            Sample::OutOfSample,
            cycles as f64 / core_clock_mhz * 1000.0,
        )
    }

    /// With `t0_ns`, the measured time of an empty kernel, in place of the configured launch constant.
    pub fn measured_t0(cycles: u64, core_clock_mhz: f64, t0_ns: f64) -> Self {
        let removed = Self::launch_constant(cycles, core_clock_mhz);
        Self {
            label: format!("{}, measured T0 of {t0_ns} ns added", removed.label),
            subtract_ns: removed.subtract_ns - t0_ns,
            ..removed
        }
    }
}

fn thousands(n: u64) -> String {
    match n.checked_div(1000).filter(|k| *k > 0) {
        Some(k) => format!("{},{:03}", thousands(k), n % 1000),
        None => n.to_string(),
    }
}

/// The constant, in ns a simulated kernel, that makes the mean request as long as the measured one: the excess
/// of the request over its number of simulated launches. None where there is nothing to fit to.
///
/// # Errors
/// Timelines that do not match.
pub fn fit_constant_ns(real: &Timeline, simulated: &Timeline) -> Result<Option<f64>, CompareError> {
    let requests = pair_requests(real, simulated)?;
    let excess = requests
        .iter()
        .filter_map(|(r, s)| Some((s.e2e_ms? - r.e2e_ms?) * 1e6));
    let excess: Vec<f64> = excess.collect();
    let kernels = simulated.steady().flat_map(|s| &s.kernels);
    let launches = kernels.filter(|k| k.provenance.is_some()).count();
    let fit = excess.iter().sum::<f64>() / launches as f64;
    Ok((launches > 0 && !excess.is_empty()).then_some(fit))
}

/// What each correction gives; `same_gpu` is false where no error may be shown.
///
/// Busy time and request time move by the sum of the changes of their kernels.
///
/// # Errors
/// Timelines that do not match.
pub fn calibrate(
    real: &Timeline,
    simulated: &Timeline,
    corrections: &[Correction],
    same_gpu: bool,
) -> Result<Vec<CorrectionDigest>, CompareError> {
    let steps = pair_steps(real, simulated)?;
    let requests = pair_requests(real, simulated)?;
    let basis = Basis::of(&steps);
    let model = real.meta_text("model");
    let raw = Corrected::of(&steps, basis, model, 0.0).errors();
    let digest = |correction: &Correction| {
        let corrected = Corrected::of(&steps, basis, model, correction.subtract_ns);
        let errors = corrected.errors();
        let mut digest = CorrectionDigest {
            label: correction.label.clone(),
            sample: correction.sample.label().to_owned(),
            subtracted_ns: correction.subtract_ns,
            gpu_busy_ns: corrected.decode_busy(&steps),
            e2e_ms: corrected.e2e(&requests),
            ..CorrectionDigest::default()
        };
        if same_gpu {
            let named = errors.iter().filter(|(role, _)| **role != Role::Other);
            let named: Vec<f64> = named.map(|(_, e)| e.abs()).collect();
            digest.group_error_pct = mean(&named);
            digest.weighted_error_pct = corrected.weighted_error(&errors);
            let worse = errors
                .iter()
                .filter(|(role, e)| raw.get(role).is_some_and(|r| e.abs() > r.abs() + 1e-9));
            digest.worse = worse.map(|(role, _)| role.label().to_owned()).collect();
        } else {
            for pair in [&mut digest.gpu_busy_ns, &mut digest.e2e_ms] {
                (pair.error, pair.error_pct) = (None, None);
            }
        }
        digest
    };
    Ok(corrections.iter().map(digest).collect())
}

/// A timeline's kernels less a constant, summed up.
struct Corrected {
    groups: BTreeMap<Role, Sum>,
    /// The change of each step's kernels together, in ns, in the order of the steps.
    steps_ns: Vec<f64>,
    /// The same for each repeat.
    repeats_ns: BTreeMap<i64, f64>,
}

impl Corrected {
    fn of(steps: &[(&Step, &Step)], basis: Basis, model: Option<&str>, subtract_ns: f64) -> Self {
        let mut roles = Roles::new(model);
        let mut result = Self {
            groups: BTreeMap::new(),
            steps_ns: Vec::with_capacity(steps.len()),
            repeats_ns: BTreeMap::new(),
        };
        for (real, simulated) in steps {
            let mut change = 0.0;
            for (measured, kernel) in pair_launches(real, simulated) {
                if kernel.provenance.is_none() {
                    continue;
                }
                let ns = (kernel.duration_ns - subtract_ns).max(0.0);
                change += ns - kernel.duration_ns;
                if basis.counts(kernel) {
                    result
                        .groups
                        .entry(roles.of(kernel))
                        .or_default()
                        .add(measured.duration_ns, ns);
                }
            }
            result.steps_ns.push(change);
            *result.repeats_ns.entry(real.repeat).or_default() += change;
        }
        result
    }

    /// The signed error of each group's mean, per cent.
    fn errors(&self) -> BTreeMap<Role, f64> {
        let error = |(role, sum): (&Role, &Sum)| {
            let (real, simulated) = sum.means();
            Some((*role, real_sim(real, simulated).error_pct?))
        };
        self.groups.iter().filter_map(error).collect()
    }

    fn weighted_error(&self, errors: &BTreeMap<Role, f64>) -> Option<f64> {
        let weight = |role: &Role| self.groups.get(role).map_or(0.0, |sum| sum.real_ns);
        let all: f64 = errors.keys().map(weight).sum();
        let sum: f64 = errors.iter().map(|(role, e)| e.abs() * weight(role)).sum();
        (all > 0.0).then(|| sum / all)
    }

    /// The mean GPU busy time of decode steps.
    fn decode_busy(&self, steps: &[(&Step, &Step)]) -> cascade_api::RealSim {
        let decode = steps
            .iter()
            .zip(&self.steps_ns)
            .filter(|((real, _), _)| real.kind == "decode");
        let busy = decode.filter_map(|((r, s), ns)| Some((r.gpu_busy_ns?, s.gpu_busy_ns? + ns)));
        mean_pair(busy)
    }

    /// The mean request time.
    fn e2e(&self, requests: &[(&Request, &Request)]) -> cascade_api::RealSim {
        let change = |repeat| self.repeats_ns.get(&repeat).copied().unwrap_or_default();
        let e2e = requests
            .iter()
            .filter_map(|(r, s)| Some((r.e2e_ms?, s.e2e_ms? + change(r.repeat) / 1e6)));
        mean_pair(e2e)
    }
}

fn mean_pair(pairs: impl Iterator<Item = (f64, f64)>) -> cascade_api::RealSim {
    let (real, simulated): (Vec<f64>, Vec<f64>) = pairs.unzip();
    real_sim(mean(&real), mean(&simulated))
}

#[cfg(test)]
pub(crate) mod tests;
