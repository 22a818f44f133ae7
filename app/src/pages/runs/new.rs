//! Starting a run: a row for each GPU, with a count.

use cascade_api::{
    GpuConfig, RunCreate, RunEntry, TraceDetail, TraceId, TraceState, TraceSummary, limits::MAX_COUNT,
};
use cascade_scene::request::SAMPLE_NOTE;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use super::form::{
    Refused, describe, launch_label, not_offered, preselected, read_count, refusal, share_out,
};
use crate::data::{self, segment};
use crate::pages::traces::trace_table;
use crate::ui::{
    Button, ButtonLink, Card, Crumb, Empty, Field, Icon, IconName, Look, Notice, NumberInput, PageHead,
    SelectInput, SelectOption, Tone, loaded,
};

/// The form, or first the choice of a trace where the address names none.
#[component]
pub(crate) fn NewRun() -> impl IntoView {
    let query = use_query_map();
    let id = move || {
        query
            .with(|query| query.get("trace"))
            .filter(|id| !id.is_empty())
            .map(TraceId::from)
    };
    let facts = Resource::new(id, |id| async move {
        match id {
            Some(id) => Ok(Choice::Form(
                Box::new(data::trace(id).await?),
                data::gpu_configs().await?,
            )),
            None => Ok(Choice::Traces(data::traces().await?)),
        }
    });
    view! {
        <Title text="New run" />
        <div class="page">
            <PageHead title="New run" crumb=Crumb { href: "/runs", text: "Runs" } />
            {loaded(
                facts,
                |choice| match choice {
                    Choice::Form(trace, gpus) => view! { <Form trace=*trace gpus /> }.into_any(),
                    Choice::Traces(traces) => view! { <ChooseTrace traces /> }.into_any(),
                },
            )}
        </div>
    }
}

/// What the page needs.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum Choice {
    /// A trace, and the GPUs there are.
    Form(Box<TraceDetail>, Vec<GpuConfig>),
    /// No trace yet: those there are.
    Traces(Vec<TraceSummary>),
}

/// The traces a run can start from.
#[component]
fn ChooseTrace(
    /// All of them.
    traces: Vec<TraceSummary>,
) -> impl IntoView {
    let ready: Vec<_> = traces
        .into_iter()
        .filter(|t| t.state == TraceState::Ready && !t.sample)
        .collect();
    if ready.is_empty() {
        view! {
            <Empty title="No trace is ready">
                <p>"A run needs a trace that is uploaded and processed."</p>
                <ButtonLink href="/traces">"See the traces"</ButtonLink>
            </Empty>
        }
        .into_any()
    } else {
        view! {
            <p class="muted">"Open the trace to simulate, then choose " <b>"New run"</b> "."</p>
            <Card title="Ready traces">{trace_table(&ready)}</Card>
        }
        .into_any()
    }
}

/// A row of the form as it is being filled in.
#[derive(Clone, Copy)]
struct Row {
    key: usize,
    gpu: RwSignal<String>,
    count: RwSignal<String>,
}

impl Row {
    /// A row with a count of 1.
    fn new(key: usize, gpu: &str) -> Self {
        Self {
            key,
            gpu: RwSignal::new(gpu.to_owned()),
            count: RwSignal::new("1".to_owned()),
        }
    }

    /// The row as it is sent, once its count is a number within limits.
    fn entry(self) -> Option<RunEntry> {
        let count = read_count(&self.count.get()).ok()?;
        Some(RunEntry {
            gpu_config: self.gpu.get().into(),
            count,
        })
    }
}

/// Rows of GPU and count, and the button that launches them.
#[component]
fn Form(
    /// The trace to simulate.
    trace: TraceDetail,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    let trace = trace.summary;
    if trace.sample {
        return view! { <OnlyReplay trace /> }.into_any();
    }
    let chosen = preselected(&trace, &gpus);
    let Some(first) = chosen.first().cloned() else {
        return view! { <NothingFits trace gpus /> }.into_any();
    };
    let rows = RwSignal::new(
        (0..)
            .zip(&chosen)
            .map(|(key, gpu)| Row::new(key, gpu.as_str()))
            .collect::<Vec<_>>(),
    );
    let refused = RwSignal::new(Refused::default());
    let options = options(&trace, &gpus);
    let left_out = not_offered(&trace, &gpus).map(|text| view! { <p class="muted small">{text}</p> });
    let gpus = StoredValue::new(gpus);

    // Nothing works before the page is alive, so the button waits for that.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let entries = Memo::new(move |_| rows.get().into_iter().map(Row::entry).collect::<Option<Vec<_>>>());
    let sims = move || {
        entries
            .get()
            .map_or(0, |entries| entries.iter().map(|entry| entry.count).sum())
    };

    let id = trace.id.clone();
    let launch = Action::new(move |entries: &Vec<RunEntry>| {
        let body = RunCreate {
            trace_id: id.clone(),
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
        Some(Err(answer)) => refused.set(answer),
        None => {}
    });
    let busy = launch.pending();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        refused.set(Refused::default());
        if let Some(entries) = entries.get_untracked().filter(|_| !busy.get_untracked()) {
            launch.dispatch(entries);
        }
    };
    let add = move |()| {
        rows.update(|rows| {
            let key = rows.iter().map(|row| row.key + 1).max().unwrap_or(0);
            rows.push(Row::new(key, first.as_str()));
        });
    };
    let other = move || {
        refused
            .get()
            .other
            .map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })
    };
    let href = format!("/traces/{}", segment(trace.id.as_str()));
    view! {
        <form class="card" on:submit=submit>
            <div class="card-head">
                <h2>"Simulate " <a href=href>{trace.id.to_string()}</a></h2>
                <span class="muted">{format!("captured for {}", trace.trace_gpu_arch)}</span>
            </div>
            <For each=move || rows.get() key=|row| row.key let:row>
                <EntryRow row rows refused gpus options=options.clone() />
            </For>
            {left_out}
            {other}
            <div class="form-actions">
                <Button on_press=add>
                    <Icon name=IconName::Plus />
                    "Add a GPU"
                </Button>
                <button
                    class="button primary"
                    type="submit"
                    disabled=move || !alive.get() || busy.get() || entries.get().is_none()
                >
                    {move || if busy.get() { "Launching…".to_owned() } else { launch_label(sims()) }}
                </button>
            </div>
            <noscript>
                <p class="muted">"Launching from this page needs JavaScript; "<code>"POST /api/runs"</code>" does not."</p>
            </noscript>
        </form>
    }
    .into_any()
}

/// One GPU with its count.
#[component]
fn EntryRow(
    /// The row.
    row: Row,
    /// All rows, to remove this one from.
    rows: RwSignal<Vec<Row>>,
    /// What the server refused.
    refused: RwSignal<Refused>,
    /// What is known of the GPUs.
    gpus: StoredValue<Vec<GpuConfig>>,
    /// The GPUs to choose from.
    options: Vec<SelectOption>,
) -> impl IntoView {
    let place = Memo::new(move |_| rows.with(|rows| rows.iter().position(|other| other.key == row.key)));
    let server = Memo::new(move |_| {
        let place = place.get()?;
        refused.with(|refused| {
            refused
                .rows
                .iter()
                .find(|(at, _)| *at == place)
                .map(|(_, text)| text.clone())
        })
    });
    let count_error = Memo::new(move |_| read_count(&row.count.get()).err());
    let about =
        move || {
            let chosen = row.gpu.get();
            gpus.with_value(|gpus| {
            let gpu = gpus.iter().find(|gpu| gpu.name.as_str() == chosen)?;
            let notes: Vec<_> = gpu.notes.iter().map(|note| view! { <li>{note.clone()}</li> }).collect();
            Some(view! { <div class="entry-about muted small"><p>{describe(gpu)}</p> <ul>{notes}</ul></div> })
        })
        };
    let (gpu_id, count_id) = (format!("gpu-{}", row.key), format!("count-{}", row.key));
    view! {
        <div class="entry-row" role="group" aria-label="GPU and count">
            <Field label="GPU" id=gpu_id.clone() error=server>
                <SelectInput id=gpu_id value=row.gpu options invalid=Signal::derive(move || server.get().is_some()) />
            </Field>
            <Field label="Simulations" id=count_id.clone() error=count_error>
                <NumberInput
                    id=count_id
                    value=row.count
                    range=(1, MAX_COUNT)
                    invalid=Signal::derive(move || count_error.get().is_some())
                />
            </Field>
            <Button
                look=Look::Ghost
                label="Remove this GPU"
                disabled=Signal::derive(move || rows.with(Vec::len) == 1)
                on_press=move |()| rows.update(|rows| rows.retain(|other| other.key != row.key))
            >
                <Icon name=IconName::Cross />
            </Button>
            {about}
        </div>
    }
}

/// Every GPU as a choice; those that do not fit say why.
fn options(trace: &TraceSummary, gpus: &[GpuConfig]) -> Vec<SelectOption> {
    let option = |gpu: &GpuConfig| SelectOption {
        value: gpu.name.to_string(),
        label: gpu.name.to_string(),
        refused: refusal(trace, gpu),
    };
    gpus.iter().map(option).collect()
}

/// What is said of a sample, which has nothing to simulate.
#[component]
fn OnlyReplay(
    /// The sample.
    trace: TraceSummary,
) -> impl IntoView {
    view! {
        <Empty title="A sample cannot be simulated">
            <p>{format!("It is {SAMPLE_NOTE} and holds no instructions. Its page offers to replay the recorded results.")}</p>
            <ButtonLink href=format!("/traces/{}", segment(trace.id.as_str()))>"Open the sample"</ButtonLink>
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
