//! Making a hypothetical GPU: a base, values that differ, and perhaps one value swept over a range as one run.

use std::collections::BTreeMap;

use cascade_api::{
    GpuConfig, GpuConfigCreate, GpuDetail, GpuFact, GpuName, RunCreate, RunEntry, RunId, TraceState,
    TraceSummary,
};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use super::form::{body, in_words, read_sweep, read_value, suggested};
use crate::data::{self, DataError, segment};
use crate::ui::{Card, Crumb, Field, Notice, PageHead, SelectInput, SelectOption, Tone, loaded};

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

/// A value with what is typed for it.
#[derive(Clone)]
struct Row {
    fact: GpuFact,
    text: RwSignal<String>,
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
    let prefix = base
        .as_str()
        .split_inclusive('_')
        .next()
        .unwrap_or_default()
        .to_owned();
    let rows: Vec<Row> = facts
        .base
        .facts
        .iter()
        .map(|fact| Row {
            fact: fact.clone(),
            text: RwSignal::new(String::new()),
        })
        .collect();
    let (name, swept, values, trace) = (
        RwSignal::new(format!("{prefix}MINE")),
        RwSignal::new(String::new()),
        RwSignal::new(String::new()),
        RwSignal::new(String::new()),
    );
    let known: Vec<_> = facts.base.facts.clone();
    let fact = StoredValue::new(known);
    let swept_fact =
        move || fact.with_value(|facts| facts.iter().find(|fact| fact.key == swept.get()).cloned());
    Effect::new(move || {
        if let Some(swept) = swept_fact() {
            values.set(fact.with_value(|facts| suggested(&swept, facts)));
        }
    });
    let sweep = Memo::new(move |_| match swept_fact() {
        Some(fact) => read_sweep(&fact, &values.get()).map(|values| values.map(|values| (fact.key, values))),
        None => Ok(None),
    });
    let wanted = {
        let (rows, base) = (StoredValue::new(rows.clone()), base.clone());
        Memo::new(move |_| -> Option<GpuConfigCreate> {
            let mut changes = BTreeMap::new();
            for Row { fact, text } in rows.get_value() {
                if let Some(value) = read_value(&fact, &text.get()).ok()? {
                    changes.insert(fact.key, value);
                }
            }
            let sweep = sweep.get().ok()?;
            (sweep.is_some() || !changes.is_empty()).then(|| body(base.as_str(), &name.get(), changes, sweep))
        })
    };
    let make =
        Action::new(move |(ask, trace): &(GpuConfigCreate, String)| create(ask.clone(), trace.clone()));
    let failed = RwSignal::new(None::<String>);
    let navigate = use_navigate();
    Effect::new(move || {
        let to = match make.value().get() {
            Some(Ok(Made::Gpu(name))) => format!("/gpus/{}", segment(name.as_str())),
            Some(Ok(Made::Run(id))) => format!("/runs/{}", segment(id.as_str())),
            Some(Ok(Made::Sweep(_))) => "/gpus".to_owned(),
            Some(Err(error)) => return failed.set(Some(error.to_string())),
            None => return,
        };
        navigate(&to, NavigateOptions::default());
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        failed.set(None);
        if let Some(ask) = wanted.get_untracked() {
            make.dispatch((ask, trace.get_untracked()));
        }
    };
    // Nothing works before the page is alive, so the button waits for that.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let label = move || match wanted
        .get()
        .and_then(|ask| ask.sweep)
        .map(|sweep| sweep.values.len())
    {
        Some(count) if trace.get().is_empty() => format!("Make {count} GPUs"),
        Some(count) => format!("Make {count} GPUs and run"),
        None if trace.get().is_empty() => "Make the GPU".to_owned(),
        None => "Make the GPU and run".to_owned(),
    };
    let fields: Vec<_> = rows.into_iter().map(value_row).collect();
    view! {
        <form on:submit=submit class="page-form">
            <section class="card">
                <div class="form-grid">
                    <BaseField base=base.clone() gpus=facts.gpus />
                    <Field label="Name" id="gpu-name">
                        <TextInput id="gpu-name" value=name />
                    </Field>
                    <SweepFields facts=fact swept values sweep=Signal::derive(move || sweep.get().err()) />
                    <TraceField arch=facts.base.gpu.arch traces=facts.traces trace />
                </div>
                {move || failed.get().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
                <div class="form-actions">
                    <p class="muted small">
                        "Nothing of a hypothetical GPU is validated; every screen that shows its numbers says so."
                    </p>
                    <button
                        class="button primary"
                        type="submit"
                        disabled=move || !alive.get() || make.pending().get() || wanted.get().is_none()
                    >
                        {label}
                    </button>
                </div>
            </section>
            <Card title="Values">
                <p class="muted small">{format!("Leave a field empty to keep what {base} has.")}</p>
                <div class="table-frame" role="region" aria-label="Values" tabindex="0">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">"Value"</th>
                                <th scope="col" class="number">{base.to_string()}</th>
                                <th scope="col">"Yours"</th>
                                <th scope="col">"Unit"</th>
                            </tr>
                        </thead>
                        <tbody>{fields}</tbody>
                    </table>
                </div>
            </Card>
        </form>
    }
}

/// Makes the GPUs, and a run of them on a trace where one is named. One GPU is run beside its base.
async fn create(ask: GpuConfigCreate, trace: String) -> Result<Made, DataError> {
    let (base, swept) = (GpuName::new(ask.base.clone()), ask.sweep.is_some());
    let made = data::create_gpus(ask).await?;
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
    Ok(Made::Run(data::create_run(run).await?.summary.id))
}

/// The base; another one is another address.
#[component]
fn BaseField(
    /// The base now.
    base: GpuName,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    let options = gpus
        .into_iter()
        .filter(|gpu| gpu.derived.is_none())
        .map(|gpu| option(gpu.name.as_str(), gpu.name.as_str()))
        .collect();
    let value = RwSignal::new(base.to_string());
    let navigate = use_navigate();
    Effect::new(move || {
        let chosen = value.get();
        if chosen != base.as_str() {
            navigate(
                &format!("/gpus/new?base={}", segment(&chosen)),
                NavigateOptions::default(),
            );
        }
    });
    view! {
        <Field label="Made from" id="gpu-base">
            <SelectInput id="gpu-base" value options invalid=Signal::stored(false) />
        </Field>
    }
}

/// Which value is swept, and over what.
#[component]
fn SweepFields(
    /// The base's values.
    facts: StoredValue<Vec<GpuFact>>,
    /// The key that is swept; empty for none.
    swept: RwSignal<String>,
    /// Its values, as typed.
    values: RwSignal<String>,
    /// What is wrong with them.
    sweep: Signal<Option<String>>,
) -> impl IntoView {
    let mut options = vec![option("", "Nothing: one GPU")];
    options.extend(facts.with_value(|facts| {
        facts
            .iter()
            .map(|fact| option(&fact.key, &in_words(&fact.key)))
            .collect::<Vec<_>>()
    }));
    view! {
        <Field label="Sweep one value" id="gpu-sweep">
            <SelectInput id="gpu-sweep" value=swept options invalid=Signal::stored(false) />
        </Field>
        <Show when=move || !swept.get().is_empty()>
            <Field label="Its sizes" id="gpu-sizes" error=sweep>
                <TextInput id="gpu-sizes" value=values />
            </Field>
        </Show>
    }
}

/// The trace to run on at once, if any.
#[component]
fn TraceField(
    /// The base's architecture.
    arch: String,
    /// All traces.
    traces: Vec<TraceSummary>,
    /// The chosen one; empty for none.
    trace: RwSignal<String>,
) -> impl IntoView {
    let fits = |trace: &&TraceSummary| {
        trace.state == TraceState::Ready && !trace.sample && trace.trace_gpu_arch == arch
    };
    let mut options = vec![option("", "No trace: only make it")];
    options.extend(
        traces
            .iter()
            .filter(fits)
            .map(|trace| option(trace.id.as_str(), trace.id.as_str())),
    );
    view! {
        <Field label="Run at once on" id="gpu-trace">
            <SelectInput id="gpu-trace" value=trace options invalid=Signal::stored(false) />
        </Field>
    }
}

fn option(value: &str, label: &str) -> SelectOption {
    SelectOption {
        value: value.to_owned(),
        label: label.to_owned(),
        refused: None,
    }
}

/// A line of text.
#[component]
fn TextInput(
    /// The element's id.
    id: &'static str,
    /// The text in it.
    value: RwSignal<String>,
) -> impl IntoView {
    view! {
        <input
            class="input"
            type="text"
            id=id
            aria-describedby=format!("{id}-error")
            prop:value=move || value.get()
            value=value.get_untracked()
            on:input=move |event| value.set(event_target_value(&event))
        />
    }
}

/// One value: what the base has, and a field for another size.
fn value_row(Row { fact, text }: Row) -> impl IntoView {
    let id = format!("value-{}", fact.key.replace('.', "-"));
    let error = {
        let fact = fact.clone();
        Memo::new(move |_| read_value(&fact, &text.get()).err())
    };
    let label = format!("{}, in {}", in_words(&fact.key), fact.unit);
    view! {
        <tr>
            <td title=fact.source>{in_words(&fact.key)}</td>
            <td class="number nowrap">{fact.value.to_string()}</td>
            <td>
                <input
                    class="input number"
                    type="text"
                    inputmode="decimal"
                    id=id.clone()
                    aria-label=label
                    aria-invalid=move || error.get().is_some().to_string()
                    aria-describedby=format!("{id}-error")
                    placeholder=fact.value.to_string()
                    prop:value=move || text.get()
                    on:input=move |event| text.set(event_target_value(&event))
                />
                <p class="field-error" id=format!("{id}-error") role="alert">{move || error.get()}</p>
            </td>
            <td class="nowrap">{fact.unit}</td>
        </tr>
    }
}
