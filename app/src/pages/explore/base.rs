//! What step times come from, and the GPUs side by side.

use cascade_api::ScenarioBase;
use cascade_scene::explorer::{Base as Chosen, GPUS, Key, MAX_GPUS, MODELS, State};
use leptos::prelude::*;

use super::run::Run;

/// Model or trace, GPUs and their prices.
#[component]
pub(super) fn Base(
    /// The page's state.
    run: Run,
    /// Traces and GPUs with step times.
    bases: Vec<ScenarioBase>,
) -> impl IntoView {
    let bases = StoredValue::new(bases);
    let text = Memo::new(move |_| run.state.with(|state| state.get(Key::Base).to_owned()));
    let problem = Memo::new(move |_| run.problem(Key::Base));
    let choose = move |value: String| {
        run.state.update(|state| {
            state.set(Key::Base, &value);
            if let Chosen::Trace(trace) = state.base() {
                bases.with_value(|bases| only_finished(state, bases, &trace));
            }
        });
    };
    let traces = bases.with_value(|bases| traces(bases));
    let named = text.get_untracked();
    // A link may name a trace that is not here; the field says so rather than another one.
    let unknown = named
        .strip_prefix("trace:")
        .filter(|trace| !traces.iter().any(|(id, _)| id == trace))
        .map(|trace| (named.clone(), format!("{trace} (no finished sim)")));
    let option = move |(value, label): (String, String)| {
        let this = value.clone();
        view! { <option value=value selected=move || text.with(|text| *text == this)>{label}</option> }
    };
    let traces: Vec<_> = traces
        .into_iter()
        .map(|(id, label)| (format!("trace:{id}"), label))
        .chain(unknown)
        .map(option)
        .collect();
    let models: Vec<_> = MODELS
        .iter()
        .map(|model| option((format!("model:{model}"), (*model).to_owned())))
        .collect();
    let none = traces.is_empty();
    let pasted = move || run.state.with(|state| state.base() == Chosen::Config);
    let config = Memo::new(move |_| run.state.with(|state| state.get(Key::Config).to_owned()));
    let config_problem = Memo::new(move |_| run.problem(Key::Config));
    view! {
        <section class="card controls open" aria-label="Model and GPUs">
            <div class="control">
                <div class="control-head stacked">
                    <label for="x-base">"Model or trace"</label>
                    <select
                        class="input"
                        id="x-base"
                        aria-describedby="x-base-error"
                        prop:value=move || text.get()
                        on:change=move |event| choose(event_target_value(&event))
                    >
                        <optgroup label="Simulated traces">
                            {traces}
                            {none.then(|| view! { <option disabled=true>"none yet: simulate a trace first"</option> })}
                        </optgroup>
                        <optgroup label="Models on a datasheet alone">{models}</optgroup>
                        <optgroup label="Any other model">{option(("config".to_owned(), "Paste a config.json…".to_owned()))}</optgroup>
                    </select>
                </div>
                <p class="field-error" id="x-base-error" role="alert">{move || problem.get()}</p>
            </div>
            <Show when=pasted>
                <div class="control">
                    <label for="x-config">"Hugging Face config.json"</label>
                    <textarea
                        class="input"
                        id="x-config"
                        rows="6"
                        spellcheck="false"
                        aria-describedby="x-config-error"
                        prop:value=move || config.get()
                        on:input=move |event| {
                            let text = compact(&event_target_value(&event));
                            run.state.update(|state| state.set(Key::Config, &text));
                        }
                    ></textarea>
                    <p class="field-error" id="x-config-error" role="alert">{move || config_problem.get()}</p>
                </div>
            </Show>
            <Gpus run bases />
        </section>
    }
}

/// The GPUs to choose from, and the price of each that is chosen.
#[component]
fn Gpus(
    /// The page's state.
    run: Run,
    /// Traces and GPUs with step times.
    bases: StoredValue<Vec<ScenarioBase>>,
) -> impl IntoView {
    let problem = Memo::new(move |_| run.problem(Key::Gpus).or_else(|| run.problem(Key::Prices)));
    let chosen = Memo::new(move |_| run.state.with(State::gpus));
    let offered = Memo::new(move |_| {
        run.state
            .with(|state| bases.with_value(|bases| offered(state, bases)))
    });
    let chip = move |(gpu, refused): (String, Option<String>)| {
        let (this, name) = (gpu.clone(), gpu.clone());
        let on = Memo::new(move |_| chosen.with(|chosen| chosen.contains(&this)));
        let full = move || !on.get() && chosen.with(Vec::len) >= MAX_GPUS;
        let why = refused.clone();
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || on.get().to_string()
                disabled=move || (refused.is_some() && !on.get()) || full()
                title=why
                on:click=move |_| run.state.update(|state| state.toggle_gpu(&name))
            >
                {gpu}
            </button>
        }
    };
    let price = move |(at, gpu): (usize, String)| {
        let text = Memo::new(move |_| run.state.with(|state| state.price_text(at)));
        let id = format!("x-price-{at}");
        view! {
            <div class="control-head">
                <label for=id.clone()>
                    <i class=format!("swatch series-{at}") aria-hidden="true"></i>
                    {gpu}
                </label>
                <span class="control-unit">"$/h"</span>
                <input
                    class="input number"
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    id=id
                    placeholder="price"
                    prop:value=move || text.get()
                    value=text.get_untracked()
                    on:input=move |event| run.state.update(|state| state.set_price(at, event_target_value(&event).trim()))
                />
            </div>
        }
    };
    view! {
        <div class="control">
            <span class="control-name" id="x-gpus">"GPUs, up to four"</span>
            <div class="chips" role="group" aria-labelledby="x-gpus">
                <For each=move || offered.get() key=Clone::clone children=chip />
            </div>
            <div class="prices">
                <For each=move || chosen.get().into_iter().enumerate() key=Clone::clone children=price />
            </div>
            <p class="field-error" role="alert">{move || problem.get()}</p>
        </div>
    }
}

/// GPUs to choose from; those that cannot be chosen with the reason.
fn offered(state: &State, bases: &[ScenarioBase]) -> Vec<(String, Option<String>)> {
    let mut offered: Vec<(String, Option<String>)> = match state.base() {
        Chosen::Trace(trace) => bases
            .iter()
            .filter(|base| base.trace_id.as_str() == trace)
            .map(|base| (base.gpu_config.to_string(), None))
            .collect(),
        Chosen::Model(_) | Chosen::Config => GPUS.iter().map(|gpu| ((*gpu).to_owned(), None)).collect(),
    };
    // What is chosen can be taken out again.
    for gpu in state.gpus() {
        if !offered.iter().any(|(name, _)| *name == gpu) {
            offered.push((
                gpu,
                Some("There is no finished sim of this trace on this GPU: launch a run.".to_owned()),
            ));
        }
    }
    offered
}

/// Keeps the chosen GPUs on which a trace has finished; without one of them takes all that it has.
fn only_finished(state: &mut State, bases: &[ScenarioBase], trace: &str) {
    let finished = bases.iter().filter(|base| base.trace_id.as_str() == trace);
    let finished: Vec<String> = finished.map(|base| base.gpu_config.to_string()).collect();
    let before = state.gpus();
    for gpu in before.iter().filter(|gpu| !finished.contains(gpu)) {
        state.toggle_gpu(gpu);
    }
    for gpu in finished.iter().filter(|gpu| !before.contains(gpu)).take(MAX_GPUS) {
        state.toggle_gpu(gpu);
    }
}

/// The traces that there are, with what they are called.
fn traces(bases: &[ScenarioBase]) -> Vec<(String, String)> {
    let mut traces: Vec<(String, String)> = Vec::new();
    for base in bases {
        let id = base.trace_id.to_string();
        if !traces.iter().any(|(known, _)| *known == id) {
            let model = base
                .model
                .as_deref()
                .map_or(String::new(), |model| format!("{model} · "));
            let label = format!("{model}{id}");
            traces.push((id, label));
        }
    }
    traces
}

/// JSON without what a link need not carry; any other text as it is, for the engine to refuse.
fn compact(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(mut fields)) => {
            // Only sizes and names matter: long lists such as token ids do not.
            fields.retain(|_, value| match value {
                serde_json::Value::Array(items) => items.len() <= 4,
                serde_json::Value::Null => false,
                _ => true,
            });
            serde_json::Value::Object(fields).to_string()
        }
        _ => text.to_owned(),
    }
}
