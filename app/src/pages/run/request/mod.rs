//! Request time: what steps and whole requests are predicted to take on each GPU, held against the real one.
//!
//! Everything here comes from digests, whose size does not depend on the number of kernels.

mod corrections;
mod coverage;
mod details;
mod groups;
mod steps;
mod tiles;

use cascade_api::{RunDetail, RunId, RunState, SimStepDigest};
use cascade_scene::explorer::{Key, MAX_GPUS, State};
use cascade_scene::request;
use leptos::prelude::*;

use crate::data::{self, segment};
use crate::live::Live;
use crate::ui::{ButtonLink, Card, Notice, Tone};
use details::Details;
use steps::StepTime;
use tiles::Tiles;

/// The part of the page. Read again whenever another sim has finished.
#[component]
pub(super) fn Request(
    /// The run.
    live: Live,
    /// Its id.
    run: RunId,
    /// Its digests when the page was made.
    digests: Vec<SimStepDigest>,
) -> impl IntoView {
    let digests = RwSignal::new(digests);
    let finished = Memo::new(move |_| {
        live.run
            .with(|run| run.sims.iter().filter(|sim| sim.state.is_terminal()).count())
    });
    let id = run.clone();
    Effect::new(move |before: Option<usize>| {
        let now = finished.get();
        if before.is_some_and(|before| before != now) {
            let id = id.clone();
            leptos::task::spawn_local_scoped(async move {
                // On failure the page stays as it was; the next sim to finish asks again.
                if let Ok(read) = data::run_digests(id).await {
                    _ = digests.try_set(read);
                }
            });
        }
        now
    });
    let columns = Memo::new(move |_| digests.with(|digests| request::columns(digests)));
    let set = live.run.with_untracked(|run| {
        let bundled = run.summary.sample;
        run.trace.sample_set.clone().filter(|_| bundled)
    });
    let explore = live.run.with_untracked(explorer_link);
    let none = Memo::new(move |_| columns.with(Vec::is_empty));
    view! {
        <div id="request-time" class="part">
            <Show when=move || !none.get() fallback=move || view! { <Nothing live digests /> }>
                <Prediction run=run.clone() set=set.clone() explore=explore.clone() columns digests />
            </Show>
        </div>
    }
}

/// The explorer on a run's trace and GPUs.
fn explorer_link(run: &RunDetail) -> String {
    let mut gpus: Vec<&str> = Vec::new();
    for sim in &run.sims {
        let gpu = sim.gpu_config.as_str();
        if !gpus.contains(&gpu) && gpus.len() < MAX_GPUS {
            gpus.push(gpu);
        }
    }
    let mut state = State::default();
    state.set(Key::Base, &format!("trace:{}", run.trace.id));
    state.set(Key::Gpus, &gpus.join(","));
    format!("/explore?{}", state.link())
}

/// Figures, the chart of a step, and the tables behind them.
#[component]
fn Prediction(
    /// The run.
    run: RunId,
    /// The sample set it is the bundled run of.
    set: Option<String>,
    /// Where other requests on the same GPUs are tried.
    explore: String,
    /// What its GPUs are predicted to do.
    columns: Memo<Vec<request::Column>>,
    /// What sims sent.
    digests: RwSignal<Vec<SimStepDigest>>,
) -> impl IntoView {
    let about = move || {
        columns.with(|columns| {
            let digest = &columns.first()?.digest;
            let repeats = digest.requests.len() as u64;
            let repeats = (repeats > 0).then(|| {
                let repeats = cascade_scene::format::plural(repeats, "repeat");
                format!("mean of {repeats} after warm-up")
            });
            let parts: Vec<_> = digest.model.clone().into_iter().chain(repeats).collect();
            Some(view! { <span class="muted">{parts.join(" · ")}</span> })
        })
    };
    // A trace of a set is compared with the set; any other run begins a comparison of its own.
    let compare = match set {
        Some(set) => format!("/compare?set={}", segment(&set)),
        None => format!("/compare?runs={}", segment(run.as_str())),
    };
    let aside = move || {
        view! {
            {about}
            <ButtonLink href=compare>"Compare"</ButtonLink>
            <ButtonLink href=explore>"Explore requests"</ButtonLink>
        }
    };
    let notes = move || columns.with(|columns| notes(columns));
    view! {
        <Card title="Request time" aside=aside>
            {notes}
            <Problems digests />
            <Tiles columns />
        </Card>
        <StepTime columns />
        <Details columns />
    }
}

/// What must be known before the numbers are read, each said once: where they come from, and what hides errors.
fn notes(columns: &[request::Column]) -> Vec<AnyView> {
    let mut said: Vec<String> = Vec::new();
    let mut views = Vec::new();
    for column in columns {
        let note = column.digest.note.clone().map(|note| (Tone::Warn, note));
        let dilution = request::dilution(&column.digest)
            .map(|text| (Tone::Neutral, format!("{}: {text}", column.label)));
        for (tone, text) in note.into_iter().chain(dilution) {
            if !said.contains(&text) {
                said.push(text.clone());
                views.push(view! { <Notice tone><p>{text}</p></Notice> }.into_any());
            }
        }
    }
    views
}

/// Timelines that could not be read.
#[component]
fn Problems(
    /// What sims sent.
    digests: RwSignal<Vec<SimStepDigest>>,
) -> impl IntoView {
    move || {
        let problems = digests.with(|digests| request::problems(digests));
        let row = |(sim, problem)| {
            view! { <Notice tone=Tone::Bad><p>{format!("{sim} sent no timeline that can be read: {problem}")}</p></Notice> }
        };
        problems.into_iter().map(row).collect::<Vec<_>>()
    }
}

/// What stands here while there is no prediction: when it comes, or how to get one.
#[component]
fn Nothing(
    /// The run.
    live: Live,
    /// What sims sent.
    digests: RwSignal<Vec<SimStepDigest>>,
) -> impl IntoView {
    let has_timeline = live.run.with_untracked(|run| run.trace.has_step_timeline);
    let state = Memo::new(move |_| live.run.with(|run| run.summary.state));
    let text = move || match (has_timeline, state.get()) {
        (true, RunState::Active) => {
            "Steps and requests appear here when the first simulation has succeeded: its kernel times then \
             replace the measured ones in the trace's step timeline."
        }
        (true, _) => {
            "No simulation of this run has sent a step timeline. One that succeeds sends it, or says in its log why not."
        }
        (false, _) => {
            "The trace has no step timeline, so only single kernels are compared. To predict whole requests, \
             profile the workload with step timing and upload corrected_timeline.json and kernel_mapping.json \
             beside metadata.json; they may come after the trace. Then start a new run."
        }
    };
    view! {
        <Card title="Request time">
            <Problems digests />
            <p class="muted">{text}</p>
            <p class="small">
                <a href="/docs/steps" rel="external">"How requests are predicted"</a>
            </p>
        </Card>
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests;
