//! What the overview knows, and what follows from it. No view here.

use cascade_api::{
    GpuConfig, GpuName, Health, RunDetail, RunEntry, RunState, RunSummary, SimState, SimStepDigest,
    TraceState, TraceSummary,
};
use serde::{Deserialize, Serialize};

use crate::data::{self, DataError};

/// Runs under way, and latest results, that are shown in full.
const SHOWN: usize = 4;

/// What the overview shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// Runs, newest first.
    pub(super) runs: Vec<RunSummary>,
    /// Traces, newest first.
    pub(super) traces: Vec<TraceSummary>,
    /// The runs under way and the latest that finished, with their sims.
    pub(super) details: Vec<RunDetail>,
    /// What the finished ones say of requests.
    pub(super) digests: Vec<SimStepDigest>,
    /// GPUs.
    pub(super) gpus: Vec<GpuConfig>,
    /// Where traces are sent to; none where the app could not say.
    pub(super) health: Option<Health>,
}

/// Reads all of it.
pub(super) async fn load() -> Result<Facts, DataError> {
    let (runs, traces, gpus) = (
        data::runs().await?,
        data::traces().await?,
        data::gpu_configs().await?,
    );
    let (mut details, mut digests) = (Vec::new(), Vec::new());
    let active = runs
        .iter()
        .filter(|run| run.state == RunState::Active)
        .take(SHOWN);
    // One's own results come before samples.
    let mut done: Vec<_> = runs.iter().filter(|run| has_results(run)).collect();
    done.sort_by_key(|run| run.sample);
    for run in active.chain(done.into_iter().take(SHOWN)) {
        details.push(data::run(run.id.clone()).await?);
        if has_results(run) {
            digests.extend(data::run_digests(run.id.clone()).await.unwrap_or_default());
        }
    }
    let health = data::health().await.ok();
    Ok(Facts {
        runs,
        traces,
        details,
        digests,
        gpus,
        health,
    })
}

/// Reads it again; `None` where nothing has happened since `old`.
pub(super) async fn load_since(old: &Facts) -> Result<Option<Facts>, DataError> {
    // Both lists say whatever happens, but for kernels that are done: of these only a run under way has more.
    let quiet = old.active().is_empty();
    if quiet && data::runs().await? == old.runs && data::traces().await? == old.traces {
        return Ok(None);
    }
    load().await.map(Some)
}

/// Whether a run ended with something to read.
fn has_results(run: &RunSummary) -> bool {
    matches!(run.state, RunState::Succeeded | RunState::Partial)
}

/// How far somebody new has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Progress {
    /// The newest trace that can be simulated.
    pub(super) ready: Option<TraceSummary>,
    /// Traces on their way, and those that failed.
    pub(super) coming: Vec<TraceSummary>,
    /// The newest run of one's own.
    pub(super) run: Option<RunSummary>,
    /// The newest of those with results.
    pub(super) result: Option<RunSummary>,
}

impl Facts {
    /// How far somebody new has come; samples and replays do not count.
    pub(super) fn progress(&self) -> Progress {
        let own = || self.traces.iter().filter(|trace| !trace.sample);
        let mut runs = self.runs.iter().filter(|run| !run.sample && !run.replay);
        Progress {
            ready: own().find(|trace| trace.state == TraceState::Ready).cloned(),
            coming: own()
                .filter(|trace| trace.state != TraceState::Ready)
                .cloned()
                .collect(),
            run: runs.clone().next().cloned(),
            result: runs.find(|run| has_results(run)).cloned(),
        }
    }

    /// Whether a change is near: something is under way, or somebody new is about to send something.
    pub(super) fn unfinished(&self) -> bool {
        let now = self.progress();
        now.result.is_none() || !now.coming.is_empty() || !self.active().is_empty()
    }

    /// The runs under way.
    pub(super) fn active(&self) -> Vec<RunDetail> {
        let active = |run: &&RunDetail| run.summary.state == RunState::Active;
        self.details.iter().filter(active).cloned().collect()
    }

    /// The latest results.
    pub(super) fn results(&self) -> Vec<Outcome> {
        let done = self.details.iter().filter(|run| has_results(&run.summary));
        done.map(|run| self.outcome(run)).collect()
    }

    /// A run's result in brief.
    fn outcome(&self, run: &RunDetail) -> Outcome {
        let mut gpus: Vec<GpuOutcome> = Vec::new();
        for sim in run.sims.iter().filter(|sim| sim.state == SimState::Succeeded) {
            if gpus.iter().any(|known| known.gpu == sim.gpu_config) {
                continue;
            }
            // Sims of one GPU in one run are replicas of each other: the first speaks for all.
            let clock = self
                .gpus
                .iter()
                .find(|gpu| gpu.name == sim.gpu_config)
                .map(|gpu| gpu.core_clock_mhz);
            let clock = clock.filter(|mhz| *mhz > 0.0);
            let cycles = sim.latest.gpu_tot_sim_cycle;
            let digest = self.digests.iter().find(|digest| digest.sim_id == sim.id);
            let e2e = digest.and_then(|digest| Some(digest.digest.as_ref()?.mean.e2e_ms));
            gpus.push(GpuOutcome {
                gpu: sim.gpu_config.clone(),
                // A clock in MHz is cycles per µs.
                time_ns: cycles.zip(clock).map(|(cycles, mhz)| cycles / mhz * 1e3),
                request_ms: e2e.and_then(|e2e| e2e.simulated),
                error_pct: e2e.and_then(|e2e| e2e.error_pct).filter(|_| !run.trace.synthetic),
            });
        }
        Outcome {
            run: run.summary.clone(),
            gpus,
        }
    }
}

/// A finished run in brief.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The run.
    pub(super) run: RunSummary,
    /// Its GPUs.
    pub(super) gpus: Vec<GpuOutcome>,
}

/// A GPU's result in brief.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GpuOutcome {
    /// The GPU.
    pub(super) gpu: GpuName,
    /// Simulated time of all kernels, in ns.
    pub(super) time_ns: Option<f64>,
    /// Simulated time of a whole request, ms; only where there are steps.
    pub(super) request_ms: Option<f64>,
    /// Its error against the real GPU, per cent; only where that was measured.
    pub(super) error_pct: Option<f64>,
}

/// What the guide simulates a trace on: the GPU that suits it, and another one to hold against it.
pub(super) fn two_gpus(trace: &TraceSummary, gpus: &[GpuConfig]) -> Vec<RunEntry> {
    let fits = |gpu: &&GpuConfig| gpu.arch == trace.trace_gpu_arch && gpu.derived.is_none();
    let suits = |gpu: &&GpuConfig| trace.suggested_sim_config.as_ref() == Some(&gpu.name);
    let first = gpus.iter().filter(fits).filter(suits);
    let others = gpus.iter().filter(fits).filter(|gpu| !suits(gpu));
    let entry = |gpu: &GpuConfig| RunEntry {
        gpu_config: gpu.name.clone(),
        count: 1,
    };
    first.chain(others).take(2).map(entry).collect()
}

/// What has arrived of a trace, and what is still to come.
pub(super) fn arrived(trace: &TraceSummary) -> String {
    use cascade_scene::format;
    let got = format!(
        "received {}, {}",
        format::plural(trace.kernel_count, "kernel"),
        format::bytes(trace.bytes)
    );
    match (trace.state, &trace.waiting_for, &trace.error) {
        (TraceState::Failed, _, Some(error)) => format!("failed: {error}"),
        (TraceState::Processing, ..) => format!("{got}; being processed"),
        (_, Some(what), _) => format!("{got}; waiting for {what}"),
        _ => got,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gpu(name: &str, arch: &str) -> GpuConfig {
        serde_json::from_value(json!({"name": name, "arch": arch, "core_clock_mhz": 1000.0})).unwrap()
    }

    fn trace(state: &str, sample: bool) -> TraceSummary {
        serde_json::from_value(json!({
            "id": "t", "state": state, "error": null, "waiting_for": "metadata.json",
            "created_at": "2026-11-08T03:05:34Z", "updated_at": "2026-11-08T03:05:34Z", "model": null, "layers": [],
            "source_gpu": null, "trace_gpu_arch": "sm_90", "suggested_sim_config": "SM90_H200", "kernel_count": 3,
            "bytes": 2048, "has_real_timing": false, "has_step_timeline": false, "sample": sample,
        }))
        .unwrap()
    }

    fn facts(traces: Vec<TraceSummary>) -> Facts {
        Facts {
            runs: Vec::new(),
            traces,
            details: Vec::new(),
            digests: Vec::new(),
            gpus: Vec::new(),
            health: None,
        }
    }

    #[test]
    fn the_guide_takes_the_gpu_that_suits_and_one_more_of_its_architecture() {
        let gpus = [
            gpu("SM80_A100", "sm_80"),
            gpu("SM90_H100", "sm_90"),
            gpu("SM90_H200", "sm_90"),
        ];
        let chosen = two_gpus(&trace("ready", false), &gpus);
        let names: Vec<_> = chosen.iter().map(|entry| entry.gpu_config.as_str()).collect();
        assert_eq!(names, ["SM90_H200", "SM90_H100"]);
        assert!(two_gpus(&trace("ready", false), &gpus[..1]).is_empty());
    }

    #[test]
    fn samples_do_not_count_as_a_first_trace() {
        assert_eq!(facts(vec![trace("ready", true)]).progress(), Progress::default());
        let own = facts(vec![trace("uploading", false), trace("ready", false)]).progress();
        assert_eq!((own.ready.is_some(), own.coming.len()), (true, 1));
    }

    #[test]
    fn what_arrived_and_what_is_missing_is_said() {
        let text = arrived(&trace("uploading", false));
        assert!(
            text.contains("3 kernels") && text.contains("waiting for metadata.json"),
            "{text}"
        );
    }
}
