//! Predicted requests and steps: a row for each quantity, a column for each column.

use cascade_scene::compare::steps::{StepRow, rows};
use cascade_scene::compare::{csv, letter, relative, tone};
use cascade_scene::format;
use leptos::prelude::*;

use super::view::{Pair, View};
use crate::ui::{Button, Card, Icon, IconName, save_text};

/// The table; nothing where no column predicts steps.
#[component]
pub(super) fn Steps(
    /// The page's state.
    view: View,
) -> impl IntoView {
    let all = view.digests.with_value(|digests| {
        let columns: Vec<_> = digests.iter().map(Option::as_ref).collect();
        rows(&columns)
    });
    if all.is_empty() || view.columns() < 2 {
        return ().into_any();
    }
    let names = view.names.get_value();
    let heads: Vec<_> = names
        .iter()
        .map(|name| view! { <th scope="col" class="number">{name.clone()}</th> })
        .collect();
    let text = to_csv(&all, &names);
    let button = move || {
        view! {
            <Button on_press=move |()| save_text("steps.csv", "text/csv", &text)>
                <Icon name=IconName::Download />
                "CSV"
            </Button>
        }
    };
    let mut last = String::new();
    let body: Vec<_> = all
        .into_iter()
        .map(|row| {
            let first = row.of != last;
            last.clone_from(&row.of);
            one_row(view, row, first)
        })
        .collect();
    let title = move || view.letters().join(" → ");
    view! {
        <Card title="Steps and requests" aside=button>
            <div class="chart-bar"><Pair view /></div>
            <p class="muted small">
                "Predicted means over the repeats after the warm-up. Host time is kept as measured; group times are those of a mean step."
            </p>
            <div class="table-frame" role="region" aria-label="Steps and requests" tabindex="0">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">"Of"</th>
                            <th scope="col">"What"</th>
                            {heads}
                            <th scope="col" class="number">{title}</th>
                            <th scope="col" class="number">"Relative"</th>
                        </tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
        </Card>
    }
    .into_any()
}

/// One quantity; the first of its kind names the kind.
fn one_row(view: View, row: StepRow, first: bool) -> impl IntoView + use<> {
    let cells: Vec<_> = row
        .values
        .iter()
        .map(|value| view! { <td class="number">{row.unit.or_none(*value)}</td> })
        .collect();
    let (unit, values) = (row.unit, row.values);
    let pair = Memo::new(move |_| {
        let (from, to) = view.pair.get();
        let value = |place: usize| values.get(place).copied().flatten();
        value(from).zip(value(to))
    });
    let none = || format::NONE.to_owned();
    let delta = move || pair.get().map_or_else(none, |(from, to)| unit.signed(to - from));
    let part = move || {
        let part = pair.get().and_then(|(from, to)| relative(from, to));
        part.map_or_else(none, format::deviation)
    };
    // What rounds to nothing has no sign, and no colour either.
    let class = move || format!("number {}", tone(&delta()));
    view! {
        <tr class:group-start=first>
            <td class="muted">{first.then_some(row.of)}</td>
            <td>{row.what}</td>
            {cells}
            <td class=class>{delta}</td>
            <td class="number">{part}</td>
        </tr>
    }
}

/// Every row with every column's value, in the measure of its unit.
fn to_csv(all: &[StepRow], names: &[String]) -> String {
    let head: Vec<String> = ["of", "what", "unit"]
        .map(String::from)
        .into_iter()
        .chain(
            names
                .iter()
                .enumerate()
                .map(|(place, name)| match name.is_empty() {
                    true => letter(place),
                    false => name.clone(),
                }),
        )
        .collect();
    let line = |row: &StepRow| {
        let cells = row.values.iter().map(|value| csv::number(*value));
        [row.of.clone(), row.what.clone(), row.unit.measure().to_owned()]
            .into_iter()
            .chain(cells)
            .collect()
    };
    csv::write(&head, all.iter().map(line))
}
