//! The HTTP app: every route in one list.

mod answer;
pub(crate) mod caller;
pub(crate) mod events;
pub(crate) mod extract;
pub(crate) mod gpus;
pub(crate) mod health;
mod layers;
pub(crate) mod live;
pub(crate) mod runs;
pub(crate) mod scenarios;
pub(crate) mod session;
pub(crate) mod sims;
pub(crate) mod traces;

use axum::Router;
use axum::routing::{any, get, post};

use crate::app_state::AppState;
use crate::error::Error;
use crate::{openai, openapi, pages};

/// The whole app.
pub fn router(state: AppState) -> Router {
    let site = pages::router(state.clone());
    let app = Router::new()
        .route("/api/health", get(health::health))
        .route("/api/openapi.json", get(openapi::document))
        .route("/api/traces", get(traces::list))
        .route("/api/traces/{trace_id}", get(traces::get))
        .route("/api/synthetic-trace", post(traces::synthetic))
        .route("/api/gpu-configs", get(gpus::list).post(gpus::create))
        .route("/api/gpu-configs/{name}", get(gpus::get).delete(gpus::delete))
        .route("/api/runs", get(runs::list).post(runs::create))
        .route("/api/runs/{run_id}", get(runs::get))
        .route("/api/runs/{run_id}/cancel", post(runs::cancel))
        .route("/api/runs/{run_id}/comparison", get(runs::comparison))
        .route("/api/runs/{run_id}/kernels", get(runs::kernels))
        .route("/api/runs/{run_id}/kernel-columns", get(runs::kernel_columns))
        .route("/api/runs/{run_id}/timeline", get(runs::timeline))
        .route("/api/runs/{run_id}/kernel-rows", get(runs::kernel_rows))
        .route("/api/runs/{run_id}/step-timelines", get(runs::step_timelines))
        .route("/api/runs/{run_id}/step-digests", get(runs::step_digests))
        .route("/api/runs/{run_id}/results", get(runs::results))
        .route("/api/runs/{run_id}/files", get(runs::files))
        .route("/api/runs/{run_id}/files.zip", get(runs::files_zip))
        .route("/api/runs/{run_id}/perfetto", get(runs::perfetto))
        .route("/api/runs/{run_id}/events", get(events::stream))
        .route("/api/runs/{run_id}/live", get(live::stream))
        .route("/api/sims/{sim_id}/results", get(sims::results))
        .route("/api/sims/{sim_id}/kernels/{index}", get(sims::kernel))
        .route("/api/sims/{sim_id}/log", get(sims::log))
        .route("/api/sims/{sim_id}/files", get(sims::files))
        .route(
            "/api/sims/{sim_id}/files/{name}",
            get(sims::file).put(sims::put_file),
        )
        .route("/api/sims/{sim_id}/files/{name}/preview", get(sims::file_preview))
        .route("/api/sims/{sim_id}/heartbeat", post(sims::heartbeat))
        .route("/api/sims/{sim_id}/logs", post(sims::logs))
        .route("/api/sims/{sim_id}/step-timeline", post(sims::step_timeline))
        .route("/api/scenarios", post(scenarios::run))
        .route("/api/scenarios/schema", get(scenarios::schema))
        .route("/api/scenarios/search", post(scenarios::search))
        .route("/api/scenarios/bases", get(scenarios::bases))
        .route("/api/scenarios/profile", get(scenarios::profile))
        .route("/api/scenarios/saved", get(scenarios::list).post(scenarios::save))
        .route(
            "/api/scenarios/saved/{id}",
            get(scenarios::get).delete(scenarios::delete),
        )
        .route("/metrics", get(health::metrics))
        .route("/session", post(session::start))
        .route("/session/end", post(session::end))
        .method_not_allowed_fallback(async || Error::BadMethod)
        .route("/api", any(async || Error::NoRoute))
        .route("/api/", any(async || Error::NoRoute))
        .route("/api/{*rest}", any(async || Error::NoRoute))
        .nest("/v1", openai::routes())
        .with_state(state.clone())
        .fallback_service(site);
    layers::wrap(app, state)
}
