//! Going through a long table page by page.

use cascade_scene::{format, page::Page};
use leptos::prelude::*;

use super::Button;

/// Which rows are shown, and buttons for those before and after. Nothing when all fit.
#[component]
pub fn Pager(
    /// The page shown.
    #[prop(into)]
    page: Signal<Page>,
    /// How many rows there are.
    #[prop(into)]
    total: Signal<usize>,
    /// Goes to a page.
    #[prop(into)]
    on_go: Callback<usize>,
) -> impl IntoView {
    let rows = move || {
        let (page, total) = (page.get(), total.get() as u64);
        let (first, last) = (page.start as u64 + 1, page.end as u64);
        format!(
            "{}–{} of {}",
            format::count(first),
            format::count(last),
            format::count(total)
        )
    };
    view! {
        <Show when=move || 1 < page.get().pages>
            <nav class="pager" aria-label="Pages of the table">
                <span class="muted">{rows}</span>
                <Button
                    disabled=Signal::derive(move || page.get().number == 0)
                    on_press=move |()| on_go.run(page.get_untracked().number.saturating_sub(1))
                >
                    "Previous"
                </Button>
                <Button
                    disabled=Signal::derive(move || page.get().number + 1 >= page.get().pages)
                    on_press=move |()| on_go.run(page.get_untracked().number + 1)
                >
                    "Next"
                </Button>
            </nav>
        </Show>
    }
}
