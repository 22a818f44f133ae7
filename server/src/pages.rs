//! The pages: rendered by Leptos from the service, with the built browser files beside them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use app::data::Backend;
use app::{App, Site};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use leptos::WasmSplitManifest;
use leptos::prelude::{ArcStoredValue, LeptosOptions, provide_context};
use leptos_axum::{LeptosRoutes, generate_route_list, render_app_async_with_context};
use tower_http::services::ServeDir;

use crate::app_state::AppState;
use crate::docs;
use crate::http::caller::has_session;
use crate::http::session::token_screen;

/// The page that asks for the token; it must be open to those who have no session yet.
const TOKEN_PAGE: &str = "/token";
/// Browsers keep files whose address carries the build's hash for a year.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// They ask again for all others.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Every page, the built files, and a page that says what was not found.
pub fn router(state: AppState) -> Router {
    let site = site(&state);
    let backend: Arc<dyn Backend> = Arc::new(state.service.clone());
    let parts = page_parts(&state.service.settings.site_dir, &site.assets);
    let context = move || {
        provide_context(Arc::clone(&backend));
        provide_context(parts.clone());
    };
    let shell = move || app::shell(site.clone());
    let options = LeptosOptions::builder().output_name("cascade").build();

    let dir = state.service.settings.site_dir.clone();
    let documents = docs::router(&dir).layer(from_fn(cached));
    let unknown = render_app_async_with_context(context.clone(), shell.clone());
    let guarded_unknown = get(unknown)
        .layer(map_response(not_found))
        .layer(from_fn_with_state(state.clone(), guard));
    let files = ServeDir::new(dir)
        .append_index_html_on_directories(false)
        .precompressed_br()
        .precompressed_gzip()
        .fallback(guarded_unknown);
    Router::new()
        .leptos_routes_with_context(&options, generate_route_list(App), context, shell)
        .route_layer(from_fn_with_state(state, guard))
        .fallback_service(Router::new().fallback_service(files).layer(from_fn(cached)))
        .with_state(options)
        .merge(documents)
}

/// What pages show of this deployment.
fn site(state: &AppState) -> Site {
    let service = &state.service;
    let settings = &service.settings;
    Site {
        assets: assets_version(&settings.site_dir),
        version: env!("CARGO_PKG_VERSION").into(),
        workspace: settings.workspace.clone(),
        auth: state.auth.is_on(),
        url: service.urls.main.clone(),
        s3_endpoint: service.urls.s3.clone(),
    }
}

/// The hash that the site's build left.
fn assets_version(site: &Path) -> String {
    match fs::read_to_string(site.join("pkg/version.txt")) {
        Ok(version) => version.trim().to_owned(),
        Err(error) => {
            let site = site.display();
            tracing::warn!(%site, %error, "the pages are not built, so they will not react: start the app with `cargo xtask serve`, which builds them");
            String::new()
        }
    }
}

/// Which parts of the browser's module each page needs, as the site's build left it: the page's head names them,
/// so that they load together with what every page needs.
fn page_parts(site: &Path, version: &str) -> WasmSplitManifest {
    let folder = format!("/pkg/{version}");
    let file = site.join(format!("pkg/{version}/__wasm_split.json"));
    // Without them pages ask for their parts themselves, a little later.
    let parts = fs::read(file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    let loader = "__wasm_split.js".to_owned();
    WasmSplitManifest(ArcStoredValue::new((folder, parts.unwrap_or_default(), loader)))
}

/// Sends a browser without a session to the token screen.
async fn guard(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let uri = request.uri();
    if !state.auth.is_on() || uri.path() == TOKEN_PAGE || has_session(request.headers(), &state) {
        return next.run(request).await;
    }
    let here = uri.path_and_query().map_or("/", |path| path.as_str());
    (StatusCode::SEE_OTHER, [(LOCATION, token_screen(here, false))]).into_response()
}

/// The page of an address that nothing serves.
async fn not_found(mut page: Response) -> Response {
    if page.status().is_success() {
        *page.status_mut() = StatusCode::NOT_FOUND;
    }
    page
}

/// Tells browsers how long to keep a file.
async fn cached(request: Request, next: Next) -> Response {
    // `/pkg/<hash>/…`, and the documents' `…?v=<hash>`.
    let uri = request.uri();
    let in_folder = uri
        .path()
        .strip_prefix("/pkg/")
        .is_some_and(|path| path.contains('/'));
    let in_query = uri
        .query()
        .is_some_and(|query| query.starts_with("v=") && query.len() > 2);
    let hashed = in_folder || in_query;
    let mut answer = docs::text_is_utf8(next.run(request).await);
    if answer.status().is_success() {
        let keep = if hashed { FOREVER } else { ASK_AGAIN };
        answer.headers_mut().entry(CACHE_CONTROL).or_insert(keep);
    }
    answer
}
