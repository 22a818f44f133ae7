//! A question that has to be answered before anything else.

use leptos::html;
use leptos::prelude::*;

use super::{Button, Look};

/// Asks before something that cannot be undone. The browser's own `<dialog>` keeps the focus inside, closes on
/// Escape and gives the focus back.
#[component]
pub fn ConfirmDialog(
    /// Whether it is open; closing it sets this to false.
    open: RwSignal<bool>,
    /// The question.
    #[prop(into)]
    title: String,
    /// The answer that does it.
    #[prop(into)]
    confirm: String,
    /// What then happens.
    #[prop(into)]
    on_confirm: Callback<()>,
    /// What there is to know before answering.
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = node.get() else { return };
        if open.get() && !dialog.open() {
            // Fails only where the dialog is no longer in the document: then nobody looks at it.
            drop(dialog.show_modal());
        } else if !open.get() && dialog.open() {
            dialog.close();
        }
    });
    view! {
        <dialog class="dialog" node_ref=node aria-label=title.clone() on:close=move |_| open.set(false)>
            <h2>{title.clone()}</h2>
            <div class="dialog-body">{children()}</div>
            <div class="dialog-actions">
                <Button on_press=move |()| open.set(false)>"Keep it"</Button>
                <Button
                    look=Look::Danger
                    on_press=move |()| {
                        open.set(false);
                        on_confirm.run(());
                    }
                >
                    {confirm}
                </Button>
            </div>
        </dialog>
    }
}
