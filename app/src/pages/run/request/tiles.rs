//! The answer first: what a request costs on each GPU.

use cascade_scene::format;
use cascade_scene::request::figure::{Figure, headline};
use cascade_scene::request::{COUNTERFACTUAL, Column};
use leptos::prelude::*;

use crate::ui::{EngineBadge, SampleBadge};

/// One tile for each GPU.
#[component]
pub(super) fn Tiles(
    /// What the GPUs are predicted to do.
    columns: Memo<Vec<Column>>,
) -> impl IntoView {
    let tiles = move || columns.with(|columns| columns.iter().map(tile).collect::<Vec<_>>());
    view! { <div class="predictions">{tiles}</div> }
}

/// One GPU.
fn tile(column: &Column) -> impl IntoView + use<> {
    let counterfactual = column.digest.counterfactual;
    let against = if counterfactual {
        COUNTERFACTUAL.to_owned()
    } else {
        let gpu = column.digest.real_gpu.as_deref().unwrap_or("the real GPU");
        format!("against {gpu}")
    };
    let replicas = (column.replicas > 1).then(|| {
        view! { <span class="muted">{format!(" · {} agree", format::plural(column.replicas.into(), "replica"))}</span> }
    });
    let figures: Vec<_> = headline(&column.digest)
        .into_iter()
        .map(|figure| row(figure, counterfactual))
        .collect();
    view! {
        <article class="prediction" aria-label=column.label.clone()>
            <div class="tile-head">
                <h3>{column.label.clone()}</h3>
                <span class="badges">
                    {column.is_sample().then(|| view! { <SampleBadge /> })} <EngineBadge engine=column.engine />
                </span>
            </div>
            <p class="prediction-against" class:counterfactual=counterfactual>{against} {replicas}</p>
            <dl>{figures}</dl>
        </article>
    }
}

/// One quantity: predicted, and below it measured with the error.
fn row(figure: Figure, counterfactual: bool) -> impl IntoView {
    let held_against = match figure.real {
        Some(real) => Some(format!("real {real} · {}", figure.verdict)),
        None if counterfactual => None,
        None => Some(figure.verdict),
    };
    view! {
        <div class="prediction-row">
            <dt>{figure.name}</dt>
            <dd>
                <b>{figure.simulated}</b>
                {held_against.map(|text| view! { <span class="muted">{text}</span> })}
            </dd>
        </div>
    }
}
