//! Any columns side by side, a column being one GPU of one run. Which columns is in the address, and so is what is
//! looked at: the pair, the level and the scope.

mod choice;
mod chooser;
mod difference;
mod facts;
mod fall;
mod figures;
mod scatter;
mod spread;
mod steps;
mod view;

use std::sync::Arc;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::ui::{Crumb, PageHead, loaded};
use chooser::Chooser;
use difference::Difference;
use facts::{Asked, Facts};
use fall::Fall;
use figures::Figures;
use scatter::Scatter;
use spread::Spreads;
use steps::Steps;
use view::View;

/// The comparison: `?of=run:GPU&of=…`; `?runs=a,b` for every GPU of these runs; `?set=name` for the runs of a sample
/// set; without any, the newest own run with results, or else the first sample set.
#[component]
pub(crate) fn Compare() -> impl IntoView {
    let query = use_query_map();
    let asked = move || {
        query.with(|query| Asked {
            of: query.get_all("of").unwrap_or_default(),
            runs: query.get("runs"),
            set: query.get("set"),
        })
    };
    let facts = Resource::new(asked, Facts::read);
    view! {
        <Title text="Compare" />
        <div class="page">
            <PageHead title="Compare" crumb=Crumb { href: "/runs", text: "Runs" } />
            {loaded(facts, |facts| view! { <Page facts=Arc::new(facts) /> })}
        </div>
    }
}

/// Everything about the columns.
#[component]
fn Page(
    /// What is compared and what there is.
    facts: Arc<Facts>,
) -> impl IntoView {
    let view = View::new(Arc::clone(&facts));
    view! {
        <Chooser facts=Arc::clone(&facts) ready=view.ready />
        <Fall view />
        <Difference view />
        <Steps view />
        <Scatter view />
        <Spreads facts=Arc::clone(&facts) view />
        <Figures facts />
    }
}
