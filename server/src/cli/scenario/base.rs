//! Where step times come from: the app, or a profile made here.

use std::path::Path;

use cascade_api::validate::Validate;
use cascade_api::{Detail, ErrorBody, GpuName, ScenarioCreate};
use cascade_client::Client;
use cascade_scenario::{evaluate, facts, profile, with_efficiency};
use cascade_server::samples;
use cascade_serving::datasheet::{Datasheet, Efficiency, datasheet, datasheets};
use cascade_serving::facts::builtin;
use cascade_serving::profile::{
    HostTime, MAX_RUN_FILE_BYTES, PerfProfile, RUN_FILE, RunDocument, WORKLOAD_FILE,
};
use cascade_steps::durations::MAX_DURATIONS_BYTES;
use cascade_steps::{Propagate, SimDurations, Timeline, propagate, simulate};
use serde_json::{Map, Value};

use super::Shown;
use super::ask::{Args, put};
use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::steps::{read, timeline};

/// Largest metadata.json.
const MAX_METADATA_BYTES: usize = 16 << 20;
/// Sample names: the trace and the GPU that each stands for.
const SAMPLES: [(&str, &str, &str); 3] = [
    ("h100", "sample__facebook_opt-125m__h100-e2e", "SM90_H100"),
    ("h200", "sample__facebook_opt-125m__h100-e2e", "SM90_H200"),
    ("a100", "sample__facebook_opt-125m__a100-e2e", "SM80_A100"),
];

/// Answers scenarios.
pub(super) enum Base {
    /// The app does.
    App(Client),
    /// A profile, and what it was made from.
    Here(Box<PerfProfile>, String),
}

impl Base {
    pub(super) fn of(args: &Args) -> Result<Self> {
        if let Some(name) = &args.sample {
            return sample(name);
        }
        if let Some(path) = &args.timeline {
            return from_timeline(args, path);
        }
        let Some(model) = &args.datasheet else {
            return Ok(Self::App(args.remote.client()?));
        };
        from_datasheet(model, args.gpu.as_deref().unwrap_or_default())
    }

    /// The profile on another GPU.
    pub(super) fn on(args: &Args, gpu: &GpuName) -> Result<PerfProfile> {
        let base = match (&args.sample, &args.datasheet) {
            (Some(name), _) => sample_on(name, gpu)?,
            (None, Some(model)) => from_datasheet(model, gpu.as_str())?,
            (None, None) => {
                return Err(Fail::usage(format_args!(
                    "a timeline is of one GPU, so there is no profile of {gpu}; with a trace of the app (--trace) there is"
                )));
            }
        };
        match base {
            Self::Here(profile, _) => Ok(*profile),
            Self::App(_) => Err(Fail::failed("a sample is no app")),
        }
    }

    /// Runs a scenario.
    pub(super) async fn run(&self, body: &Value) -> Result<Shown> {
        match self {
            Self::App(client) => {
                let result = client.scenario(&checked(body.clone())?).await?;
                let how = if result.cached {
                    "finished before"
                } else {
                    "finished just now"
                };
                Ok(Shown {
                    base: format!(
                        "trace {} · {} · {} ({how})",
                        result.trace_id, result.run_id, result.sim_id
                    ),
                    gpu_config: result.gpu_config.to_string(),
                    outcome: result.outcome,
                })
            }
            Self::Here(profile, base) => {
                let mut body = body.clone();
                // The rules ask for a base; here it is the profile.
                put(&mut body, "model", Value::Null)?;
                put(&mut body, "trace_id", Value::from("local"))?;
                let ask = checked(body)?;
                let profile = with_efficiency(profile, ask.efficiency).map_err(Fail::usage)?;
                Ok(Shown {
                    base: base.clone(),
                    gpu_config: profile.gpu.gpu.clone(),
                    outcome: evaluate(&profile, &ask).map_err(Fail::usage)?,
                })
            }
        }
    }
}

/// The body, if it is one.
pub(super) fn checked(body: Value) -> Result<ScenarioCreate> {
    ScenarioCreate::validate(body).map_err(|fields| {
        let detail = Detail::Fields(fields);
        Fail::usage(format_args!(
            "the scenario does not fit: {}",
            ErrorBody { detail }
        ))
    })
}

fn sheet(gpu: &str) -> Result<Datasheet> {
    datasheet(gpu).ok_or_else(|| {
        let known: Vec<String> = datasheets().map(|sheet| sheet.gpu).collect();
        Fail::usage(format_args!(
            "there is no datasheet of {gpu:?}; there are {}",
            known.join(", ")
        ))
    })
}

fn from_datasheet(model: &str, gpu: &str) -> Result<Base> {
    let sheet = sheet(gpu)?;
    let facts = builtin(model).map_err(Fail::usage)?;
    let profile = PerfProfile::from_datasheet(facts, sheet, Efficiency::default(), HostTime::default());
    let profile = profile.map_err(Fail::usage)?;
    Ok(Base::Here(
        Box::new(profile),
        format!("datasheet, no trace, {model}"),
    ))
}

/// A sample's trace on another GPU.
fn sample_on(name: &str, gpu: &GpuName) -> Result<Base> {
    let name = name.to_lowercase();
    let trace = SAMPLES.iter().find(|(short, ..)| *short == name);
    let same = |(_, of, _): &&(&str, &str, &str)| trace.is_some_and(|(_, trace, _)| trace == of);
    let found = SAMPLES.iter().filter(same).find(|(.., of)| *of == gpu.as_str());
    let Some((short, ..)) = found else {
        let gpus: Vec<&str> = SAMPLES.iter().filter(same).map(|(.., gpu)| *gpu).collect();
        return Err(Fail::usage(format_args!(
            "the sample {name:?} has no {gpu}; there are {}",
            gpus.join(", ")
        )));
    };
    sample(short)
}

fn sample(name: &str) -> Result<Base> {
    let found = SAMPLES.iter().find(|(short, ..)| *short == name.to_lowercase());
    let Some((_, trace, gpu)) = found else {
        let names = SAMPLES.map(|(short, ..)| short).join(", ");
        return Err(Fail::usage(format_args!(
            "there is no sample {name:?}; there are {names}"
        )));
    };
    let (timeline, metadata) = samples::simulated(&(*trace).into(), &(*gpu).into()).map_err(Fail::failed)?;
    let base = format!("sample {trace}");
    made(&timeline, &metadata, &[], gpu, base)
}

fn from_timeline(args: &Args, path: &Path) -> Result<Base> {
    let mut simulated = timeline(path)?;
    if let Some(path) = &args.durations {
        let durations = SimDurations::parse(&read(path, MAX_DURATIONS_BYTES)?).map_err(Fail::usage)?;
        let durations = propagate(&simulated, &durations, Propagate::Identical);
        simulated = simulate(&simulated, &durations).map_err(Fail::usage)?;
    }
    let metadata: Map<String, Value> = match &args.metadata {
        Some(path) => {
            let parsed = serde_json::from_slice(&read(path, MAX_METADATA_BYTES)?);
            parsed.map_err(|error| Fail::usage(format_args!("{}: {error}", path.display())))?
        }
        None => Map::new(),
    };
    let simulation = simulated.summary.get("simulation");
    let says = simulation
        .and_then(|s| s.get("gpu_config"))
        .and_then(Value::as_str);
    let gpu = args.gpu.as_deref().or(says).map(str::to_owned);
    let gpu = gpu.ok_or_else(|| {
        Fail::usage(format_args!(
            "{} does not say which GPU it simulates: give --gpu",
            path.display()
        ))
    })?;
    let records = records(path)?;
    let base = format!("timeline {}", path.display());
    made(&simulated, &metadata, &records, &gpu, base)
}

/// What was recorded of the run, beside its timeline.
fn records(timeline: &Path) -> Result<Vec<RunDocument>> {
    let folder = timeline.parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    for name in [RUN_FILE, WORKLOAD_FILE] {
        let path = folder.join(name);
        if path.is_file() {
            found.push(RunDocument::parse(name, &read(&path, MAX_RUN_FILE_BYTES)?));
        }
    }
    Ok(found)
}

fn made(
    timeline: &Timeline,
    metadata: &Map<String, Value>,
    records: &[RunDocument],
    gpu: &str,
    base: String,
) -> Result<Base> {
    let named = metadata.get("model").and_then(Value::as_str);
    let model = named.or(timeline.meta_text("model")).unwrap_or_default();
    let facts = facts(model, metadata, records).map_err(Fail::usage)?;
    let profile = profile(timeline, metadata, records, facts, sheet(gpu)?).map_err(Fail::usage)?;
    Ok(Base::Here(Box::new(profile), base))
}
