//! The scenario explorer: what users would see of a model on GPUs, worked out in this page while the controls move.
//!
//! The controls are a [`State`], which the address carries. A change of it asks the worker ([`lab`]) to run the
//! scenario on each GPU; figures, charts and the table show what it last said.

mod base;
mod charts;
mod control;
mod file;
mod lab;
mod requests;
mod results;
mod run;
mod saved;
mod tell;

use cascade_api::{SavedScenario, ScenarioBase};
use cascade_scene::explorer::{Answer, Base, State};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use crate::data::{self, DataError};
use crate::ui::{Notice, PageHead, SyntheticBadge, Tone, loaded};
use run::Run;

/// What the page is rendered with.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Facts {
    /// The link's query.
    link: String,
    /// Traces and GPUs with step times.
    bases: Vec<ScenarioBase>,
    /// What was saved before.
    saved: Vec<SavedScenario>,
    /// What the link comes to, where the server worked it out.
    first: Option<Answer>,
}

/// The page at `/explore`.
#[component]
pub(crate) fn Explore() -> impl IntoView {
    let link = use_location().search.get_untracked();
    let facts = Resource::new(|| (), move |()| read(link.clone()));
    view! {
        <Title text="Explorer" />
        <div class="page explore">
            <PageHead title="Scenario explorer" />
            <p class="muted lead">
                "Predictions, not measurements: requests go through the scheduler step by step, with step times from a finished sim or a datasheet, all within this page."
            </p>
            {loaded(facts, |facts| view! { <Explorer facts /> })}
        </div>
    }
}

/// Everything the page shows.
async fn read(link: String) -> Result<Facts, DataError> {
    Ok(Facts {
        bases: data::scenario_bases().await?,
        saved: data::scenarios_saved().await?,
        first: data::explored(link.clone()).await,
        link,
    })
}

/// Controls beside what they come to.
#[component]
fn Explorer(
    /// What the page is rendered with.
    facts: Facts,
) -> impl IntoView {
    let (state, told) = State::read(&facts.link);
    let run = Run::new(state, facts.first);
    let told: Vec<_> = told
        .into_iter()
        .map(|problem| view! { <Notice tone=Tone::Warn><p>{problem.text}</p></Notice> })
        .collect();
    let made: Vec<_> = facts
        .bases
        .iter()
        .filter(|base| base.synthetic)
        .map(|base| base.trace_id.clone())
        .collect();
    let synthetic = Memo::new(move |_| match run.state.with(State::base) {
        Base::Trace(trace) => made.iter().any(|id| id.as_str() == trace),
        _ => false,
    });
    let synthetic = move || {
        let text = "This trace was synthesised: what is worked out from its step times says nothing about a real model.";
        synthetic
            .get()
            .then(|| view! { <Notice tone=Tone::Warn><p><SyntheticBadge /> " " {text}</p></Notice> })
    };
    view! {
        {told}
        {synthetic}
        <div class="explore-grid">
            <form class="explore-controls" aria-label="Scenario" on:submit=|event| event.prevent_default()>
                <base::Base run bases=facts.bases.clone() />
                <control::Controls run />
            </form>
            <div class="explore-results">
                <results::Results run />
                <charts::Charts run />
                <requests::Requests run />
                <tell::Provenance run />
                <saved::Saved run saved=facts.saved />
            </div>
        </div>
    }
}
