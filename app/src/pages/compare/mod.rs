//! Several runs side by side: a column for each GPU of each run. Which runs is in the address.

mod choice;
mod figures;

use cascade_api::{RunDetail, RunId, RunSummary, SimStepDigest, TraceSummary};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::data::{self, DataError};
use crate::ui::{Crumb, PageHead, loaded};
use choice::{Chooser, preset, read_ids};
use figures::Figures;

/// What the page shows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Facts {
    /// The compared runs with their predictions, in the order of the address.
    compared: Vec<(RunDetail, Vec<SimStepDigest>)>,
    /// Every run, to choose from.
    runs: Vec<RunSummary>,
    /// Every trace, which says which runs belong together.
    traces: Vec<TraceSummary>,
}

/// The comparison: `?runs=a,b`, or `?set=name` for the runs of a sample set; without both, the first sample set.
#[component]
pub(crate) fn Compare() -> impl IntoView {
    let query = use_query_map();
    let asked = move || query.with(|query| (query.get("runs"), query.get("set")));
    let facts = Resource::new(asked, |(runs, set)| read(runs, set));
    view! {
        <Title text="Compare" />
        <div class="page">
            <PageHead title="Compare" crumb=Crumb { href: "/runs", text: "Runs" } />
            {loaded(facts, |facts| view! { <Chooser facts=facts.clone() /> <Figures compared=facts.compared /> })}
        </div>
    }
}

/// Everything the page shows.
async fn read(asked: Option<String>, set: Option<String>) -> Result<Facts, DataError> {
    let runs = data::runs().await?;
    let traces = data::traces().await?;
    let ids: Vec<RunId> = match asked {
        Some(asked) => read_ids(&asked),
        None => preset(&runs, &traces, set.as_deref()),
    };
    let mut compared = Vec::with_capacity(ids.len());
    for id in ids {
        let run = data::run(id.clone()).await?;
        compared.push((run, data::run_digests(id).await?));
    }
    Ok(Facts {
        compared,
        runs,
        traces,
    })
}
