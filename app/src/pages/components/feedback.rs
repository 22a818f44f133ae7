//! What says how it stands.

use cascade_api::{Engine, RunState, SimState, TraceState};
use leptos::prelude::*;

use super::LONG;
use crate::data::DataError;
use crate::ui::{
    Badge, ButtonLink, CodeBlock, Empty, EngineBadge, FailureText, Notice, ReplayBadge, RunBadge,
    SampleBadge, SimBadge, Skeleton, Tone, TraceBadge,
};

/// Tones with their names.
const TONES: [(Tone, &str); 5] = [
    (Tone::Neutral, "neutral"),
    (Tone::Active, "active"),
    (Tone::Good, "good"),
    (Tone::Warn, "warn"),
    (Tone::Bad, "bad"),
];

/// Badges by tone, and those of each state.
#[component]
pub(super) fn Badges() -> impl IntoView {
    let tones = TONES.map(|(tone, name)| view! { <Badge text=name tone /> });
    let runs = [
        RunState::Active,
        RunState::Succeeded,
        RunState::Partial,
        RunState::Failed,
        RunState::Cancelled,
    ];
    let runs = runs.map(|state| view! { <RunBadge state /> });
    let sims = [SimState::Pending, SimState::Running, SimState::Lost];
    let sims = sims.map(|state| view! { <SimBadge state /> });
    let traces = [TraceState::Uploading, TraceState::Ready];
    let traces = traces.map(|state| view! { <TraceBadge state /> });
    view! {
        <div class="badges">{tones} <SampleBadge /> <ReplayBadge /> <EngineBadge engine=Engine::Cascade /></div>
        <div class="badges">{runs} {sims} {traces}</div>
    }
}

/// Notices by tone, and commands.
#[component]
pub(super) fn Messages() -> impl IntoView {
    let notices = [
        (
            Tone::Neutral,
            "A sample is reconstructed from published statistics.",
        ),
        (
            Tone::Warn,
            "This trace was synthesised: its times say nothing about a real workload.",
        ),
    ];
    let notices = notices.map(|(tone, text)| view! { <Notice tone><p>{text}</p></Notice> });
    view! {
        {notices}
        <Notice tone=Tone::Bad><p>"The simulator ended with code 139 in " <code>{LONG}</code></p></Notice>
        <CodeBlock code=format!("cascade upload my-trace --run-name {LONG}\ncascade runs create my-trace --gpu SM90_H100:2") />
    }
}

/// Something on its way, nothing there, and what could not be had.
#[component]
pub(super) fn Waiting() -> impl IntoView {
    let error = || {
        DataError::text(
            0,
            "The app could not be reached. Check your connection and try again.",
        )
    };
    view! {
        <Skeleton />
        <Empty title="No runs yet">
            <p>"A run simulates one trace on as many GPUs as you like, side by side."</p>
            <ButtonLink href="/runs/new">"New run"</ButtonLink>
        </Empty>
        <FailureText error=error() on_retry=Callback::new(|()| ()) />
    }
}
