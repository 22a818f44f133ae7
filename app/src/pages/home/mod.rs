//! The overview: what runs, what came out last, what to do next, and the way of somebody new to a first result.

mod facts;
mod guide;
mod send;

use cascade_api::{RunDetail, RunState};
use cascade_scene::format;
use leptos::prelude::*;
use leptos_meta::Title;

use super::runs::run_table;
use super::traces::trace_table;
use crate::data::{GpuNote, segment};
use crate::ui::{
    Age, ButtonLink, Card, GpuNotes, Look, PageHead, Progress, ReplayBadge, RunBadge, SampleBadge,
    SyntheticBadge, Tile, engine_gpus, kept, loaded,
};
use facts::{Facts, GpuOutcome, Outcome, load, load_since};
use guide::Guide;
pub(crate) use send::SendTrace;

/// Rows of each list here; the lists' own pages show all.
const RECENT: usize = 6;

/// The overview.
#[component]
pub(crate) fn Home() -> impl IntoView {
    let facts = Resource::new(|| (), |()| load());
    let actions = || {
        view! {
            <ButtonLink href="/compare">"Compare"</ButtonLink>
            <ButtonLink look=Look::Primary href="/runs/new">"New run"</ButtonLink>
        }
    };
    view! {
        <Title text="Overview" />
        <div class="page">
            <PageHead title="Overview" actions=actions />
            {loaded(facts, |facts| view! { <Overview facts /> })}
        </div>
    }
}

/// The page once there is something to show. What changes afterwards changes in place, so that the focus, an open
/// tab and a selection stay.
#[component]
fn Overview(
    /// What is known at first.
    facts: Facts,
) -> impl IntoView {
    let new = facts.progress().result.is_none();
    let health = facts.health.clone();
    let kept = kept(
        facts,
        Facts::unfinished,
        |old| async move { load_since(&old).await },
    );
    let facts = kept.now;
    let active = Memo::new(move |_| facts.with(Facts::active));
    let results = Memo::new(move |_| facts.with(Facts::results));
    let has_result = Memo::new(move |_| facts.with(|facts| facts.progress().result.is_some()));
    let running = move || {
        let runs = active.get();
        (!runs.is_empty()).then(|| {
            let tiles: Vec<_> = runs.into_iter().map(|run| view! { <Running run /> }).collect();
            view! { <Card title="Running"><div class="tile-grid">{tiles}</div></Card> }
        })
    };
    let latest = move || {
        let results = results.get();
        (!results.is_empty()).then(|| {
            let tiles: Vec<_> = results
                .into_iter()
                .map(|result| view! { <Latest result /> })
                .collect();
            let (of, notes) = facts.with(|facts| {
                let done = facts
                    .details
                    .iter()
                    .filter(|run| run.summary.state != RunState::Active);
                let notes = facts.gpus.iter().cloned().map(GpuNote::from).collect::<Vec<_>>();
                (engine_gpus(done.flat_map(|run| &run.sims)), notes)
            });
            view! {
                <Card title="Latest results" aside=|| view! { <a href="/runs">"All runs"</a> }>
                    <div class="tile-grid">{tiles}</div>
                    <GpuNotes of notes />
                </Card>
            }
        })
    };
    let next = move || has_result.get().then(|| view! { <Next /> });
    let lists = Memo::new(move |_| facts.with(|facts| (facts.runs.clone(), facts.traces.clone())));
    let recent = move || {
        let (runs, traces) = lists.get();
        let runs = (!runs.is_empty()).then(|| {
            let table = run_table(runs.get(..RECENT.min(runs.len())).unwrap_or_default());
            view! { <Card title="Recent runs" aside=|| view! { <a href="/runs">"All runs"</a> }>{table}</Card> }
        });
        let traces = (!traces.is_empty()).then(|| {
            let table = trace_table(traces.get(..RECENT.min(traces.len())).unwrap_or_default());
            view! { <Card title="Recent traces" aside=|| view! { <a href="/traces">"All traces"</a> }>{table}</Card> }
        });
        (runs, traces)
    };
    view! { {kept.warning()} {new.then(|| view! { <Guide facts health /> })} {running} {latest} {next} {recent} }
}

/// A run under way.
#[component]
fn Running(
    /// The run.
    run: RunDetail,
) -> impl IntoView {
    let sum = |of: fn(&cascade_api::SimSummary) -> u64| run.sims.iter().map(of).sum::<u64>();
    let (done, total) = (sum(|sim| sim.kernels_done), sum(|sim| sim.kernels_total));
    let href = format!("/runs/{}", segment(run.summary.id.as_str()));
    let state = run.summary.state;
    view! {
        <Tile title=run.summary.id.to_string() href=href badges=move || view! { <RunBadge state /> }>
            <p class="muted small">{run.trace.id.to_string()} " · started " <Age at=run.summary.created_at /></p>
            <Progress label="Kernels simulated" done=done total=total />
            <p class="small">{format!("{} of {} kernels", format::count(done), format::count(total))}</p>
        </Tile>
    }
}

/// A finished run in brief.
#[component]
fn Latest(
    /// The run's result.
    result: Outcome,
) -> impl IntoView {
    let Outcome { run, gpus } = result;
    let href = format!("/runs/{}", segment(run.id.as_str()));
    let (state, sample, replay, synthetic) = (run.state, run.sample, run.replay, run.synthetic);
    let badges = move || {
        view! {
            <RunBadge state />
            {sample.then(|| view! { <SampleBadge /> })}
            {replay.then(|| view! { <ReplayBadge /> })}
            {synthetic.then(|| view! { <SyntheticBadge /> })}
        }
    };
    let row = |gpu: GpuOutcome| {
        let time = gpu.time_ns.map_or(format::NONE.to_owned(), format::duration_ns);
        // The error is the request's: it says nothing of the kernels' time.
        let error = gpu
            .error_pct
            .map(|error| format!(", {} vs real", format::signed(error, 1, "%")));
        let request = gpu.request_ms.map(|ms| {
            let time = format::duration_ns(ms * 1e6);
            view! { <dd class="muted">{format!("request {time}{}", error.unwrap_or_default())}</dd> }
        });
        view! {
            <div class="outcome">
                <dt class="mono">{gpu.gpu.to_string()}</dt>
                <dd title="Simulated time of all kernels">{time}</dd>
                {request}
            </div>
        }
    };
    let rows: Vec<_> = gpus.into_iter().map(row).collect();
    view! {
        <Tile title=run.id.to_string() href=href badges=badges>
            <p class="muted small">{run.trace_id.to_string()} " · " <Age at=run.created_at /></p>
            <dl class="outcomes small">{rows}</dl>
        </Tile>
    }
}

/// What can be done with a result.
#[component]
fn Next() -> impl IntoView {
    const WAYS: [(&str, &str, &str); 3] = [
        (
            "/compare",
            "Compare",
            "Runs and GPUs side by side: where the time went from one to the other.",
        ),
        (
            "/explore",
            "Explore requests",
            "Load, latency and fleet size on a simulated GPU, worked out as you turn the dials.",
        ),
        (
            "/gpus/new",
            "Make a GPU",
            "Change a known GPU's SMs, clocks or bandwidth, and simulate that.",
        ),
    ];
    let tiles =
        WAYS.map(|(href, title, about)| view! { <Tile title href><p class="muted small">{about}</p></Tile> });
    view! { <Card title="What next"><div class="tile-grid">{tiles}</div></Card> }
}
