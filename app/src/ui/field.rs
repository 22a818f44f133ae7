//! Form fields: label, control, hint and error, tied together for screen readers.

use leptos::prelude::*;

use super::{Icon, IconName};

/// Frame of a control: its label, what to know before filling it in, and what is wrong with it.
#[component]
pub fn Field(
    /// Name of the control.
    #[prop(into)]
    label: String,
    /// The control's id; the message below it is `<id>-error`.
    #[prop(into)]
    id: String,
    /// What is wrong with the value.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// What to know before filling it in.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// The control.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            {children()}
            {hint.map(|hint| view! { <p class="muted small">{hint}</p> })}
            <p class="field-error" id=format!("{id}-error") role="alert">{move || error.get()}</p>
        </div>
    }
}

/// A line of text.
#[component]
pub fn TextInput(
    /// The element's id.
    #[prop(into)]
    id: String,
    /// The text in it.
    value: RwSignal<String>,
    /// Whether the text is wrong.
    #[prop(optional, into)]
    invalid: Signal<bool>,
    /// Whether it can be filled in now.
    #[prop(optional, into)]
    disabled: Signal<bool>,
) -> impl IntoView {
    view! {
        <input
            class="input"
            type="text"
            id=id.clone()
            autocomplete="off"
            spellcheck="false"
            aria-describedby=format!("{id}-error")
            aria-invalid=move || invalid.get().to_string()
            disabled=move || disabled.get()
            prop:value=move || value.get()
            value=value.get_untracked()
            on:input=move |event| value.set(event_target_value(&event))
        />
    }
}

/// A line of text that narrows down what is listed below it.
#[component]
pub fn SearchInput(
    /// What it searches, for screen readers and as long as it is empty.
    label: &'static str,
    /// The text in it.
    value: RwSignal<String>,
) -> impl IntoView {
    view! {
        <div class="search">
            <Icon name=IconName::Search />
            <input
                class="input"
                type="search"
                aria-label=label
                placeholder=label
                autocomplete="off"
                spellcheck="false"
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
        </div>
    }
}

/// Whether every word typed into a search occurs in a text; case does not matter.
pub(crate) fn has_words(query: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    query
        .split_whitespace()
        .all(|word| text.contains(&word.to_lowercase()))
}

/// A whole number within limits.
#[component]
pub fn NumberInput(
    /// The element's id.
    #[prop(into)]
    id: String,
    /// The text in it.
    value: RwSignal<String>,
    /// Smallest and largest value.
    range: (u32, u32),
    /// Whether the value is wrong.
    #[prop(into)]
    invalid: Signal<bool>,
) -> impl IntoView {
    view! {
        <input
            class="input number"
            type="number"
            inputmode="numeric"
            id=id.clone()
            min=range.0
            max=range.1
            step="1"
            required
            aria-describedby=format!("{id}-error")
            aria-invalid=move || invalid.get().to_string()
            prop:value=move || value.get()
            value=value.get_untracked()
            on:input=move |event| value.set(event_target_value(&event))
        />
    }
}

/// One choice of a [`SelectInput`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectOption {
    /// What it stands for.
    pub value: String,
    /// What it reads.
    pub label: String,
    /// Why it cannot be chosen; shown behind the label.
    pub refused: Option<String>,
}

/// One of a list.
#[component]
pub fn SelectInput(
    /// The element's id.
    #[prop(into)]
    id: String,
    /// The chosen value.
    value: RwSignal<String>,
    /// What there is to choose from.
    options: Vec<SelectOption>,
    /// Whether the choice is wrong.
    #[prop(into)]
    invalid: Signal<bool>,
) -> impl IntoView {
    let first = value.get_untracked();
    let options: Vec<_> = options
        .into_iter()
        .map(|option| {
            let text = match &option.refused {
                Some(reason) => format!("{} – {reason}", option.label),
                None => option.label,
            };
            let selected = option.value == first;
            view! {
                <option value=option.value disabled=option.refused.is_some() selected=selected>
                    {text}
                </option>
            }
        })
        .collect();
    view! {
        <select
            class="input"
            id=id.clone()
            aria-describedby=format!("{id}-error")
            aria-invalid=move || invalid.get().to_string()
            prop:value=move || value.get()
            on:change=move |event| value.set(event_target_value(&event))
        >
            {options}
        </select>
    }
}
