//! The charts of a kernel: a bar cut into parts, and bars beside each other, each a table as well.

use cascade_api::{Bar, Rate};
use cascade_scene::format;
use leptos::prelude::*;

/// A share as a table shows it.
fn percent(share: f64) -> String {
    format::fixed(share * 100.0, 1, "%")
}

/// Width of a part, as CSS.
fn width(share: f64) -> String {
    format!("width:{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}

/// One bar cut into parts, with the table of its parts below.
#[component]
pub(super) fn Stacked(
    /// What the bar is, for screen readers.
    label: &'static str,
    /// What the parts are counted in.
    unit: &'static str,
    /// The parts.
    parts: Vec<Bar>,
) -> impl IntoView {
    let pieces: Vec<_> = parts
        .iter()
        .map(|part| {
            let title = format!("{}: {}", part.label, percent(part.share));
            view! { <i class=color(&part.key) style=width(part.share) title=title></i> }
        })
        .collect();
    let rows: Vec<_> = parts
        .into_iter()
        .map(|part| {
            view! {
                <tr>
                    <td><i class=format!("swatch {}", color(&part.key)) aria-hidden="true"></i> {part.label}</td>
                    <td class="number">{percent(part.share)}</td>
                    <td class="number muted">{format::compact(part.cycles)}</td>
                </tr>
            }
        })
        .collect();
    view! {
        <div class="stall-bar" role="img" aria-label=format!("{label}; the table below lists the parts")>{pieces}</div>
        <Table label head=["", "#Share"] unit>{rows}</Table>
    }
}

/// One bar for each resource, against the time that all of them had.
#[component]
pub(super) fn Against(
    /// What the bars are, for screen readers.
    label: &'static str,
    /// What the bars are counted in.
    unit: &'static str,
    /// The bars.
    bars: Vec<Bar>,
) -> impl IntoView {
    let rows: Vec<_> = bars
        .into_iter()
        .map(|bar| {
            view! {
                <tr>
                    <td>{bar.label}</td>
                    <td class="bar-cell"><span class="track"><i style=width(bar.share)></i></span></td>
                    <td class="number">{percent(bar.share)}</td>
                    <td class="number muted">{format::compact(bar.cycles)}</td>
                </tr>
            }
        })
        .collect();
    view! { <Table label head=["", "Against the kernel's work", "#Share"] unit>{rows}</Table> }
}

/// Shares reached of what there is.
#[component]
pub(super) fn Reached(
    /// The shares.
    rates: Vec<Rate>,
) -> impl IntoView {
    let rows: Vec<_> = rates
        .into_iter()
        .map(|rate| {
            view! {
                <tr>
                    <td>{rate.label}</td>
                    <td class="bar-cell"><span class="track"><i style=width(rate.share)></i></span></td>
                    <td class="number">{percent(rate.share)}</td>
                    <td class="number muted">{rate.text}</td>
                </tr>
            }
        })
        .collect();
    view! { <Table label="Shares reached" head=["", "Of what there is", "#Share"] unit="">{rows}</Table> }
}

/// The frame of these tables.
#[component]
fn Table<const N: usize>(
    /// What it lists.
    label: &'static str,
    /// Titles of the columns before the last.
    head: [&'static str; N],
    /// Title of the last column.
    unit: &'static str,
    /// The rows.
    children: Children,
) -> impl IntoView {
    let columns = head.into_iter().map(str::to_owned);
    let columns: Vec<String> = columns.chain([format!("#{unit}")]).collect();
    view! { <div class="bar-table"><crate::ui::DataTable label columns>{children()}</crate::ui::DataTable></div> }
}

/// The class that colours a part: the same thing has the same colour in every kernel.
fn color(key: &str) -> String {
    format!("wait-{key}")
}
