//! The WASM entry point: takes over the page that the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

/// Hydrates the page; called once by the script in the document's head.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(app::App);
}
