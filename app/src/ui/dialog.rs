//! What stands above the page until it is closed.

use leptos::html;
use leptos::prelude::*;

use super::{Button, Look};

/// A window above the page. The browser's own `<dialog>` keeps the focus inside, closes on Escape and gives the
/// focus back to what had it before.
#[component]
pub fn Dialog(
    /// Whether it is open; closing it sets this to false.
    open: RwSignal<bool>,
    /// What it is, for screen readers.
    #[prop(into)]
    label: String,
    /// Its looks, beside those of every dialog.
    #[prop(optional)]
    class: &'static str,
    /// What is in it.
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
    // A press on the dialog itself, not on what is in it, is one on the ground around it.
    let outside = move |event: leptos::ev::MouseEvent| {
        if let (Some(dialog), Some(target)) = (node.get_untracked(), event.target())
            && target == *AsRef::<web_sys::EventTarget>::as_ref(&dialog)
        {
            open.set(false);
        }
    };
    view! {
        <dialog
            class=format!("dialog {class}")
            node_ref=node
            aria-label=label
            on:close=move |_| open.set(false)
            on:mousedown=outside
        >
            <div class="dialog-content">{children()}</div>
        </dialog>
    }
}

/// Asks before something that cannot be undone.
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
    view! {
        <Dialog open label=title.clone()>
            <h2>{title}</h2>
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
        </Dialog>
    }
}
