//! A tile: one sim at a glance.

use cascade_api::{Engine, SimId, SimState, SimSummary};
use cascade_scene::{format, kernel_name::readable};
use leptos::prelude::*;

use crate::clock::use_now;
use crate::data::segment;
use crate::live::Live;
use crate::ui::{EngineBadge, Progress, SampleBadge, SimBadge, Stat};

/// One sim, kept up to date.
#[component]
pub(super) fn Tile(
    /// The run.
    live: Live,
    /// Which sim.
    sim: SimId,
    /// Whether its numbers are a sample's.
    sample: bool,
    /// The sim whose log is open.
    selected: Memo<Option<SimId>>,
    /// Opens this sim's log.
    on_select: Callback<SimId>,
) -> impl IntoView {
    let found = live.sim(sim.clone());
    let is_open = {
        let sim = sim.clone();
        Memo::new(move |_| selected.get().as_ref() == Some(&sim))
    };
    // A sim never leaves its run, so the value is there; reading it as an option keeps that out of the view.
    let read = move |of: fn(&SimSummary) -> String| move || found.with(|sim| sim.as_ref().map(of));
    let total = move |of: fn(&SimSummary) -> Option<f64>, show: fn(f64) -> String| {
        move || {
            found
                .with(|sim| sim.as_ref().and_then(of))
                .map_or_else(|| format::NONE.to_owned(), show)
        }
    };
    let number = move |of: fn(&SimSummary) -> u64| {
        Signal::derive(move || found.with(|sim| sim.as_ref().map_or(0, of)))
    };
    let state = Memo::new(move |_| found.with(|sim| sim.as_ref().map_or(SimState::Pending, |sim| sim.state)));
    let engine = Memo::new(move |_| found.with(|sim| sim.as_ref().map_or(Engine::Custom, |sim| sim.engine)));
    let error = move || {
        let text = found.with(|sim| sim.as_ref().and_then(|sim| sim.error.clone()));
        text.map(|text| view! { <p class="tile-error" role="alert">{text}</p> })
    };
    let kernel = move || {
        let name = found.with(|sim| {
            sim.as_ref()
                .filter(|sim| !sim.state.is_terminal())?
                .current_kernel
                .clone()
        });
        name.map(|name| view! { <span title=name.clone()>{readable(&name)}</span> })
    };
    let api = format!("/api/sims/{}", segment(sim.as_str()));
    let select = move |_| {
        on_select.run(sim.clone());
        if let Some(log) = document().get_element_by_id("log") {
            log.scroll_into_view_with_bool(false);
        }
    };
    view! {
        <article class="tile" class:open=move || is_open.get() data-state=move || state.get().as_str()>
            <div class="tile-head">
                <h3>{read(|sim| sim.gpu_config.to_string())} <span class="muted">{read(|sim| format!(" #{}", sim.replica))}</span></h3>
                <SimBadge state />
            </div>
            <div class="tile-progress">
                <Progress label="Kernels done" done=number(|sim| sim.kernels_done) total=number(|sim| sim.kernels_total) />
                <span class="tile-count">
                    {read(|sim| format!("{} / {}", format::count(sim.kernels_done), format::count(sim.kernels_total)))}
                </span>
            </div>
            <p class="tile-kernel">{kernel}</p>
            {error}
            <dl class="tile-stats">
                <Stat label="Cycles" title="Simulated GPU cycles, over every finished kernel">
                    {total(|sim| sim.latest.gpu_tot_sim_cycle, format::compact)}
                </Stat>
                <Stat label="IPC" title="Thread instructions per cycle of the whole simulated GPU">
                    {total(|sim| sim.latest.gpu_tot_ipc, format::compact)}
                </Stat>
                <Stat label="Sim rate" title="Simulated instructions per second of the simulator's own time">
                    {total(|sim| sim.latest.sim_rate_ips, format::sim_rate)}
                </Stat>
            </dl>
            <div class="tile-foot">
                <span class="tile-marks">
                    {sample.then(|| view! { <SampleBadge /> })} <EngineBadge engine />
                </span>
                <Heartbeat sim=found />
            </div>
            <div class="tile-actions">
                <button type="button" class="button ghost" aria-pressed=move || is_open.get().to_string() on:click=select>
                    "Log"
                </button>
                <a class="button ghost" href=format!("{api}/results") download="" rel="external">"Results"</a>
            </div>
        </article>
    }
}

/// When a sim was last heard of, or how long it took.
#[component]
fn Heartbeat(
    /// The sim.
    sim: Memo<Option<SimSummary>>,
) -> impl IntoView {
    let now = use_now();
    move || {
        let sim = sim.get()?;
        if sim.state.is_terminal() {
            let took = sim.finished_at?.seconds_since(sim.started_at?);
            return Some(
                view! { <span class="muted" title="From the first heartbeat to the end">{format::elapsed(took)}</span> },
            );
        }
        let last = sim.last_heartbeat_at?;
        let text = now
            .get()
            .map_or_else(|| format::utc(last), |now| format::age(now.seconds_since(last)));
        Some(view! { <span class="muted" title="Last heartbeat">{format!("heartbeat {text}")}</span> })
    }
}
