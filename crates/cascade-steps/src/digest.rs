//! A simulated timeline in brief: what a page shows, without its kernels.

use std::collections::BTreeMap;

use cascade_api::{
    CoverageDigest, DilutionDigest, GroupDigest, KindDigest, RealSim, RequestDigest, StepDigest,
};
use serde_json::Value;

use crate::calibrate::{Correction, calibrate};
use crate::compare_steps::{CompareError, pair_requests, pair_steps, real_sim};
use crate::launches::{Basis, Roles, Sum, pair_launches};
use crate::same_gpu::same_gpu;
use crate::simulate::step::Parts;
use crate::stats::mean;
use crate::timeline::{Request, Step, Timeline};
use crate::{Provenance, Role};

/// Fields of `meta` that say where a timeline came from when it is no profiler's capture.
pub const NOTE_FIELDS: [&str; 2] = ["note", "fixture_provenance"];

/// What the timelines do not say themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct DigestOptions<'a> {
    /// The simulated GPU, such as `SM90_H100`.
    pub gpu_config: &'a str,
    /// The config of the GPU that the trace was captured on, if the trace says; else `meta.gpu_name` decides.
    pub real_gpu_config: Option<&'a str>,
    /// Corrections to show beside the raw result.
    pub corrections: &'a [Correction],
}

/// The digest of a simulated timeline against the measured one.
///
/// No error is given unless the simulated GPU is known to be the measured one.
///
/// # Errors
/// Timelines that do not match.
pub fn digest(
    real: &Timeline,
    simulated: &Timeline,
    options: &DigestOptions<'_>,
) -> Result<StepDigest, CompareError> {
    let real_gpu = real.meta_text("gpu_name");
    let same = match options.real_gpu_config {
        Some(config) => config == options.gpu_config,
        None => real_gpu.is_some_and(|name| same_gpu(options.gpu_config, name)),
    };
    let steps = pair_steps(real, simulated)?;
    let requests = pair_requests(real, simulated)?;
    let pairs = Pairs { same };
    let sums = Sums::of(&steps, real.meta_text("model"));
    let corrections = [&[Correction::none()], options.corrections].concat();
    let host_model = simulated
        .summary
        .get("simulation")
        .and_then(|s| s.get("host_model"));
    Ok(StepDigest {
        model: real.meta_text("model").map(str::to_owned),
        real_gpu: real_gpu.map(str::to_owned),
        counterfactual: !same,
        note: NOTE_FIELDS
            .iter()
            .find_map(|field| real.meta_text(field))
            .map(str::to_owned),
        host_model: host_model.and_then(Value::as_str).map(str::to_owned),
        mean: pairs.mean_request(&requests),
        requests: requests.iter().map(|(r, s)| pairs.request(r, s)).collect(),
        kinds: pairs.kinds(&steps),
        groups: pairs.groups(&sums),
        coverage: sums.coverage,
        provenance: sums.provenance(),
        dilution: pairs.dilution(&steps),
        corrections: calibrate(real, simulated, &corrections, same)?,
    })
}

/// Makes pairs of values, with errors only where both are of one GPU.
struct Pairs {
    same: bool,
}

impl Pairs {
    fn of(&self, real: Option<f64>, simulated: Option<f64>) -> RealSim {
        let pair = real_sim(real, simulated);
        match self.same {
            true => pair,
            false => RealSim {
                error: None,
                error_pct: None,
                ..pair
            },
        }
    }

    /// The means of both sides over the items that have both; where none has, of what each side has, and
    /// no error, since the two are then of different items.
    fn mean<T>(&self, items: &[(&T, &T)], field: impl Fn(&T) -> Option<f64>) -> RealSim {
        let both = items.iter().filter_map(|(r, s)| field(r).zip(field(s)));
        let (real, simulated): (Vec<f64>, Vec<f64>) = both.unzip();
        if !real.is_empty() {
            return self.of(mean(&real), mean(&simulated));
        }
        let real: Vec<f64> = items.iter().filter_map(|(r, _)| field(r)).collect();
        let simulated: Vec<f64> = items.iter().filter_map(|(_, s)| field(s)).collect();
        RealSim {
            real: mean(&real),
            simulated: mean(&simulated),
            ..RealSim::default()
        }
    }

    fn request(&self, real: &Request, simulated: &Request) -> RequestDigest {
        RequestDigest {
            repeat: Some(real.repeat),
            output_tokens: real.num_output_tokens,
            ttft_ms: self.of(real.ttft_ms, simulated.ttft_ms),
            itl_ms: self.of(real.itl_ms_mean, simulated.itl_ms_mean),
            e2e_ms: self.of(real.e2e_ms, simulated.e2e_ms),
        }
    }

    fn mean_request(&self, requests: &[(&Request, &Request)]) -> RequestDigest {
        let first = requests.first().and_then(|(r, _)| r.num_output_tokens);
        let alike = requests.iter().all(|(r, _)| r.num_output_tokens == first);
        RequestDigest {
            repeat: None,
            output_tokens: first.filter(|_| alike),
            ttft_ms: self.mean(requests, |r| r.ttft_ms),
            itl_ms: self.mean(requests, |r| r.itl_ms_mean),
            e2e_ms: self.mean(requests, |r| r.e2e_ms),
        }
    }

    fn kinds(&self, steps: &[(&Step, &Step)]) -> Vec<KindDigest> {
        let mut kinds: BTreeMap<(u8, &str), Vec<(&Step, &Step)>> = BTreeMap::new();
        for &(real, simulated) in steps {
            let rank = match real.kind.as_str() {
                "prefill" => 0,
                "decode" => 1,
                _ => 2,
            };
            kinds
                .entry((rank, &real.kind))
                .or_default()
                .push((real, simulated));
        }
        let kind = |((_, kind), steps): ((u8, &str), Vec<(&Step, &Step)>)| {
            let measured = |field: &dyn Fn(&Step) -> Option<f64>| {
                mean(&steps.iter().filter_map(|(r, _)| field(r)).collect::<Vec<_>>())
            };
            let errors = steps
                .iter()
                .map(|(r, s)| self.of(r.baseline_wall_ns, s.baseline_wall_ns).error_pct);
            let errors: Vec<f64> = errors.flatten().map(f64::abs).collect();
            KindDigest {
                kind: kind.to_owned(),
                steps: steps.len() as u64,
                wall_ns: self.mean(&steps, |s| s.baseline_wall_ns),
                gpu_busy_ns: self.mean(&steps, |s| s.gpu_busy_ns),
                host_ns: measured(&|s| s.host_ns),
                gap_before_ns: measured(&|s| s.baseline_gap_before_ns),
                unmodeled_gpu_ns: measured(&|s| (!s.kernels.is_empty()).then(|| Parts::of(s).unmodeled_ns)),
                mean_abs_error_pct: mean(&errors),
            }
        };
        kinds.into_iter().map(kind).collect()
    }

    fn groups(&self, sums: &Sums<'_>) -> Vec<GroupDigest> {
        let group = |(role, group): (&Role, &Group<'_>)| {
            let per_step = |f: fn(&Sum) -> f64| -> BTreeMap<String, f64> {
                let kinds = group.kinds.iter();
                let mean = |(kind, sum): (&&str, &Sum)| {
                    let steps = sums.steps.get(kind).copied().unwrap_or_default().max(1);
                    ((*kind).to_owned(), f(sum) / steps as f64)
                };
                kinds.map(mean).collect()
            };
            let (real, simulated) = group.basis.means();
            GroupDigest {
                group: role.label().to_owned(),
                launches: group.basis.launches,
                mean_ns: self.of(real, simulated),
                per_step: per_step(|sum| sum.launches as f64),
                step_ns: per_step(|sum| sum.simulated_ns),
                real_step_ns: per_step(|sum| sum.real_ns),
                provenance: owned(&group.provenance),
            }
        };
        let mut groups: Vec<GroupDigest> = sums.groups.iter().map(group).collect();
        let decode = |g: &GroupDigest| g.step_ns.get("decode").copied().unwrap_or_default();
        groups.sort_by(|a, b| decode(b).total_cmp(&decode(a)));
        groups
    }

    /// Over steps with both times; none unless there are errors to dilute.
    fn dilution(&self, steps: &[(&Step, &Step)]) -> Option<DilutionDigest> {
        let (mut busy, mut wall) = (0.0, 0.0);
        let (mut gpu_errors, mut step_errors) = (Vec::new(), Vec::new());
        for (real, simulated) in steps {
            let gpu = self.of(real.gpu_busy_ns, simulated.gpu_busy_ns);
            let step = self.of(real.baseline_wall_ns, simulated.baseline_wall_ns);
            if let (Some(gpu_error), Some(step_error)) = (gpu.error_pct, step.error_pct) {
                busy += real.gpu_busy_ns?;
                wall += real.baseline_wall_ns?;
                gpu_errors.push(gpu_error);
                step_errors.push(step_error);
            }
        }
        Some(DilutionDigest {
            gpu_share: busy / wall,
            gpu_error_pct: mean(&gpu_errors)?,
            step_error_pct: mean(&step_errors)?,
        })
    }
}

/// Sums over all launches.
struct Sums<'a> {
    groups: BTreeMap<Role, Group<'a>>,
    /// Steps with kernels, by kind.
    steps: BTreeMap<&'a str, u64>,
    coverage: CoverageDigest,
}

/// Sums over the launches of one group.
#[derive(Default)]
struct Group<'a> {
    basis: Sum,
    kinds: BTreeMap<&'a str, Sum>,
    provenance: BTreeMap<&'static str, u64>,
}

impl<'a> Sums<'a> {
    fn of(steps: &[(&'a Step, &'a Step)], model: Option<&'a str>) -> Self {
        let basis = Basis::of(steps);
        let mut roles = Roles::new(model);
        let mut sums = Self {
            groups: BTreeMap::new(),
            steps: BTreeMap::new(),
            coverage: CoverageDigest::default(),
        };
        let (mut covered, mut measured) = (0.0, 0.0);
        for (real, simulated) in steps.iter().filter(|(real, _)| !real.kernels.is_empty()) {
            *sums.steps.entry(&real.kind).or_default() += 1;
            let mut covered_ns = 0.0;
            for (before, after) in pair_launches(real, simulated) {
                let group = sums.groups.entry(roles.of(before)).or_default();
                let (was, is) = (before.duration_ns, after.duration_ns);
                group.kinds.entry(&real.kind).or_default().add(was, is);
                let label = after.provenance.map_or("measured", Provenance::label);
                *group.provenance.entry(label).or_default() += 1;
                if basis.counts(after) {
                    group.basis.add(was, is);
                }
                if after.provenance.is_some() {
                    covered_ns += was;
                    sums.coverage.simulated_kernels += 1;
                }
            }
            let parts = Parts::of(real);
            sums.coverage.kernels += real.kernels.len() as u64;
            covered += parts.covered_ns(covered_ns);
            measured += parts.gpu_ns;
        }
        let fraction = |part: f64, of: f64| (of > 0.0).then(|| part / of);
        let counts = (
            sums.coverage.simulated_kernels as f64,
            sums.coverage.kernels as f64,
        );
        sums.coverage.kernel_fraction = fraction(counts.0, counts.1);
        sums.coverage.gpu_time_fraction = fraction(covered, measured);
        sums
    }

    fn provenance(&self) -> BTreeMap<String, u64> {
        let mut all: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (label, n) in self.groups.values().flat_map(|group| &group.provenance) {
            *all.entry(label).or_default() += n;
        }
        owned(&all)
    }
}

fn owned(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<String, u64> {
    counts
        .iter()
        .map(|(label, n)| ((*label).to_owned(), *n))
        .collect()
}

#[cfg(test)]
mod tests;
