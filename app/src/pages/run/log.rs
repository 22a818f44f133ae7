//! The log of the selected sim, as it grows.

use cascade_api::SimId;
use leptos::html;
use leptos::prelude::*;

use crate::data::segment;
use crate::live::Live;
use crate::ui::{ButtonLink, Icon, IconName};

/// The end of the log, following it while it grows if asked to.
#[component]
pub(super) fn Log(
    /// The run.
    live: Live,
    /// The sim whose log is open.
    selected: Memo<Option<SimId>>,
) -> impl IntoView {
    let follow = RwSignal::new(true);
    let text = Memo::new(move |_| {
        let log = selected.get().and_then(|id| live.log(&id));
        log.map(|log| log.with(cascade_scene::log::LogTail::text))
            .unwrap_or_default()
    });
    let node = NodeRef::<html::Pre>::new();
    Effect::new(move || {
        text.track();
        if let Some(pre) = node.get().filter(|_| follow.get()) {
            // After the new text is laid out, or the end would be where it was before.
            request_animation_frame(move || pre.set_scroll_top(pre.scroll_height()));
        }
    });
    let name = move || {
        let id = selected.get()?;
        live.run.with(|run| {
            let sim = run.sims.iter().find(|sim| sim.id == id)?;
            Some(format!("Log of {} #{}", sim.gpu_config, sim.replica))
        })
    };
    let full = move || {
        let href = format!("/api/sims/{}/log", segment(selected.get()?.as_str()));
        Some(view! {
            <ButtonLink href=href download=true>
                <Icon name=IconName::Download />
                "Full log"
            </ButtonLink>
        })
    };
    view! {
        <section class="card" id="log" aria-label="Log">
            <div class="card-head">
                <h2>{move || name().unwrap_or_else(|| "Log".to_owned())}</h2>
                <div class="card-aside">
                    <label class="check">
                        <input
                            type="checkbox"
                            checked=true
                            prop:checked=move || follow.get()
                            on:change=move |event| follow.set(event_target_checked(&event))
                        />
                        "Follow"
                    </label>
                    {full}
                </div>
            </div>
            <Show
                when=move || text.with(|text| !text.is_empty())
                fallback=|| view! { <p class="muted">"No output yet."</p> }
            >
                <pre class="text-block log" tabindex="0" aria-label="End of the log" node_ref=node>{move || text.get()}</pre>
            </Show>
        </section>
    }
}
