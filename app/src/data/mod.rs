//! Where pages get their data: the server's own services while rendering, the REST API in the browser.
//!
//! Both sides answer the same calls with the same types, so a page is written once.

#[cfg(feature = "hydrate")]
mod browser;
mod calls;
mod packed;

use cascade_api::ErrorBody;

pub use calls::*;
pub use packed::Packed;

/// Why a call failed, as the API says it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[error("{body}")]
pub struct DataError {
    /// HTTP status; 0 when the server could not be reached.
    pub status: u16,
    /// The answer's body.
    pub body: ErrorBody,
}

impl DataError {
    /// A failure told in one sentence.
    pub fn text(status: u16, detail: impl Into<String>) -> Self {
        Self {
            status,
            body: ErrorBody::text(detail),
        }
    }
}

/// What the server gives to pages while it renders them; provided as `Arc<dyn Backend>` in the context.
///
/// A trait, so that the pages do not know the server's state and tests can stand in for it.
#[cfg(feature = "ssr")]
#[async_trait::async_trait]
pub trait Backend: Send + Sync + 'static {
    /// `GET /api/health`.
    async fn health(&self) -> Result<cascade_api::Health, DataError>;
    /// `GET /api/traces`.
    async fn traces(&self) -> Result<Vec<cascade_api::TraceSummary>, DataError>;
    /// `GET /api/traces/{id}`.
    async fn trace(&self, id: cascade_api::TraceId) -> Result<cascade_api::TraceDetail, DataError>;
    /// `GET /api/gpu-configs`.
    async fn gpu_configs(&self) -> Result<Vec<cascade_api::GpuConfig>, DataError>;
    /// `GET /api/gpu-configs/{name}`.
    async fn gpu_detail(&self, name: cascade_api::GpuName) -> Result<cascade_api::GpuDetail, DataError>;
    /// `GET /api/runs`.
    async fn runs(&self) -> Result<Vec<cascade_api::RunSummary>, DataError>;
    /// `GET /api/runs/{id}`.
    async fn run(&self, id: cascade_api::RunId) -> Result<cascade_api::RunDetail, DataError>;
    /// `GET /api/runs/{id}/kernels`.
    async fn run_kernels(&self, id: cascade_api::RunId) -> Result<Vec<cascade_api::KernelStat>, DataError>;
    /// `GET /api/runs/{id}/kernel-columns`.
    async fn kernel_columns(&self, id: cascade_api::RunId) -> Result<cascade_api::KernelColumns, DataError>;
    /// `GET /api/runs/{id}/comparison`.
    async fn comparison(&self, id: cascade_api::RunId) -> Result<cascade_api::Comparison, DataError>;
    /// The first `rows` rows of `GET /api/runs/{id}/kernel-rows` from `from` on.
    async fn run_slice(
        &self,
        id: cascade_api::RunId,
        from: u64,
        rows: u64,
    ) -> Result<cascade_api::KernelSlice, DataError>;
    /// `GET /api/runs/{id}/step-digests`.
    async fn run_digests(&self, id: cascade_api::RunId)
    -> Result<Vec<cascade_api::SimStepDigest>, DataError>;
    /// `GET /api/runs/{id}/files`.
    async fn run_files(&self, id: cascade_api::RunId) -> Result<Vec<cascade_api::RunFile>, DataError>;
    /// `GET /api/sims/{id}/files/{name}/preview`.
    async fn file_preview(
        &self,
        sim: cascade_api::SimId,
        name: String,
    ) -> Result<cascade_api::FilePreview, DataError>;
    /// `GET /api/scenarios/bases`.
    async fn scenario_bases(&self) -> Result<Vec<cascade_api::ScenarioBase>, DataError>;
    /// `GET /api/scenarios/saved`.
    async fn scenarios_saved(&self) -> Result<Vec<cascade_api::SavedScenario>, DataError>;
    /// The figures of an explorer's link, where they take no waiting.
    async fn explored(&self, link: String) -> Option<cascade_scene::explorer::Answer>;
    /// `GET /api/sims/{id}/kernels/{index}`.
    async fn sim_kernel(
        &self,
        id: cascade_api::SimId,
        index: String,
    ) -> Result<cascade_api::KernelDetail, DataError>;
    /// `GET /api/sims/{id}/results`, kernels without their `stats`.
    async fn sim(&self, id: cascade_api::SimId) -> Result<cascade_api::SimSummary, DataError>;
}
