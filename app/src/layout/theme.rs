//! The theme switch: as the system says, light or dark.

use leptos::prelude::*;

use crate::ui::{Icon, IconName};

/// Choices: value in storage and on `<html data-theme>`, label, icon.
const THEMES: [(&str, &str, IconName); 3] = [
    ("system", "Theme as the system says", IconName::Monitor),
    ("light", "Light theme", IconName::Sun),
    ("dark", "Dark theme", IconName::Moon),
];

/// Shows the stored choice after hydration and stores a new one.
#[component]
pub(crate) fn ThemeSwitch() -> impl IntoView {
    let theme = RwSignal::new("system".to_owned());
    Effect::new(move || {
        if let Some(stored) = stored() {
            theme.set(stored);
        }
    });
    let choose = move |value: &'static str| {
        theme.set(value.to_owned());
        store(value);
    };
    view! {
        <div class="segmented" role="group" aria-label="Theme">
            {THEMES
                .map(|(value, label, icon)| {
                    view! {
                        <button
                            type="button"
                            class="segment"
                            title=label
                            aria-label=label
                            aria-pressed=move || (theme.get() == value).to_string()
                            on:click=move |_| choose(value)
                        >
                            <Icon name=icon />
                        </button>
                    }
                })}
        </div>
    }
}

/// Key in the browser's storage; `theme.js` reads it too.
const KEY: &str = "cascade-theme";

/// The stored choice, if storage may be read and holds one.
fn stored() -> Option<String> {
    window().local_storage().ok()??.get_item(KEY).ok()?
}

/// Stores a choice and shows it. Where storage is forbidden the choice lasts as long as the page.
fn store(value: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        _ = storage.set_item(KEY, value);
    }
    if let Some(root) = document().document_element() {
        _ = match value {
            "system" => root.remove_attribute("data-theme"),
            _ => root.set_attribute("data-theme", value),
        };
    }
}
