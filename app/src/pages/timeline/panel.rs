//! Words below the canvas: legend, what runs at the scrubber, the selected kernel, the longest kernels in view.

use cascade_api::TimelineLevel;
use cascade_scene::format;
use cascade_scene::timeline::groups::{Group, REST};
use cascade_scene::timeline::read::{Beside, Running};
use cascade_scene::timeline::{Align, Filter};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::card::Timeline;
use super::stage::Stage;
use super::told::Selected;
use crate::pages::kernel::KernelPanel;
use crate::ui::DataTable;

/// Groups in the legend with a colour of their own, and one entry for the rest.
#[component]
pub(super) fn Legend(
    /// The timeline.
    timeline: Timeline,
) -> impl IntoView {
    let told = timeline.told;
    let toggle = move |name: String| {
        timeline.change(|stage| {
            let now = stage.scene.filter().clone();
            let group = (now.group.as_ref() != Some(&name)).then_some(name);
            stage.set_filter(Filter { group, ..now });
        });
    };
    let entries = move || {
        let groups = told.groups.get();
        let all: f64 = groups.iter().map(|group| group.ns).sum();
        let (own, rest): (Vec<Group>, Vec<Group>) = groups
            .into_iter()
            .filter(|group| group.ns > 0.0)
            .partition(|group| group.paint < REST);
        let share = move |ns: f64| format::fixed(ns / all.max(f64::MIN_POSITIVE) * 100.0, 1, "%");
        let entry = move |group: Group| {
            let (name, pressed) = (group.name.clone(), group.name.clone());
            let pressed = move || {
                told.filter
                    .with(|filter| filter.group.as_ref() == Some(&pressed))
                    .to_string()
            };
            view! {
                <button type="button" class="legend-item" aria-pressed=pressed title="Show this group alone" on:click=move |_| toggle(name.clone())>
                    <i class=format!("swatch series-{}", group.paint) aria-hidden="true"></i>
                    <span class="legend-name">{group.name.clone()}</span>
                    <span class="muted">{share(group.ns)}</span>
                </button>
            }
        };
        let others = (!rest.is_empty()).then(|| {
            let ns = rest.iter().map(|group| group.ns).sum();
            view! {
                <span class="legend-item">
                    <i class="swatch part-rest" aria-hidden="true"></i>
                    {format!("{} more", format::plural(rest.len() as u64, "group"))}
                    " "
                    <span class="muted">{share(ns)}</span>
                </span>
            }
        });
        view! { {own.into_iter().map(entry).collect::<Vec<_>>()} {others} }
    };
    view! { <div class="legend timeline-legend" role="group" aria-label="Kernel groups">{entries}</div> }
}

/// What every lane runs at the scrubber.
#[component]
pub(super) fn ReadOut(
    /// The timeline.
    timeline: Timeline,
) -> impl IntoView {
    let told = timeline.told;
    let row = |running: Running| {
        let kernel = match running.kernel {
            Some((number, name)) => format!("#{} {name}", format::launch(number)),
            None => "idle".to_owned(),
        };
        let ns = running
            .ns
            .map_or_else(|| format::NONE.to_owned(), format::duration_ns);
        view! { <tr><td>{running.lane}</td><td class="kernel">{kernel}</td><td>{running.step}</td><td class="number">{ns}</td></tr> }
    };
    let shown = move || {
        let (time, lanes) = told.running.get()?;
        let rows: Vec<_> = lanes.into_iter().map(row).collect();
        let title = match told.align.get() {
            Align::Time => format!("At {}", format::duration_ns(time)),
            Align::Kernel => "At the scrubber".to_owned(),
        };
        Some(view! {
            <div class="timeline-at">
                <h3>{title}</h3>
                <DataTable label="What each lane runs at the scrubber" columns=["Lane", "Kernel", "Step", "#Duration"].map(str::to_owned).to_vec()>
                    {rows.into_view()}
                </DataTable>
            </div>
        })
    };
    view! { {shown} }
}

/// The selected kernel in every lane.
#[component]
pub(super) fn Panel(
    /// The timeline.
    timeline: Timeline,
) -> impl IntoView {
    // Whoever looks at causes keeps seeing them from kernel to kernel.
    let open = RwSignal::new(false);
    let shown = move || {
        let selected = timeline.told.selection.get()?;
        let Selected {
            number,
            short,
            name,
            group,
            range,
            beside,
            lane,
            sim,
        } = selected;
        // Steps are many kernels, and a measured kernel has nobody who could say why.
        let sim = sim.filter(|_| timeline.told.level.get_untracked() == TimelineLevel::Kernels);
        let why = sim.map(|(_, sim)| {
            let asked = Signal::derive(move || open.get().then(|| (sim.clone(), number)));
            view! {
                <details
                    class="timeline-why"
                    open=open.get_untracked()
                    on:toggle=move |event| {
                        let details = event.target().and_then(|node| node.dyn_into::<web_sys::Element>().ok());
                        open.set(details.is_some_and(|details| details.has_attribute("open")));
                    }
                >
                    <summary>"Why it takes so long"</summary>
                    <KernelPanel asked />
                </details>
            }
        });
        let row = move |(at, beside): (usize, Beside)| {
            let ns = beside
                .ns
                .map_or_else(|| format::NONE.to_owned(), format::duration_ns);
            let ratio = match beside.ratio {
                _ if at == lane => "selected".to_owned(),
                Some(ratio) => format!("× {ratio:.3}"),
                None => format::NONE.to_owned(),
            };
            view! {
                <tr class:chosen=at == lane>
                    <td>{beside.lane}</td>
                    <td class="muted">{beside.source}</td>
                    <td class="number">{ns}</td>
                    <td class="number">{ratio}</td>
                </tr>
            }
        };
        let rows: Vec<_> = beside.into_iter().enumerate().map(row).collect();
        let from = format::duration_ns(range.from);
        Some(view! {
            <section class="timeline-panel" aria-label="Selected kernel">
                <div class="timeline-panel-head">
                    <h3>{format!("#{} {short}", format::launch(number))}</h3>
                    <div class="timeline-panel-tools">
                        <button type="button" class="button ghost" on:click=move |_| timeline.change(Stage::zoom_to_selected)>"Zoom to it"</button>
                        <button type="button" class="button ghost" on:click=move |_| timeline.change(|stage| stage.select(None))>"Close"</button>
                    </div>
                </div>
                <p class="muted timeline-name">{format!("{group} · starts at {from} · {name}")}</p>
                <DataTable label="The selected kernel in every lane" columns=["Lane", "Source", "#Duration", "#Ratio"].map(str::to_owned).to_vec()>
                    {rows.into_view()}
                </DataTable>
                {why}
            </section>
        })
    };
    view! { {shown} }
}

/// The picture in words: kernels with most time in view.
#[component]
pub(super) fn TopKernels(
    /// The timeline.
    timeline: Timeline,
) -> impl IntoView {
    let told = timeline.told;
    let range = move || {
        let (view, total) = told.view.get();
        match told.align.get() {
            Align::Time if total <= 0.0 => "Nothing in view yet".to_owned(),
            Align::Time => format!(
                "In view: {} to {} of {}",
                format::duration_ns(view.from),
                format::duration_ns(view.to),
                format::duration_ns(total)
            ),
            Align::Kernel => "In view, lined up by kernel".to_owned(),
        }
    };
    let table = move || {
        let table = told.table.get();
        let columns = ["Kernel", "Group", "#Launches"].map(str::to_owned).into_iter();
        let columns: Vec<String> = columns
            .chain(table.lanes.iter().map(|lane| format!("#{lane}")))
            .collect();
        let row = |row: cascade_scene::timeline::read::Row| {
            let cells: Vec<_> = row
                .ns
                .into_iter()
                .map(|ns| view! { <td class="number">{format::duration_ns(ns)}</td> })
                .collect();
            view! {
                <tr>
                    <td class="kernel">{row.name}</td>
                    <td class="muted">{row.group}</td>
                    <td class="number">{format::count(row.launches)}</td>
                    {cells}
                </tr>
            }
        };
        let rows: Vec<_> = table.rows.into_iter().map(row).collect();
        view! { <DataTable label="Kernels with most time in view" columns=columns>{rows.into_view()}</DataTable> }
    };
    let problems = move || {
        told.problems
            .get()
            .into_iter()
            .map(|problem| view! { <p class="muted">{problem}</p> })
            .collect::<Vec<_>>()
    };
    view! {
        {problems}
        <details class="timeline-table">
            <summary><span>{range}</span>" · as a table"</summary>
            {table}
        </details>
    }
}
