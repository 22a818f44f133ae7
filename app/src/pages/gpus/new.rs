//! Making a hypothetical GPU: a base, values that differ, and perhaps one value swept over a range as one run.

use cascade_api::{
    GpuConfig, GpuConfigCreate, GpuDetail, GpuFact, GpuName, RunCreate, RunEntry, RunId, TraceSummary,
};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use super::fields::{BaseField, Row, SweepFields, TraceField, at, value_row, wrong_at};
use super::form::{read_sweep, suggested, sweep_name};
use super::send::{NAME, prefix, read, share_out};
use crate::data::{self, segment};
use crate::ui::{Card, Crumb, Field, Notice, PageHead, Refusal, TextInput, Tone, loaded, plain_answer};

/// The base that is offered first.
const FIRST: &str = "SM90_H100";

/// What the form needs.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Facts {
    base: GpuDetail,
    gpus: Vec<GpuConfig>,
    traces: Vec<TraceSummary>,
}

/// The form, for the base that the address names.
#[component]
pub(crate) fn NewGpu() -> impl IntoView {
    let query = use_query_map();
    let base = move || {
        query
            .with(|query| query.get("base"))
            .unwrap_or_else(|| FIRST.to_owned())
    };
    let facts = Resource::new(base, |base| async move {
        Ok(Facts {
            base: data::gpu_detail(GpuName::new(base)).await?,
            gpus: data::gpu_configs().await?,
            traces: data::traces().await?,
        })
    });
    view! {
        <Title text="Make a GPU" />
        <div class="page">
            <PageHead title="Make a GPU" crumb=Crumb { href: "/gpus", text: "GPUs" } />
            {loaded(facts, |facts| view! { <Form facts /> })}
        </div>
    }
}

/// What became of the form.
#[derive(Clone, Debug, PartialEq)]
enum Made {
    Gpu(GpuName),
    Run(RunId),
    Sweep(usize),
}

#[component]
fn Form(
    /// Base, other GPUs and traces.
    facts: Facts,
) -> impl IntoView {
    let base = facts.base.gpu.name.clone();
    // The address may bring values, as that of another GPU's "Change values" does.
    let query = use_query_map().get_untracked();
    let rows: Vec<Row> = facts
        .base
        .facts
        .iter()
        .map(|fact| Row {
            fact: fact.clone(),
            text: RwSignal::new(query.get(&fact.key).unwrap_or_default()),
        })
        .collect();
    let (name, swept, values, trace) = (
        RwSignal::new(format!("{}MINE", prefix(base.as_str()))),
        RwSignal::new(String::new()),
        RwSignal::new(String::new()),
        RwSignal::new(String::new()),
    );
    let known: Vec<_> = facts.base.facts.clone();
    let fact = StoredValue::new(known);
    let swept_fact =
        move || fact.with_value(|facts| facts.iter().find(|fact| fact.key == swept.get()).cloned());
    let (of, default) = (base.clone(), name.get_untracked());
    Effect::new(move || {
        if let Some(swept) = swept_fact() {
            values.set(fact.with_value(|facts| suggested(&swept, facts)));
            // Two sweeps of different values must not meet; a name of one's own stays.
            let before = name.get_untracked();
            let of_sweep = |fact: &GpuFact| before == sweep_name(of.as_str(), &fact.key);
            if before == default || fact.with_value(|facts| facts.iter().any(of_sweep)) {
                name.set(sweep_name(of.as_str(), &swept.key));
            }
        }
    });
    let sweep = Memo::new(move |_| match swept_fact() {
        Some(fact) => match read_sweep(&fact, &values.get())? {
            Some(values) => Ok(Some((fact.key, values))),
            None => Err(format!("At least one size, such as {}", fact.value)),
        },
        None => Ok(None),
    });
    let read_form = {
        let (rows, base) = (rows.clone(), base.clone());
        move || {
            let values = rows
                .iter()
                .map(|row| (row.fact.clone(), row.text.get_untracked()));
            let values: Vec<_> = values.collect();
            read(
                base.as_str(),
                &name.get_untracked(),
                sweep.get_untracked(),
                &values,
            )
        }
    };
    let refusal = RwSignal::new(Refusal::default());
    let refuse = move |wrong: Refusal| {
        refusal.set(wrong.clone());
        wrong.focus();
    };
    let make = Action::new(move |(ask, trace): &(GpuConfigCreate, String)| {
        create(ask.clone(), trace.clone(), fact.get_value())
    });
    let busy = make.pending();
    let navigate = use_navigate();
    Effect::new(move || {
        let to = match make.value().get() {
            Some(Ok(Made::Gpu(name))) => format!("/gpus/{}", segment(name.as_str())),
            Some(Ok(Made::Run(id))) => format!("/runs/{}", segment(id.as_str())),
            Some(Ok(Made::Sweep(_))) => "/gpus".to_owned(),
            Some(Err(wrong)) => return refuse(wrong),
            None => return,
        };
        navigate(&to, NavigateOptions::default());
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        match read_form() {
            Ok(ask) => {
                refusal.set(Refusal::default());
                make.dispatch((ask, trace.get_untracked()));
            }
            Err(wrong) => refuse(wrong),
        }
    };
    // What was said of a field holds until it is changed.
    let changed = move |event: leptos::ev::Event| {
        let id = event_target::<web_sys::Element>(&event).id();
        if refusal.with_untracked(|refusal| !refusal.is_empty()) {
            refusal.update(|refusal| *refusal = refusal.without(&id));
        }
    };
    let failed = move || refusal.with(|refusal| refusal.other.clone());
    let fields: Vec<_> = rows.into_iter().map(|row| value_row(row, refusal)).collect();
    let count = Signal::derive(move || sweep.get().ok().flatten().map(|(_, values)| values.len()));
    view! {
        <form on:submit=submit on:input=changed class="page-form">
            <section class="card">
                <div class="form-grid">
                    <BaseField base=base.clone() gpus=facts.gpus refusal />
                    <Field label="Name" id=NAME error=at(refusal, NAME)>
                        <TextInput id=NAME value=name invalid=wrong_at(refusal, NAME) />
                    </Field>
                    <SweepFields facts=fact swept values sweep=Signal::derive(move || sweep.get().err()) refusal />
                    <TraceField arch=facts.base.gpu.arch traces=facts.traces trace />
                </div>
                {move || failed().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
                <Make count runs=Signal::derive(move || !trace.get().is_empty()) busy=busy.into() />
            </section>
            <Card title="Values">
                <p class="muted small">{format!("Leave a field empty to keep what {base} has.")}</p>
                <div class="table-frame" role="region" aria-label="Values" tabindex="0">
                    <table class="value-table">
                        <thead>
                            <tr>
                                <th scope="col">"Value"</th>
                                <th scope="col" class="number">{base.to_string()}</th>
                                <th scope="col">"Yours"</th>
                            </tr>
                        </thead>
                        <tbody>{fields}</tbody>
                    </table>
                </div>
            </Card>
        </form>
    }
}

/// The button at the end of the form, with what should be known before it is pressed. It stays as it is while the
/// GPU is made, since a button that is disabled loses the focus.
#[component]
fn Make(
    /// How many GPUs a sweep makes; `None` for one GPU.
    count: Signal<Option<usize>>,
    /// Whether a run follows.
    runs: Signal<bool>,
    /// Whether the GPU is being made.
    busy: Signal<bool>,
) -> impl IntoView {
    // Nothing works before the page is alive, so the button waits for that.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let label = move || {
        let what = match count.get() {
            _ if busy.get() => return "Making…".to_owned(),
            Some(count) => format!("Make {count} GPUs"),
            None => "Make the GPU".to_owned(),
        };
        if runs.get() {
            format!("{what} and run")
        } else {
            what
        }
    };
    let note = move || {
        if alive.get() {
            "Nothing of a hypothetical GPU is validated; every screen that shows its numbers says so."
        } else {
            "The form is being loaded; then it can be sent."
        }
    };
    view! {
        <div class="form-actions">
            <p class="muted small">{note}</p>
            <button
                class="button primary"
                type="submit"
                disabled=move || !alive.get()
                aria-busy=move || busy.get().then_some("true")
            >
                {label}
            </button>
        </div>
        <noscript>
            <p class="muted">
                "Making a GPU on this page needs JavaScript; " <code>"POST /api/gpu-configs"</code> " does not."
            </p>
        </noscript>
    }
}

/// Makes the GPUs, and a run of them on a trace where one is named. One GPU is run beside its base.
async fn create(ask: GpuConfigCreate, trace: String, facts: Vec<GpuFact>) -> Result<Made, Refusal> {
    let (base, swept) = (GpuName::new(ask.base.clone()), ask.sweep.is_some());
    let made = data::create_gpus(ask.clone()).await;
    let made = made.map_err(|error| share_out(&error.body, &ask, &facts))?;
    if trace.is_empty() {
        return Ok(match made.as_slice() {
            [one] => Made::Gpu(one.name.clone()),
            many => Made::Sweep(many.len()),
        });
    }
    let first = (!swept).then_some(base);
    let names = first.into_iter().chain(made.into_iter().map(|gpu| gpu.name));
    let entries = names
        .map(|gpu_config| RunEntry { gpu_config, count: 1 })
        .collect();
    let run = RunCreate {
        trace_id: trace.into(),
        entries,
        replay: false,
    };
    match data::create_run(run).await {
        Ok(run) => Ok(Made::Run(run.summary.id)),
        // The same form can be sent again: a GPU that is there with the same values counts as made.
        Err(error) => Err(Refusal::other(format!(
            "It was made, but its run did not start: {}",
            plain_answer(&error.body)
        ))),
    }
}
