//! Figures: a number with its name, and how far something has come.

use leptos::prelude::*;

/// A number with its name above it.
#[component]
pub fn Stat(
    /// Its name.
    #[prop(into)]
    label: String,
    /// What it means, shown as a tooltip.
    #[prop(optional, into)]
    title: Option<String>,
    /// The number.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="stat" data-tip=title>
            <dt>{label}</dt>
            <dd>{children()}</dd>
        </div>
    }
}

/// A thing in a grid of its like: its name as a link, marks beside it, and what there is to know below.
#[component]
pub fn Tile(
    /// Its name.
    #[prop(into)]
    title: String,
    /// Where it leads.
    #[prop(into)]
    href: String,
    /// Badges beside the name.
    #[prop(optional, into)]
    badges: ViewFnOnce,
    /// What there is to know.
    children: Children,
) -> impl IntoView {
    view! {
        <article class="link-tile">
            <div class="link-tile-head">
                <h3><a class="row-link" href=href>{title}</a></h3>
                <span class="badges">{badges.run()}</span>
            </div>
            {children()}
        </article>
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
