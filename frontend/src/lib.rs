//! The WASM entry point: takes over the page that the server rendered.

use leptos::mount::hydrate_from_async;
use leptos::prelude::document;
use leptos::tachys::dom::body;
use wasm_bindgen::prelude::wasm_bindgen;

/// Attribute of the document's root that says that the page reacts now.
const ALIVE: &str = "data-alive";

/// Hydrates the page; called once by the script in the document's head.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(async {
        // Pages are parts of their own, which the router waits for.
        hydrate_from_async(body(), app::App).await.forget();
        if let Some(root) = document().document_element() {
            // A root that takes no attribute is no reason to stop.
            _ = root.set_attribute(ALIVE, "");
        }
    });
}
