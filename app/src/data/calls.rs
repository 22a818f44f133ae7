//! The calls pages make. Under `ssr` they ask the [`super::Backend`]; in the browser they ask the REST API.

use cascade_api::{
    Comparison, FilePreview, GpuConfig, GpuConfigCreate, GpuDetail, GpuName, Health, KernelColumns,
    KernelDetail, KernelSlice, KernelStat, RunCreate, RunDetail, RunFile, RunId, RunSummary, RunTimeline,
    SavedScenario, ScenarioBase, ScenarioProfile, ScenarioResult, SimId, SimStepDigest, TimelineLevel,
    TraceDetail, TraceId, TraceMade, TraceSummary,
};
use cascade_scene::explorer::Answer;

use super::DataError;
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
use super::browser;

/// What the server lent to this page.
#[cfg(feature = "ssr")]
fn backend() -> Result<std::sync::Arc<dyn super::Backend>, DataError> {
    leptos::prelude::use_context()
        .ok_or_else(|| DataError::text(500, "the page was rendered without its data source"))
}

/// The answer of a build that is neither for the server nor for the browser.
#[cfg(not(any(feature = "ssr", feature = "hydrate")))]
fn nowhere<T>() -> Result<T, DataError> {
    Err(DataError::text(0, "built without `ssr` and without `hydrate`"))
}

/// A call whose list is read later; see [`super::Packed`].
macro_rules! fetch_packed {
    ($(#[$doc:meta])* $name:ident = $call:ident($arg:ident: $ty:ty) -> $item:ty, $path:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// What the API would answer; status 0 when the server could not be reached.
        pub async fn $name($arg: $ty) -> Result<super::Packed<$item>, DataError> {
            #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
            return browser::get_text(&$path).await.map(super::Packed::new);
            #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
            super::Packed::of(&$call($arg).await?)
        }
    };
}

macro_rules! fetch {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $out:ty, $path:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// What the API would answer; status 0 when the server could not be reached.
        pub async fn $name($($arg: $ty),*) -> Result<$out, DataError> {
            #[cfg(feature = "ssr")]
            return backend()?.$name($($arg),*).await;
            #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
            return browser::get(&$path).await;
            #[cfg(not(any(feature = "ssr", feature = "hydrate")))]
            { $(let _: $ty = $arg;)* nowhere() }
        }
    };
}

fetch!(
    /// The app itself.
    health() -> Health, "/api/health"
);
fetch!(
    /// Every trace, newest first.
    traces() -> Vec<TraceSummary>, "/api/traces"
);
fetch!(
    /// One trace with its kernels.
    trace(id: TraceId) -> TraceDetail, format!("/api/traces/{}", segment(id.as_str()))
);
fetch!(
    /// The GPUs a run can simulate.
    gpu_configs() -> Vec<GpuConfig>, "/api/gpu-configs"
);
fetch!(
    /// One GPU with every value that our engine knows of it.
    gpu_detail(name: GpuName) -> GpuDetail, format!("/api/gpu-configs/{}", segment(name.as_str()))
);
fetch!(
    /// Every run, newest first.
    runs() -> Vec<RunSummary>, "/api/runs"
);
fetch!(
    /// One run with its sims.
    run(id: RunId) -> RunDetail, format!("/api/runs/{}", segment(id.as_str()))
);
fetch!(
    /// Every finished kernel of a run, `stats` emptied.
    run_kernels(id: RunId) -> Vec<KernelStat>, format!("/api/runs/{}/kernels", segment(id.as_str()))
);
fetch!(
    /// A run's kernel times column by column.
    kernel_columns(id: RunId) -> KernelColumns,
    format!("/api/runs/{}/kernel-columns", segment(id.as_str()))
);
fetch!(
    /// A run's real against simulated times.
    comparison(id: RunId) -> Comparison, format!("/api/runs/{}/comparison", segment(id.as_str()))
);
fetch!(
    /// One kernel of a sim with all that is known of it. The index is the address's own text.
    sim_kernel(id: SimId, index: String) -> KernelDetail,
    format!("/api/sims/{}/kernels/{}", segment(id.as_str()), segment(&index))
);
fetch!(
    /// Rows of a run's table of kernels, by columns: up to so many from a position on.
    run_slice(id: RunId, from: u64, rows: u64) -> KernelSlice,
    format!("/api/runs/{}/kernel-rows?from={from}&rows={rows}", segment(id.as_str()))
);
fetch!(
    /// What a run's sims say of whole steps and requests, in brief.
    run_digests(id: RunId) -> Vec<SimStepDigest>,
    format!("/api/runs/{}/step-digests", segment(id.as_str()))
);
fetch!(
    /// The output files of a run's sims.
    run_files(id: RunId) -> Vec<RunFile>, format!("/api/runs/{}/files", segment(id.as_str()))
);

/// A GPU with what a reader of its figures should know.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GpuNote {
    /// The GPU.
    pub name: GpuName,
    /// As in [`GpuConfig::notes`].
    #[serde(default)]
    pub notes: Vec<String>,
}

impl From<GpuConfig> for GpuNote {
    fn from(gpu: GpuConfig) -> Self {
        Self {
            name: gpu.name,
            notes: gpu.notes,
        }
    }
}

/// [`gpu_configs`] with nothing but the notes.
///
/// # Errors
/// What the API would answer; status 0 when the server could not be reached.
pub async fn gpu_notes() -> Result<Vec<GpuNote>, DataError> {
    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    return browser::get("/api/gpu-configs").await;
    #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
    Ok(gpu_configs().await?.into_iter().map(GpuNote::from).collect())
}

fetch_packed!(
    /// [`run_digests`], read later.
    run_digests_packed = run_digests(id: RunId) -> SimStepDigest,
    format!("/api/runs/{}/step-digests", segment(id.as_str()))
);
fetch_packed!(
    /// [`run_files`], read later.
    run_files_packed = run_files(id: RunId) -> RunFile,
    format!("/api/runs/{}/files", segment(id.as_str()))
);
fetch!(
    /// The first lines of an output file.
    file_preview(sim: SimId, name: String) -> FilePreview,
    format!("/api/sims/{}/files/{}/preview", segment(sim.as_str()), segment(&name))
);
fetch!(
    /// Every finished sim that scenarios can rest on.
    scenario_bases() -> Vec<ScenarioBase>, "/api/scenarios/bases"
);
fetch!(
    /// Every saved scenario, newest first.
    scenarios_saved() -> Vec<SavedScenario>, "/api/scenarios/saved"
);

/// One heading of the documents: the page's title, the heading, its address, and the words below it, which are
/// passed over.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct DocEntry(pub String, pub String, pub String, pub serde::de::IgnoredAny);

/// What the documents' search looks through: a file beside the app, so only a browser reads it.
///
/// # Errors
/// When the file is not there, as in a build without documents.
pub async fn doc_index() -> Result<Vec<DocEntry>, DataError> {
    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    return super::browser::get("/docs/assets/search.json").await;
    #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
    Err(DataError::text(0, "only a browser searches the documents"))
}

/// What an explorer's link comes to, for the first paint; a browser works it out itself.
pub async fn explored(link: String) -> Option<Answer> {
    #[cfg(feature = "ssr")]
    return backend().ok()?.explored(link).await;
    #[cfg(not(feature = "ssr"))]
    {
        let _: String = link;
        None
    }
}

/// The step times of a trace's finished sim on a GPU.
///
/// # Errors
/// What the API answered; status 0 when the server could not be reached or there is no browser.
pub async fn scenario_profile(trace: String, gpu: String) -> Result<ScenarioProfile, DataError> {
    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    {
        let (trace, gpu) = (segment(&trace), segment(&gpu));
        super::browser::get(&format!(
            "/api/scenarios/profile?trace_id={trace}&gpu_config={gpu}"
        ))
        .await
    }
    #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
    {
        let _: (String, String) = (trace, gpu);
        Err(DataError::text(0, "only a browser runs scenarios in a page"))
    }
}

/// A run's kernels as columns. Fetched by browsers alone: pages are rendered without them.
///
/// # Errors
/// What the API answered; status 0 when the server could not be reached or there is no browser.
pub async fn run_timeline(id: RunId, level: TimelineLevel) -> Result<RunTimeline, DataError> {
    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    {
        let (id, level) = (segment(id.as_str()), level.as_str());
        super::browser::get(&format!("/api/runs/{id}/timeline?level={level}")).await
    }
    #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
    {
        let _: (RunId, TimelineLevel) = (id, level);
        Err(DataError::text(0, "only a browser draws a timeline"))
    }
}

/// A piece of a sim's log, and its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPiece {
    /// The text; its first and last line may be cut.
    pub text: String,
    /// Bytes of the log before it.
    pub from: u64,
}

/// Bytes of a log that are read at once.
const LOG_PIECE: u64 = 256 << 10;

/// The end of a sim's log: of its first `bytes` bytes, or of the whole as it is now.
///
/// # Errors
/// What the API answered; status 0 when the server could not be reached or there is no browser.
pub async fn log_end(sim: SimId, bytes: Option<u64>) -> Result<LogPiece, DataError> {
    match bytes {
        Some(bytes) => log_before(sim, bytes).await,
        None => log_range(sim, format!("bytes=-{LOG_PIECE}")).await,
    }
}

/// What a sim's log holds right before byte `to`.
///
/// # Errors
/// What the API answered; status 0 when the server could not be reached or there is no browser.
pub async fn log_before(sim: SimId, to: u64) -> Result<LogPiece, DataError> {
    let from = to.saturating_sub(LOG_PIECE);
    match to.checked_sub(1) {
        Some(last) => log_range(sim, format!("bytes={from}-{last}")).await,
        None => Ok(LogPiece {
            text: String::new(),
            from: 0,
        }),
    }
}

async fn log_range(sim: SimId, range: String) -> Result<LogPiece, DataError> {
    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    {
        let path = format!("/api/sims/{}/log", segment(sim.as_str()));
        let (text, from) = super::browser::get_range(&path, &range).await?;
        Ok(LogPiece { text, from })
    }
    #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
    {
        let _: (SimId, String) = (sim, range);
        Err(DataError::text(0, "only a browser reads logs for a page"))
    }
}

macro_rules! change {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $out:ty, $path:expr, $body:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// What the API answered; status 0 when the server could not be reached or there is no browser.
        pub async fn $name($($arg: $ty),*) -> Result<$out, DataError> {
            #[cfg(feature = "hydrate")]
            return super::browser::post(&$path, &$body).await;
            #[cfg(not(feature = "hydrate"))]
            { $(let _: $ty = $arg;)* Err(DataError::text(0, "only a browser makes changes from a page")) }
        }
    };
}

change!(
    /// Creates a run and launches its sims.
    create_run(body: RunCreate) -> RunDetail, "/api/runs", body
);
change!(
    /// Cancels every sim of a run that has not finished.
    cancel_run(id: RunId) -> RunDetail, format!("/api/runs/{}/cancel", segment(id.as_str())), ()
);

change!(
    /// Makes the small synthetic trace of the first steps, unless it is there.
    make_synthetic_trace() -> TraceMade, "/api/synthetic-trace", ()
);

change!(
    /// Runs a scenario on the server.
    run_scenario(body: serde_json::Value) -> ScenarioResult, "/api/scenarios", body
);
change!(
    /// Runs a scenario on the server and saves it: `name` and `scenario`.
    save_scenario(body: serde_json::Value) -> SavedScenario, "/api/scenarios/saved", body
);
change!(
    /// Makes a hypothetical GPU, or one for each value of a sweep.
    create_gpus(body: GpuConfigCreate) -> Vec<GpuConfig>, "/api/gpu-configs", body
);

macro_rules! delete {
    ($(#[$doc:meta])* $name:ident($arg:ident: $ty:ty), $path:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// What the API answered; status 0 when the server could not be reached or there is no browser.
        pub async fn $name($arg: $ty) -> Result<(), DataError> {
            #[cfg(feature = "hydrate")]
            return super::browser::delete(&$path).await;
            #[cfg(not(feature = "hydrate"))]
            { let _: $ty = $arg; Err(DataError::text(0, "only a browser makes changes from a page")) }
        }
    };
}

delete!(
    /// Deletes a hypothetical GPU.
    delete_gpu(name: GpuName), format!("/api/gpu-configs/{}", segment(name.as_str()))
);
delete!(
    /// Deletes a saved scenario.
    delete_scenario(id: String), format!("/api/scenarios/saved/{}", segment(&id))
);

/// `text` as one segment of an address: everything but unreserved characters is percent-encoded
/// (RFC 3986 §2.3).
pub fn segment(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn an_id_stays_one_segment_of_the_address() {
        assert_eq!(segment("run-9f56e171af08"), "run-9f56e171af08");
        assert_eq!(segment("a/b ?ü"), "a%2Fb%20%3F%C3%BC");
    }
}
