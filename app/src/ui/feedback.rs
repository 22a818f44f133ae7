//! Telling how it went: notices, failures and what stands where there is nothing yet.

use leptos::prelude::*;

use super::{Button, Icon, IconName, Tone};
use crate::data::DataError;

/// A message in the flow of the page. Screen readers hear it when it appears.
#[component]
pub fn Notice(
    /// Its colour; a bad one is announced at once.
    tone: Tone,
    /// The message.
    children: Children,
) -> impl IntoView {
    let role = if tone == Tone::Bad { "alert" } else { "status" };
    view! {
        <div class="notice" data-tone=tone.as_str() role=role>
            <Icon name=IconName::Alert />
            <div>{children()}</div>
        </div>
    }
}

/// A page or part that could not be loaded. On the server it also sets the answer's status.
#[component]
pub fn Failure(
    /// What went wrong.
    error: DataError,
    /// Tries again.
    #[prop(into)]
    on_retry: Callback<()>,
) -> impl IntoView {
    answer_with(error.status);
    view! { <FailureText error on_retry /> }
}

/// What a failure says.
#[component]
pub(crate) fn FailureText(
    /// What went wrong.
    error: DataError,
    /// Tries again.
    on_retry: Callback<()>,
) -> impl IntoView {
    let title = match error.status {
        404 => "This is not here",
        0 => "The app could not be reached",
        _ => "This could not be loaded",
    };
    view! {
        <div class="empty" role="alert">
            <h2>{title}</h2>
            <p>{error.to_string()}</p>
            <Button on_press=on_retry>"Try again"</Button>
            <a class="small" href="/docs/troubleshooting" rel="external">"Troubleshooting"</a>
        </div>
    }
}

/// What stands where there is nothing to list yet.
#[component]
pub fn Empty(
    /// What is missing, in a few words.
    #[prop(into)]
    title: String,
    /// How to get some.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>{title}</h2>
            {children()}
        </div>
    }
}

/// Gives the page's answer an error status. In the browser there is no answer to change.
pub(crate) fn answer_with(status: u16) {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        // 0 is the browser's way to say "no answer"; a server that renders always has one.
        let status = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
        response.set_status(status);
    }
    #[cfg(not(feature = "ssr"))]
    let _: u16 = status;
}
