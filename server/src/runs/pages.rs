//! What pages read while the server renders them: the same calls as the API's.

use app::data::{Backend, DataError};
use async_trait::async_trait;
use cascade_api::{
    Comparison, FilePreview, GpuConfig, GpuDetail, GpuName, Health, KernelColumns, KernelDetail, KernelSlice,
    KernelStat, RunDetail, RunFile, RunId, RunSummary, SavedScenario, ScenarioBase, SimId, SimStepDigest,
    SimSummary, TraceDetail, TraceId, TraceSummary,
};
use cascade_scene::explorer::Answer;

use super::Service;
use crate::error::Error;

impl From<Error> for DataError {
    fn from(error: Error) -> Self {
        Self {
            status: error.status(),
            body: error.body(),
        }
    }
}

#[async_trait]
impl Backend for Service {
    async fn health(&self) -> Result<Health, DataError> {
        Ok(Self::health(self))
    }

    async fn traces(&self) -> Result<Vec<TraceSummary>, DataError> {
        Ok(Self::traces(self).await?)
    }

    async fn trace(&self, id: TraceId) -> Result<TraceDetail, DataError> {
        Ok(Self::trace(self, &id).await?)
    }

    async fn gpu_configs(&self) -> Result<Vec<GpuConfig>, DataError> {
        Ok(self.gpus.list())
    }

    async fn gpu_detail(&self, name: GpuName) -> Result<GpuDetail, DataError> {
        Ok(Self::gpu_detail(self, &name).await?)
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, DataError> {
        Ok(Self::runs(self).await?)
    }

    async fn run(&self, id: RunId) -> Result<RunDetail, DataError> {
        Ok(Self::run(self, &id).await?)
    }

    async fn run_kernels(&self, id: RunId) -> Result<Vec<KernelStat>, DataError> {
        Ok(Self::run_kernels(self, &id).await?)
    }

    async fn comparison(&self, id: RunId) -> Result<Comparison, DataError> {
        Ok(Self::comparison(self, &id).await?)
    }

    async fn kernel_columns(&self, id: RunId) -> Result<KernelColumns, DataError> {
        Ok(Self::kernel_columns(self, &id).await?)
    }

    async fn run_slice(&self, id: RunId, from: u64, rows: u64) -> Result<KernelSlice, DataError> {
        Ok(Self::run_slice(self, &id, from, rows).await?)
    }

    async fn run_digests(&self, id: RunId) -> Result<Vec<SimStepDigest>, DataError> {
        Ok(Self::run_digests(self, &id).await?)
    }

    async fn run_files(&self, id: RunId) -> Result<Vec<RunFile>, DataError> {
        Ok(Self::run_files(self, &id).await?)
    }

    async fn file_preview(&self, sim: SimId, name: String) -> Result<FilePreview, DataError> {
        Ok(Self::file_preview(self, &sim, &name).await?)
    }

    async fn scenario_bases(&self) -> Result<Vec<ScenarioBase>, DataError> {
        Ok(Self::scenario_bases(self).await?)
    }

    async fn scenarios_saved(&self) -> Result<Vec<SavedScenario>, DataError> {
        Ok(Self::scenarios_saved(self).await?)
    }

    async fn explored(&self, link: String) -> Option<Answer> {
        self.scenario_explored(&link).await
    }

    async fn sim_kernel(&self, id: SimId, index: String) -> Result<KernelDetail, DataError> {
        Ok(Self::sim_kernel(self, &id, &index).await?)
    }

    async fn sim(&self, id: SimId) -> Result<SimSummary, DataError> {
        Ok(Self::sim(self, &id).await?)
    }
}
