//! The theme: as the system says, light or dark.

use leptos::prelude::*;

use crate::ui::{Icon, IconName};

/// Choices: value in storage and on `<html data-theme>`, label, icon.
pub(super) const THEMES: [(&str, &str, IconName); 3] = [
    ("system", "Theme as the system says", IconName::Monitor),
    ("light", "Light theme", IconName::Sun),
    ("dark", "Dark theme", IconName::Moon),
];

/// The choice in force; shared by the switch and the command palette.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme(RwSignal<String>);

impl Theme {
    /// Makes it available to the pages. What is stored shows once the page is alive; `theme.js` has already put it
    /// on the document before the first paint.
    pub(crate) fn provide() {
        let theme = RwSignal::new("system".to_owned());
        Effect::new(move || {
            if let Some(stored) = stored() {
                theme.set(stored);
            }
        });
        provide_context(Self(theme));
    }

    /// Stores a choice and shows it. Where storage is forbidden the choice lasts as long as the page.
    pub(super) fn choose(self, value: &'static str) {
        self.0.set(value.to_owned());
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
}

/// Shows the choice and takes another.
#[component]
pub(crate) fn ThemeSwitch() -> impl IntoView {
    let theme = expect_context::<Theme>();
    view! {
        <div class="segmented" role="group" aria-label="Theme">
            {THEMES
                .map(|(value, label, icon)| {
                    view! {
                        <button
                            type="button"
                            class="segment"
                            data-tip=label
                            aria-label=label
                            aria-pressed=move || (theme.0.get() == value).to_string()
                            on:click=move |_| theme.choose(value)
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
