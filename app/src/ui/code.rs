//! Commands to copy.

use leptos::prelude::*;

use super::{Icon, IconName};

/// How long the button says that it copied, in ms.
const COPIED_MS: u64 = 1500;

/// Copies a text to the clipboard.
#[component]
pub fn CopyButton(
    /// The text.
    #[prop(into)]
    text: String,
    /// What it copies, for screen readers: `Copy the run's id`.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    let copied = RwSignal::new(false);
    let copy = move |_| {
        // The promise's failure leaves the button as it was: the text can still be selected by hand.
        drop(window().navigator().clipboard().write_text(&text));
        copied.set(true);
        set_timeout(
            move || _ = copied.try_set(false),
            std::time::Duration::from_millis(COPIED_MS),
        );
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
        <button type="button" class="button ghost icon-only" title=label.clone() aria-label=label on:click=copy>
            {icon}
        </button>
        <span class="visually-hidden" role="status">{move || copied.get().then_some("Copied")}</span>
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
