//! Figures: a number with its name, and how far something has come.

use leptos::prelude::*;

/// A number with its name above it.
#[component]
pub fn Stat(
    /// Its name.
    #[prop(into)]
    label: String,
    /// What it means, shown on hover.
    #[prop(optional, into)]
    title: Option<String>,
    /// The number.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="stat" title=title>
            <dt>{label}</dt>
            <dd>{children()}</dd>
        </div>
    }
}

/// How much of the work is done.
#[component]
pub fn Progress(
    /// Done so far.
    #[prop(into)]
    done: Signal<u64>,
    /// All of it; 0 while unknown.
    #[prop(into)]
    total: Signal<u64>,
    /// What is counted, for screen readers.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    view! {
        <progress
            class="progress"
            aria-label=label
            max=move || total.get().max(1).to_string()
            value=move || done.get().min(total.get().max(1)).to_string()
        ></progress>
    }
}
