//! Badges: a state, an engine or a mark in one or two words.

use cascade_api::{Engine, RunState, SimState, TraceState, TraceSummary};
use cascade_scene::engine;
use cascade_scene::request::SAMPLE_NOTE;
use leptos::prelude::*;

/// What a badge's colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Neutral,
    /// Work goes on.
    Active,
    /// It went well.
    Good,
    /// Look at it.
    Warn,
    /// It went wrong.
    Bad,
}

impl Tone {
    /// Value of `data-tone`, which the style sheet reads.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::Active => "active",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// A few words on a coloured ground.
#[component]
pub fn Badge(
    /// The words.
    #[prop(into)]
    text: Signal<String>,
    /// Its colour.
    #[prop(into, optional)]
    tone: Signal<Tone>,
    /// Whether a dot stands before the words, as it does for states.
    #[prop(optional)]
    dot: bool,
    /// What it means, shown as a tooltip.
    #[prop(optional, into)]
    title: Option<String>,
) -> impl IntoView {
    let focusable = title.is_some().then_some("0");
    view! {
        <span class="badge" class:dotted=dot data-tone=move || tone.get().as_str() data-tip=title tabindex=focusable>
            {move || text.get()}
        </span>
    }
}

/// A run's state.
#[component]
pub fn RunBadge(
    /// The state.
    #[prop(into)]
    state: Signal<RunState>,
) -> impl IntoView {
    let tone = Signal::derive(move || match state.get() {
        RunState::Active => Tone::Active,
        RunState::Succeeded => Tone::Good,
        RunState::Partial => Tone::Warn,
        RunState::Failed => Tone::Bad,
        RunState::Cancelled => Tone::Neutral,
    });
    view! { <Badge text=Signal::derive(move || state.get().to_string()) tone dot=true /> }
}

/// A sim's state.
#[component]
pub fn SimBadge(
    /// The state.
    #[prop(into)]
    state: Signal<SimState>,
) -> impl IntoView {
    let tone = Signal::derive(move || match state.get() {
        SimState::Pending | SimState::Cancelled => Tone::Neutral,
        SimState::Launching | SimState::Running => Tone::Active,
        SimState::Lost => Tone::Warn,
        SimState::Succeeded => Tone::Good,
        SimState::Failed => Tone::Bad,
    });
    view! { <Badge text=Signal::derive(move || state.get().to_string()) tone dot=true /> }
}

/// A trace's state.
#[component]
pub fn TraceBadge(
    /// The state.
    state: TraceState,
) -> impl IntoView {
    let tone = match state {
        TraceState::Uploading | TraceState::Processing => Tone::Active,
        TraceState::Ready => Tone::Good,
        TraceState::Failed => Tone::Bad,
    };
    view! { <Badge text=state.to_string() tone dot=true /> }
}

/// The program that made the numbers beside it.
#[component]
pub fn EngineBadge(
    /// The program.
    #[prop(into)]
    engine: Signal<Engine>,
) -> impl IntoView {
    let tone = Signal::derive(move || match engine.get() {
        Engine::Replay => Tone::Warn,
        _ => Tone::Neutral,
    });
    view! { <Badge text=Signal::derive(move || engine::label(engine.get())) tone /> }
}

/// The marks of a trace that was not captured by its owner: synthetic, sample.
#[component]
pub fn TraceMarks<'a>(
    /// The trace.
    trace: &'a TraceSummary,
) -> impl IntoView + use<> {
    let synthetic = trace.synthetic.then(|| view! { <SyntheticBadge /> });
    let sample = trace.sample.then(|| view! { <SampleBadge /> });
    (synthetic, sample)
}

/// Marks a trace that nobody captured, and what was made from it.
#[component]
pub fn SyntheticBadge() -> impl IntoView {
    view! { <Badge text="Synthetic" tone=Tone::Warn title="Its trace was made by the synthesiser, not captured from a GPU" /> }
}

/// Marks what is bundled with the app.
#[component]
pub fn SampleBadge() -> impl IntoView {
    view! { <Badge text="Sample" tone=Tone::Warn title=format!("Bundled with the app; {SAMPLE_NOTE}") /> }
}

/// Marks a run that plays back recorded results.
#[component]
pub fn ReplayBadge() -> impl IntoView {
    view! { <Badge text="Replay" tone=Tone::Warn title="Plays back recorded results" /> }
}

/// Says below a list what the samples in it are; nothing where there are none.
#[component]
pub fn SampleNote(
    /// Whether the list has a sample.
    any: bool,
) -> impl IntoView {
    any.then(|| {
        view! { <p class="muted small sample-note"><SampleBadge /> {format!(" {SAMPLE_NOTE}, bundled with the app")}</p> }
    })
}
