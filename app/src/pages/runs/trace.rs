//! The trace of a new run: the choice, and what is said where it cannot run.

use cascade_api::{GpuConfig, TraceId, TraceSummary};
use cascade_scene::format;
use cascade_scene::request::SAMPLE_NOTE;
use leptos::prelude::*;

use super::form::{left_out, preselected, refusal, trace_refusal};
use crate::data::segment;
use crate::ui::{ButtonLink, Empty, Field, SelectInput, SelectOption, plain};

/// Most traces that are named together; the choice itself has all of them.
const NAMED: usize = 4;

/// The choice of a trace.
#[component]
pub(super) fn TraceField(
    /// All traces.
    traces: RwSignal<Vec<TraceSummary>>,
    /// The id of the chosen one.
    value: RwSignal<String>,
    /// The chosen one.
    chosen: Memo<Option<TraceSummary>>,
) -> impl IntoView {
    let about = move || {
        chosen.get().map(|trace| {
            let kernels = format::plural(trace.kernel_count, "kernel");
            let href = trace_href(&trace.id);
            view! {
                <p class="muted small">
                    {format!("Captured for {} · {kernels} · ", trace.trace_gpu_arch)} <a href=href>"Open the trace"</a>
                </p>
            }
        })
    };
    // Built again only when what it offers has changed: an open list would close.
    let offered = Memo::new(move |_| traces.with(|traces| options(traces)));
    let choice = move || view! { <SelectInput id="run-trace" value options=offered.get() invalid=false /> };
    let reasons = Memo::new(move |_| traces.with(|traces| left_out(traces)));
    view! {
        <div class="trace-choice">
            <Field label="Trace" id="run-trace">{choice}</Field>
            {about}
            {move || view! { <LeftOut reasons=reasons.get() /> }}
        </div>
    }
}

/// Every trace as a choice; those that cannot be simulated say why, and come last.
fn options(traces: &[TraceSummary]) -> Vec<SelectOption> {
    let option = |trace: &TraceSummary| SelectOption {
        value: trace.id.to_string(),
        label: match &trace.model {
            Some(model) => format!("{} · {model}", trace.id),
            None => trace.id.to_string(),
        },
        refused: trace_refusal(trace).map(str::to_owned),
    };
    let mut options: Vec<_> = traces.iter().map(option).collect();
    options.sort_by_key(|option| option.refused.is_some());
    options
}

/// Says which traces cannot be chosen, and why.
#[component]
pub(super) fn LeftOut(
    /// Reasons, each with its traces.
    reasons: Vec<(&'static str, Vec<TraceId>)>,
) -> impl IntoView {
    let any = !reasons.is_empty();
    let reasons: Vec<_> = reasons
        .into_iter()
        .enumerate()
        .map(|(place, (why, ids))| {
            let more = ids.len().saturating_sub(NAMED);
            let named: Vec<_> = ids.iter().take(NAMED).enumerate().map(named).collect();
            let more = (more > 0).then(|| format!(" and {more} more"));
            let before = if place > 0 { "; " } else { "" };
            view! { {before} {named} {more} {format!(" ({why})")} }
        })
        .collect();
    any.then(|| view! { <p class="muted small">"Cannot be simulated: " {reasons} "."</p> })
}

/// A link to a trace, at its place among others.
fn named((place, id): (usize, &TraceId)) -> impl IntoView + use<> {
    let before = if place > 0 { ", " } else { "" };
    view! { {before} <a href=trace_href(id)>{id.to_string()}</a> }
}

/// What stands in the place of the GPUs where the chosen trace cannot run; nothing where it can.
#[component]
pub(super) fn Blocked(
    /// The trace.
    trace: TraceSummary,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    if trace.sample {
        view! { <OnlyReplay id=trace.id /> }.into_any()
    } else if let Some(why) = trace_refusal(&trace) {
        view! {
            <Empty title="This trace is not ready">
                <p>{format!("{}.", plain(why))}</p>
                <ButtonLink href=trace_href(&trace.id)>"Open the trace"</ButtonLink>
            </Empty>
        }
        .into_any()
    } else if preselected(&trace, &gpus).is_empty() {
        view! { <NothingFits trace gpus /> }.into_any()
    } else {
        ().into_any()
    }
}

/// What is said of a sample, which has nothing to simulate.
#[component]
fn OnlyReplay(
    /// The sample.
    id: TraceId,
) -> impl IntoView {
    view! {
        <Empty title="A sample cannot be simulated">
            <p>{format!("It is {SAMPLE_NOTE} and holds no instructions. Its page offers to replay the recorded results.")}</p>
            <ButtonLink href=trace_href(&id)>"Open the sample"</ButtonLink>
        </Empty>
    }
}

/// What is said when no GPU can run the trace.
#[component]
fn NothingFits(
    /// The trace.
    trace: TraceSummary,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    let refused: Vec<_> = gpus
        .iter()
        .filter_map(|gpu| refusal(&trace, gpu).map(|why| view! { <li>{format!("{}: {why}", gpu.name)}</li> }))
        .collect();
    view! {
        <Empty title="No GPU here can run this trace">
            <p>
                "A trace holds instructions of one architecture. To model another one, capture the workload on a GPU of it."
            </p>
            <ul>{refused}</ul>
        </Empty>
    }
}

/// The trace's page.
fn trace_href(id: &TraceId) -> String {
    format!("/traces/{}", segment(id.as_str()))
}
