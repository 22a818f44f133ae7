//! The run's kernels for Perfetto: as a file, or handed over to its page in another tab.
//!
//! The hand-over is Perfetto's documented one: its page is sent `PING` until it answers `PONG`, then the trace
//! (<https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui>).

use cascade_api::RunId;
use leptos::prelude::*;

use crate::data::segment;
use crate::live::Live;
use crate::ui::{Icon, IconName};

/// Opens a tab, waits until it answers, and gives it the trace. Answers nothing, or what went wrong.
const HAND_OVER: &str = include_str!("perfetto.js");

/// The download and the hand-over. Both wait for a first kernel.
#[component]
pub(super) fn Perfetto(
    /// The run.
    live: Live,
    /// Its id.
    run: RunId,
) -> impl IntoView {
    let ready = Memo::new(move |_| {
        live.run
            .with(|run| run.sims.iter().any(|sim| sim.kernels_done > 0))
    });
    let href = format!("/api/runs/{}/perfetto", segment(run.as_str()));
    let failed = RwSignal::new(None::<String>);
    let title = format!("{run}");
    let open = {
        let href = href.clone();
        move |_| {
            let call = web_sys::js_sys::Function::new_with_args("address, title, failed", HAND_OVER);
            let tell = wasm_bindgen::closure::Closure::once_into_js(move |why: String| failed.set(Some(why)));
            failed.set(None);
            let this = wasm_bindgen::JsValue::NULL;
            drop(call.call3(&this, &href.as_str().into(), &title.as_str().into(), &tell));
        }
    };
    let file = href.clone();
    let save = move |_| drop(window().location().set_href(&file));
    view! {
        <button type="button" class="button" disabled=move || !ready.get() on:click=save>
            <Icon name=IconName::Download />
            "Perfetto JSON"
        </button>
        <button type="button" class="button" disabled=move || !ready.get() on:click=open>"Open in Perfetto"</button>
        {move || failed.get().map(|why| view! { <span class="bad-text small" role="alert">{why}</span> })}
    }
}
