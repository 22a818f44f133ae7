//! A run: live tiles, request time, kernels, logs, files and downloads.

mod chart;
mod files;
mod head;
mod kernels;
mod late;
mod log;
mod panel;
mod perfetto;
mod request;
mod sensitivity;
mod tile;

use cascade_api::{KernelSlice, RunDetail, RunFile, RunId, SimId, SimStepDigest};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{query_signal_with_options, use_params_map};

use crate::data::{self, DataError, GpuNote, Packed};
use crate::live::Live;
use crate::part::{in_sight, once};
use crate::ui::{engine_gpus, loaded};
use head::Head;
use kernels::Kernels;
use tile::Tiles;

/// Kernels that the first paint shows; the page reads the others once it is alive.
const FIRST_ROWS: u64 = 40;

/// What the first paint shows.
type RunFacts = (
    RunDetail,
    KernelSlice,
    Packed<RunFile>,
    Packed<SimStepDigest>,
    Vec<GpuNote>,
);

/// One run by the id in the address.
#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let id = move || RunId::new(params.with(|params| params.get("id").unwrap_or_default()));
    let facts = Resource::new(id, read);
    view! {
        <Title text=move || id().to_string() />
        <div class="page">{loaded(facts, |(run, kernels, files, digests, notes)| view! { <Run run kernels files digests notes /> })}</div>
    }
}

/// Everything the first paint shows.
async fn read(id: RunId) -> Result<RunFacts, DataError> {
    let mut run = data::run(id.clone()).await?;
    // The page reads logs by range; the ends of 64 of them would be most of what it loads.
    for sim in &mut run.sims {
        sim.log_tail = Vec::new();
    }
    let of = engine_gpus(&run.sims);
    let mut notes = data::gpu_notes().await?;
    notes.retain(|gpu| of.contains(&gpu.name));
    Ok((
        run,
        data::run_slice(id.clone(), 0, FIRST_ROWS).await?,
        data::run_files_packed(id.clone()).await?,
        data::run_digests_packed(id).await?,
        notes,
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
    files: Packed<RunFile>,
    /// Its predicted requests then.
    digests: Packed<SimStepDigest>,
    /// What a reader of its figures should know of its GPUs.
    notes: Vec<GpuNote>,
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
    let steps = !digests.is_empty();
    // Known from the start: no section changes its place once the first sim has finished.
    let requests_first = steps || run.trace.has_step_timeline;
    let live = Live::new(run, &kernels, selected.get_untracked());
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
    let on_kernel = Callback::new(move |index| open_kernel.set(index));
    let on_sim = on_select;
    let (timeline, request) = (id.clone(), id.clone());
    let request = move || in_sight(move || late::request(live, request.clone(), digests.clone()));
    // Predicted requests are what a run with steps was made for; any other says last how to get them.
    let (first_request, last_request) = match requests_first {
        true => (Some(request()), None),
        false => (None, Some(request())),
    };
    view! {
        <Head live notes />
        <Tiles live sample selected on_select />
        {first_request}
        <Kernels live on_open=Callback::new(move |index: u64| open_kernel.set(Some(index))) />
        {in_sight(move || late::timeline(live, timeline.clone(), steps, done))}
        {last_request}
        {in_sight(move || late::log(live, selected))}
        {in_sight(move || late::files(live, id.clone(), files.clone()))}
        {once(Signal::derive(move || kernel.get().is_some()), move || late::panel(live, kernel.into(), selected, on_kernel, on_sim))}
    }
}
