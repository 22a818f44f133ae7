//! Controls: a number with its slider, a choice, a switch; grouped as the page shows them.

use cascade_scene::explorer::{Key, Kind, PLACES, PRESETS, Section, place, value_at};
use leptos::prelude::*;

use super::file::FileDrop;
use super::run::Run;

/// Sections with their titles, and whether each is open at first.
const SECTIONS: [(Section, &str, bool); 6] = [
    (Section::Load, "Requests", true),
    (Section::Lengths, "Lengths", true),
    (Section::Scheduler, "Scheduler", true),
    (Section::Memory, "KV memory", false),
    (Section::Goals, "Limits of a good request", true),
    (Section::Efficiency, "Efficiency of the hardware", false),
];

/// Every control but the base.
#[component]
pub(super) fn Controls(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let sections: Vec<_> = SECTIONS
        .into_iter()
        .map(|(section, title, open)| {
            let presets = (section == Section::Load).then(|| view! { <Presets run /> });
            let keys = Memo::new(move |_| run.state.with(|state| state.shown(section)));
            view! {
                <details class="card controls" open=open>
                    <summary><h2>{title}</h2></summary>
                    {presets}
                    <div class="control-list">
                        <For each=move || keys.get() key=|key| *key as usize children=move |key| view! { <Control run key_=key /> } />
                    </div>
                </details>
            }
        })
        .collect();
    view! { {sections} }
}

/// Loads to begin with.
#[component]
fn Presets(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let buttons: Vec<_> = PRESETS
        .into_iter()
        .map(|preset| {
            let pressed = move || run.state.with(|state| preset.is_in(state)).to_string();
            view! {
                <button
                    type="button"
                    class="segment"
                    title=preset.hint
                    aria-pressed=pressed
                    on:click=move |_| run.state.update(|state| preset.apply(state))
                >
                    {preset.name}
                </button>
            }
        })
        .collect();
    view! { <div class="segmented presets" role="group" aria-label="Preset load">{buttons}</div> }
}

/// One control.
#[component]
fn Control(
    /// The page's state.
    run: Run,
    /// Which.
    key_: Key,
) -> impl IntoView {
    let field = key_.field();
    let text = Memo::new(move |_| run.state.with(|state| state.get(key_).to_owned()));
    let problem = Memo::new(move |_| run.problem(key_));
    let set = move |value: &str| run.state.update(|state| state.set(key_, value));
    let id = format!("x-{}", field.name);
    let error_id = format!("{id}-error");
    let invalid = move || problem.with(Option::is_some).to_string();
    let body = match field.kind {
        Kind::Choice(choices) if choices.len() == 2 => {
            let buttons: Vec<_> = choices
                .iter()
                .map(|(value, name)| {
                    let pressed = move || text.with(|text| text == value).to_string();
                    view! {
                        <button type="button" class="segment" aria-pressed=pressed on:click=move |_| set(value)>
                            {*name}
                        </button>
                    }
                })
                .collect();
            view! {
                <div class="control-head">
                    <span class="control-name" id=id.clone()>{field.label}</span>
                    <div class="segmented" role="group" aria-labelledby=id.clone()>{buttons}</div>
                </div>
            }
            .into_any()
        }
        Kind::Choice(choices) => {
            let options: Vec<_> = choices
                .iter()
                .map(|(value, name)| {
                    view! { <option value=*value selected=move || text.with(|text| text == value)>{*name}</option> }
                })
                .collect();
            view! {
                <div class="control-head">
                    <label for=id.clone()>{field.label}</label>
                    <select
                        class="input"
                        id=id.clone()
                        aria-describedby=error_id.clone()
                        aria-invalid=invalid
                        prop:value=move || text.get()
                        on:change=move |event| set(&event_target_value(&event))
                    >
                        {options}
                    </select>
                </div>
                {(key_ == Key::Load).then(|| view! { <FileDrop run /> })}
            }
            .into_any()
        }
        Kind::Text => ().into_any(),
        Kind::Number { unit, .. } => {
            let kind = field.kind;
            let at = move || {
                let value = text.with(|text| text.trim().parse::<f64>().ok());
                value.map_or(0.0, |value| place(&kind, value)).to_string()
            };
            let said = move || match text.with(String::is_empty) {
                true => "default".to_owned(),
                false => format!("{} {unit}", text.get()),
            };
            let placeholder = move || {
                if field.optional() {
                    default_text(run, key_)
                } else {
                    String::new()
                }
            };
            view! {
                <div class="control-head">
                    <label for=id.clone()>{field.label}</label>
                    <span class="control-unit">{unit}</span>
                    <input
                        class="input number"
                        type="text"
                        inputmode="decimal"
                        autocomplete="off"
                        id=id.clone()
                        placeholder=placeholder
                        aria-describedby=error_id.clone()
                        aria-invalid=invalid
                        prop:value=move || text.get()
                        value=text.get_untracked()
                        on:input=move |event| set(event_target_value(&event).trim())
                    />
                </div>
                <input
                    class="slider"
                    type="range"
                    min="0"
                    max=PLACES
                    step="1"
                    aria-label=format!("{}, slider", field.label)
                    aria-valuetext=said
                    prop:value=at
                    value=at
                    on:input=move |event| {
                        if let Ok(place) = event_target_value(&event).parse() {
                            set(&value_at(&kind, place));
                        }
                    }
                />
            }
            .into_any()
        }
    };
    view! {
        <div class="control" title=field.hint>
            {body}
            <p class="field-error" id=error_id role="alert">{move || problem.get()}</p>
        </div>
    }
}

/// What an empty control stands for, as the engine filled it in for the first GPU.
fn default_text(run: Run, key: Key) -> String {
    let name = match key {
        Key::Seqs => "max_num_seqs",
        Key::Tokens => "max_num_batched_tokens",
        Key::Memory => "gpu_memory_utilization",
        Key::Blocks => "num_kv_blocks",
        Key::MaxLen => "max_model_len",
        _ => return "no limit".to_owned(),
    };
    run.figures(|figures| {
        let value = figures
            .first()
            .and_then(|(_, _, figures)| figures.settings.get(name));
        value.map_or_else(String::new, ToString::to_string)
    })
}
