//! Buttons, and links that look like them.

use leptos::prelude::*;

/// How much a button asks for attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// One of several.
    #[default]
    Plain,
    /// The one to press next.
    Primary,
    /// Barely there.
    Ghost,
    /// Stops or removes something.
    Danger,
}

impl Look {
    /// Classes of the element.
    const fn class(self) -> &'static str {
        match self {
            Self::Plain => "button",
            Self::Primary => "button primary",
            Self::Ghost => "button ghost",
            Self::Danger => "button danger",
        }
    }
}

/// A button that does something on this page.
#[component]
pub fn Button(
    /// How it looks.
    #[prop(optional)]
    look: Look,
    /// Whether it can be pressed now.
    #[prop(optional, into)]
    disabled: Signal<bool>,
    /// What screen readers say, where the content is only an icon.
    #[prop(optional, into)]
    label: Option<String>,
    /// What it does.
    #[prop(into)]
    on_press: Callback<()>,
    /// What is on it.
    children: Children,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=look.class()
            title=label.clone()
            aria-label=label
            disabled=move || disabled.get()
            on:click=move |_| on_press.run(())
        >
            {children()}
        </button>
    }
}

/// A link that looks like a button.
#[component]
pub fn ButtonLink(
    /// Where it leads.
    #[prop(into)]
    href: String,
    /// How it looks.
    #[prop(optional)]
    look: Look,
    /// Whether the browser saves what is there, instead of going there.
    #[prop(optional)]
    download: bool,
    /// What is on it.
    children: Children,
) -> impl IntoView {
    view! {
        <a class=look.class() href=href download=download.then_some("") rel=download.then_some("external")>
            {children()}
        </a>
    }
}
