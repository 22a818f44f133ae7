//! Shows every page with made-up data, so that looks can be judged without a simulator:
//! `cargo run -p app --features ssr --example preview -- <site folder> [port]`, after the site is built.
//!
//! Nothing of this ships: the numbers are invented and say so in the workspace's name.
#![expect(
    clippy::expect_used,
    reason = "a preview that cannot go on tells its author by stopping"
)]

mod digests;
mod fixtures;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use app::data::{Backend, DataError};
use app::{App, Site, shell};
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use cascade_api::{
    Comparison, GpuConfig, GpuDetail, GpuName, Health, KernelColumns, KernelStat, LiveEvent, RunDetail,
    RunFile, RunId, RunSummary, SimId, SimStepDigest, SimSummary, TraceDetail, TraceId, TraceSummary,
};
use futures::Stream;
use leptos::prelude::provide_context;
use leptos_axum::{LeptosRoutes, generate_route_list};

/// Answers with the fixtures.
struct Fake;

/// The answer for an id that no fixture has.
fn not_found(id: &str) -> DataError {
    DataError::text(404, format!("{id} not found"))
}

#[async_trait::async_trait]
impl Backend for Fake {
    async fn health(&self) -> Result<Health, DataError> {
        Err(DataError::text(500, "the preview has no health"))
    }
    async fn traces(&self) -> Result<Vec<TraceSummary>, DataError> {
        Ok(fixtures::traces())
    }
    async fn trace(&self, id: TraceId) -> Result<TraceDetail, DataError> {
        fixtures::trace(&id).ok_or_else(|| not_found(id.as_str()))
    }
    async fn gpu_configs(&self) -> Result<Vec<GpuConfig>, DataError> {
        Ok(fixtures::gpus())
    }
    async fn gpu_detail(&self, name: GpuName) -> Result<GpuDetail, DataError> {
        let gpu = fixtures::gpus().into_iter().find(|gpu| gpu.name == name);
        let gpu = gpu.ok_or_else(|| not_found(name.as_str()))?;
        Ok(GpuDetail {
            title: gpu.name.to_string(),
            status: "unvalidated".to_owned(),
            status_note: "A GPU of the preview.".to_owned(),
            facts: Vec::new(),
            sims: 0,
            gpu,
        })
    }
    async fn runs(&self) -> Result<Vec<RunSummary>, DataError> {
        Ok(fixtures::runs().into_iter().map(|run| run.summary).collect())
    }
    async fn run(&self, id: RunId) -> Result<RunDetail, DataError> {
        let runs = fixtures::runs().into_iter();
        runs.into_iter()
            .find(|run| run.summary.id == id)
            .ok_or_else(|| not_found(id.as_str()))
    }
    async fn run_kernels(&self, id: RunId) -> Result<Vec<KernelStat>, DataError> {
        Ok(fixtures::kernels(&self.run(id).await?))
    }
    async fn comparison(&self, id: RunId) -> Result<Comparison, DataError> {
        Ok(fixtures::comparison(&self.run(id).await?))
    }
    async fn kernel_columns(&self, id: RunId) -> Result<KernelColumns, DataError> {
        Ok(fixtures::columns(&self.run(id).await?))
    }

    async fn run_slice(
        &self,
        id: RunId,
        from: u64,
        rows: u64,
    ) -> Result<cascade_api::KernelSlice, DataError> {
        Ok(fixtures::slice(&self.run(id).await?, from, rows))
    }
    async fn run_files(&self, id: RunId) -> Result<Vec<RunFile>, DataError> {
        Ok(fixtures::files(&self.run(id).await?))
    }
    async fn run_digests(&self, id: RunId) -> Result<Vec<SimStepDigest>, DataError> {
        Ok(digests::digests(&self.run(id).await?))
    }
    async fn file_preview(&self, _: SimId, name: String) -> Result<cascade_api::FilePreview, DataError> {
        Err(not_found(&name))
    }
    async fn scenario_bases(&self) -> Result<Vec<cascade_api::ScenarioBase>, DataError> {
        Ok(Vec::new())
    }
    async fn scenarios_saved(&self) -> Result<Vec<cascade_api::SavedScenario>, DataError> {
        Ok(Vec::new())
    }
    async fn explored(&self, _: String) -> Option<cascade_scene::explorer::Answer> {
        None
    }
    async fn sim_kernel(&self, id: SimId, index: String) -> Result<cascade_api::KernelDetail, DataError> {
        Err(not_found(&format!("{id}, kernel {index}")))
    }
    async fn sim(&self, id: SimId) -> Result<SimSummary, DataError> {
        Err(not_found(id.as_str()))
    }
}

/// Any answer of the backend as the API would give it.
fn answer<T: serde::Serialize>(result: Result<T, DataError>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(error) => {
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Json(error.body)).into_response()
        }
    }
}

/// A run's events: the snapshot, then the running sims go on for ever.
async fn events(Path(id): Path<RunId>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let run = Fake.run(id).await.expect("the preview asks only for runs it has");
    let first = LiveEvent::Snapshot {
        run: Box::new(run.clone()),
        log_bytes: 0,
    };
    let steps = futures::stream::unfold((run, 0_u64), |(mut run, n)| async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let event = LiveEvent::Batch(fixtures::step(&mut run, n));
        Some((event, (run, n + 1)))
    });
    let all = futures::StreamExt::chain(futures::stream::iter([first]), steps);
    let stream = futures::StreamExt::map(all, |event| {
        Ok(Event::default().json_data(event).expect("events are JSON"))
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

/// A file of the built site; anything else is a page.
fn file(site: &std::path::Path, path: &str) -> Option<Response> {
    let bytes = std::fs::read(site.join(path.trim_start_matches('/'))).ok()?;
    let kind = match path.rsplit('.').next()? {
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        _ => "text/plain",
    };
    Some(([("content-type", kind)], bytes).into_response())
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(arguments.next().expect("the built site's folder"));
    let port: u16 = arguments
        .next()
        .map_or(3999, |port| port.parse().expect("a port"));
    let site = Site {
        assets: std::fs::read_to_string(folder.join("pkg/version.txt")).expect("a built site"),
        version: "preview".into(),
        workspace: Some("invented data".into()),
        auth: true,
        url: format!("http://127.0.0.1:{port}"),
        s3_endpoint: Some("http://127.0.0.1:9000".into()),
    };
    let options = leptos::config::LeptosOptions::builder()
        .output_name("cascade")
        .build();
    let backend: Arc<dyn Backend> = Arc::new(Fake);
    let context = move || provide_context(Arc::clone(&backend));
    let page = site.clone();
    let fallback_site = site.clone();
    let fallback =
        leptos_axum::render_app_async_with_context(context.clone(), move || shell(fallback_site.clone()));
    let router = Router::new()
        .route("/api/traces", get(|| async { answer(Fake.traces().await) }))
        .route(
            "/api/traces/{id}",
            get(|Path(id)| async { answer(Fake.trace(id).await) }),
        )
        .route(
            "/api/gpu-configs",
            get(|| async { answer(Fake.gpu_configs().await) }),
        )
        .route(
            "/api/gpu-configs/{name}",
            get(|Path(name)| async { answer(Fake.gpu_detail(name).await) }),
        )
        .route(
            "/api/runs/{id}/kernel-columns",
            get(|Path(id)| async { answer(Fake.kernel_columns(id).await) }),
        )
        .route("/api/runs", get(|| async { answer(Fake.runs().await) }))
        .route(
            "/api/runs/{id}",
            get(|Path(id)| async { answer(Fake.run(id).await) }),
        )
        .route(
            "/api/runs/{id}/comparison",
            get(|Path(id)| async { answer(Fake.comparison(id).await) }),
        )
        .route(
            "/api/runs/{id}/kernel-rows",
            get(|Path(id)| async { answer(Fake.run_slice(id, 0, u64::MAX).await) }),
        )
        .route(
            "/api/runs/{id}/files",
            get(|Path(id)| async { answer(Fake.run_files(id).await) }),
        )
        .route(
            "/api/runs/{id}/step-digests",
            get(|Path(id)| async { answer(Fake.run_digests(id).await) }),
        )
        .route("/api/runs/{id}/live", get(events))
        .leptos_routes_with_context(&options, generate_route_list(App), context, move || {
            shell(page.clone())
        })
        .fallback(move |request: axum::extract::Request| {
            let found = file(&folder, request.uri().path());
            let page = found.is_none().then(|| fallback(request));
            async move {
                match (found, page) {
                    (Some(file), _) => file,
                    (None, Some(page)) => page.await,
                    (None, None) => StatusCode::NOT_FOUND.into_response(),
                }
            }
        })
        .with_state(options);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
        .await
        .expect("a free port");
    axum::serve(listener, router).await.expect("the preview to run");
}
