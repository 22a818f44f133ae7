//! Two charts of the same times: each kernel in launch order, and each kernel name with its launches added up.

use cascade_scene::{format, kernels::Kernels};
use leptos::html;
use leptos::prelude::*;

use crate::live::Live;
use crate::plot::{self, HEIGHT, MIN_BAR};
use crate::ui::{Switch, width_of};

/// Names shown one by one; the rest are added up.
const NAMES: usize = 10;

/// The charts with a switch between them.
#[component]
pub(super) fn Charts(
    /// The run.
    live: Live,
) -> impl IntoView {
    let by_name = RwSignal::new(false);
    let series = Memo::new(move |_| {
        let chart = live.kernels(Kernels::legend);
        let named = chart
            .series
            .iter()
            .enumerate()
            .map(|(i, name)| (chart.color(i).name(), name.clone()));
        named.collect::<Vec<_>>()
    });
    // Colours that come again would tell nothing.
    let few = untrack(|| live.kernels(|table| (table.charted().len(), table.gpus().count())));
    let few = (few.0 < few.1).then(|| {
        let text = format!(
            "The chart shows {} of {} GPUs; the table below has all.",
            few.0, few.1
        );
        view! { <p class="muted small">{text}</p> }
    });
    let legend = move || {
        let item = |(color, name)| {
            view! { <span class="legend-item"><i class=format!("swatch {color}") aria-hidden="true"></i>{name}</span> }
        };
        series.get().into_iter().map(item).collect::<Vec<_>>()
    };
    view! {
        <div class="chart-bar">
            <Switch
                label="What the chart shows"
                choices=vec![(false, "In launch order".into()), (true, "By kernel".into())]
                chosen=by_name
                on_choose=move |name| by_name.set(name)
            />
            <div class="legend">{legend}</div>
        </div>
        {few}
        <Show when=move || by_name.get() fallback=move || view! { <ByLaunch live /> }>
            <ByName live />
        </Show>
    }
}

/// Kernels in launch order. Drawn in the browser, which knows how wide it may be; the table below says the same.
#[component]
fn ByLaunch(
    /// The run.
    live: Live,
) -> impl IntoView {
    let frame = NodeRef::<html::Div>::new();
    let width = width_of(frame);
    let chart = Memo::new(move |_| {
        let width = width.get()?;
        Some((
            width,
            live.kernels(|table| table.by_launch(plot::inner_width(width), MIN_BAR)),
        ))
    });
    let svg = move || match chart.get() {
        Some((width, chart)) => plot::svg(&chart, width).unwrap_or_else(|error| {
            leptos::logging::warn!("the chart could not be drawn: {error}");
            String::new()
        }),
        None => String::new(),
    };
    let note = move || {
        chart.with(|chart| match chart {
            Some((_, chart)) if chart.kernels_per_group > 1 => {
                format!(
                    "Each place holds {} neighbouring kernels and shows the slowest.",
                    chart.kernels_per_group
                )
            }
            _ => String::new(),
        })
    };
    let hovered = RwSignal::new(None::<usize>);
    let on_move = move |event: leptos::ev::PointerEvent| {
        let at = chart.with_untracked(|chart| {
            let (width, chart) = chart.as_ref()?;
            plot::group_at(f64::from(event.offset_x()), *width, chart.groups.len())
        });
        hovered.set(at);
    };
    let readout = move || {
        let (_, chart) = chart.get()?;
        let group = hovered.get().and_then(|at| chart.groups.get(at).cloned())?;
        let times: Vec<_> = chart
            .series
            .iter()
            .zip(group.values)
            .filter_map(|(name, ns)| Some(format!("{name} {}", format::duration_ns(ns?))))
            .collect();
        Some(format!("{}: {}", group.label, times.join(", ")))
    };
    view! {
        <figure class="chart">
            <div
                class="chart-area"
                node_ref=frame
                style=format!("height:{HEIGHT}px")
                role="img"
                aria-label="Time of each kernel in launch order; the table below lists the same times"
                inner_html=svg
                on:pointermove=on_move
                on:pointerleave=move |_| hovered.set(None)
            ></div>
            <figcaption class="muted">{move || readout().unwrap_or_else(note)}</figcaption>
        </figure>
    }
}

/// Kernel names from the slowest down.
#[component]
fn ByName(
    /// The run.
    live: Live,
) -> impl IntoView {
    let rows = move || {
        let chart = live.kernels(|table| table.by_name(NAMES));
        let top = chart.top_ns;
        let colors: Vec<_> = (0..chart.series.len()).map(|i| chart.color(i).name()).collect();
        let group = |group: cascade_scene::chart::Group| {
            let bars: Vec<_> = group
                .values
                .into_iter()
                .zip(&colors)
                .filter_map(|(ns, color)| Some((ns?, color.clone())))
                .map(|(ns, color)| {
                    let width = format!("width:{:.2}%", ns / top * 100.0);
                    view! {
                        <div class="name-bar">
                            <span class="name-track"><i class=color style=width></i></span>
                            <span class="name-value">{format::duration_ns(ns)}</span>
                        </div>
                    }
                })
                .collect();
            view! { <li><span class="name-label" title=group.label.clone()>{group.label.clone()}</span> <div>{bars}</div></li> }
        };
        chart.groups.into_iter().map(group).collect::<Vec<_>>()
    };
    view! { <ul class="name-chart">{rows}</ul> }
}
