//! Whole-request time as pages show it: predicted against real, where a step's time goes, which kernel groups
//! are off, and how several GPUs stand side by side.

pub mod compare;
pub mod figure;
pub mod groups;
pub mod stack;

use cascade_api::{DilutionDigest, Engine, GpuName, SimStepDigest, StepDigest};

use crate::{engine, format};

/// Said wherever a sample's numbers are shown.
pub const SAMPLE_NOTE: &str = "reconstructed from published statistics";
/// Said in place of an error where the simulated GPU is not the measured one.
pub const COUNTERFACTUAL: &str = "counterfactual: no measured baseline on this GPU";
/// What that word means.
pub const COUNTERFACTUAL_MEANS: &str = "Counterfactual: what would have been on a GPU that nobody measured. There is no real time to be off from.";
/// The GPU error counts as diluted when it is at least this many times the step error.
const DILUTED: f64 = 3.0;

/// One GPU's prediction; replicas that agree share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The GPU's name, with the replica's number where replicas differ.
    pub label: String,
    /// The GPU.
    pub gpu: GpuName,
    /// The program that made the kernel times.
    pub engine: Engine,
    /// How many replicas say this.
    pub replicas: u32,
    /// What they say.
    pub digest: StepDigest,
}

impl Column {
    /// Whether the timeline is a sample's: no capture, and no simulation of this workspace.
    pub fn is_sample(&self) -> bool {
        let note = self.digest.note.as_deref().unwrap_or_default();
        note.to_lowercase().contains(SAMPLE_NOTE)
    }
}

/// The predictions of a run, in the order of its sims.
pub fn columns(sims: &[SimStepDigest]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let mut labels: Vec<(usize, u32)> = Vec::new();
    for sim in sims {
        let Some(digest) = &sim.digest else { continue };
        let same = |column: &&mut Column| {
            column.gpu == sim.gpu_config && column.engine == sim.engine && column.digest == *digest
        };
        if let Some(column) = columns.iter_mut().find(same) {
            column.replicas += 1;
            continue;
        }
        labels.push((columns.len(), sim.replica));
        columns.push(Column {
            label: engine::column(&sim.gpu_config, &[sim.engine]),
            gpu: sim.gpu_config.clone(),
            engine: sim.engine,
            replicas: 1,
            digest: digest.clone(),
        });
    }
    let gpus: Vec<GpuName> = columns.iter().map(|column| column.gpu.clone()).collect();
    for (at, replica) in labels {
        if let Some(column) = columns.get_mut(at)
            && gpus.iter().filter(|gpu| **gpu == column.gpu).count() > 1
        {
            column.label = format!("{} #{replica}", column.label);
        }
    }
    columns
}

/// What sims sent that is no timeline: (GPU with replica, what is wrong).
pub fn problems(sims: &[SimStepDigest]) -> Vec<(String, String)> {
    let problem = |sim: &SimStepDigest| {
        let problem = sim.problem.clone()?;
        Some((format!("{} #{}", sim.gpu_config, sim.replica), problem))
    };
    sims.iter().filter_map(problem).collect()
}

/// The warning that measured host time hides the error of the simulated GPU time; `None` where it does not.
pub fn dilution(digest: &StepDigest) -> Option<String> {
    let DilutionDigest {
        gpu_share,
        gpu_error_pct,
        step_error_pct,
    } = digest.dilution?;
    if gpu_error_pct.abs() < DILUTED * step_error_pct.abs() {
        return None;
    }
    Some(format!(
        "The GPU is busy for {} of a measured step. Its simulated busy time is off by {}, the whole step by only {}: \
         the rest of the step is host time, which is kept as measured. How well requests agree says little about \
         how well the GPU is simulated.",
        format::fixed(gpu_share * 100.0, 1, "%"),
        format::signed(gpu_error_pct, 1, "%"),
        format::signed(step_error_pct, 1, "%"),
    ))
}

/// Where a kernel's time can come from, in the order pages list it: key on the wire, what it means.
pub const PROVENANCE: [(&str, &str); 5] = [
    ("exact", "simulated itself"),
    ("dedup", "time of a simulated kernel of the same content"),
    (
        "identical",
        "time of a simulated kernel that is the same in every traced step",
    ),
    ("interp", "interpolated between simulated context lengths"),
    ("measured", "not simulated, kept as measured"),
];

/// Launches by provenance with the share of each: (name, meaning, launches, 0 to 1). Names that are not known
/// come last.
pub fn provenance(digest: &StepDigest) -> Vec<(String, &'static str, u64, f64)> {
    let all: u64 = digest.provenance.values().sum();
    let known = PROVENANCE
        .into_iter()
        .filter_map(|(name, meaning)| Some((name.to_owned(), meaning, *digest.provenance.get(name)?)));
    let other = digest
        .provenance
        .iter()
        .filter(|(name, _)| PROVENANCE.iter().all(|(known, _)| known != name))
        .map(|(name, launches)| (name.clone(), "", *launches));
    known
        .chain(other)
        .map(|(name, meaning, launches)| (name, meaning, launches, launches as f64 / all.max(1) as f64))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
