//! A run: live tiles, request time, kernels, logs, files and downloads.

mod chart;
mod files;
mod head;
mod kernels;
mod log;
mod request;
mod sensitivity;
mod tile;

use cascade_api::{Comparison, GpuConfig, RunDetail, RunFile, RunId, SimId, SimStepDigest};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_params_map};

use crate::data::{self, DataError};
use crate::live::Live;
use crate::ui::loaded;
use files::Files;
use head::Head;
use kernels::Kernels;
use log::Log;
use request::Request;
use sensitivity::Sensitivity;
use tile::Tile;

/// What the first paint shows.
type RunFacts = (
    RunDetail,
    Comparison,
    Vec<RunFile>,
    Vec<SimStepDigest>,
    Vec<GpuConfig>,
);

/// One run by the id in the address.
#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let id = move || RunId::new(params.with(|params| params.get("id").unwrap_or_default()));
    let facts = Resource::new(id, read);
    view! {
        <Title text=move || id().to_string() />
        <div class="page">{loaded(facts, |(run, comparison, files, digests, gpus)| view! { <Run run comparison files digests gpus /> })}</div>
    }
}

/// Everything the first paint shows.
async fn read(id: RunId) -> Result<RunFacts, DataError> {
    let run = data::run(id.clone()).await?;
    let mut gpus = data::gpu_configs().await?;
    gpus.retain(|gpu| {
        run.summary
            .entries
            .iter()
            .any(|entry| entry.gpu_config == gpu.name)
    });
    Ok((
        run,
        data::comparison(id.clone()).await?,
        data::run_files(id.clone()).await?,
        data::run_digests(id).await?,
        gpus,
    ))
}

/// The run, alive.
#[component]
fn Run(
    /// The run when the page was made.
    run: RunDetail,
    /// Its kernels then.
    comparison: Comparison,
    /// Its files then.
    files: Vec<RunFile>,
    /// Its predicted requests then.
    digests: Vec<SimStepDigest>,
    /// Its GPUs.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    let id = run.summary.id.clone();
    let sample = run.summary.sample || run.trace.sample;
    let sims: Vec<SimId> = run.sims.iter().map(|sim| sim.id.clone()).collect();
    let live = Live::new(run, comparison);

    // The selected sim is in the address, so that a link shows the same log.
    let (asked, select) = query_signal_with_options::<String>(
        "sim",
        NavigateOptions {
            scroll: false,
            replace: true,
            ..NavigateOptions::default()
        },
    );
    let first = sims.first().cloned();
    let selected = Memo::new({
        let sims = sims.clone();
        move |_| {
            let asked = asked
                .get()
                .and_then(|id| sims.iter().find(|sim| sim.as_str() == id));
            asked.or(first.as_ref()).cloned()
        }
    });
    let tiles: Vec<_> = sims
        .into_iter()
        .map(|sim| {
            let on_select = Callback::new(move |id: SimId| select.set(Some(id.to_string())));
            view! { <Tile live sim sample selected on_select /> }
        })
        .collect();
    view! {
        <Head live />
        <section class="tiles" aria-label="Simulations">{tiles}</section>
        <Request live run=id.clone() digests />
        <Sensitivity live gpus />
        <Kernels live />
        <Log live selected />
        <Files live run=id files />
    }
}
