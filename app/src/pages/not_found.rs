//! The page for addresses that lead nowhere.

use leptos::prelude::*;
use leptos_meta::Title;

/// Says so, with a way back. The server answers with status 404.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    view! {
        <Title text="Not found" />
        <div class="page">
            <h1>"This page does not exist"</h1>
            <p>"The address leads nowhere. " <a href="/">"Go to the overview"</a> "."</p>
        </div>
    }
}
