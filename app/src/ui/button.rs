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

/// A button that does something on this page, or sends the form it stands in.
#[component]
pub fn Button(
    /// How it looks.
    #[prop(optional)]
    look: Look,
    /// Whether it can be pressed now.
    #[prop(optional, into)]
    disabled: Signal<bool>,
    /// Whether it is at work; it cannot be pressed again before that is over.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Whether it sends the form around it.
    #[prop(optional)]
    submit: bool,
    /// What screen readers say, where the content is only an icon; shown as a tooltip.
    #[prop(optional, into)]
    label: Option<String>,
    /// What it does.
    #[prop(optional, into)]
    on_press: Option<Callback<()>>,
    /// What is on it.
    children: Children,
) -> impl IntoView {
    view! {
        <button
            type=if submit { "submit" } else { "button" }
            class=look.class()
            data-tip=label.clone()
            aria-label=label
            aria-busy=move || busy.get().then_some("true")
            disabled=move || disabled.get() || busy.get()
            on:click=move |_| {
                if let Some(on_press) = on_press {
                    on_press.run(());
                }
            }
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

/// A link into the documents, which are files beside the app: the browser loads them anew.
#[component]
pub fn DocLink(
    /// The document, such as `/docs/runs`.
    href: &'static str,
    /// What it reads.
    children: Children,
) -> impl IntoView {
    view! { <a class="small" href=href rel="external">{children()}</a> }
}
