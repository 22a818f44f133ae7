//! The way of somebody new to the first result. Each step is ticked off by what is there, not by what was pressed.

use cascade_api::{Health, RunCreate, TraceSummary};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::facts::{Facts, arrived, two_gpus};
use super::send::SendTrace;
use crate::data::{self, segment};
use crate::ui::{Badge, Button, ButtonLink, Card, Icon, IconName, Look, Notice, Tab, Tabs, Tone};

/// Whether the newcomer got as far as a step.
type Reached = fn(&super::facts::Progress) -> bool;

/// The three steps.
#[component]
pub(super) fn Guide(
    /// What is known, kept up to date.
    facts: RwSignal<Facts>,
    /// What the app says of its bucket.
    health: Option<Health>,
) -> impl IntoView {
    let progress = Memo::new(move |_| facts.with(Facts::progress));
    // Which trace is to be simulated as soon as it is ready: the one that was asked for here.
    let wanted = RwSignal::new(None::<cascade_api::TraceId>);
    let problem = RwSignal::new(None::<String>);
    let navigate = use_navigate();
    let launch = Action::new_local(move |trace: &TraceSummary| {
        let body = RunCreate {
            trace_id: trace.id.clone(),
            entries: facts.with_untracked(|facts| two_gpus(trace, &facts.gpus)),
            replay: false,
        };
        data::create_run(body)
    });
    Effect::new(move || match launch.value().get() {
        Some(Ok(run)) => {
            let href = format!("/runs/{}", segment(run.summary.id.as_str()));
            navigate(&href, NavigateOptions::default());
        }
        Some(Err(error)) => problem.set(Some(error.to_string())),
        None => {}
    });
    Effect::new(move || {
        let Some(id) = wanted.get() else { return };
        let trace = facts.with(|facts| facts.traces.iter().find(|trace| trace.id == id).cloned());
        if let Some(trace) = trace.filter(|trace| trace.state == cascade_api::TraceState::Ready) {
            wanted.set(None);
            launch.dispatch_local(trace);
        }
    });
    let make = Action::new_local(|(): &()| data::make_synthetic_trace());
    Effect::new(move || match make.value().get() {
        Some(Ok(made)) => wanted.set(Some(made.id)),
        Some(Err(error)) => problem.set(Some(error.to_string())),
        None => {}
    });
    let busy = Signal::derive(move || {
        make.pending().get() || launch.pending().get() || wanted.with(Option::is_some)
    });
    // Nothing works before the page is alive, so the buttons wait for that.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let waits = Signal::derive(move || !alive.get());

    let coming = move || {
        let row = |trace: TraceSummary| {
            let tone = if trace.error.is_some() {
                Tone::Bad
            } else {
                Tone::Active
            };
            let href = format!("/traces/{}", segment(trace.id.as_str()));
            view! {
                <li>
                    <Badge text=trace.state.to_string() tone dot=true />
                    " " <a href=href>{trace.id.to_string()}</a> " " <span class="muted">{arrived(&trace)}</span>
                </li>
            }
        };
        progress.get().coming.into_iter().map(row).collect::<Vec<_>>()
    };
    let waiting = move || {
        let none = progress.with(|now| now.ready.is_none() && now.coming.is_empty());
        none.then(|| view! { <p class="muted small">"Waiting for your trace: it appears here with its first file."</p> })
    };
    let ready = move || {
        progress.get().ready.map(|trace| {
            let href = format!("/traces/{}", segment(trace.id.as_str()));
            view! { <p><Icon name=IconName::Check /> " " <a href=href>{trace.id.to_string()}</a> " is ready."</p> }
        })
    };
    let simulate = move || {
        progress.get().ready.map(|trace| {
            let choose = format!("/runs/new?trace={}", segment(trace.id.as_str()));
            let gpus = facts.with_untracked(|facts| two_gpus(&trace, &facts.gpus));
            let names: Vec<_> = gpus.iter().map(|entry| entry.gpu_config.as_str()).collect();
            let label = format!("Simulate on {}", names.join(" and "));
            let none = names.is_empty();
            view! {
                <div class="actions">
                    {(!none)
                        .then(|| {
                            view! {
                                <Button look=Look::Primary disabled=waits busy on_press=move |()| _ = launch.dispatch_local(trace.clone())>
                                    {label}
                                </Button>
                            }
                        })}
                    <ButtonLink href=choose>"Choose GPUs"</ButtonLink>
                </div>
            }
        })
    };
    let read = move || {
        let now = progress.get();
        now.run.map(|run| {
            let href = format!("/runs/{}", segment(run.id.as_str()));
            view! { <ButtonLink href=href>{format!("Open {}", run.id)}</ButtonLink> }
        })
    };
    let told = move || {
        if make.pending().get() {
            Some("Writing the trace…")
        } else if wanted.with(Option::is_some) {
            Some("The trace is there; the app takes it in, then the simulation starts by itself…")
        } else if launch.pending().get() {
            Some("Starting the simulation…")
        } else {
            None
        }
    };
    let synthetic = view! {
        <p class="muted">
            "Kernels like those of OPT-125m, scaled down, simulated on two GPUs: a real simulation, of a trace that is marked as synthetic everywhere."
        </p>
        <div class="actions">
            <Button look=Look::Primary disabled=waits busy on_press=move |()| _ = make.dispatch_local(())>
                "Try it with a small synthetic trace"
            </Button>
            <span class="muted small" role="status">{told}</span>
        </div>
    };
    let own = view! { <SendTrace health /> {waiting} };
    let tabs = vec![
        Tab {
            title: "A synthetic trace",
            view: synthetic.into_any(),
        },
        Tab {
            title: "A trace of your own",
            view: own.into_any(),
        },
    ];
    let done = move |which: Reached| move || if progress.with(which) { "true" } else { "false" };
    let tick = move |which: Reached| {
        move || {
            progress
                .with(which)
                .then(|| view! { <span class="visually-hidden">" (done)"</span> })
        }
    };
    let has_trace: Reached = |now| now.ready.is_some();
    let has_run: Reached = |now| now.run.is_some();
    let has_result: Reached = |now| now.result.is_some();
    view! {
        <Card title="Your first result">
            <ol class="steps">
                <li data-done=done(has_trace)>
                    <h3>"Get a trace" {tick(has_trace)}</h3>
                    <Tabs label="Where the trace comes from" id="first" tabs />
                    <ul class="coming">{coming}</ul>
                    {ready}
                </li>
                <li data-done=done(has_run)>
                    <h3>"Simulate it on GPUs" {tick(has_run)}</h3>
                    <p class="muted">"Every GPU of the trace's architecture runs the same kernels, side by side."</p>
                    {simulate}
                </li>
                <li data-done=done(has_result)>
                    <h3>"Read what came out" {tick(has_result)}</h3>
                    <p class="muted">"Time by kernel, why it takes that long, and requests per second."</p>
                    {read}
                </li>
            </ol>
            {move || problem.get().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
        </Card>
    }
}
