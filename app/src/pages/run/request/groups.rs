//! Kernel groups: how far each is off, and how much of a step it is.

use cascade_api::StepDigest;
use cascade_scene::format;
use cascade_scene::request::figure::{Unit, main_kind};
use cascade_scene::request::groups::{GroupOrder, GroupRow, error_bar, largest_error, rows, sort};
use leptos::prelude::*;

use crate::ui::SortTable;

/// How a launch's time is written.
const UNIT: Unit = Unit::NsAsMicros(2);

/// The table, by share of a step to begin with; nothing where no group is known.
#[component]
pub(super) fn Groups(
    /// What is predicted.
    digest: StepDigest,
) -> impl IntoView {
    if digest.groups.is_empty() {
        return None;
    }
    let counterfactual = digest.counterfactual;
    let kind = main_kind(&digest).map_or_else(|| "step".to_owned(), |kind| format!("{} step", kind.kind));
    let order = RwSignal::new((GroupOrder::Share, true));
    let all = rows(&digest);
    let largest = largest_error(&all);
    let sorted = move || {
        let (by, descending) = order.get();
        let mut rows = all.clone();
        sort(&mut rows, by, descending);
        rows.iter()
            .map(|row| line(row, counterfactual, largest))
            .collect::<Vec<_>>()
    };
    let mut columns = vec![
        ("Group", Some(GroupOrder::Group)),
        ("#Launches", Some(GroupOrder::Launches)),
    ];
    if !counterfactual {
        columns.push(("#Real mean", Some(GroupOrder::Real)));
    }
    columns.push(("#Simulated mean", Some(GroupOrder::Simulated)));
    if !counterfactual {
        columns.extend([("#Error", Some(GroupOrder::Error)), ("", None)]);
    }
    columns.extend([("#Share", Some(GroupOrder::Share)), ("Launches from", None)]);
    Some(view! {
        <h3>"Kernel groups"</h3>
        <SortTable label="Kernel groups" columns order>{sorted}</SortTable>
        <p class="muted small">
            {format!(
                "Roles are inferred from kernel names and grids. Times are of one launch, over the traced launches; the share is of the simulated kernel time in a {kind}.",
            )}
        </p>
    })
}

/// One group.
fn line(row: &GroupRow, counterfactual: bool, largest: f64) -> impl IntoView + use<> {
    let real = (!counterfactual).then(|| view! { <td class="number">{UNIT.or_none(row.real_ns)}</td> });
    let error = (!counterfactual).then(|| {
        let text = row
            .error_pct
            .map_or_else(|| format::NONE.to_owned(), |error| format::signed(error, 1, "%"));
        let bar = row.error_pct.map(|error| {
            let (left, width) = error_bar(error, largest);
            let class = if error < 0.0 { "under" } else { "over" };
            view! { <i class=class style=format!("left:{left:.2}%;width:{width:.2}%")></i> }
        });
        view! {
            <td class="number">{text}</td>
            <td class="error-cell" aria-hidden="true"><span class="error-track">{bar}</span></td>
        }
    });
    let share = row.share.map_or_else(
        || format::NONE.to_owned(),
        |share| format::fixed(share * 100.0, 1, "%"),
    );
    view! {
        <tr>
            <td>{row.group.clone()}</td>
            <td class="number">{format::count(row.launches)}</td>
            {real}
            <td class="number">{UNIT.or_none(row.simulated_ns)}</td>
            {error}
            <td class="number">{share}</td>
            <td class="muted nowrap">{row.provenance.clone()}</td>
        </tr>
    }
}
