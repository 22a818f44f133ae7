//! The bundled samples: stored when the server starts, so that a fresh workspace has something to show.
//!
//! They are reconstructed from published statistics (see `cascade-samples`) and say so in every file. A sample's
//! trace has no instructions; a run of it plays back its recorded log.

mod bundle;

use std::io;
use std::path::Path;

use cascade_api::{Engine, GpuName, KernelLaunch, TraceId};
use cascade_steps::timeline::CORRECTED;
use cascade_steps::{SimDurations, Step, Timeline, compare_steps, simulate};
use futures::future::join_all;
use serde_json::{Map, Value};

pub use bundle::{Bundle, recorded};

use crate::db::TraceUpdate;
use crate::error::Error;
use crate::runs::{FinishedRun, FinishedSim, Service};
use bundle::{BUNDLES, Sim};

/// The repeat whose steps were traced.
const TRACED_REPEAT: i64 = 1;

/// Name of the recorded log for a GPU, in a sample's folder.
pub fn log_name(gpu: &GpuName) -> String {
    format!("accelsim.{gpu}.log")
}

/// Stores every sample that is not there yet. One that cannot be stored is left out, and the log says why.
pub async fn seed(service: &Service) {
    let wanted = join_all(BUNDLES.iter().map(|bundle| prepare(service, bundle))).await;
    for (bundle, run) in BUNDLES.iter().zip(wanted) {
        let stored = match run {
            Ok(Some(run)) => service.sample_store(run).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = stored {
            tracing::error!(
                trace = bundle.trace,
                error = error.chain(),
                "cannot store a sample"
            );
        }
    }
}

/// Makes the samples' step digests beside other work, so that the first page that shows one need not wait.
pub fn digest_ahead(service: &Service) {
    for sim in BUNDLES.iter().flat_map(|bundle| bundle.sims) {
        service.digest_ahead(sim.id.into());
    }
}

/// Unpacks a sample; answers what is to be stored, if it is not there.
async fn prepare(service: &Service, bundle: &'static Bundle) -> Result<Option<FinishedRun>, Error> {
    let id = TraceId::from(bundle.trace);
    let there = service.db.trace_get(&id).await?;
    if there.as_ref().is_some_and(|trace| !trace.sample) {
        tracing::warn!(trace = %id, "an uploaded trace has the name of a sample, which is left out");
        return Ok(None);
    }
    let folder = service.settings.traces_dir().join(id.as_str());
    let stored = there.is_some();
    let unpacked = tokio::task::spawn_blocking(move || {
        unpack(bundle, &folder)?;
        match stored {
            true => Ok(None),
            false => finished(bundle, &folder).map(Some),
        }
    });
    unpacked.await?.map_err(Error::io("cannot unpack a sample"))
}

/// Gives the trace its files; one that is not as bundled, since somebody uploaded over it, is written again.
fn unpack(bundle: &Bundle, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let put = |name: &str, bytes: &dyn Fn() -> io::Result<Vec<u8>>| {
        let (path, bytes) = (folder.join(name), bytes()?);
        if std::fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        // Dotfiles do not count as files of a trace.
        let temporary = folder.join(format!(".{name}"));
        std::fs::write(&temporary, bytes)?;
        std::fs::rename(temporary, path)
    };
    put("metadata.json", &|| Ok(bundle.metadata.to_vec()))?;
    put("kernel_mapping.json", &|| bundle.mapping.unpack())?;
    put(CORRECTED, &|| bundle.timeline.unpack())?;
    for sim in bundle.sims {
        put(&log_name(&sim.gpu.into()), &|| sim.log.unpack())?;
    }
    Ok(())
}

/// The sample's trace and its finished run.
fn finished(bundle: &Bundle, folder: &Path) -> io::Result<FinishedRun> {
    let metadata: Map<String, Value> = serde_json::from_slice(bundle.metadata)?;
    let real =
        Timeline::parse(CORRECTED, &std::fs::read(folder.join(CORRECTED))?).map_err(io::Error::other)?;
    let real_gpu = metadata.get("real_gpu_config").and_then(Value::as_str);
    let sims = bundle.sims.iter().map(|sim| finished_sim(sim, &real, real_gpu));
    let sims = sims.collect::<io::Result<Vec<_>>>()?;
    let launches = launches(&metadata, &real);
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(FinishedRun {
        id: bundle.run.into(),
        trace: TraceUpdate {
            id: bundle.trace.into(),
            metadata: Some(metadata),
            binary_arch: None,
            kernel_count: launches.len() as u64,
            bytes,
            has_real_timing: false,
            has_step_timeline: true,
        },
        launches,
        sims,
    })
}

/// A sample's simulated timeline for a GPU, and the trace's metadata.
///
/// # Errors
/// When nothing was recorded for the GPU.
pub fn simulated(trace: &TraceId, gpu: &GpuName) -> io::Result<(Timeline, Map<String, Value>)> {
    let bundle = recorded(trace);
    let found =
        bundle.and_then(|bundle| Some((bundle, bundle.sims.iter().find(|sim| sim.gpu == gpu.as_str())?)));
    let (bundle, sim) =
        found.ok_or_else(|| io::Error::other(format!("{trace} has no recorded results for {gpu}")))?;
    let real = Timeline::parse(CORRECTED, &bundle.timeline.unpack()?).map_err(io::Error::other)?;
    let durations = SimDurations::parse(&sim.durations.unpack()?).map_err(io::Error::other)?;
    let timeline = simulate(&real, &durations).map_err(io::Error::other)?;
    Ok((timeline, serde_json::from_slice(bundle.metadata)?))
}

/// A sim with its step timeline. On another GPU than the measured one there is nothing to compare with.
fn finished_sim(sim: &Sim, real: &Timeline, real_gpu: Option<&str>) -> io::Result<FinishedSim> {
    let durations = SimDurations::parse(&sim.durations.unpack()?).map_err(io::Error::other)?;
    let simulated = simulate(real, &durations).map_err(io::Error::other)?;
    let compare = match real_gpu == Some(sim.gpu) {
        true => serde_json::to_vec(&compare_steps(real, &simulated).map_err(io::Error::other)?)?,
        false => b"null".to_vec(),
    };
    let timeline = [
        b"{\"simulated\":",
        &simulated.to_json()?[..],
        b",\"compare\":",
        &compare,
        b"}",
    ];
    Ok(FinishedSim {
        id: sim.id.into(),
        gpu: sim.gpu.into(),
        engine: Engine::AccelSim,
        core_clock_mhz: durations.core_clock_mhz.unwrap_or_default(),
        log: sim.log.unpack()?,
        timeline: timeline.concat(),
        files: vec![
            ("accelsim.log.gz".to_owned(), sim.log.0.to_vec()),
            ("sim_durations.json.gz".to_owned(), sim.durations.0.to_vec()),
        ],
    })
}

/// The traced launches: those of the traced steps, numbered on through all steps of their repeat.
fn launches(metadata: &Map<String, Value>, real: &Timeline) -> Vec<KernelLaunch> {
    let traced = metadata.get("workload").and_then(|w| w.get("traced_steps"));
    let traced = traced.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_traced = |step: &Step| traced.iter().any(|number| *number == step.step);
    let mut uid = metadata.get("first_uid").and_then(Value::as_u64).unwrap_or(1);
    let mut launches = Vec::new();
    for step in real.steps.iter().filter(|step| step.repeat == TRACED_REPEAT) {
        for kernel in &step.kernels {
            if is_traced(step) {
                let shape = &kernel.shape;
                launches.push(KernelLaunch {
                    kernel_id: uid,
                    name: shape.name.clone(),
                    grid: dimensions(shape.grid.as_deref()),
                    block: dimensions(shape.block.as_deref()),
                    instructions: None,
                });
            }
            uid += 1;
        }
    }
    launches
}

/// `2x9x1` as numbers.
fn dimensions(text: Option<&str>) -> (u32, u32, u32) {
    let mut parts = text
        .unwrap_or_default()
        .split('x')
        .map(|n| n.parse().unwrap_or(1));
    let mut next = || parts.next().unwrap_or(1);
    (next(), next(), next())
}
