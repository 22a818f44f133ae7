//! The timeline on a page of its own: `/runs/<id>/timeline`, further runs by `&with=<id>`.

use cascade_api::{RunDetail, RunId};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use super::card::Canvas;
use crate::data::{self, DataError};
use crate::ui::{ButtonLink, PageHead, RunBadge, loaded};

/// The timeline of the run in the address.
#[component]
pub(crate) fn TimelinePage() -> impl IntoView {
    let params = use_params_map();
    let id = move || RunId::new(params.with(|params| params.get("id").unwrap_or_default()));
    let facts = Resource::new(id, read);
    view! {
        <Title text=move || format!("Timeline · {}", id()) />
        <div class="page timeline-page">{loaded(facts, |(run, steps)| view! { <Whole run steps /> })}</div>
    }
}

/// The run, and whether its sims sent step timelines.
async fn read(id: RunId) -> Result<(RunDetail, bool), DataError> {
    let run = data::run(id.clone()).await?;
    let steps = !data::run_digests(id).await?.is_empty();
    Ok((run, steps))
}

/// Head and canvas.
#[component]
fn Whole(
    /// The run.
    run: RunDetail,
    /// Whether there are steps.
    steps: bool,
) -> impl IntoView {
    let id = run.summary.id.clone();
    let back = format!("/runs/{}", data::segment(id.as_str()));
    let state = run.summary.state;
    view! {
        <PageHead
            title=format!("Timeline of {id}")
            badges=move || view! { <RunBadge state /> }
            actions=move || view! { <ButtonLink href=back>"Back to the run"</ButtonLink> }
        />
        <Canvas runs=vec![id] steps />
    }
}
