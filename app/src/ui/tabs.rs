//! Views of which one is shown at a time.

use leptos::html;
use leptos::prelude::*;

/// One view with its name.
#[derive(Debug)]
pub struct Tab {
    /// Its name.
    pub title: &'static str,
    /// The view.
    pub view: AnyView,
}

/// Which tab a key leads to from `at` among `count`: arrows go around, Home and End to the ends.
fn next(key: &str, at: usize, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match key {
        "ArrowRight" => Some(if at >= last { 0 } else { at + 1 }),
        "ArrowLeft" => Some(if at == 0 { last } else { at - 1 }),
        "Home" => Some(0),
        "End" => Some(last),
        _ => None,
    }
}

/// Tabs after the ARIA pattern: one of them takes part in the page's tab order, arrows move between them.
#[component]
pub fn Tabs(
    /// What is chosen from, for screen readers.
    label: &'static str,
    /// Start of the elements' ids; one of its own on a page.
    id: &'static str,
    /// The views.
    tabs: Vec<Tab>,
) -> impl IntoView {
    let chosen = RwSignal::new(0);
    let count = tabs.len();
    let nodes: Vec<NodeRef<html::Button>> = tabs.iter().map(|_| NodeRef::new()).collect();
    let stored = StoredValue::new(nodes.clone());
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let Some(to) = next(&event.key(), chosen.get_untracked(), count) else {
            return;
        };
        event.prevent_default();
        chosen.set(to);
        let node = stored.with_value(|nodes| nodes.get(to).copied());
        if let Some(button) = node.and_then(|node| node.get_untracked()) {
            // It is on the page, so it takes the focus.
            _ = button.focus();
        }
    };
    let (buttons, panels): (Vec<_>, Vec<_>) = tabs
        .into_iter()
        .zip(nodes)
        .enumerate()
        .map(|(at, (tab, node))| {
            let is_chosen = move || chosen.get() == at;
            let button = view! {
                <button
                    type="button"
                    class="tab"
                    role="tab"
                    node_ref=node
                    id=format!("{id}-tab-{at}")
                    aria-controls=format!("{id}-panel-{at}")
                    aria-selected=move || is_chosen().to_string()
                    tabindex=move || if is_chosen() { "0" } else { "-1" }
                    on:click=move |_| chosen.set(at)
                >
                    {tab.title}
                </button>
            };
            let panel = view! {
                <div
                    class="tab-panel"
                    role="tabpanel"
                    id=format!("{id}-panel-{at}")
                    aria-labelledby=format!("{id}-tab-{at}")
                    hidden=move || !is_chosen()
                >
                    {tab.view}
                </div>
            };
            (button, panel)
        })
        .unzip();
    view! {
        <div class="tabs">
            <div class="tab-list" role="tablist" aria-label=label on:keydown=on_key>
                {buttons}
            </div>
            {panels}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn arrows_go_around_and_other_keys_stay() {
        assert_eq!(next("ArrowRight", 2, 3), Some(0));
        assert_eq!(next("ArrowLeft", 0, 3), Some(2));
        assert_eq!(next("End", 0, 3), Some(2));
        assert_eq!(next("Tab", 0, 3), None);
        assert_eq!(next("Home", 0, 0), None);
    }
}
