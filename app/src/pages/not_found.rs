//! The page for addresses that lead nowhere.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::ui::{ButtonLink, Empty, PageHead};

/// Says so, with a way back. The server answers with status 404.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    crate::ui::answer_with(404);
    view! {
        <Title text="Not found" />
        <div class="page">
            <PageHead title="Not found" />
            <Empty title="This page does not exist">
                <p>"The address leads nowhere. It may have been typed wrong, or what was here is gone."</p>
                <ButtonLink href="/">"Go to the overview"</ButtonLink>
                <a class="small" href="/docs" rel="external">"Documentation"</a>
            </Empty>
        </div>
    }
}
