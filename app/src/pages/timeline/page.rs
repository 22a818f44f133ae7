//! The timeline on a page of its own: `/runs/<id>/timeline`, further runs by `&with=<id>`.

use std::time::Duration;

use cascade_api::{RunDetail, RunId, RunState};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use super::card::Canvas;
use super::runs::{Offer, offers};
use crate::data::{self, DataError, GpuNote};
use crate::ui::{ButtonLink, GpuNotes, PageHead, RunBadge, SampleBadge, SyntheticBadge, engine_gpus, loaded};

/// How often the page asks how far an active run is.
const POLL: Duration = Duration::from_secs(2);

/// The timeline of the run in the address.
#[component]
pub(crate) fn TimelinePage() -> impl IntoView {
    let params = use_params_map();
    let id = move || RunId::new(params.with(|params| params.get("id").unwrap_or_default()));
    let facts = Resource::new(id, read);
    view! {
        <Title text=move || format!("Timeline · {}", id()) />
        <div class="page timeline-page">{loaded(facts, |(run, steps, notes, offers)| view! { <Whole run steps notes offers /> })}</div>
    }
}

/// The run, whether its sims sent step timelines, and runs that could be shown beside it.
async fn read(id: RunId) -> Result<(RunDetail, bool, Vec<GpuNote>, Vec<Offer>), DataError> {
    let run = data::run(id.clone()).await?;
    let steps = !data::run_digests(id).await?.is_empty();
    let offers = offers(&run.summary, &data::runs().await?);
    Ok((run, steps, data::gpu_notes().await?, offers))
}

/// Head and canvas.
#[component]
fn Whole(
    /// The run.
    run: RunDetail,
    /// Whether there are steps.
    steps: bool,
    /// What a reader of figures should know of GPUs.
    notes: Vec<GpuNote>,
    /// Runs that could be added.
    offers: Vec<Offer>,
) -> impl IntoView {
    let id = run.summary.id.clone();
    let done = RwSignal::new(finished(&run));
    follow(id.clone(), run.summary.state, done);
    let back = format!("/runs/{}", data::segment(id.as_str()));
    let state = run.summary.state;
    let (sample, synthetic) = (run.summary.sample || run.trace.sample, run.trace.synthetic);
    view! {
        <PageHead
            title=format!("Timeline of {id}")
            badges=move || {
                view! {
                    <RunBadge state />
                    {sample.then(|| view! { <SampleBadge /> })}
                    {synthetic.then(|| view! { <SyntheticBadge /> })}
                }
            }
            actions=move || view! { <ButtonLink href=back>"Back to the run"</ButtonLink> }
        />
        <Canvas runs=vec![id] steps done offers />
        <GpuNotes of=engine_gpus(&run.sims) notes />
    }
}

/// Kernels that a run's sims have finished.
fn finished(run: &RunDetail) -> u64 {
    run.sims.iter().map(|sim| sim.kernels_done).sum()
}

/// Asks every two seconds how far an active run is.
fn follow(id: RunId, state: RunState, done: RwSignal<u64>) {
    let state = RwSignal::new(state);
    Effect::new(move || {
        if state.get() != RunState::Active {
            return;
        }
        let id = id.clone();
        let ask = move || {
            if document().hidden() {
                return;
            }
            let id = id.clone();
            leptos::task::spawn_local(async move {
                if let Ok(run) = data::run(id).await {
                    // The page may be gone by now.
                    done.try_set(finished(&run));
                    state.try_set(run.summary.state);
                }
            });
        };
        if let Ok(timer) = set_interval_with_handle(ask, POLL) {
            on_cleanup(move || timer.clear());
        }
    });
}
