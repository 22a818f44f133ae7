//! A run: live tiles, request time, kernels, logs, files and downloads.

mod chart;
mod files;
mod head;
mod kernels;
mod log;
mod panel;
mod perfetto;
mod request;
mod sensitivity;
mod tile;

use cascade_api::{GpuConfig, KernelSlice, RunDetail, RunFile, RunId, SimId, SimStepDigest};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_params_map};

use super::timeline::TimelineCard;
use crate::data::{self, DataError};
use crate::live::Live;
use crate::ui::loaded;
use files::Files;
use head::Head;
use kernels::Kernels;
use log::Log;
use panel::Panel;
use request::Request;
use sensitivity::Sensitivity;
use tile::Tiles;

/// Kernels that the first paint shows; the page reads the others once it is alive.
const FIRST_ROWS: u64 = 40;

/// What the first paint shows.
type RunFacts = (
    RunDetail,
    KernelSlice,
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
        <div class="page">{loaded(facts, |(run, kernels, files, digests, gpus)| view! { <Run run kernels files digests gpus /> })}</div>
    }
}

/// Everything the first paint shows.
async fn read(id: RunId) -> Result<RunFacts, DataError> {
    let mut run = data::run(id.clone()).await?;
    // The page reads logs by range; the ends of 64 of them would be most of what it loads.
    for sim in &mut run.sims {
        sim.log_tail = Vec::new();
    }
    let mut gpus = data::gpu_configs().await?;
    gpus.retain(|gpu| {
        run.summary
            .entries
            .iter()
            .any(|entry| entry.gpu_config == gpu.name)
    });
    Ok((
        run,
        data::run_slice(id.clone(), 0, FIRST_ROWS).await?,
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
    /// Its first kernels then.
    kernels: KernelSlice,
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

    // The selected sim and kernel are in the address, so that a link shows the same log and panel.
    let stay = || NavigateOptions {
        scroll: false,
        replace: true,
        ..NavigateOptions::default()
    };
    let (asked, select) = query_signal_with_options::<String>("sim", stay());
    let (kernel, open_kernel) = query_signal_with_options::<u64>("kernel", stay());
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
    let live = Live::new(run, &kernels, selected.get_untracked());
    let steps = !digests.is_empty();
    let done = Signal::derive(move || {
        live.run
            .with(|run| run.sims.iter().map(|sim| sim.kernels_done).sum::<u64>())
    });
    Effect::new(move || {
        let now = selected.get();
        if live.followed.with_untracked(|followed| *followed != now) {
            live.followed.set(now);
        }
    });
    let on_select = Callback::new(move |id: SimId| select.set(Some(id.to_string())));
    view! {
        <Head live />
        <Tiles live sample selected on_select />
        <TimelineCard run=id.clone() steps done />
        <Request live run=id.clone() digests />
        <Sensitivity live gpus />
        <Kernels live on_open=Callback::new(move |index: u64| open_kernel.set(Some(index))) />
        <Log live selected />
        <Files live run=id files />
        <Panel
            live
            kernel=kernel.into()
            selected
            on_kernel=Callback::new(move |index| open_kernel.set(index))
            on_sim=Callback::new(move |id: SimId| select.set(Some(id.to_string())))
        />
    }
}
