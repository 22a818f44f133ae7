//! What whole steps and requests took: built from the sim's own log after it succeeded.
//!
//! Whatever goes wrong here costs a line in the log, never the sim.

mod seen;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use cascade_steps::mapping::{MAPPING, MAX_MAPPING_BYTES};
use cascade_steps::timeline::{CORRECTED, MAX_TIMELINE_BYTES};
use cascade_steps::{
    Propagate, Source, StepComparison, Timeline, compare_steps, from_kernels, parse_mapping, propagate,
    simulate,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::Job;
use crate::pump::Pump;
use crate::simulate::find_gpu;
use crate::stop::Stop;
pub use seen::Seen;

/// Cycles that the simulator adds to every kernel, beside the other facts of a simulation.
const LAUNCH_LATENCY: &str = "launch_latency_cycles";

/// The two files that a trace needs for step timing.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    timeline: PathBuf,
    mapping: PathBuf,
}

impl Files {
    /// The trace's files, or the names of those that are missing.
    pub(crate) fn of(trace: &Path) -> Result<Self, Vec<&'static str>> {
        let find = |name| Some(trace.join(name)).filter(|path| path.is_file());
        match (find(CORRECTED), find(MAPPING)) {
            (Some(timeline), Some(mapping)) => Ok(Self { timeline, mapping }),
            (timeline, mapping) => {
                let missing = [(timeline, CORRECTED), (mapping, MAPPING)].into_iter();
                Err(missing
                    .filter(|(path, _)| path.is_none())
                    .map(|(_, name)| name)
                    .collect())
            }
        }
    }
}

/// What is sent: a `StepTimelineUpload`.
#[derive(Serialize)]
struct Upload {
    simulated: Timeline,
    compare: Option<StepComparison>,
}

/// Builds the step timeline and sends it; says in the log what came of it.
pub(crate) async fn send(client: &cascade_client::Client, job: &Job, pump: &mut Pump, stop: &Stop) {
    let files = match Files::of(&job.trace_dir) {
        Ok(files) => files,
        Err(missing) => {
            let text = format!("no step timing: the trace has no {}", missing.join(" and no "));
            // A trace with neither was never meant to have any: nothing to tell its owner.
            return match missing.as_slice() {
                [_] => pump.note(&text).await,
                _ => tracing::info!("{text}"),
            };
        }
    };
    let (seen, work) = (pump.take_seen(), job.clone());
    let built = tokio::task::spawn_blocking(move || build(&work, &files, &seen)).await;
    let built = built.unwrap_or_else(|error| Err(format!("the step-timing model broke down: {error}")));
    let sent = match built {
        Ok((body, said)) => tokio::select! {
            biased;
            () = stop.wait() => return,
            sent = client.send_step_timeline(&job.sim, body) => sent.map(|()| said).map_err(|e| e.to_string()),
        },
        Err(error) => Err(error),
    };
    match sent {
        Ok(said) => pump.note(&said).await,
        Err(error) => pump.note(&format!("step timing was not sent: {error}")).await,
    }
}

/// The upload as JSON, and a line about it.
fn build(job: &Job, files: &Files, seen: &Seen) -> Result<(Bytes, String), String> {
    let clock = match seen.core_clock_mhz() {
        Some(clock) => clock,
        None => {
            let gpu = find_gpu(&job.gpu, &job.gpu_dirs()).map_err(|error| error.to_string())?;
            gpu.model.chip.core_clock.value
        }
    };
    let real = Timeline::parse(CORRECTED, &read(&files.timeline, MAX_TIMELINE_BYTES)?);
    let real = real.map_err(|error| error.to_string())?;
    let mapping =
        parse_mapping(&read(&files.mapping, MAX_MAPPING_BYTES)?).map_err(|error| error.to_string())?;
    if mapping.is_empty() {
        return Err(format!(
            "{MAPPING} names no kernel, so no launch has a simulated time"
        ));
    }
    let metadata = Metadata::of(job);
    let source = Source {
        engine: Some(job.engine().to_string()),
        gpu_config: Some(job.gpu.clone()),
        core_clock_mhz: clock,
    };
    let traced = from_kernels(&mapping, seen.kernels(), source).map_err(|error| error.to_string())?;
    let durations = propagate(&real, &traced, wanted(job, &metadata)?);
    let mut simulated = simulate(&real, &durations).map_err(|error| error.to_string())?;
    if let (Some(Value::Object(simulation)), Some(cycles)) = (
        simulated.summary.get_mut("simulation"),
        seen.launch_latency_cycles(),
    ) {
        simulation.insert(LAUNCH_LATENCY.to_owned(), cycles.into());
    }
    let compare = match &metadata.real_gpu_config {
        // Another GPU was measured: the differences would read as errors of this one.
        Some(real_gpu) if *real_gpu != job.gpu => None,
        _ => Some(compare_steps(&real, &simulated).map_err(|error| error.to_string())?),
    };
    let said = format!(
        "step timing: {} of {} kernels of the timeline have simulated times",
        durations.durations.len(),
        simulated.steady().map(|step| step.kernels.len()).sum::<usize>()
    );
    let upload = Upload { simulated, compare };
    let json = serde_json::to_vec(&upload).map_err(|error| error.to_string())?;
    Ok((json.into(), said))
}

/// What step timing reads of the trace's `metadata.json`.
#[derive(Default, Deserialize)]
struct Metadata {
    propagate: Option<String>,
    real_gpu_config: Option<String>,
}

impl Metadata {
    /// Ingest has read the file before; what it cannot say, it does not say.
    fn of(job: &Job) -> Self {
        let json = std::fs::read(job.trace_dir.join("metadata.json"));
        json.ok()
            .and_then(|json| serde_json::from_slice(&json).ok())
            .unwrap_or_default()
    }
}

/// What the job asks for, else the trace's metadata, else nothing: only launches that the mapping names.
fn wanted(job: &Job, metadata: &Metadata) -> Result<Propagate, String> {
    match (job.propagate, &metadata.propagate) {
        (Some(propagate), _) => Ok(propagate),
        (None, Some(text)) => text
            .parse()
            .map_err(|error| format!("metadata.json: propagate: {error}")),
        (None, None) => Ok(Propagate::Off),
    }
}

/// A whole file of at most `limit` bytes.
fn read(path: &Path, limit: usize) -> Result<Vec<u8>, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let length = std::fs::metadata(path).map_err(fail)?.len();
    if length > limit as u64 {
        let (mib, path) = (limit >> 20, path.display());
        return Err(format!("{path}: {length} bytes are over the limit of {mib} MiB"));
    }
    std::fs::read(path).map_err(fail)
}
