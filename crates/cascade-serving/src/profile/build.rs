//! From a step timeline to a profile.

use std::collections::BTreeMap;

use cascade_steps::{Step, Timeline};
use serde_json::Value;

use super::{Basis, Floor, Group, GroupTimes, HostTime, PerfProfile, ProfiledRun, classify};
use crate::datasheet::{Datasheet, DatasheetError, Efficiency};
use crate::facts::ModelFacts;

/// Why a timeline gives no profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// All steps are warm-up.
    #[error("the timeline has no steady step: all {0} are warm-up")]
    NoSteady(usize),
    /// A step that the profile cannot use.
    #[error("repeat {repeat}, step {step}: {problem}")]
    Step {
        /// Its repeat.
        repeat: i64,
        /// Its number.
        step: i64,
        /// What is wrong.
        problem: String,
    },
    /// A repeat that the profile cannot use.
    #[error("repeat {repeat}: {problem}")]
    Repeat {
        /// The repeat.
        repeat: i64,
        /// What is wrong.
        problem: String,
    },
    /// No kernel was recognised as one of a group that every transformer runs.
    #[error("no kernel of the group `{0}` was recognised by its name in the {1} steps")]
    Group(&'static str, &'static str),
    /// The timeline is of another GPU.
    #[error("the timeline was simulated for {simulated}, the datasheet is that of {given}")]
    Gpu {
        /// The timeline's GPU.
        simulated: String,
        /// The datasheet's.
        given: String,
    },
    /// Figures or efficiencies that cannot be.
    #[error(transparent)]
    Datasheet(#[from] DatasheetError),
}

/// What one step adds to the medians, in ns.
struct Sample {
    groups: [f64; 6],
    busy: f64,
    host: f64,
    gap: Option<f64>,
}

/// The samples of all repeats.
#[derive(Default)]
struct Samples {
    /// Prompt tokens and steps of a repeat; the same in each.
    shape: Option<(u64, usize)>,
    repeats: u32,
    prefill: Vec<Sample>,
    /// By position after the prefill, from 1.
    decode: BTreeMap<u64, Vec<Sample>>,
}

impl PerfProfile {
    /// Builds the profile of a simulated timeline of one workload.
    ///
    /// Every steady repeat has to be one request: one prefill that computes the whole prompt, then decodes,
    /// all with wall time, GPU busy time and kernels.
    ///
    /// # Errors
    /// The step or repeat that is no such thing.
    pub fn from_timeline(
        timeline: &Timeline,
        model: ModelFacts,
        gpu: Datasheet,
        efficiency: Efficiency,
    ) -> Result<Self, ProfileError> {
        gpu.check()?;
        efficiency.check()?;
        let simulation = timeline.summary.get("simulation");
        let field = |name: &str| simulation.and_then(|s| s.get(name)).and_then(Value::as_str);
        if let Some(simulated) = field("gpu_config").filter(|name| *name != gpu.gpu) {
            return Err(ProfileError::Gpu {
                simulated: simulated.to_owned(),
                given: gpu.gpu,
            });
        }
        let mut repeats: BTreeMap<i64, Vec<&Step>> = BTreeMap::new();
        for step in timeline.steady() {
            repeats.entry(step.repeat).or_default().push(step);
        }
        if repeats.is_empty() {
            return Err(ProfileError::NoSteady(timeline.steps.len()));
        }
        let mut samples = Samples::default();
        for (repeat, mut steps) in repeats {
            steps.sort_by_key(|step| step.step);
            samples.add(repeat, &steps)?;
        }
        let (prompt, steps) = samples.shape.unwrap_or_default();
        let tokens = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let prefill = floor(tokens(prompt), &samples.prefill);
        let decode: Vec<Floor> = samples
            .decode
            .iter()
            .map(|(after, samples)| floor(tokens(prompt.saturating_add(*after)), samples))
            .collect();
        recognised("prefill", std::slice::from_ref(&prefill))?;
        recognised("decode", &decode)?;
        let mut profile = Self {
            basis: Basis::Trace,
            model,
            gpu,
            efficiency,
            run: Some(ProfiledRun {
                prompt_tokens: prefill.tokens,
                output_tokens: tokens(steps as u64),
                repeats: samples.repeats,
                measured_on: timeline.meta_text("gpu_name").map(str::to_owned),
                engine: field("engine").map(str::to_owned),
                simulated_share: simulation
                    .and_then(|s| s.pointer("/coverage/kernel_fraction"))
                    .and_then(Value::as_f64),
                note: timeline.meta_text("note").map(str::to_owned),
                gpu_memory_utilization: timeline
                    .meta
                    .get("gpu_memory_utilization")
                    .and_then(Value::as_f64),
                max_model_len: timeline
                    .meta
                    .get("max_model_len")
                    .and_then(Value::as_u64)
                    .map(tokens),
                max_tokens: timeline
                    .meta
                    .get("max_tokens")
                    .and_then(Value::as_u64)
                    .map(tokens),
                sources: BTreeMap::new(),
                unused: Vec::new(),
            }),
            host: host(&samples, timeline),
            prefill: Some(prefill),
            decode,
            assumptions: Vec::new(),
            warnings: Vec::new(),
        };
        profile.note();
        Ok(profile)
    }
}

impl Samples {
    fn add(&mut self, repeat: i64, steps: &[&Step]) -> Result<(), ProfileError> {
        let problem = |problem: String| ProfileError::Repeat { repeat, problem };
        let Some((first, decodes)) = steps.split_first().filter(|(first, _)| first.kind == "prefill") else {
            return Err(problem("does not begin with a prefill".to_owned()));
        };
        if let Some(step) = decodes.iter().find(|step| step.kind != "decode") {
            return Err(problem(format!(
                "step {} is a {} after the first: a profile needs one prefill that computes the whole prompt, \
                 unchunked and alone, then decodes",
                step.step, step.kind
            )));
        }
        if decodes.is_empty() {
            return Err(problem(
                "has no decode: trace at least 2 output tokens".to_owned(),
            ));
        }
        let prompt = first.num_scheduled_tokens.filter(|tokens| *tokens > 0);
        let prompt = prompt.ok_or_else(|| at(first, "num_scheduled_tokens is missing".to_owned()))?;
        if let Some(step) = decodes.iter().find(|step| step.num_scheduled_tokens != Some(1)) {
            let tokens = step
                .num_scheduled_tokens
                .map_or("no".to_owned(), |n| n.to_string());
            return Err(at(
                step,
                format!("computes {tokens} tokens; a decode of one request computes 1"),
            ));
        }
        let shape = (prompt, steps.len());
        let (tokens, length) = *self.shape.get_or_insert(shape);
        if (tokens, length) != shape {
            return Err(problem(format!(
                "has {prompt} prompt tokens and {} steps, the repeats before it {tokens} and {length}",
                steps.len()
            )));
        }
        self.prefill.push(sample(first)?);
        for (after, step) in (1..).zip(decodes) {
            self.decode.entry(after).or_default().push(sample(step)?);
        }
        self.repeats += 1;
        Ok(())
    }
}

fn at(step: &Step, problem: String) -> ProfileError {
    ProfileError::Step {
        repeat: step.repeat,
        step: step.step,
        problem,
    }
}

fn sample(step: &Step) -> Result<Sample, ProfileError> {
    if step.num_reqs != Some(1) {
        let requests = step
            .num_reqs
            .map_or("an unknown number of".to_owned(), |n| n.to_string());
        return Err(at(
            step,
            format!("has {requests} requests; a profile needs steps of one"),
        ));
    }
    if step.kernels.is_empty() {
        return Err(at(step, "has no kernels: it was not profiled".to_owned()));
    }
    let missing = |field: &str| at(step, format!("{field} is missing"));
    let wall = step.baseline_wall_ns.ok_or_else(|| missing("baseline_wall_ns"))?;
    let busy = step.gpu_busy_ns.ok_or_else(|| missing("gpu_busy_ns"))?;
    let names = step
        .kernels
        .iter()
        .map(|k| (k.shape.name.as_str(), k.shape.grid.as_deref()));
    let mut groups = [0.0; 6];
    for (group, kernel) in classify(names).into_iter().zip(&step.kernels) {
        if let Some(sum) = groups.get_mut(group as usize) {
            *sum += kernel.duration_ns;
        }
    }
    Ok(Sample {
        groups,
        busy,
        host: wall - busy,
        gap: step.baseline_gap_before_ns,
    })
}

fn floor(tokens: u32, samples: &[Sample]) -> Floor {
    let group = |i: usize| median(samples.iter().filter_map(|s| s.groups.get(i).copied())).unwrap_or(0);
    let groups = std::array::from_fn(|i| u64::try_from(group(i)).unwrap_or(0));
    let unattributed = samples.iter().map(|s| s.busy - s.groups.iter().sum::<f64>());
    Floor {
        tokens,
        groups: GroupTimes::from_array(groups),
        unattributed_ns: median(unattributed).unwrap_or(0),
        steps: u32::try_from(samples.len()).unwrap_or(u32::MAX),
    }
}

/// Refuses a timeline in which no matrix product or no attention was recognised.
fn recognised(kind: &'static str, floors: &[Floor]) -> Result<(), ProfileError> {
    for group in [Group::Linear, Group::Attention] {
        if floors.iter().any(|floor| floor.groups.get(group) == 0) {
            return Err(ProfileError::Group(group.name(), kind));
        }
    }
    Ok(())
}

fn host(samples: &Samples, timeline: &Timeline) -> HostTime {
    let decodes = || samples.decode.values().flatten();
    let requests = || timeline.requests.iter().filter(|request| !request.warmup);
    HostTime {
        prefill_ns: median(samples.prefill.iter().map(|s| s.host)).unwrap_or(0),
        decode_ns: median(decodes().map(|s| s.host)).unwrap_or(0),
        prefill_gap_ns: median(samples.prefill.iter().filter_map(|s| s.gap)),
        decode_gap_ns: median(decodes().filter_map(|s| s.gap)).unwrap_or(0),
        pre_first_step_ns: median(requests().filter_map(|r| {
            let between = || Some(r.first_step_start_ns?.since(r.arrival_ns?));
            r.pre_first_step_ns.or_else(between)
        })),
        post_last_step_ns: median(requests().filter_map(|r| r.post_last_step_ns)),
    }
}

/// The median, rounded to a whole number; none of nothing.
fn median(values: impl Iterator<Item = f64>) -> Option<i64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let high = values.get(values.len() / 2)?;
    let low = values.get(values.len().saturating_sub(1) / 2)?;
    Some(((low + high) / 2.0).round() as i64)
}
