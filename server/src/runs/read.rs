//! Reading traces and runs.

use std::path::Path;

use bytes::Bytes;
use cascade_api::{
    Comparison, GpuConfig, GpuName, KernelColumns, KernelStat, RealKernel, RunDetail, RunEvent, RunId,
    RunSummary, SimId, SimSummary, TraceDetail, TraceId, TraceSummary,
};
use cascade_steps::{SimTimes, columns, compare, parse_real_timing};
use serde_json::{Map, Value};

use super::Service;
use crate::db::SimRecord;
use crate::error::Error;
use crate::events::{Subscription, frame};
use crate::ingest::{MAX_TIMING_BYTES, TIMING_FILE};

impl Service {
    /// Every trace, newest first.
    pub async fn traces(&self) -> Result<Vec<TraceSummary>, Error> {
        Ok(self.db.traces_list().await?)
    }

    /// One trace.
    pub async fn trace(&self, id: &TraceId) -> Result<TraceDetail, Error> {
        let trace = self.db.trace_detail(id).await?;
        trace.ok_or_else(|| Error::NoTrace(id.clone()))
    }

    /// Every run, newest first.
    pub async fn runs(&self) -> Result<Vec<RunSummary>, Error> {
        Ok(self.db.runs_list().await?)
    }

    /// One run with its trace and sims.
    pub async fn run(&self, id: &RunId) -> Result<RunDetail, Error> {
        let (summary, sims) = self.run_record(id).await?;
        let trace = self.db.trace_get(&summary.trace_id).await?;
        let trace = trace.ok_or_else(|| Error::NoTrace(summary.trace_id.clone()))?;
        Ok(RunDetail {
            summary,
            trace,
            sims: sims.into_iter().map(|sim| sim.summary).collect(),
        })
    }

    pub(super) async fn run_record(&self, id: &RunId) -> Result<(RunSummary, Vec<SimRecord>), Error> {
        let run = self.db.run_get(id).await?;
        run.ok_or_else(|| Error::NoRun(id.clone()))
    }

    /// One sim.
    pub async fn sim(&self, id: &SimId) -> Result<SimSummary, Error> {
        let sim = self.db.sim_get(id).await?;
        Ok(sim.ok_or_else(|| Error::NoSim(id.clone()))?.summary)
    }

    /// Every finished kernel of a run, `stats` left empty.
    pub async fn run_kernels(&self, id: &RunId) -> Result<Vec<KernelStat>, Error> {
        self.run_record(id).await?;
        Ok(self.db.kernels_of_run(id).await?)
    }

    /// Real against simulated time.
    pub async fn comparison(&self, id: &RunId) -> Result<Comparison, Error> {
        let run = self.run(id).await?;
        let kernels = self.db.kernels_of_run(id).await?;
        let real = self.real_timing(&run.trace).await?;
        let configs: Vec<GpuName> = run.summary.entries.iter().map(|e| e.gpu_config.clone()).collect();
        let sims = sims_with_kernels(&run.sims, kernels);
        Ok(tokio::task::spawn_blocking(move || compare(&configs, &sims, real.as_deref())).await?)
    }

    /// Kernel times column by column.
    pub async fn kernel_columns(&self, id: &RunId) -> Result<KernelColumns, Error> {
        let run = self.run(id).await?;
        let trace = self.trace(&run.trace.id).await?;
        let kernels = self.db.kernels_of_run(id).await?;
        let real = self.real_timing(&run.trace).await?;
        let configs: Vec<GpuName> = run.summary.entries.iter().map(|e| e.gpu_config.clone()).collect();
        let sims = sims_with_kernels(&run.sims, kernels);
        let put = move || {
            let model = trace.summary.model.as_deref();
            columns(&configs, &sims, &trace.kernels, model, real.as_deref())
        };
        Ok(tokio::task::spawn_blocking(put).await?)
    }

    /// The measured kernel times that came with a trace. A file that cannot be read counts as none.
    pub(super) async fn real_timing(&self, trace: &TraceSummary) -> Result<Option<Vec<RealKernel>>, Error> {
        if !trace.has_real_timing {
            return Ok(None);
        }
        let metadata = self.db.trace_metadata(&trace.id).await?;
        let dir = self.settings.traces_dir().join(trace.id.as_str());
        let id = trace.id.clone();
        let read = move || match read_real_timing(&dir, metadata.as_ref()) {
            Ok(rows) => Some(rows),
            Err(error) => {
                tracing::warn!(trace = %id, error, "the trace's real timing cannot be read");
                None
            }
        };
        Ok(tokio::task::spawn_blocking(read).await?)
    }

    /// A sim's GPU as it is now.
    pub(super) fn gpu(&self, name: &GpuName) -> GpuConfig {
        let gpu = self.gpus.get(name);
        gpu.unwrap_or_else(|| GpuConfig::missing(name.clone()))
    }

    /// The run as it is, ready for the wire, and every event from there on.
    pub async fn run_events(&self, id: &RunId) -> Result<(Bytes, Subscription), Error> {
        let turn = self.events.turn(id).await;
        let run = self.run(id).await?;
        let kernels = self.db.kernels_of_run(id).await?;
        let subscription = turn.subscribe();
        drop(turn);
        let snapshot = RunEvent::Snapshot {
            run: Box::new(run),
            kernels,
        };
        let snapshot = tokio::task::spawn_blocking(move || frame(&snapshot)).await?;
        Ok((snapshot, subscription))
    }
}

fn read_real_timing(dir: &Path, metadata: Option<&Map<String, Value>>) -> Result<Vec<RealKernel>, String> {
    let named = metadata
        .and_then(|m| m.get("real_timing"))
        .and_then(Value::as_str);
    let name = named.unwrap_or(TIMING_FILE);
    // With every link followed, so that neither the name nor a link leads elsewhere.
    let real = |path: &Path| path.canonicalize().map_err(|e| format!("{name}: {e}"));
    let path = real(&dir.join(name))?;
    if !path.starts_with(real(dir)?) {
        return Err(format!("{name} leaves the trace's directory"));
    }
    let length = std::fs::metadata(&path).map_err(|e| e.to_string())?.len();
    if length > MAX_TIMING_BYTES {
        return Err(format!("{name} is over {} MiB", MAX_TIMING_BYTES >> 20));
    }
    let json = std::fs::read(&path).map_err(|e| e.to_string())?;
    parse_real_timing(&json).map_err(|e| e.to_string())
}

/// Each sim with its kernels; `kernels` are ordered by sim as `sims` are.
fn sims_with_kernels(sims: &[SimSummary], kernels: Vec<KernelStat>) -> Vec<SimTimes> {
    let mut kernels = kernels.into_iter().peekable();
    let mut take = |sim: &SimSummary| {
        let mut own = Vec::new();
        while let Some(kernel) = kernels.next_if(|kernel| kernel.sim_id == sim.id) {
            own.push(kernel);
        }
        SimTimes {
            gpu_config: sim.gpu_config.clone(),
            engine: sim.engine,
            kernels: own,
        }
    };
    sims.iter().map(&mut take).collect()
}

#[cfg(test)]
mod tests {
    use super::read_real_timing;

    #[test]
    fn only_files_of_the_trace_are_read_as_real_timing() {
        let place = tempfile::tempdir().unwrap();
        let trace = place.path().join("t");
        std::fs::create_dir_all(trace.join("sub")).unwrap();
        let rows = r#"[{"kernel_id": 1, "duration_ns": 5}]"#;
        let secret = place.path().join("secret.json");
        for path in [
            &secret,
            &trace.join("real_timing.json"),
            &trace.join("sub/a.json"),
        ] {
            std::fs::write(path, rows).unwrap();
        }
        std::os::unix::fs::symlink(&secret, trace.join("link.json")).unwrap();
        std::os::unix::fs::symlink(place.path(), trace.join("up")).unwrap();
        let read = |name: Option<&str>| {
            let metadata = name.map(|name| serde_json::json!({ "real_timing": name }));
            read_real_timing(&trace, metadata.as_ref().and_then(|m| m.as_object()))
        };
        for name in [None, Some("real_timing.json"), Some("sub/a.json")] {
            assert_eq!(read(name).unwrap().len(), 1, "{name:?}");
        }
        for name in [
            "../secret.json",
            "link.json",
            "up/secret.json",
            secret.to_str().unwrap(),
        ] {
            let error = read(Some(name)).unwrap_err();
            assert!(error.ends_with("leaves the trace's directory"), "{error}");
        }
        assert!(read(Some("missing.json")).is_err());
    }
}
