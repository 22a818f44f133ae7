//! The fields of the form for a hypothetical GPU.

use cascade_api::{GpuConfig, GpuFact, GpuName, TraceSummary};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::form::{in_words, read_value};
use super::send::{BASE, SIZES, SWEEP, value_id};
use crate::data::segment;
use crate::pages::runs::trace_refusal;
use crate::ui::{Field, Refusal, SelectInput, SelectOption, TextInput};

/// A value with what is typed for it.
#[derive(Clone)]
pub(super) struct Row {
    /// The value as the base has it.
    pub(super) fact: GpuFact,
    /// What is typed.
    pub(super) text: RwSignal<String>,
}

/// What is wrong at one field.
pub(super) fn at(refusal: RwSignal<Refusal>, id: &'static str) -> Signal<Option<String>> {
    Signal::derive(move || refusal.with(|refusal| refusal.at(id)))
}

/// Whether something is wrong at one field.
pub(super) fn wrong_at(refusal: RwSignal<Refusal>, id: &'static str) -> Signal<bool> {
    Signal::derive(move || refusal.with(|refusal| refusal.at(id).is_some()))
}

/// The base; another one is another address.
#[component]
pub(super) fn BaseField(
    /// The base now.
    base: GpuName,
    /// The GPUs there are.
    gpus: Vec<GpuConfig>,
    /// What is wrong with the form.
    refusal: RwSignal<Refusal>,
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
        <Field label="Made from" id=BASE error=at(refusal, BASE)>
            <SelectInput id=BASE value options invalid=wrong_at(refusal, BASE) />
        </Field>
    }
}

/// Which value is swept, and over what.
#[component]
pub(super) fn SweepFields(
    /// The base's values.
    facts: StoredValue<Vec<GpuFact>>,
    /// The key that is swept; empty for none.
    swept: RwSignal<String>,
    /// Its values, as typed.
    values: RwSignal<String>,
    /// What is wrong with them.
    sweep: Signal<Option<String>>,
    /// What is wrong with the form.
    refusal: RwSignal<Refusal>,
) -> impl IntoView {
    let sizes = Signal::derive(move || sweep.get().or_else(|| at(refusal, SIZES).get()));
    let mut options = vec![option("", "Nothing: one GPU")];
    options.extend(facts.with_value(|facts| {
        facts
            .iter()
            .map(|fact| option(&fact.key, &in_words(&fact.key)))
            .collect::<Vec<_>>()
    }));
    view! {
        <Field label="Sweep one value" id=SWEEP error=at(refusal, SWEEP)>
            <SelectInput id=SWEEP value=swept options invalid=wrong_at(refusal, SWEEP) />
        </Field>
        <Show when=move || !swept.get().is_empty()>
            <Field label="Its values" id=SIZES error=sizes>
                <TextInput id=SIZES value=values invalid=Signal::derive(move || sizes.get().is_some()) />
            </Field>
        </Show>
    }
}

/// The trace to run on at once, if any.
#[component]
pub(super) fn TraceField(
    /// The base's architecture.
    arch: String,
    /// All traces.
    traces: Vec<TraceSummary>,
    /// The chosen one; empty for none.
    trace: RwSignal<String>,
) -> impl IntoView {
    let why = |trace: &TraceSummary| {
        let other = || format!("holds {} instructions, not {arch}", trace.trace_gpu_arch);
        let ready = trace_refusal(trace).map(str::to_owned);
        ready.or_else(|| (trace.trace_gpu_arch != arch).then(other))
    };
    let mut options = vec![option("", "No trace: only make it")];
    options.extend(traces.iter().map(|trace| SelectOption {
        refused: why(trace),
        ..option(trace.id.as_str(), trace.id.as_str())
    }));
    // Those that cannot be chosen come last.
    options.sort_by_key(|option| option.refused.is_some());
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

/// One value: what the base has, and a field for another size.
pub(super) fn value_row(Row { fact, text }: Row, refusal: RwSignal<Refusal>) -> impl IntoView {
    let id = value_id(&fact.key);
    let error = {
        let (fact, id) = (fact.clone(), id.clone());
        Memo::new(move |_| {
            let typed = read_value(&fact, &text.get()).err();
            typed.or_else(|| refusal.with(|refusal| refusal.at(&id)))
        })
    };
    let label = format!("{}, in {}", in_words(&fact.key), fact.unit);
    view! {
        <tr>
            <td title=fact.source>{in_words(&fact.key)}</td>
            <td class="number">{fact.value.to_string()} " " <span class="muted">{fact.unit}</span></td>
            <td>
                <input
                    class="input number"
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
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
        </tr>
    }
}
