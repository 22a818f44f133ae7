//! Step timelines in brief: computed once from what a sim sent and the trace's measured timeline, then kept.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use cascade_api::{RunId, SimId, SimStepDigest, StepDigest, TraceSummary};
use cascade_steps::timeline::{CORRECTED, SIMULATED};
use cascade_steps::{Correction, DigestOptions, Sample, Timeline, digest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Service;
use super::files::write_durably;
use crate::error::Error;

/// Counted up when a digest would come out otherwise from the same timelines.
const VERSION: u32 = 1;

/// A digest as it lies on the disk.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// What it was made from and by which rules.
    inputs: String,
    digest: Result<StepDigest, String>,
}

impl Service {
    /// What a run's sims say of whole steps and requests, by GPU and replica.
    pub async fn run_digests(&self, id: &RunId) -> Result<Vec<SimStepDigest>, Error> {
        let run = self.run(id).await?;
        let mut digests = Vec::new();
        for (sim_id, gpu_config, replica) in self.db.timelines_of_run(id).await? {
            let (digest, problem) = match self.digest_of(&sim_id, gpu_config.as_str(), &run.trace).await? {
                Ok(digest) => (Some(digest), None),
                Err(problem) => (None, Some(problem)),
            };
            let engine = run.sims.iter().find(|sim| sim.id == sim_id).map(|sim| sim.engine);
            digests.extend(engine.map(|engine| SimStepDigest {
                sim_id,
                gpu_config,
                replica,
                engine,
                digest,
                problem,
            }));
        }
        Ok(digests)
    }

    /// Makes a sim's digest beside other work, so that the first page that shows it need not wait.
    pub(crate) fn digest_ahead(&self, sim: SimId) {
        let service = self.clone();
        tokio::spawn(async move {
            let made = async {
                let summary = service.sim(&sim).await?;
                let run = service.run(&summary.run_id).await?;
                service
                    .digest_of(&sim, summary.gpu_config.as_str(), &run.trace)
                    .await
            };
            if let Err(error) = made.await {
                tracing::warn!(%sim, error = error.chain(), "a step digest could not be made");
            }
        });
    }

    /// A sim's digest, or why what it sent cannot be read.
    pub(crate) async fn digest_of(
        &self,
        sim: &SimId,
        gpu: &str,
        trace: &TraceSummary,
    ) -> Result<Result<StepDigest, String>, Error> {
        let real = self.settings.traces_dir().join(trace.id.as_str()).join(CORRECTED);
        let making = Making {
            real,
            simulated: self.timeline_path(sim),
            kept: self.digest_path(sim),
            incoming: self.settings.incoming_dir(),
            gpu: gpu.to_owned(),
            real_gpu: trace.real_gpu_config.as_ref().map(ToString::to_string),
            core_clock_mhz: self
                .gpus
                .get(&gpu.to_owned().into())
                .map(|gpu| gpu.core_clock_mhz),
            t0_ns: self.settings.t0_ns.get(gpu),
            suggested: suggested(self.db.trace_metadata(&trace.id).await?.as_ref()),
        };
        if let Some(digest) = making.kept_digest() {
            return Ok(digest);
        }
        // One at a time, and only the first of those who wait makes it.
        let alone = self.timelines_turn.lock().await;
        let made =
            tokio::task::spawn_blocking(move || making.kept_digest().map_or_else(|| making.make(), Ok))
                .await?;
        drop(alone);
        made.map_err(Error::io("cannot store a step digest"))
    }

    /// Where a sim's step timeline in brief lies.
    pub(super) fn digest_path(&self, sim: &SimId) -> PathBuf {
        self.settings.steps_dir().join(format!("{sim}.digest.json"))
    }
}

/// All that a digest is made from.
struct Making {
    real: PathBuf,
    simulated: PathBuf,
    kept: PathBuf,
    incoming: PathBuf,
    gpu: String,
    real_gpu: Option<String>,
    core_clock_mhz: Option<f64>,
    t0_ns: Option<f64>,
    suggested: Vec<Suggested>,
}

/// A correction that the trace's `metadata.json` suggests, under `corrections`.
#[derive(Clone, Debug, Deserialize)]
struct Suggested {
    label: String,
    subtract_ns: f64,
    sample: FittedTo,
}

/// What a suggested constant was fitted to.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FittedTo {
    /// The measured times of this very trace.
    InSample,
    /// Others, or nothing.
    OutOfSample,
}

impl Making {
    /// The digest of an earlier call, if it was made from the same files by the same rules.
    fn kept_digest(&self) -> Option<Result<StepDigest, String>> {
        let kept: Kept = serde_json::from_slice(&std::fs::read(&self.kept).ok()?).ok()?;
        (kept.inputs == self.inputs()).then_some(kept.digest)
    }

    /// All but the simulated timeline, whose digest goes when another is put in its place.
    fn inputs(&self) -> String {
        let (real, real_gpu) = (identity(&self.real), &self.real_gpu);
        let (clock, t0, suggested) = (self.core_clock_mhz, self.t0_ns, &self.suggested);
        format!("version {VERSION}, real {real:?} on {real_gpu:?}, clock {clock:?}, T0 {t0:?}, {suggested:?}")
    }

    fn make(&self) -> std::io::Result<Result<StepDigest, String>> {
        let kept = Kept {
            inputs: self.inputs(),
            digest: self.digest(),
        };
        write_durably(&self.incoming, &self.kept, &serde_json::to_vec(&kept)?)?;
        Ok(kept.digest)
    }

    fn digest(&self) -> Result<StepDigest, String> {
        let simulated = simulated(&self.simulated)?;
        let real = std::fs::read(&self.real).map_err(|error| format!("the trace's {CORRECTED}: {error}"))?;
        let real = Timeline::parse(CORRECTED, &real).map_err(|error| error.to_string())?;
        let corrections = self.corrections(&simulated);
        let options = DigestOptions {
            gpu_config: &self.gpu,
            real_gpu_config: self.real_gpu.as_deref(),
            corrections: &corrections,
        };
        digest(&real, &simulated, &options).map_err(|error| error.to_string())
    }

    /// What the timeline's own facts, the settings and the trace allow to correct.
    fn corrections(&self, simulated: &Timeline) -> Vec<Correction> {
        let suggested = self.suggested.iter().map(|suggested| {
            let sample = match suggested.sample {
                FittedTo::InSample => Sample::InSample,
                FittedTo::OutOfSample => Sample::OutOfSample,
            };
            Correction::constant(suggested.label.as_str(), sample, suggested.subtract_ns)
        });
        self.launch_constant(simulated)
            .into_iter()
            .chain(suggested)
            .collect()
    }

    /// Without the launch constant that the simulator was configured with; with a measured T0 in its place.
    fn launch_constant(&self, simulated: &Timeline) -> Vec<Correction> {
        let simulation = simulated.summary.get("simulation");
        let fact = |name| simulation.and_then(|s| s.get(name));
        let clock = fact("core_clock_mhz")
            .and_then(|v| v.as_f64())
            .or(self.core_clock_mhz);
        let cycles = fact("launch_latency_cycles").and_then(|v| v.as_u64());
        let (Some(clock), Some(cycles)) = (clock.filter(|mhz| *mhz > 0.0), cycles.filter(|c| *c > 0)) else {
            return Vec::new();
        };
        let mut corrections = vec![Correction::launch_constant(cycles, clock)];
        corrections.extend(self.t0_ns.map(|t0| Correction::measured_t0(cycles, clock, t0)));
        corrections
    }
}

/// At most this many corrections of a trace are shown.
const MAX_SUGGESTED: usize = 16;

/// The corrections that a trace suggests; what is none is left out.
fn suggested(metadata: Option<&Map<String, Value>>) -> Vec<Suggested> {
    let list = metadata
        .and_then(|m| m.get("corrections"))
        .and_then(Value::as_array);
    let read = |value: &Value| Suggested::deserialize(value).ok();
    let real = |suggested: &Suggested| suggested.subtract_ns.is_finite();
    list.into_iter()
        .flatten()
        .filter_map(read)
        .filter(real)
        .take(MAX_SUGGESTED)
        .collect()
}

/// The simulated timeline of a stored upload.
pub(super) fn simulated(path: &Path) -> Result<Timeline, String> {
    #[derive(Deserialize)]
    struct Stored<'a> {
        #[serde(borrow)]
        simulated: &'a RawValue,
    }
    let json = std::fs::read(path).map_err(|error| error.to_string())?;
    let stored: Stored<'_> = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    Timeline::parse(SIMULATED, stored.simulated.get().as_bytes()).map_err(|error| error.to_string())
}

/// Length and modification time in ns: enough to see that a file was replaced.
fn identity(path: &Path) -> Option<(u64, u128)> {
    let meta = std::fs::metadata(path).ok()?;
    let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((meta.len(), modified.as_nanos()))
}
