//! One trace: where it comes from, what is in it, and the way to a run.

use cascade_api::{TraceDetail, TraceId, TraceState, TraceSummary};
use cascade_scene::format;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use super::kernels::KernelTable;
use super::list::{on_its_way, or_none};
use super::replay::Replay;
use crate::data::{self, segment};
use crate::ui::{
    Age, ButtonLink, Card, Crumb, Look, Notice, PageHead, Stat, Tone, TraceBadge, TraceMarks, kept, loaded,
};

/// One trace by the id in the address.
#[component]
pub(crate) fn TracePage() -> impl IntoView {
    let params = use_params_map();
    let id = move || TraceId::new(params.with(|params| params.get("id").unwrap_or_default()));
    let trace = Resource::new(id, data::trace);
    view! {
        <Title text=move || id().to_string() />
        <div class="page">{loaded(trace, |trace| view! { <Followed trace /> })}</div>
    }
}

/// The trace, followed until it is ready.
#[component]
fn Followed(
    /// The trace at first.
    trace: TraceDetail,
) -> impl IntoView {
    let coming = |trace: &TraceDetail| on_its_way(trace.summary.state);
    let trace = kept(trace, coming, move |trace| async move {
        if coming(&trace) {
            data::trace(trace.summary.id).await.map(Some)
        } else {
            Ok(None)
        }
    });
    view! { {trace.warning()} {move || view! { <Detail trace=trace.now.get() /> }} }
}

/// Everything about the trace.
#[component]
fn Detail(
    /// The trace.
    trace: TraceDetail,
) -> impl IntoView {
    let TraceDetail {
        summary,
        metadata,
        kernels,
        warnings,
    } = trace;
    let new_run = (summary.state == TraceState::Ready && !summary.sample).then(|| {
        let href = format!("/runs/new?trace={}", segment(summary.id.as_str()));
        view! { <ButtonLink look=Look::Primary href=href>"New run"</ButtonLink> }
    });
    let badges = {
        let summary = summary.clone();
        move || view! { <TraceBadge state=summary.state /> <TraceMarks trace=&summary /> }
    };
    let metadata = metadata.map(|metadata| {
        let text = serde_json::to_string_pretty(&metadata).unwrap_or_default();
        view! {
            <details class="card">
                <summary>"metadata.json"</summary>
                <pre class="text-block" tabindex="0">{text}</pre>
            </details>
        }
    });
    let kernels = if kernels.is_empty() {
        view! { <p class="muted">{no_kernels(summary.state)}</p> }.into_any()
    } else {
        view! { <KernelTable kernels sample=summary.sample /> }.into_any()
    };
    view! {
        <PageHead
            title=summary.id.to_string()
            crumb=Crumb { href: "/traces", text: "Traces" }
            badges=badges
            actions=move || new_run
        />
        <Hints summary=summary.clone() warnings />
        <Facts summary=summary />
        <Card title="Kernels">{kernels}</Card>
        {metadata}
    }
}

/// What stands in the way of a run, or should be known before one.
#[component]
fn Hints(
    /// The trace.
    summary: TraceSummary,
    /// What is odd in it.
    warnings: Vec<String>,
) -> impl IntoView {
    let warnings = (!warnings.is_empty())
        .then(|| view! { <Notice tone=Tone::Warn><p class="lines">{warnings.join("\n")}</p></Notice> });
    let error = summary
        .error
        .clone()
        .map(|error| view! { <Notice tone=Tone::Bad><p>{error}</p></Notice> });
    let waiting = summary
        .waiting_for
        .clone()
        .map(|what| view! { <p class="muted">{format!("Waiting for {what}.")}</p> });
    let sample = (summary.sample && summary.state == TraceState::Ready)
        .then(|| view! { <Replay trace=summary.clone() /> });
    let synthetic = summary.synthetic.then(|| {
        view! {
            <Notice tone=Tone::Warn>
                <p>"This trace was synthesised. Times simulated from it say nothing about a real workload."</p>
            </Notice>
        }
    });
    (error, waiting, warnings, sample, synthetic)
}

/// The trace in figures.
#[component]
fn Facts(
    /// The trace.
    summary: TraceSummary,
) -> impl IntoView {
    let layers = if summary.layers.is_empty() {
        format::NONE.to_owned()
    } else {
        summary.layers.join(", ")
    };
    let real = if summary.has_real_timing {
        "measured on the GPU"
    } else {
        "none"
    };
    let steps = if summary.has_step_timeline { "yes" } else { "none" };
    let suggested = or_none(summary.suggested_sim_config.as_ref().map(|gpu| gpu.as_str()));
    view! {
        <dl class="stats card">
            <Stat label="Model">{or_none(summary.model.as_deref())}</Stat>
            <Stat label="Captured on">{or_none(summary.source_gpu.as_deref())}</Stat>
            <Stat label="Architecture">{summary.trace_gpu_arch}</Stat>
            <Stat label="Kernels">{format::count(summary.kernel_count)}</Stat>
            <Stat label="Size">{format::bytes(summary.bytes)}</Stat>
            <Stat label="Uploaded"><Age at=summary.created_at /></Stat>
            <Stat label="Layers">{layers}</Stat>
            <Stat label="Suggested GPU">{suggested}</Stat>
            <Stat label="Real timing">{real}</Stat>
            <Stat label="Step timeline">{steps}</Stat>
        </dl>
    }
}

/// Why there are no kernels to list.
const fn no_kernels(state: TraceState) -> &'static str {
    match state {
        TraceState::Uploading => "The list fills in when the upload is complete.",
        TraceState::Processing => "The list fills in when the trace has been processed.",
        TraceState::Ready => "The trace carries no kernel statistics.",
        TraceState::Failed => "There is no list, because the trace failed.",
    }
}
