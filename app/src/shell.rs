//! The HTML document around the pages; made on the server only.

use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::App;
use crate::site::{SITE_META, Site};

/// Puts the stored theme on `<html>` before the first paint, so that no other theme flashes.
const THEME_SCRIPT: &str = include_str!("layout/theme.js");

/// The whole document. `site` also goes into the context, where the pages read it.
pub fn shell(site: Site) -> AnyView {
    provide_context(site.clone());
    let js = site.asset("cascade.js");
    let wasm = site.asset("cascade.wasm");
    let start =
        format!("import('{js}').then(m => m.default({{module_or_path: '{wasm}'}}).then(() => m.hydrate()))");
    let facts = serde_json::to_string(&site).unwrap_or_default();
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name=SITE_META content=facts />
                <script inner_html=THEME_SCRIPT></script>
                <link rel="stylesheet" href=site.asset("cascade.css") />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link rel="modulepreload" href=js />
                <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin="" />
                <script type="module" inner_html=start></script>
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
    .into_any()
}
