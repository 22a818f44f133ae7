//! The command palette: Ctrl-K or Cmd-K, a few letters, Enter. Its code comes when it is first opened, and what it
//! lists is asked for each time.

mod item;
mod list;
mod rank;

use leptos::prelude::*;

use crate::part::{Part, once};
use crate::ui::{Icon, IconName};
use list::List;

/// The button that opens the palette, and the palette.
#[component]
pub(crate) fn Palette() -> impl IntoView {
    let open = RwSignal::new(false);
    Effect::new(move || {
        let listener = window_event_listener(leptos::ev::keydown, move |event| {
            let held = event.ctrl_key() || event.meta_key();
            if held && !event.alt_key() && !event.shift_key() && event.key().eq_ignore_ascii_case("k") {
                event.prevent_default();
                open.update(|open| *open = !*open);
            }
        });
        on_cleanup(move || listener.remove());
    });
    view! {
        <button
            type="button"
            class="palette-open"
            aria-label="Search and commands"
            aria-keyshortcuts="Control+K Meta+K"
            aria-haspopup="dialog"
            on:click=move |_| open.set(true)
        >
            <Icon name=IconName::Search />
            <span>"Search"</span>
        </button>
        {once(open.into(), move || list(open))}
    }
}

/// The part that is loaded when the palette is first opened.
#[cfg_attr(
    not(feature = "ssr"),
    leptos::wasm_split::wasm_split(lists, wasm_split_path = leptos::wasm_split, fallible)
)]
fn list(open: RwSignal<bool>) -> Part {
    Ok(view! { <List open /> }.into_any())
}
