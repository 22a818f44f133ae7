//! The top of a run's page: its state, figures, downloads and the way to cancel it.

use cascade_api::{Engine, RunState};
use cascade_scene::format;
use cascade_scene::request::SAMPLE_NOTE;
use leptos::prelude::*;

use crate::data::{self, GpuNote, segment};
use crate::live::{Link, Live};
use crate::ui::{
    Age, Badge, Button, ButtonLink, ConfirmDialog, Crumb, Elapsed, EngineBadge, GpuNotes, Icon, IconName,
    Look, Notice, PageHead, Progress, ReplayBadge, RunBadge, SampleBadge, Stat, Tone, TraceMarks,
    engine_gpus,
};

/// Title, state, actions and figures.
#[component]
pub(super) fn Head(
    /// The run.
    live: Live,
    /// What a reader of its figures should know of its GPUs.
    notes: Vec<GpuNote>,
) -> impl IntoView {
    let run = live.run;
    let (id, sample, replay, trace) = run.with_untracked(|run| {
        let summary = &run.summary;
        (
            summary.id.clone(),
            summary.sample,
            summary.replay,
            run.trace.clone(),
        )
    });
    let state = Memo::new(move |_| run.with(|run| run.summary.state));
    let api = format!("/api/runs/{}", segment(id.as_str()));

    let compare = format!("/compare?runs={}", segment(id.as_str()));

    let asking = RwSignal::new(false);
    let failed = RwSignal::new(None::<String>);
    let cancel = Action::new({
        let id = id.clone();
        move |(): &()| {
            let id = id.clone();
            async move {
                match data::cancel_run(id).await {
                    Ok(detail) => run.set(detail),
                    Err(error) => failed.set(Some(error.to_string())),
                }
            }
        }
    });
    let actions = move || {
        view! {
            <ButtonLink href=compare.clone()>"Compare"</ButtonLink>
            <ButtonLink href=format!("{api}/results") download=true>
                <Icon name=IconName::Download />
                "Results"
            </ButtonLink>
            <Show when=move || state.get() == RunState::Active>
                <Button look=Look::Danger disabled=cancel.pending() on_press=move |()| asking.set(true)>
                    "Cancel run"
                </Button>
            </Show>
        }
    };
    let badges = move || {
        view! {
            <RunBadge state />
            {sample.then(|| view! { <SampleBadge /> })}
            {replay.then(|| view! { <ReplayBadge /> })}
            <LinkBadge live />
        }
    };
    let reconstructed = (sample || trace.sample).then_some(SAMPLE_NOTE);
    let trace_href = format!("/traces/{}", segment(trace.id.as_str()));
    view! {
        <PageHead title=id.to_string() crumb=Crumb { href: "/runs", text: "Runs" } badges=badges actions=actions />
        <p class="subline">
            "Simulates " <a href=trace_href>{trace.id.to_string()}</a> <TraceMarks trace=&trace /> <Engines live /> {reconstructed}
        </p>
        {move || failed.get().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
        <Figures live />
        <GpuNotes of=run.with_untracked(|run| engine_gpus(&run.sims)) notes />
        <ConfirmDialog
            open=asking
            title="Cancel this run?"
            confirm="Cancel the run"
            on_confirm=move |()| _ = cancel.dispatch(())
        >
            <p>"Simulations that have not finished are stopped for good. Those that have finished keep their results."</p>
        </ConfirmDialog>
    }
}

/// Whether what is shown is up to date.
#[component]
fn LinkBadge(
    /// The run.
    live: Live,
) -> impl IntoView {
    move || match live.link.get() {
        Link::Off => None,
        Link::Connecting => Some(view! { <Badge text="connecting…" dot=true /> }),
        Link::Live => {
            Some(view! { <Badge text="live" tone=Tone::Good dot=true title="Updates as it happens" /> })
        }
        Link::Reconnecting => {
            let title = "The connection broke; what is shown may be old";
            Some(view! { <Badge text="reconnecting…" tone=Tone::Warn dot=true title /> })
        }
    }
}

/// The engines at work in this run, each once.
#[component]
fn Engines(
    /// The run.
    live: Live,
) -> impl IntoView {
    let engines = Memo::new(move |_| {
        let mut engines: Vec<Engine> = live
            .run
            .with(|run| run.sims.iter().map(|sim| sim.engine).collect());
        engines.sort_unstable();
        engines.dedup();
        engines
    });
    move || {
        engines
            .get()
            .into_iter()
            .map(|engine| view! { <EngineBadge engine /> })
            .collect::<Vec<_>>()
    }
}

/// How far the run has come.
#[component]
fn Figures(
    /// The run.
    live: Live,
) -> impl IntoView {
    let run = live.run;
    let sims = Memo::new(move |_| {
        run.with(|run| {
            let done = run.sims.iter().filter(|sim| sim.state.is_terminal()).count() as u64;
            (done, run.sims.len() as u64)
        })
    });
    let kernels = Memo::new(move |_| {
        run.with(|run| {
            let sum = |of: fn(&cascade_api::SimSummary) -> u64| run.sims.iter().map(of).sum::<u64>();
            (sum(|sim| sim.kernels_done), sum(|sim| sim.kernels_total))
        })
    });
    let created = run.with_untracked(|run| run.summary.created_at);
    let ended = Signal::derive(move || {
        run.with(|run| match run.summary.state {
            RunState::Active => None,
            _ => run.sims.iter().filter_map(|sim| sim.finished_at).max(),
        })
    });
    let of = |(done, all): (u64, u64)| format!("{} of {}", format::count(done), format::count(all));
    view! {
        <dl class="stats card">
            <Stat label="Simulations ended">
                <span role="status">{move || of(sims.get())}</span>
            </Stat>
            <Stat label="Kernels simulated">
                {move || of(kernels.get())}
                <Progress
                    label="Kernels simulated"
                    done=Signal::derive(move || kernels.get().0)
                    total=Signal::derive(move || kernels.get().1)
                />
            </Stat>
            <Stat label="Elapsed">
                <Elapsed from=Some(created) to=ended />
            </Stat>
            <Stat label="Created"><Age at=created /></Stat>
        </dl>
    }
}
