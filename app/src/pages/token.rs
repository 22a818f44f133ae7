//! The token screen. It works without JavaScript; with it, `#token=…` in the address fills the form and sends it.

use leptos::html;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::site::use_site;
use crate::ui::{Notice, Tone};

/// Asks for the workspace's token and trades it for a session.
#[component]
pub(crate) fn Token() -> impl IntoView {
    let query = use_query_map();
    let failed = query.with_untracked(|query| query.get("error").is_some());
    let next = query.with_untracked(|query| query.get("next").unwrap_or_else(|| "/".to_owned()));
    let workspace = use_site().name().to_owned();
    let form = NodeRef::<html::Form>::new();
    let token = NodeRef::<html::Input>::new();
    Effect::new(move || {
        let (Some(form), Some(input)) = (form.get(), token.get()) else {
            return;
        };
        let hash = window().location().hash().unwrap_or_default();
        if let Some(given) = hash.strip_prefix("#token=").filter(|given| !given.is_empty()) {
            input.set_value(given);
            // A form that cannot be sent stays on the screen, filled in.
            drop(form.submit());
        }
    });
    view! {
        <Title text="Token" />
        <div class="page narrow">
            <form class="card token-form" method="post" action="/session" node_ref=form>
                <h1>"Open " {workspace}</h1>
                <p class="muted">"Enter the token that this workspace was started with (" <code>"CASCADE_TOKEN"</code> ")."</p>
                {failed.then(|| view! { <Notice tone=Tone::Bad>"That token is not right. Try again."</Notice> })}
                <div class="field">
                    <label for="token">"Token"</label>
                    <input
                        class="input"
                        id="token"
                        name="token"
                        type="password"
                        autocomplete="current-password"
                        required
                        autofocus
                        aria-invalid=failed.to_string()
                        node_ref=token
                    />
                </div>
                <input type="hidden" name="next" value=next />
                <button class="button primary" type="submit">"Continue"</button>
            </form>
        </div>
    }
}
