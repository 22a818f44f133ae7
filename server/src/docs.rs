//! The documents: static pages that the site's build wrote to `docs/`, open to anyone who reaches the app.

use std::path::Path;

use axum::Router;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use tower_http::services::{ServeDir, ServeFile};

/// `/docs` and everything below it. Pages have no ending in their addresses: `/docs/engine` is `docs/engine.html`.
pub(crate) fn router(site: &Path) -> Router {
    let files = ServeDir::new(site)
        .append_index_html_on_directories(false)
        .precompressed_br()
        .precompressed_gzip()
        .not_found_service(ServeFile::new(site.join("docs/404.html")));
    Router::new()
        .route_service("/docs", files.clone())
        .route_service("/docs/", files.clone())
        .route_service("/docs/{*page}", files)
        .layer(from_fn(to_file))
}

/// Asks for the file behind a page's address.
async fn to_file(mut request: Request, next: Next) -> Response {
    let path = request.uri().path().trim_end_matches('/');
    let file = match path.rsplit('/').next() {
        Some("docs") => Some("/docs/index.html".to_owned()),
        Some(name) if !name.contains('.') => Some(format!("{path}.html")),
        _ => None,
    };
    if let Some(Ok(uri)) = file.map(|file| file.parse::<Uri>()) {
        *request.uri_mut() = uri;
    }
    next.run(request).await
}

/// Says that text is UTF-8; the file server names the type alone, and browsers would guess.
pub(crate) fn text_is_utf8(mut answer: Response) -> Response {
    if let Some(kind) = answer.headers_mut().get_mut(CONTENT_TYPE)
        && let Ok(text) = kind.to_str()
        && text.starts_with("text/")
        && !text.contains("charset")
        && let Ok(full) = HeaderValue::from_str(&format!("{text}; charset=utf-8"))
    {
        *kind = full;
    }
    answer
}
