//! Where the time of a step goes: stacked bars of the real GPU and each simulated one, and the table behind them.

use cascade_scene::request::Column;
use cascade_scene::request::figure::{capital, main_kind};
use cascade_scene::request::stack::StackChart;
use leptos::html;
use leptos::prelude::*;

use crate::plot::stack;
use crate::ui::{Card, DataTable, Switch, width_of};

/// The chart with its switches.
#[component]
pub(super) fn StepTime(
    /// What the GPUs are predicted to do.
    columns: Memo<Vec<Column>>,
) -> impl IntoView {
    let kinds = columns.with_untracked(|columns| {
        let digest = columns.first().map(|column| &column.digest);
        let kinds = digest.into_iter().flat_map(|digest| &digest.kinds);
        kinds.map(|kind| kind.kind.clone()).collect::<Vec<_>>()
    });
    let first = columns.with_untracked(|columns| {
        let kind = columns.first().and_then(|column| main_kind(&column.digest));
        kind.map(|kind| kind.kind.clone()).unwrap_or_default()
    });
    let kind = RwSignal::new(first);
    let gpu_only = RwSignal::new(false);
    let chart = Memo::new(move |_| {
        columns.with(|columns| kind.with(|kind| StackChart::new(columns, kind, gpu_only.get())))
    });
    let choices: Vec<_> = kinds.iter().map(|kind| (kind.clone(), capital(kind))).collect();
    let views = vec![
        (false, "Whole step".to_owned()),
        (true, "GPU time only".to_owned()),
    ];
    let legend = move || {
        chart.with(|chart| {
            let item = |layer: &cascade_scene::request::stack::Layer| {
                let class = format!("swatch {}", layer.hue.name());
                view! { <span class="legend-item"><i class=class aria-hidden="true"></i>{layer.name.clone()}</span> }
            };
            chart.layers.iter().map(item).collect::<Vec<_>>()
        })
    };
    view! {
        <Card title="Where the time of a step goes">
            <div class="chart-bar">
                <Switch label="Kind of step" choices chosen=kind on_choose=move |to| kind.set(to) />
                <Switch label="What the bars hold" choices=views chosen=gpu_only on_choose=move |to| gpu_only.set(to) />
            </div>
            <div class="legend">{legend}</div>
            <Bars chart />
            <details class="behind">
                <summary>"The same as a table"</summary>
                <Layers chart />
            </details>
            <p class="muted small">
                "Mean step over the repeats after warm-up. Host time, gaps and GPU time of no traced kernel are kept as measured."
            </p>
        </Card>
    }
}

/// The bars. Drawn in the browser, which knows how wide they may be; the table says the same.
#[component]
fn Bars(
    /// What to draw.
    chart: Memo<StackChart>,
) -> impl IntoView {
    let frame = NodeRef::<html::Div>::new();
    let width = width_of(frame);
    let height = move || format!("height:{}px", stack::height(chart.with(|chart| chart.bars.len())));
    let svg = move || {
        let Some(width) = width.get() else {
            return String::new();
        };
        chart
            .with(|chart| stack::svg(chart, width))
            .unwrap_or_else(|error| {
                leptos::logging::warn!("the chart could not be drawn: {error}");
                String::new()
            })
    };
    let hovered = RwSignal::new(None::<(usize, usize)>);
    let on_move = move |event: leptos::ev::PointerEvent| {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let width = width.get_untracked().unwrap_or_default();
        hovered.set(chart.with_untracked(|chart| stack::part_at(chart, width, x, y)));
    };
    let readout = move || {
        let (bar, layer) = hovered.get()?;
        chart.with(|chart| {
            let (bar, layer, name) = (chart.bars.get(bar)?, layer, chart.layers.get(layer)?);
            let ns = bar.parts.get(layer).copied().flatten()?;
            let share = cascade_scene::format::fixed(ns / bar.total_ns() * 100.0, 1, "%");
            Some(format!(
                "{}: {} {} ({share})",
                bar.label,
                name.name,
                chart.unit().text(ns)
            ))
        })
    };
    view! {
        <figure class="chart stack">
            <div
                class="chart-area"
                node_ref=frame
                style=height
                role="img"
                aria-label="Time of a step by part, for the real GPU and each simulated one; the table below says the same"
                inner_html=svg
                on:pointermove=on_move
                on:pointerleave=move |_| hovered.set(None)
            ></div>
            <figcaption class="muted">{move || readout().unwrap_or_default()}</figcaption>
        </figure>
    }
}

/// The table behind the bars: a row for each part.
#[component]
fn Layers(
    /// What the bars show.
    chart: Memo<StackChart>,
) -> impl IntoView {
    move || {
        chart.with(|chart| {
            let bars = chart.bars.iter().map(|bar| format!("#{}", bar.label));
            let columns: Vec<_> = std::iter::once("Part".to_owned()).chain(bars).collect();
            let unit = chart.unit();
            let row = |name: &str, values: Vec<Option<f64>>| {
                let cells: Vec<_> = values
                    .into_iter()
                    .map(|ns| view! { <td class="number">{unit.or_none(ns)}</td> })
                    .collect();
                view! { <tr><td>{name.to_owned()}</td>{cells}</tr> }
            };
            let mut rows: Vec<_> = chart
                .layers
                .iter()
                .enumerate()
                .map(|(i, layer)| {
                    let values = chart.bars.iter().map(|bar| bar.parts.get(i).copied().flatten());
                    row(&layer.name, values.collect())
                })
                .collect();
            rows.push(row(
                "All",
                chart.bars.iter().map(|bar| Some(bar.total_ns())).collect(),
            ));
            view! { <DataTable label="Parts of a step" columns>{rows}</DataTable> }
        })
    }
}
