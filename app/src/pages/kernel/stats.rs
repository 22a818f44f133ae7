//! Every statistic of a kernel's block, to be searched.

use cascade_api::{KernelStat, StatValue};
use leptos::prelude::*;

use crate::ui::DataTable;

/// Statistics shown at once; the filter finds the others.
const SHOWN: usize = 200;

/// A list that is made once it is opened: Accel-Sim's blocks have about 950 lines.
#[component]
pub(super) fn Statistics(
    /// The kernel.
    stat: KernelStat,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let filter = RwSignal::new(String::new());
    let count = stat.stats.len();
    let stats = StoredValue::new(stat.stats);
    let found = move || {
        let wanted = filter.get().to_lowercase();
        stats.with_value(|stats| {
            let matching = stats.iter().filter(|(key, _)| key.to_lowercase().contains(&wanted));
            let (mut rows, mut all) = (Vec::new(), 0);
            for (key, value) in matching {
                all += 1;
                if rows.len() < SHOWN {
                    let value = match value {
                        StatValue::Number(number) => number.to_string(),
                        StatValue::Text(text) => text.clone(),
                    };
                    rows.push(view! { <tr><td class="mono small">{key.clone()}</td><td class="mono small">{value}</td></tr> });
                }
            }
            (rows, all)
        })
    };
    let list = move || {
        let (rows, all) = found();
        let more = (all > rows.len()).then(|| {
            view! { <p class="muted small">{format!("The first {} of {all} are shown.", rows.len())}</p> }
        });
        view! {
            <DataTable label="Statistics" columns=vec!["Key".into(), "Value".into()]>{rows}</DataTable>
            {more}
        }
    };
    // Reads the element, so that what the browser opened before the page came alive counts too.
    let turned = move |event: leptos::ev::Event| {
        let details: web_sys::HtmlDetailsElement = event_target(&event);
        open.set(details.open());
    };
    view! {
        <details class="behind" on:toggle=turned>
            <summary>{format!("All {count} statistics of the block")}</summary>
            <Show when=move || open.get()>
                <input
                    class="input"
                    type="search"
                    placeholder="Filter by name"
                    aria-label="Filter statistics by name"
                    on:input=move |event| filter.set(event_target_value(&event))
                />
                {list}
            </Show>
        </details>
    }
}
