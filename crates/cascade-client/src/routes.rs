//! The routes that read traces, GPUs, runs and results, and create and cancel runs.

use cascade_api::{
    Comparison, GpuConfig, Health, KernelColumns, KernelDetail, KernelStat, RunCreate, RunDetail, RunFile,
    RunResults, RunSummary, RunTimeline, ScenarioBase, ScenarioProfile, SimFile, SimResults, SimStepDigest,
    SimStepTimeline, TraceDetail, TraceMade, TraceSummary,
};
use reqwest::Method;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::client::{Repeat, bare, json};
use crate::error::causes;
use crate::{Client, Error, Events, Result};

/// Every method fails as [`Error`] tells; ids that name nothing give [`Error::Refused`] with status 404.
impl Client {
    /// Whether the server serves; needs no token.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn health(&self) -> Result<Health> {
        self.get(&["health"]).await
    }

    /// Every trace, newest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn traces(&self) -> Result<Vec<TraceSummary>> {
        self.get(&["traces"]).await
    }

    /// One trace with its metadata and kernels.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn trace(&self, id: &str) -> Result<TraceDetail> {
        self.get(&["traces", id]).await
    }

    /// Makes the small synthetic trace to try the app with, unless it is there.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn synthetic_trace(&self) -> Result<TraceMade> {
        let url = self.url(&["synthetic-trace"]);
        json(
            self.send(Repeat::Always, |c| Ok(c.request(Method::POST, url.clone())))
                .await?,
        )
        .await
    }

    /// The GPUs that a run can simulate, by name.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn gpu_configs(&self) -> Result<Vec<GpuConfig>> {
        self.get(&["gpu-configs"]).await
    }

    /// Creates a run. Not repeated when the server may have seen it: it would make a second run.
    ///
    /// # Errors
    /// 404 for an unknown trace, 409 for one that is not ready, 422 for entries that do not fit.
    pub async fn create_run(&self, run: &RunCreate) -> Result<RunDetail> {
        let url = self.url(&["runs"]);
        let make = |c: &Self| Ok(c.request(Method::POST, url.clone()).json(run));
        json(self.send(Repeat::Unseen, make).await?).await
    }

    /// Every finished sim that scenarios can rest on.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn scenario_bases(&self) -> Result<Vec<ScenarioBase>> {
        self.get(&["scenarios", "bases"]).await
    }

    /// The step times of a trace's finished sim on a GPU, or on the one that the trace suggests.
    ///
    /// # Errors
    /// 404 where nothing has finished, 422 for what cannot be estimated.
    pub async fn scenario_profile(
        &self,
        trace_id: &str,
        gpu_config: Option<&str>,
    ) -> Result<ScenarioProfile> {
        let mut url = self.url(&["scenarios", "profile"]);
        url.query_pairs_mut()
            .append_pair("trace_id", trace_id)
            .extend_pairs(gpu_config.map(|gpu| ("gpu_config", gpu)));
        let answer = self.send(Repeat::Always, |c| Ok(c.request(Method::GET, url.clone())));
        json(answer.await?).await
    }

    /// Every run, newest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn runs(&self) -> Result<Vec<RunSummary>> {
        self.get(&["runs"]).await
    }

    /// One run with its trace and sims.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run(&self, id: &str) -> Result<RunDetail> {
        self.get(&["runs", id]).await
    }

    /// Cancels every sim of a run that has not finished.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn cancel_run(&self, id: &str) -> Result<RunDetail> {
        let url = self.url(&["runs", id, "cancel"]);
        json(
            self.send(Repeat::Always, |c| Ok(c.request(Method::POST, url.clone())))
                .await?,
        )
        .await
    }

    /// One kernel of a sim with its full `stats`, and why it takes as long as it does.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn kernel(&self, sim: &str, index: u64) -> Result<KernelDetail> {
        self.get(&["sims", sim, "kernels", &index.to_string()]).await
    }

    /// Every kernel that a run's sims finished, without the full `stats`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn kernels(&self, run: &str) -> Result<Vec<KernelStat>> {
        self.get(&["runs", run, "kernels"]).await
    }

    /// Kernel times column by column.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn kernel_columns(&self, run: &str) -> Result<KernelColumns> {
        self.get(&["runs", run, "kernel-columns"]).await
    }

    /// A run's kernels as columns, for a timeline.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn timeline(&self, run: &str) -> Result<RunTimeline> {
        self.get(&["runs", run, "timeline"]).await
    }

    /// Real against simulated time.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn comparison(&self, run: &str) -> Result<Comparison> {
        self.get(&["runs", run, "comparison"]).await
    }

    /// Step timing that a run's sims sent.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn step_timelines(&self, run: &str) -> Result<Vec<SimStepTimeline>> {
        self.get(&["runs", run, "step-timelines"]).await
    }

    /// Step timing that a run's sims sent, in brief.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn step_digests(&self, run: &str) -> Result<Vec<SimStepDigest>> {
        self.get(&["runs", run, "step-digests"]).await
    }

    /// A run's results, in memory. For a large run use [`Client::download`] with `runs/{id}/results`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run_results(&self, run: &str) -> Result<RunResults> {
        self.get(&["runs", run, "results"]).await
    }

    /// One sim's results.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn sim_results(&self, sim: &str) -> Result<SimResults> {
        self.get(&["sims", sim, "results"]).await
    }

    /// The output files of a run's sims.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run_files(&self, run: &str) -> Result<Vec<RunFile>> {
        self.get(&["runs", run, "files"]).await
    }

    /// The output files of one sim.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn sim_files(&self, sim: &str) -> Result<Vec<SimFile>> {
        self.get(&["sims", sim, "files"]).await
    }

    /// Copies a run's results to `out`; returns the bytes written.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Write`] when `out` fails.
    pub async fn copy_results(&self, run: &str, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64> {
        self.download(&["runs", run, "results"], out).await
    }

    /// Copies a sim's whole log to `out`; returns the bytes written.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Write`] when `out` fails.
    pub async fn copy_log(&self, sim: &str, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64> {
        self.download(&["sims", sim, "log"], out).await
    }

    /// Copies an output file to `out`; returns the bytes written.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Write`] when `out` fails.
    pub async fn copy_file(&self, sim: &str, name: &str, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64> {
        self.download(&["sims", sim, "files", name], out).await
    }

    /// Copies a run's Chrome trace for ui.perfetto.dev to `out`; returns the bytes written.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Write`] when `out` fails.
    pub async fn copy_perfetto(&self, run: &str, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64> {
        self.download(&["runs", run, "perfetto"], out).await
    }

    /// A run's live events.
    pub fn events(&self, run: &str) -> Events {
        Events::new(self.clone(), self.url(&["runs", run, "events"]))
    }

    /// Copies the body of a GET to `out`, piece by piece. A body that breaks off is an error: what was
    /// written so far is not whole.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Write`] when `out` fails.
    pub async fn download(&self, path: &[&str], out: &mut (impl AsyncWrite + Unpin)) -> Result<u64> {
        let url = self.url(path);
        let mut answer = self
            .send(Repeat::Always, |c| Ok(c.request(Method::GET, url.clone())))
            .await?;
        let mut written = 0;
        loop {
            let chunk = answer.chunk().await.map_err(|error| Error::Answer {
                url: bare(&url),
                reason: format!("the answer broke off after {written} bytes: {}", causes(&error)),
            })?;
            let Some(chunk) = chunk else { break };
            out.write_all(&chunk).await.map_err(Error::Write)?;
            written += chunk.len() as u64;
        }
        out.flush().await.map_err(Error::Write)?;
        Ok(written)
    }
}
