//! The table of differences: by group, by kernel or by launch, the biggest first.

use cascade_scene::compare::difference::{Alone, Difference as Scene, Level, Order, Row};
use cascade_scene::compare::lines::Lines;
use cascade_scene::compare::{signed_ns, tone};
use cascade_scene::format;
use cascade_scene::page::Page;
use leptos::prelude::*;

use super::view::{Levels, Pair, View, Waiting};
use crate::ui::{Button, Card, DataTable, Icon, IconName, Pager, SortTable, save_text};

/// Rows on a page.
const ROWS: usize = 25;
/// Kernels listed that only one column has; the others are counted.
const MAX_ALONE: usize = 50;
/// Titles of the columns' times.
const LETTERS: [&str; 8] = ["#A", "#B", "#C", "#D", "#E", "#F", "#G", "#H"];

/// Differences of the pair.
#[component]
pub(super) fn Difference(
    /// The page's state.
    view: View,
) -> impl IntoView {
    if view.columns() < 2 {
        return ().into_any();
    }
    let order = RwSignal::new((Order::Delta, true));
    let text = RwSignal::new(String::new());
    let number = RwSignal::new(0);
    let arranged = Memo::new(move |_| {
        let (order, descending) = order.get();
        let shown = view.lines.get().zip(view.difference.get());
        let places = shown.map(|(lines, difference)| {
            text.with(|text| difference.arranged(&lines, text, order, descending))
        });
        places.unwrap_or_default()
    });
    let total = Signal::derive(move || arranged.with(Vec::len));
    let page = Signal::derive(move || Page::new(number.get(), ROWS, total.get()));
    let rows = move || {
        let (lines, difference) = view.lines.get().zip(view.difference.get())?;
        let shown = arranged.with(|all| all.get(page.get().rows()).map(<[usize]>::to_vec));
        let row = |place: usize| {
            let row = difference.rows.get(place)?;
            Some(one_row(&difference, &lines, row))
        };
        Some(
            shown
                .unwrap_or_default()
                .into_iter()
                .filter_map(row)
                .collect::<Vec<_>>(),
        )
    };
    let table = move || {
        let columns = titles(view.level.get(), view.pair.get());
        view! { <SortTable label="Differences" columns order>{rows}</SortTable> }
    };
    let says = move || {
        let lines = view.lines.get()?;
        let [a, b] = view.letters();
        let text = format!(
            "{} A difference is {b} less {a}; rows are sorted by its size, whatever its sign.",
            lines.pairing.says()
        );
        Some(view! { <p class="muted small">{text}</p> })
    };
    let csv = move |()| {
        if let Some((lines, difference)) = view.lines.get_untracked().zip(view.difference.get_untracked()) {
            let order = arranged.get_untracked();
            let text = difference.csv(&lines, &order, untrack(|| view.letters()));
            save_text("differences.csv", "text/csv", &text);
        }
    };
    let button = move || {
        view! {
            <Button on_press=csv disabled=Signal::derive(move || view.difference.with(Option::is_none))>
                <Icon name=IconName::Download />
                "CSV"
            </Button>
        }
    };
    let found = move || {
        let (shown, all) = (
            total.get(),
            view.difference
                .get()
                .map_or(0, |difference| difference.rows.len()),
        );
        (shown < all).then(|| format!("{} of {}", format::count(shown as u64), format::count(all as u64)))
    };
    let ready = Memo::new(move |_| view.difference.with(Option::is_some));
    view! {
        <Card title="Differences" aside=button>
            <div class="chart-bar">
                <Pair view />
                <div class="compare-pair">
                    <Levels view label="Rows of the table" launches=true />
                    <input
                        class="input compare-find"
                        type="search"
                        aria-label="Filter by kernel, shape or group"
                        placeholder="Kernel, shape or group"
                        on:input=move |event| {
                            text.set(event_target_value(&event));
                            number.set(0);
                        }
                    />
                    <span class="muted small" role="status">{found}</span>
                </div>
            </div>
            <Waiting view />
            {says}
            <Show when=move || ready.get()>{table}</Show>
            <Pager page total on_go=move |to| number.set(to) />
            <Lonely view />
        </Card>
    }
    .into_any()
}

/// Titles of the table's columns at a level.
fn titles(level: Level, (from, to): (usize, usize)) -> Vec<(&'static str, Option<Order>)> {
    let time = |place: usize| LETTERS.get(place).copied().unwrap_or("#");
    let mut titles = match level {
        Level::Group => vec![("Group", Some(Order::Name))],
        Level::Kernel => vec![
            ("Kernel", Some(Order::Name)),
            ("Grid / block", None),
            ("Group", None),
        ],
        Level::Launch => vec![
            ("#Launch", Some(Order::Place)),
            ("Kernel", Some(Order::Name)),
            ("Grid / block", None),
            ("Group", None),
        ],
    };
    if level != Level::Launch {
        titles.push(("#Launches", Some(Order::Launches)));
    }
    titles.extend([
        (time(from), Some(Order::From)),
        (time(to), Some(Order::To)),
        ("#Difference", Some(Order::Delta)),
        ("#Relative", Some(Order::Relative)),
    ]);
    titles
}

/// One row.
fn one_row(difference: &Scene, lines: &Lines, row: &Row) -> impl IntoView + use<> {
    let name = difference.name(lines, row).to_owned();
    let kernel = row.kernel.and_then(|at| lines.kernels.get(at)).map(|kernel| {
        let group = lines.groups.get(kernel.group).cloned().unwrap_or_default();
        let shape = if kernel.shape.is_empty() {
            format::NONE.to_owned()
        } else {
            kernel.shape.clone()
        };
        (kernel.recorded.clone(), shape, group)
    });
    let place = (difference.level == Level::Launch)
        .then(|| view! { <td class="number muted">{format::launch(row.place as u64)}</td> });
    let head = match kernel {
        Some((recorded, shape, group)) => view! {
            <td class="kernel" title=recorded>{name}</td>
            <td class="compare-shape">{shape}</td>
            <td class="muted compare-shape">{group}</td>
        }
        .into_any(),
        None => view! { <td>{name}</td> }.into_any(),
    };
    let launches = (difference.level != Level::Launch).then(|| {
        let (from, to) = row.launches;
        let text = match from == to {
            true => format::count(u64::from(from)),
            false => format!(
                "{} → {}",
                format::count(u64::from(from)),
                format::count(u64::from(to))
            ),
        };
        view! { <td class="number muted">{text}</td> }
    });
    let delta = signed_ns(row.delta_ns());
    let class = format!("number {}", tone(&delta));
    let part = row
        .relative()
        .map_or_else(|| format::NONE.to_owned(), format::deviation);
    view! {
        <tr>
            {place} {head} {launches} <td class="number">{format::duration_ns(row.from_ns)}</td>
            <td class="number">{format::duration_ns(row.to_ns)}</td>
            <td class=class>{delta}</td>
            <td class="number">{part}</td>
        </tr>
    }
}

/// Kernels that only one of the two columns has.
#[component]
fn Lonely(
    /// The page's state.
    view: View,
) -> impl IntoView {
    move || {
        let (lines, difference) = view.lines.get().zip(view.difference.get())?;
        let all = difference.alone.len();
        if all == 0 {
            return None;
        }
        let letters = view.letters();
        let summary = format!(
            "{} that only one of the two has",
            format::plural(all as u64, "kernel")
        );
        let rows: Vec<_> = difference
            .alone
            .iter()
            .take(MAX_ALONE)
            .map(|alone| lone(&lines, &letters, alone))
            .collect();
        let more = (all > MAX_ALONE).then(|| {
            let text = format!("The {MAX_ALONE} longest are listed; all are in the CSV.");
            view! { <p class="muted small">{text}</p> }
        });
        let columns = ["Only in", "Kernel", "Grid / block", "#Launches", "#Time"]
            .map(String::from)
            .to_vec();
        Some(view! {
            <details class="behind">
                <summary>{summary}</summary>
                <DataTable label="Kernels without a counterpart" columns>{rows}</DataTable>
                {more}
            </details>
        })
    }
}

/// One kernel without a counterpart.
fn lone(lines: &Lines, letters: &[String; 2], alone: &Alone) -> impl IntoView + use<> {
    let [from, to] = letters.clone();
    let kernel = lines.kernels.get(alone.kernel).cloned();
    let (name, recorded, shape) = kernel
        .map(|kernel| (kernel.name, kernel.recorded, kernel.shape))
        .unwrap_or_default();
    view! {
        <tr>
            <td>{if alone.from { from } else { to }}</td>
            <td class="kernel" title=recorded>{name}</td>
            <td class="compare-shape">{shape}</td>
            <td class="number">{format::count(u64::from(alone.launches))}</td>
            <td class="number">{format::duration_ns(alone.ns)}</td>
        </tr>
    }
}
