//! Starting a run: a trace, and a row for each GPU with a count, all in one form.

use cascade_api::{GpuConfig, RunCreate, RunEntry, TraceId, TraceState, TraceSummary};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use super::form::{Refused, first_trace, launch_label, left_out, not_offered, share_out, trace_refusal};
use super::rows::{EntryRow, Row, next_key, options, rows_for};
use super::trace::{Blocked, LeftOut, TraceField};
use crate::data::{self, segment};
use crate::ui::{
    Button, ButtonLink, Crumb, Empty, Icon, IconName, Notice, PageHead, SelectOption, Tone, focus_on, kept,
    loaded,
};

/// The form; the address may name the trace that is chosen at first.
#[component]
pub(crate) fn NewRun() -> impl IntoView {
    let query = use_query_map();
    let asked = move || {
        query
            .with(|query| query.get("trace"))
            .filter(|id| !id.is_empty())
            .map(TraceId::from)
    };
    let facts = Resource::new(asked, |asked| async move {
        let mut traces = data::traces().await?;
        // A link to a trace that is not there is answered as the trace's own page would be.
        if let Some(id) = asked
            .as_ref()
            .filter(|id| traces.iter().all(|trace| trace.id != **id))
        {
            traces.push(data::trace(id.clone()).await?.summary);
        }
        Ok(Facts {
            asked,
            traces,
            gpus: data::gpu_configs().await?,
        })
    });
    view! {
        <Title text="New run" />
        <div class="page">
            <PageHead title="New run" crumb=Crumb { href: "/runs", text: "Runs" } />
            {loaded(facts, |facts| view! { <Choice facts /> })}
        </div>
    }
}

/// What the page needs.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Facts {
    /// The trace that the address names.
    asked: Option<TraceId>,
    /// All traces.
    traces: Vec<TraceSummary>,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
}

/// The form, once there is a trace that can be simulated; traces that are on their way join the choice by themselves.
#[component]
fn Choice(
    /// What the page needs.
    facts: Facts,
) -> impl IntoView {
    let Facts { asked, traces, gpus } = facts;
    let coming = |traces: &Vec<TraceSummary>| {
        let on_its_way = |state| matches!(state, TraceState::Uploading | TraceState::Processing);
        traces.iter().any(|trace| on_its_way(trace.state))
    };
    let traces = kept(traces, coming, |_| async { data::traces().await.map(Some) });
    // Whoever has begun to fill in the form keeps its trace.
    let first = Memo::new(move |before: Option<&Option<TraceId>>| {
        let found = || traces.now.with(|traces| first_trace(asked.as_ref(), traces));
        before.cloned().flatten().or_else(found)
    });
    let form = move || match first.get() {
        Some(first) => view! { <Form first traces=traces.now gpus=gpus.clone() /> }.into_any(),
        None => view! { <NoTrace traces=traces.now.get() /> }.into_any(),
    };
    view! { {traces.warning()} {form} }
}

/// What is said when no trace can be simulated.
#[component]
fn NoTrace(
    /// All traces.
    traces: Vec<TraceSummary>,
) -> impl IntoView {
    view! {
        <Empty title="No trace is ready">
            <p>"A run needs a trace that is uploaded and processed."</p>
            <LeftOut reasons=left_out(&traces) />
            <ButtonLink href="/traces">"See the traces"</ButtonLink>
        </Empty>
    }
}

/// The trace, rows of GPU and count, and the button that launches them.
#[component]
fn Form(
    /// The trace that is chosen at first.
    first: TraceId,
    /// All traces.
    traces: RwSignal<Vec<TraceSummary>>,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    let gpus = StoredValue::new(gpus);
    let trace = RwSignal::new(first.to_string());
    let chosen = Memo::new(move |_| {
        let id = trace.get();
        traces.with(|traces| traces.iter().find(|trace| trace.id.as_str() == id).cloned())
    });
    let rows_of = move |trace: &TraceSummary, key| gpus.with_value(|gpus| rows_for(trace, gpus, key));
    let rows = RwSignal::new(
        chosen
            .get_untracked()
            .map(|trace| rows_of(&trace, 0))
            .unwrap_or_default(),
    );
    let refused = RwSignal::new(Refused::default());
    // What decides which GPUs there are; whatever else changes of a trace leaves what is filled in.
    let decides = Memo::new(move |_| {
        chosen.with(|trace| {
            let trace = trace.as_ref()?;
            Some((
                trace.id.clone(),
                trace_refusal(trace),
                trace.trace_gpu_arch.clone(),
            ))
        })
    });
    Effect::watch(
        move || decides.get(),
        move |_, _, _| {
            let key = rows.with_untracked(|rows| next_key(rows));
            let trace = chosen.get_untracked();
            rows.set(trace.map(|trace| rows_of(&trace, key)).unwrap_or_default());
            refused.set(Refused::default());
        },
        false,
    );
    let with_chosen = move |of: fn(&TraceSummary, &[GpuConfig]) -> Option<String>| {
        chosen.with(|trace| gpus.with_value(|gpus| trace.as_ref().and_then(|trace| of(trace, gpus))))
    };
    let offered = move || {
        let trace = chosen.get_untracked();
        trace
            .map(|trace| gpus.with_value(|gpus| options(&trace, gpus)))
            .unwrap_or_default()
    };
    let blocked = move || {
        chosen
            .get()
            .map(|trace| view! { <Blocked trace gpus=gpus.get_value() /> })
    };
    let runs = Memo::new(move |_| rows.with(|rows| !rows.is_empty()));
    let left_out = move || {
        let text = runs.get().then(|| with_chosen(not_offered)).flatten();
        text.map(|text| view! { <p class="muted small">{text}</p> })
    };
    let add = move |()| {
        let fit: Vec<_> = offered()
            .into_iter()
            .filter(|gpu| gpu.refused.is_none())
            .collect();
        rows.update(|rows| {
            let used = |gpu: &&SelectOption| rows.iter().any(|row| row.is_of(&gpu.value));
            let next = fit.iter().find(|gpu| !used(gpu)).or(fit.first());
            let next = next.map_or_else(String::new, |gpu| gpu.value.clone());
            rows.push(Row::new(next_key(rows), &next));
        });
    };
    let entries = Memo::new(move |_| rows.get().iter().map(Row::entry).collect::<Option<Vec<_>>>());
    let (launch, busy) = launching(rows, refused);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        refused.set(Refused::default());
        if let Some(entries) = entries.get_untracked().filter(|_| !busy.get_untracked()) {
            launch.run((trace.get_untracked().into(), entries));
        }
    };
    let other = move || {
        refused
            .get()
            .other
            .map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })
    };
    view! {
        <form class="card" on:submit=submit>
            <div class="card-head">
                <h2>"Simulate a trace"</h2>
            </div>
            <TraceField traces value=trace chosen />
            {blocked}
            <For each=move || rows.get() key=|row| row.key let:row>
                <EntryRow row rows refused gpus options=offered() />
            </For>
            {left_out}
            {other}
            <Show when=move || runs.get()>
                <Actions entries busy add />
            </Show>
            <noscript>
                <p class="muted">"Launching from this page needs JavaScript; "<code>"POST /api/runs"</code>" does not."</p>
            </noscript>
        </form>
    }
}

/// What launches a run and goes to its page, or shares out to the rows what the server refused; and whether it is
/// at that.
fn launching(
    rows: RwSignal<Vec<Row>>,
    refused: RwSignal<Refused>,
) -> (Callback<(TraceId, Vec<RunEntry>)>, Signal<bool>) {
    let launch = Action::new(move |(trace, entries): &(TraceId, Vec<RunEntry>)| {
        let body = RunCreate {
            trace_id: trace.clone(),
            entries: entries.clone(),
            replay: false,
        };
        async move {
            let entries = body.entries.clone();
            data::create_run(body)
                .await
                .map_err(|error| share_out(&error.body, &entries))
        }
    });
    let navigate = use_navigate();
    Effect::new(move || match launch.value().get() {
        Some(Ok(run)) => {
            navigate(
                &format!("/runs/{}", segment(run.summary.id.as_str())),
                NavigateOptions::default(),
            );
        }
        Some(Err(answer)) => {
            let first = answer.rows.iter().map(|(at, _)| *at).min();
            let field = rows.with_untracked(|rows| first.and_then(|at| rows.get(at).map(Row::gpu_id)));
            refused.set(answer);
            if let Some(field) = field {
                focus_on(field);
            }
        }
        None => {}
    });
    let send = Callback::new(move |sent| _ = launch.dispatch(sent));
    (send, launch.pending().into())
}

/// The buttons at the end of the form.
#[component]
fn Actions(
    /// What is launched; `None` while a count is wrong, which its field says.
    entries: Memo<Option<Vec<RunEntry>>>,
    /// Whether it is being launched. The button stays as it is then: one that is disabled loses the focus.
    busy: Signal<bool>,
    /// Adds a row.
    #[prop(into)]
    add: Callback<()>,
) -> impl IntoView {
    // Nothing works before the page is alive, so the button waits for that.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let sims = move || {
        entries
            .get()
            .map_or(0, |entries| entries.iter().map(|entry| entry.count).sum())
    };
    view! {
        <div class="form-actions">
            <Button on_press=add>
                <Icon name=IconName::Plus />
                "Add a GPU"
            </Button>
            <button
                class="button primary"
                type="submit"
                disabled=move || !alive.get() || entries.get().is_none()
                aria-busy=move || busy.get().then_some("true")
            >
                {move || if busy.get() { "Launching…".to_owned() } else { launch_label(sims()) }}
            </button>
        </div>
    }
}
