//! Distributions, what happens over time, and what steps are made of. Each chart has its table behind it.

use cascade_scene::explorer::{Chart, Latency, Over, PerStep, cdf, over_time, per_step};
use leptos::html;
use leptos::prelude::*;

use super::run::Run;
use crate::plot::{HEIGHT, line};
use crate::ui::{Card, DataTable, Switch, width_of};

/// Rows of a chart's table.
const ROWS: usize = 21;

/// All three charts.
#[component]
pub(super) fn Charts(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let latency = RwSignal::new(Latency::Ttft);
    let over = RwSignal::new(Over::Throughput);
    let what = RwSignal::new(PerStep::Batch);
    let side = RwSignal::new(0_usize);
    let shares = Memo::new(move |_| run.charted(|figures| cdf(figures, latency.get())));
    let times = Memo::new(move |_| run.charted(|figures| over_time(figures, over.get())));
    let steps = Memo::new(move |_| {
        run.charted(|figures| {
            let chosen = figures
                .iter()
                .find(|(at, ..)| *at == side.get())
                .or(figures.first());
            chosen.map(|(_, _, figures)| per_step(figures, what.get()))
        })
    });
    let latencies = Latency::ALL
        .map(|latency| (latency, latency.name().to_owned()))
        .to_vec();
    let overs = Over::ALL.map(|(over, name)| (over, name.to_owned())).to_vec();
    let whats = PerStep::ALL.map(|(what, name)| (what, name.to_owned())).to_vec();
    view! {
        <div class="explore-charts" class:stale=move || run.stale()>
            <Card title="Latency distribution">
                <div class="chart-bar">
                    <Switch label="Latency" choices=latencies chosen=latency on_choose=move |to| latency.set(to) />
                </div>
                <Lines chart=Signal::derive(move || Some(shares.get())) />
            </Card>
            <Card title="Over time">
                <div class="chart-bar">
                    <Switch label="What is shown over time" choices=overs chosen=over on_choose=move |to| over.set(to) />
                </div>
                <Lines chart=Signal::derive(move || Some(times.get())) />
            </Card>
            <Card title="Steps">
                <div class="chart-bar">
                    <Switch label="What is shown of steps" choices=whats chosen=what on_choose=move |to| what.set(to) />
                    <SideSwitch run side />
                </div>
                <Lines chart=steps />
            </Card>
        </div>
    }
}

/// Which GPU, where there are several.
#[component]
pub(super) fn SideSwitch(
    /// The page's state.
    run: Run,
    /// The GPU's place.
    side: RwSignal<usize>,
) -> impl IntoView {
    let gpus = Memo::new(move |_| {
        run.figures(|figures| {
            figures
                .iter()
                .map(|(at, gpu, _)| (*at, (*gpu).to_owned()))
                .collect::<Vec<_>>()
        })
    });
    // The first GPU with figures, where the chosen one has none any more.
    let chosen = Signal::derive(move || {
        let side = side.get();
        gpus.with(|gpus| match gpus.iter().any(|(at, _)| *at == side) {
            true => side,
            false => gpus.first().map_or(0, |(at, _)| *at),
        })
    });
    move || {
        let choices = gpus.get();
        (choices.len() > 1)
            .then(|| view! { <Switch label="GPU" choices chosen on_choose=move |to| side.set(to) /> })
    }
}

/// A chart, what its colours are, and the table behind it.
#[component]
fn Lines(
    /// The chart, if there is one yet.
    #[prop(into)]
    chart: Signal<Option<Chart>>,
) -> impl IntoView {
    let frame = NodeRef::<html::Div>::new();
    let width = width_of(frame);
    let open = RwSignal::new(false);
    let pointed = RwSignal::new(None::<usize>);
    let svg = move || {
        let Some(width) = width.get() else {
            return String::new();
        };
        chart.with(|chart| {
            let Some(chart) = chart.as_ref().filter(|chart| !chart.is_empty()) else {
                return String::new();
            };
            line::svg(chart, width).unwrap_or_else(|error| {
                leptos::logging::warn!("a chart could not be drawn: {error}");
                String::new()
            })
        })
    };
    let label = move || chart.with(|chart| chart.as_ref().map_or(String::new(), |chart| chart.title.clone()));
    let legend = move || {
        chart.with(|chart| {
            let at = pointed.get();
            let item = |line: &cascade_scene::explorer::Line| {
                let class = format!("swatch {}", line.hue.name());
                let height = at.and_then(|at| line.heights.get(at).copied().flatten());
                let unit = chart.as_ref().map(|chart| chart.y_unit);
                let value = height.zip(unit).map(|(height, unit)| unit.text(height));
                view! {
                    <span class="legend-item">
                        <i class=class aria-hidden="true"></i>
                        {line.name.clone()}
                        <b>{value}</b>
                    </span>
                }
            };
            let place = chart.as_ref().zip(at).and_then(|(chart, at)| {
                let place = chart.places.first()?.get(at)?;
                Some(view! { <span class="legend-item">{format!("{} {}", chart.x_name, chart.x_unit.text(*place))}</span> })
            });
            let lines = chart.iter().flat_map(|chart| &chart.lines);
            (lines.map(item).collect::<Vec<_>>(), place)
        })
    };
    let point = move |event: leptos::ev::MouseEvent| {
        let at = width.get_untracked().and_then(|width| {
            let x = f64::from(event.offset_x());
            chart.with_untracked(|chart| line::point_at(chart.as_ref()?, width, x))
        });
        pointed.set(at);
    };
    let table = move || {
        open.get().then(|| {
            chart.with(|chart| {
                let chart = chart.as_ref()?;
                let heads = chart.lines.iter().map(|line| format!("#{}", line.name));
                let columns: Vec<String> = std::iter::once(chart.x_name.to_owned()).chain(heads).collect();
                let row = |(place, cells): (String, Vec<String>)| {
                    let cells: Vec<_> = cells
                        .into_iter()
                        .map(|cell| view! { <td class="number">{cell}</td> })
                        .collect();
                    view! { <tr><th scope="row">{place}</th>{cells}</tr> }
                };
                let rows: Vec<_> = chart.rows(ROWS).into_iter().map(row).collect();
                Some(view! { <DataTable label=chart.title.clone() columns>{rows}</DataTable> })
            })
        })
    };
    view! {
        <p class="muted small chart-title">{label}</p>
        <div class="legend">{legend}</div>
        <figure class="chart">
            <div
                class="chart-area"
                node_ref=frame
                style=format!("height:{HEIGHT}px")
                role="img"
                aria-label=label
                inner_html=svg
                on:mousemove=point
                on:mouseleave=move |_| pointed.set(None)
            ></div>
        </figure>
        <details class="behind" on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary>"The same as a table"</summary>
            {table}
        </details>
    }
}
