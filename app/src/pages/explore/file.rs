//! A request trace from a file: dropped on the page's field or chosen, read in the browser, never sent anywhere.

use cascade_scene::explorer::{Key, State};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::run::Run;

/// Largest file, in bytes: more than its first 4,096 requests are not read anyway.
const MAX_FILE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// Lines that are kept: a header and the most requests of a scenario.
const MAX_LINES: usize = 4_097;

/// Where a file is dropped; shown while the load comes from one.
#[component]
pub(super) fn FileDrop(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let over = RwSignal::new(false);
    let problem = RwSignal::new(None::<String>);
    let shown = Memo::new(move |_| run.state.with(|state| state.get(Key::Load) == "file"));
    let take = move |file: web_sys::File| {
        if file.size() > MAX_FILE_BYTES {
            problem.set(Some(format!(
                "{} is larger than the 16 MiB that are read.",
                file.name()
            )));
            return;
        }
        spawn_local(async move {
            let text = JsFuture::from(file.text()).await;
            match text.ok().and_then(|text| text.as_string()) {
                Some(text) => {
                    problem.set(None);
                    run.take_file(file.name(), first_lines(&text));
                }
                None => problem.set(Some(format!("{} could not be read.", file.name()))),
            }
        });
    };
    let chosen = move |_| {
        let files = input.get_untracked().and_then(|input| input.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            take(file);
        }
    };
    let dropped = move |event: leptos::ev::DragEvent| {
        event.prevent_default();
        over.set(false);
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            take(file);
        }
    };
    let says = move || {
        let name = run.state.with(|state: &State| state.file.clone());
        match (name, run.file.get()) {
            (None, _) => "Drop a trace file here".to_owned(),
            (Some(name), 0) => {
                format!("This link was made with {name}, which no link can carry: drop it again")
            }
            (Some(name), _) => name,
        }
    };
    view! {
        <Show when=move || shown.get()>
            <label
                class="drop"
                class:over=move || over.get()
                on:dragover=move |event| {
                    event.prevent_default();
                    over.set(true);
                }
                on:dragleave=move |_| over.set(false)
                on:drop=dropped
            >
                <b>{says}</b>
                <span class="muted small">
                    "Azure CSV, Mooncake JSONL, ShareGPT lengths, or columns arrival_s, prompt_tokens, output_tokens. It stays in this page."
                </span>
                <input type="file" class="visually-hidden" aria-label="Trace file" node_ref=input on:change=chosen />
            </label>
            <p class="field-error" role="alert">{move || problem.get()}</p>
        </Show>
    }
}

/// The lines that can become requests.
fn first_lines(text: &str) -> String {
    text.split_inclusive('\n').take(MAX_LINES).collect()
}
