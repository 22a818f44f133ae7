//! Saving a text that the page made as a file.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

/// Has the browser save a text as a file.
pub(crate) fn save_text(name: &str, kind: &str, text: &str) {
    let save = || -> Result<(), JsValue> {
        let parts = web_sys::js_sys::Array::of1(&JsValue::from_str(text));
        let options = web_sys::BlobPropertyBag::new();
        options.set_type(kind);
        let blob = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options)?;
        let address = web_sys::Url::create_object_url_with_blob(&blob)?;
        let link: web_sys::HtmlAnchorElement = document().create_element("a")?.unchecked_into();
        link.set_href(&address);
        link.set_download(name);
        link.click();
        web_sys::Url::revoke_object_url(&address)
    };
    if let Err(error) = save() {
        leptos::logging::warn!("{name} could not be saved: {error:?}");
    }
}
