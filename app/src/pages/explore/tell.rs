//! Where the numbers come from: provenance, waits, settings, memory and what was assumed.

use cascade_scene::explorer::{Answer, Ask, Figures};
use cascade_scene::format;
use leptos::prelude::*;
use serde_json::{Map, Value};

use super::run::Run;
use crate::ui::{Button, Card, DataTable, save_text};

/// Everything that says how far the numbers can be trusted.
#[component]
pub(super) fn Provenance(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let export = move |()| {
        run.ask(Ask::Export, |answer| {
            if let Answer::Text { text } = answer {
                save_text("scenario.json", "application/json", &text);
            }
        });
    };
    let button = move || view! { <Button on_press=export>"Export JSON"</Button> };
    let sides = move || {
        run.settled(|figures| {
            figures
                .iter()
                .map(|(at, gpu, figures)| side(*at, gpu, figures))
                .collect::<Vec<_>>()
        })
    };
    let assumptions = Memo::new(move |_| run.settled(assumptions));
    let list = move || {
        let item = |(text, gpus): (String, Option<String>)| {
            view! { <li>{gpus.map(|gpus| view! { <b>{gpus}": "</b> })}{text}</li> }
        };
        assumptions.get().into_iter().map(item).collect::<Vec<_>>()
    };
    view! {
        <Card title="Where the numbers come from" aside=button>
            <div class="explore-sides">{sides}</div>
            <h3 class="assumed">"Assumed"</h3>
            <ul class="assumptions">{list}</ul>
            <details class="behind">
                <summary>"Settings and KV memory in force"</summary>
                {move || run.settled(|figures| (table("Settings", figures, |f| &f.settings), table("KV memory", figures, |f| &f.kv)))}
            </details>
        </Card>
    }
}

/// What one GPU's numbers rest on, and what its requests waited for.
fn side(at: usize, gpu: &str, figures: &Figures) -> impl IntoView + use<> {
    let count = |(name, steps): &(String, u64)| {
        view! { <li><code>{name.clone()}</code>{format!(" {} steps", format::count(*steps))}</li> }
    };
    let wait = |(reason, ms): &(String, f64)| {
        view! { <li>{format!("{reason}: {}", format::duration_ns(ms * 1e6))}</li> }
    };
    let warnings: Vec<_> = figures
        .warnings
        .iter()
        .map(|warning| view! { <p class="field-error">{warning.clone()}</p> })
        .collect();
    view! {
        <div class="explore-side">
            <h3>
                <i class=format!("swatch series-{at}") aria-hidden="true"></i>
                {gpu.to_owned()}
            </h3>
            <p>{figures.basis.clone()}"."</p>
            <ul class="counts">{figures.provenance.iter().map(count).collect::<Vec<_>>()}</ul>
            <p class="muted small">"All requests together waited for"</p>
            <ul class="counts">{figures.waits_ms.iter().map(wait).collect::<Vec<_>>()}</ul>
            {warnings}
        </div>
    }
}

/// Every assumption once; with the GPUs it is made for where not for all.
fn assumptions(figures: &[(usize, &str, &Figures)]) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (_, gpu, figures) in figures {
        for text in &figures.assumptions {
            match found.iter_mut().find(|(known, _)| known == text) {
                Some((_, gpus)) => gpus.push(gpu),
                None => found.push((text.clone(), vec![gpu])),
            }
        }
    }
    let all = figures.len();
    let with = |(text, gpus): (String, Vec<&str>)| (text, (gpus.len() < all).then(|| gpus.join(", ")));
    found.into_iter().map(with).collect()
}

/// Terms by name, a column for each GPU.
fn table(
    title: &'static str,
    figures: &[(usize, &str, &Figures)],
    of: fn(&Figures) -> &Map<String, Value>,
) -> impl IntoView + use<> {
    let first: Vec<String> = figures
        .first()
        .map_or(Vec::new(), |(_, _, f)| of(f).keys().cloned().collect());
    let rows: Vec<_> = first
        .into_iter()
        .map(|name| {
            let cells: Vec<_> = figures
                .iter()
                .map(|(_, _, figures)| {
                    let text = of(figures).get(&name).map_or(format::NONE.to_owned(), term);
                    view! { <td class="number">{text}</td> }
                })
                .collect();
            view! { <tr><th scope="row"><code>{name}</code></th>{cells}</tr> }
        })
        .collect();
    let gpus = figures.iter().map(|(_, gpu, _)| format!("#{gpu}"));
    let columns: Vec<String> = std::iter::once(title.to_owned()).chain(gpus).collect();
    view! { <DataTable label=title columns>{rows}</DataTable> }
}

/// A term as a table shows it.
fn term(value: &Value) -> String {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => format::count(whole),
            (None, Some(value)) if value.fract() == 0.0 && (0.0..9e15).contains(&value) => {
                format::count(value as u64)
            }
            _ => number.to_string(),
        },
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
