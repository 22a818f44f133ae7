//! Tiles: a run's sims at a glance, one card each, or a compact grid by GPU where they are many.

use cascade_api::{Engine, SimId, SimState, SimSummary};
use cascade_scene::sim::{next_step, time_left};
use cascade_scene::{format, kernel_name::readable};
use leptos::prelude::*;

use crate::clock::use_now;
use crate::data::segment;
use crate::live::Live;
use crate::ui::{EngineBadge, Progress, SampleBadge, SimBadge, Stat};

/// Sims of a run up to which each has a card.
const CARDS: usize = 12;

/// All sims of a run.
#[component]
pub(super) fn Tiles(
    /// The run.
    live: Live,
    /// Whether its numbers are a sample's.
    sample: bool,
    /// The sim whose log is open.
    selected: Memo<Option<SimId>>,
    /// Opens a sim's log.
    on_select: Callback<SimId>,
) -> impl IntoView {
    let sims = live.run.with_untracked(|run| {
        let sims = run.sims.iter();
        sims.map(|sim| (sim.gpu_config.clone(), sim.id.clone()))
            .collect::<Vec<_>>()
    });
    if sims.len() <= CARDS {
        let cards: Vec<_> = sims
            .into_iter()
            .map(|(_, sim)| view! { <Tile live sim sample selected on_select /> })
            .collect();
        return view! { <section class="tiles" aria-label="Simulations">{cards}</section> }.into_any();
    }
    let groups: Vec<_> = sims
        .chunk_by(|(a, _), (b, _)| a == b)
        .map(|group| {
            let gpu = group.first().map(|(gpu, _)| gpu.to_string()).unwrap_or_default();
            let title = format!("{gpu} · {}", format::plural(group.len() as u64, "simulation"));
            let cells: Vec<_> = group
                .iter()
                .map(|(_, sim)| view! { <Cell live sim=sim.clone() selected on_select /> })
                .collect();
            view! { <h2 class="cells-head">{title}</h2> <div class="cells">{cells}</div> }
        })
        .collect();
    view! {
        <section class="card cells-card" aria-label="Simulations">
            {sample.then(|| view! { <p><SampleBadge /></p> })}
            {groups}
        </section>
    }
    .into_any()
}

/// One of many sims: state, progress, what it is doing. A press opens its log.
#[component]
fn Cell(
    /// The run.
    live: Live,
    /// Which sim.
    sim: SimId,
    /// The sim whose log is open.
    selected: Memo<Option<SimId>>,
    /// Opens this sim's log.
    on_select: Callback<SimId>,
) -> impl IntoView {
    let found = live.sim(sim.clone());
    let now = use_now();
    let is_open = {
        let sim = sim.clone();
        Memo::new(move |_| selected.get().as_ref() == Some(&sim))
    };
    let read = move |of: fn(&SimSummary) -> String| move || found.with(|sim| sim.as_ref().map(of));
    let number = move |of: fn(&SimSummary) -> u64| {
        Signal::derive(move || found.with(|sim| sim.as_ref().map_or(0, of)))
    };
    let said = move || {
        let sim = found.get()?;
        let left = now.get().and_then(|now| time_left(&sim, now));
        Some(match (sim.state, &sim.error, left) {
            (SimState::Running, _, Some(left)) => format!("{} left", format::elapsed(left)),
            (SimState::Running, _, None) => {
                let ipc = sim.latest.gpu_tot_ipc;
                ipc.map_or_else(String::new, |ipc| format!("IPC {}", format::compact(ipc)))
            }
            (state, ..) => state.to_string(),
        })
    };
    let title = move || {
        found.with(|sim| {
            let sim = sim.as_ref()?;
            let kernel = sim.current_kernel.as_deref().map(readable).unwrap_or_default();
            Some(sim.error.clone().unwrap_or(kernel))
        })
    };
    view! {
        <button
            type="button"
            class="cell"
            class:open=move || is_open.get()
            aria-pressed=move || is_open.get().to_string()
            data-state=read(|sim| sim.state.to_string())
            title=title
            on:click=move |_| on_select.run(sim.clone())
        >
            <span class="cell-head">
                <b>{read(|sim| format!("#{}", sim.replica))}</b>
                <span>{read(|sim| format!("{} / {}", format::count(sim.kernels_done), format::count(sim.kernels_total)))}</span>
            </span>
            <Progress label="Kernels done" done=number(|sim| sim.kernels_done) total=number(|sim| sim.kernels_total) />
            <span class="cell-said">{said}</span>
        </button>
    }
}

/// One sim, kept up to date.
#[component]
fn Tile(
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
    let trouble = Memo::new(move |_| {
        found.with(|sim| {
            let sim = sim.as_ref()?;
            let error = sim.error.clone();
            (error.is_some() || next_step(sim.state).is_some()).then(|| (error, next_step(sim.state)))
        })
    });
    let trouble = move || {
        let (error, next) = trouble.get()?;
        let error = error.map(|text| view! { <p class="tile-error" role="alert">{text}</p> });
        let next = next.map(|text| view! { <p class="tile-next muted small">{text}</p> });
        Some(view! { {error} {next} })
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
            {trouble}
            <dl class="tile-stats">
                <Stat label="Cycles" title="Simulated GPU cycles, over every finished kernel">
                    {total(|sim| sim.latest.gpu_tot_sim_cycle, format::compact)}
                </Stat>
                <Stat label="IPC" title="Thread instructions per cycle of the whole simulated GPU">
                    {total(|sim| sim.latest.gpu_tot_ipc, format::compact)}
                </Stat>
                <Stat label="Sim rate" title="Simulated instructions per second of the simulator's own time. Kernels that were simulated before, in this run or an earlier one, are known at once: with many of them the rate is far above what the engine simulates">
                    {total(|sim| sim.latest.sim_rate_ips, format::sim_rate)}
                </Stat>
            </dl>
            <div class="tile-foot">
                <span class="tile-marks">
                    {sample.then(|| view! { <SampleBadge /> })} <EngineBadge engine />
                </span>
                <Pace sim=found />
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

/// When a sim was last heard of and how long it may still take, or how long it took.
#[component]
fn Pace(
    /// The sim.
    sim: Memo<Option<SimSummary>>,
) -> impl IntoView {
    let now = use_now();
    move || {
        let sim = sim.get()?;
        if sim.state.is_terminal() {
            let took = sim.finished_at?.seconds_since(sim.started_at?);
            let title = "From the first heartbeat to the end";
            return Some(view! { <span class="muted" title=title>{format::elapsed(took)}</span> }.into_any());
        }
        let last = sim.last_heartbeat_at?;
        let now = now.get();
        let age = now.map_or_else(|| format::utc(last), |now| format::age(now.seconds_since(last)));
        let left = now.and_then(|now| time_left(&sim, now)).map(|left| {
            let done = format::plural(sim.kernels_done, "kernel");
            let title = format!(
                "From the mean time of the {done} done so far; kernels to come may be longer or shorter"
            );
            view! { <span title=title>{format!("about {} left · ", format::elapsed(left))}</span> }
        });
        Some(view! { <span class="muted">{left} <span title="Last heartbeat">{format!("heartbeat {age}")}</span></span> }.into_any())
    }
}
