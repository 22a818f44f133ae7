//! What stands where data is on its way.

use leptos::prelude::*;

/// Widths of the lines, in per cent of the room: uneven, as text is.
const LINES: [u8; 4] = [38, 92, 84, 61];

/// Grey lines where text will be. Screen readers hear that it is loading.
#[component]
pub fn Skeleton() -> impl IntoView {
    let lines =
        LINES.map(|width| view! { <span class="skeleton-line" style=format!("width:{width}%")></span> });
    view! {
        <div class="skeleton" role="status">
            <span class="visually-hidden">"Loading…"</span>
            {lines.to_vec()}
        </div>
    }
}
