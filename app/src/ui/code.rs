//! Commands to copy.

use leptos::prelude::*;

use super::{Icon, IconName, Toasts, use_toasts};

/// How long the button says that it copied.
const COPIED: std::time::Duration = std::time::Duration::from_millis(1500);

/// Puts a text on the clipboard. A browser has none on a page that came neither by https nor from this machine.
async fn write(text: &str) -> Result<(), ()> {
    let clipboard = window().navigator().clipboard();
    if AsRef::<wasm_bindgen::JsValue>::as_ref(&clipboard).is_undefined() {
        return Err(());
    }
    let written = wasm_bindgen_futures::JsFuture::from(clipboard.write_text(text));
    written.await.map(drop).map_err(drop)
}

/// Copies a text to the clipboard and says whether that went well, also to the caller.
pub(crate) async fn copy_text(toasts: Toasts, text: &str) -> bool {
    let written = write(text).await.is_ok();
    if written {
        toasts.done("Copied");
    } else {
        toasts.failed("The browser does not allow copying here; select the text instead.");
    }
    written
}

/// A button that copies a text.
#[component]
pub fn CopyButton(
    /// The text.
    #[prop(into)]
    text: String,
    /// What it copies, for screen readers: `Copy the run's id`.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    let toasts = use_toasts();
    let copied = RwSignal::new(false);
    let press = move |_| {
        let text = text.clone();
        leptos::task::spawn_local(async move {
            if copy_text(toasts, &text).await {
                copied.try_set(true);
                set_timeout(move || _ = copied.try_set(false), COPIED);
            }
        });
    };
    let icon = move || {
        let name = if copied.get() {
            IconName::Check
        } else {
            IconName::Copy
        };
        view! { <Icon name /> }
    };
    view! {
        <button type="button" class="button ghost icon-only" data-tip=label.clone() aria-label=label on:click=press>
            {icon}
        </button>
    }
}

/// Commands for a terminal, with a button that copies them.
#[component]
pub fn CodeBlock(
    /// The commands.
    #[prop(into)]
    code: String,
) -> impl IntoView {
    view! {
        <div class="code-block">
            <pre tabindex="0"><code>{code.clone()}</code></pre>
            <CopyButton text=code label="Copy the commands" />
        </div>
    }
}
