//! The overview: recent runs and traces.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::data;

/// Recent runs and traces.
#[component]
pub(crate) fn Home() -> impl IntoView {
    let runs = Resource::new(|| (), |()| data::runs());
    view! {
        <Title text="Overview" />
        <div class="page">
            <h1>"Overview"</h1>
            <Transition fallback=|| ()>
                {move || Suspend::new(async move {
                    match runs.await {
                        Ok(runs) => format!("{} runs", runs.len()),
                        Err(error) => error.to_string(),
                    }
                })}
            </Transition>
        </div>
    }
}
