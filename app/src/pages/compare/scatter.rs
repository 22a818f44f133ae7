//! Simulated against real time: a point for each kernel or kernel group of the columns whose GPU was measured.

use cascade_scene::compare::scatter::{Agreement, Point, Scatter as Scene};
use cascade_scene::compare::{csv, letter};
use cascade_scene::format;
use leptos::html;
use leptos::prelude::*;

use super::view::{View, Waiting};
use crate::plot::scatter as plot;
use crate::ui::{Button, Card, DataTable, Icon, IconName, save_text, width_of};

/// Points listed in the table.
const MAX_ROWS: usize = 100;

/// The chart with what it says in figures. Without any real time only the reason is shown.
#[component]
pub(super) fn Scatter(
    /// The page's state.
    view: View,
) -> impl IntoView {
    if view.columns() == 0 {
        return ().into_any();
    }
    let scene = Memo::new(move |_| {
        let ready = view.ready.get()?;
        let digests = view.digests.get_value();
        Some(Scene::new(&ready.sources(&digests)))
    });
    let names = view.names.get_value();
    let any =
        Memo::new(move |_| scene.with(|scene| scene.as_ref().is_some_and(|scene| !scene.points.is_empty())));
    let agreements = move || {
        let scene = scene.get()?;
        let all: Vec<_> = names
            .iter()
            .zip(scene.columns)
            .enumerate()
            .map(|(place, (name, agreement))| view! { <li>{agreed(place, name, agreement)}</li> })
            .collect();
        Some(view! { <ul class="agreements">{all}</ul> })
    };
    let to_csv = move |()| {
        if let Some(scene) = scene.get_untracked() {
            save_text("scatter.csv", "text/csv", &points_csv(&scene.points));
        }
    };
    let button = move || {
        view! {
            <Button on_press=to_csv disabled=Signal::derive(move || !any.get())>
                <Icon name=IconName::Download />
                "CSV"
            </Button>
        }
    };
    view! {
        <Card title="Simulated against real" aside=button>
            <Waiting view />
            {agreements}
            <Show when=move || any.get()>
                <Chart scene />
                <Table scene />
            </Show>
        </Card>
    }
    .into_any()
}

/// How well a column agrees, or why that cannot be said.
fn agreed(place: usize, name: &str, agreement: Result<Agreement, String>) -> impl IntoView + use<> {
    let hue = format!("swatch series-{}", place % cascade_scene::chart::GPU_COLORS);
    let says = match agreement {
        Ok(agreement) => {
            let percent = |part: f64| format::fixed(part * 100.0, 0, "%");
            format!(
                "mean absolute error {} over {} {}; {} within 10 %, {} within 20 %",
                format::fixed(agreement.mean_abs_error * 100.0, 1, "%"),
                format::count(agreement.count as u64),
                agreement.basis,
                percent(agreement.within_inner),
                percent(agreement.within_outer),
            )
        }
        Err(why) => format!("not shown: {why}"),
    };
    view! { <i class=hue aria-hidden="true"></i><b>{format!(" {name} ")}</b><span class="muted">{says}</span> }
}

/// The points between error bands. Drawn in the browser, which knows how wide it may be.
#[component]
fn Chart(
    /// What is drawn.
    scene: Memo<Option<Scene>>,
) -> impl IntoView {
    let frame = NodeRef::<html::Div>::new();
    let width = width_of(frame);
    let chosen = RwSignal::new(None::<usize>);
    let svg = move || match (width.get(), scene.get()) {
        (Some(width), Some(scene)) => plot::svg(&scene, width),
        _ => String::new(),
    };
    let step = move |by: isize| {
        let count = scene.with_untracked(|scene| scene.as_ref().map_or(0, |scene| scene.points.len()));
        chosen.update(|chosen| {
            let next = chosen.map_or(0, |at| at.saturating_add_signed(by).min(count.saturating_sub(1)));
            *chosen = (count > 0).then_some(next);
        });
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        match event.key().as_str() {
            "ArrowRight" | "ArrowDown" => step(1),
            "ArrowLeft" | "ArrowUp" => step(-1),
            "Escape" => chosen.set(None),
            _ => return,
        }
        event.prevent_default();
    };
    let on_move = move |event: leptos::ev::PointerEvent| {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let near = scene.with_untracked(|scene| {
            let width = width.get_untracked()?;
            plot::nearest(scene.as_ref()?, width, x, y)
        });
        chosen.set(near);
    };
    let mark = move || {
        let (width, scene) = (width.get()?, scene.get()?);
        let point = scene.points.get(chosen.get()?)?;
        let (x, y) = plot::place(&scene, width, point);
        Some(view! { <i class="scatter-mark" style=format!("left:{x:.1}px;top:{y:.1}px")></i> })
    };
    let readout = move || {
        let scene = scene.get()?;
        let left_out = (scene.left_out > 0).then(|| {
            format!(
                " {} shorter ones are left out.",
                format::count(scene.left_out as u64)
            )
        });
        let said = chosen.get().and_then(|at| scene.points.get(at).map(says));
        Some(said.unwrap_or_else(|| {
            format!(
                "Each point is one kernel's mean launch. On the line both agree; bands are ±10 % and ±20 %.{}",
                left_out.unwrap_or_default()
            )
        }))
    };
    view! {
        <figure class="chart scatter">
            <div
                class="chart-area"
                node_ref=frame
                style=format!("height:{}px", plot::HEIGHT)
                role="img"
                tabindex="0"
                aria-label="Simulated against real time of each kernel; arrow keys go from point to point, and the table below lists the same"
                on:pointermove=on_move
                on:pointerleave=move |_| chosen.set(None)
                on:keydown=on_key
            >
                <div class="scatter-plot" inner_html=svg></div>
                {mark}
            </div>
            <figcaption class="muted" role="status">{readout}</figcaption>
        </figure>
    }
}

/// A point in words.
fn says(point: &Point) -> String {
    format!(
        "{} · {}: real {}, simulated {}, {}",
        letter(point.side),
        point.name,
        format::duration_ns(point.real_ns),
        format::duration_ns(point.simulated_ns),
        format::deviation(point.error())
    )
}

/// The points as a table, the longest first.
#[component]
fn Table(
    /// What is listed.
    scene: Memo<Option<Scene>>,
) -> impl IntoView {
    let rows = move || {
        let points = scene.get().map(|scene| scene.points).unwrap_or_default();
        let row = |point: &Point| {
            view! {
                <tr>
                    <td>{letter(point.side)}</td>
                    <td class="kernel" title=point.name.clone()>{point.name.clone()}</td>
                    <td class="number">{format::count(point.launches)}</td>
                    <td class="number">{format::duration_ns(point.real_ns)}</td>
                    <td class="number">{format::duration_ns(point.simulated_ns)}</td>
                    <td class="number">{format::deviation(point.error())}</td>
                </tr>
            }
        };
        points.iter().take(MAX_ROWS).map(row).collect::<Vec<_>>()
    };
    let columns = ["Column", "Kernel", "#Launches", "#Real", "#Simulated", "#Error"];
    view! {
        <details class="behind">
            <summary>"The same as a table"</summary>
            <DataTable label="Simulated against real" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
        </details>
    }
}

/// Every point as comma-separated values.
fn points_csv(points: &[Point]) -> String {
    let head = ["column", "kernel", "launches", "real_ns", "simulated_ns", "error"].map(String::from);
    let row = |point: &Point| {
        vec![
            letter(point.side),
            point.name.clone(),
            point.launches.to_string(),
            csv::number(Some(point.real_ns)),
            csv::number(Some(point.simulated_ns)),
            csv::number(Some(point.error())),
        ]
    };
    csv::write(&head, points.iter().map(row))
}
