//! The palette's dialog: what it lists, and choosing from it.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::item::{self, Act, Item};
use crate::data;
use crate::layout::theme::Theme;
use crate::site::use_site;
use crate::ui::{Dialog, copy_text, use_toasts};

/// The dialog.
#[component]
pub(super) fn List(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let query = RwSignal::new(String::new());
    let at = RwSignal::new(0_usize);
    let loaded = RwSignal::new(Vec::<Item>::new());
    let loading = RwSignal::new(false);
    let input = NodeRef::<html::Input>::new();
    let fixed = StoredValue::new(item::fixed(use_site().auth));

    Effect::new(move || {
        if open.get() {
            query.set(String::new());
            at.set(0);
            loading.set(true);
            spawn_local(async move {
                loaded.set(load().await);
                loading.set(false);
            });
        }
    });
    let found = Memo::new(move |_| {
        if !open.get() {
            return Vec::new();
        }
        fixed.with_value(|fixed| loaded.with(|loaded| query.with(|query| item::found(query, fixed, loaded))))
    });

    let act = use_act();
    let choose = move |item: Option<Item>| {
        if let Some(item) = item {
            open.set(false);
            act.run(item.act);
        }
    };
    let chosen = move || found.with_untracked(|found| found.get(at.get_untracked()).cloned());
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        let last = count.saturating_sub(1);
        let to = at.get_untracked();
        let to = match event.key().as_str() {
            "ArrowDown" => (to + 1) % count.max(1),
            "ArrowUp" => to.checked_sub(1).unwrap_or(last),
            "PageDown" => (to + 8).min(last),
            "PageUp" => to.saturating_sub(8),
            "Enter" => {
                event.prevent_default();
                choose(chosen());
                return;
            }
            _ => return,
        };
        event.prevent_default();
        at.set(to);
        if let Ok(Some(row)) = document().query_selector(&format!("#palette-{to}")) {
            row.scroll_into_view_with_bool(false);
        }
    };
    let rows = move || {
        let row = |(place, item): (usize, Item)| {
            let shown = item.clone();
            view! {
                <li
                    class="palette-item"
                    role="option"
                    id=format!("palette-{place}")
                    aria-selected=move || (at.get() == place).to_string()
                    on:pointermove=move |_| at.set(place)
                    on:click=move |_| choose(Some(item.clone()))
                >
                    <span class="palette-title">{shown.title}</span>
                    <span class="palette-note">{shown.note}</span>
                    <span class="palette-kind">{shown.kind}</span>
                </li>
            }
        };
        found.get().into_iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let said = move || match (found.with(Vec::len), loading.get()) {
        (0, true) => "Loading…".to_owned(),
        (0, false) => "Nothing fits".to_owned(),
        (n, _) => format!("{n} found"),
    };
    view! {
        <Dialog open label="Search and commands" class="palette">
            <input
                class="palette-input"
                node_ref=input
                autofocus
                type="text"
                role="combobox"
                aria-label="Search pages, runs, traces, GPUs, documents and actions"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-activedescendant=move || format!("palette-{}", at.get())
                placeholder="Go to a page, run, trace, GPU or document"
                autocomplete="off"
                spellcheck="false"
                prop:value=move || query.get()
                on:input=move |event| {
                    at.set(0);
                    query.set(event_target_value(&event));
                }
                on:keydown=on_key
            />
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Found">
                {rows}
            </ul>
            <p class="palette-said" role="status">{said}</p>
        </Dialog>
    }
}

/// Everything there is to find, as far as it can be had.
async fn load() -> Vec<Item> {
    let mut items = item::runs(&data::runs().await.unwrap_or_default());
    items.extend(item::traces(&data::traces().await.unwrap_or_default()));
    items.extend(item::gpus(&data::gpu_configs().await.unwrap_or_default()));
    items.extend(item::documents(data::doc_index().await.unwrap_or_default()));
    items
}

/// Does what an entry says.
fn use_act() -> Callback<Act> {
    let navigate = use_navigate();
    let theme = expect_context::<Theme>();
    let toasts = use_toasts();
    Callback::new(move |act| {
        // A browser that refuses leaves everything as it is.
        match act {
            Act::Page(href) => navigate(&href, NavigateOptions::default()),
            Act::Document(href) => _ = window().location().set_href(&href),
            Act::Theme(value) => theme.choose(value),
            Act::CopyAddress => {
                let address = window().location().href().unwrap_or_default();
                spawn_local(async move { _ = copy_text(toasts, &address).await });
            }
            Act::LogOut => {
                if let Ok(Some(form)) = document().query_selector("form[action='/session/end']") {
                    use wasm_bindgen::JsCast;
                    if let Ok(form) = form.dyn_into::<web_sys::HtmlFormElement>() {
                        _ = form.submit();
                    }
                }
            }
        }
    })
}
