//! Replicas as a spread: fastest, middle and slowest of each column.

use std::sync::Arc;

use cascade_scene::compare::spread::Spread;
use cascade_scene::format;
use leptos::prelude::*;

use super::facts::Facts;
use super::view::{View, Waiting};
use crate::ui::{Card, DataTable};

/// A bar for each column with several replicas. Nothing where no column has any.
#[component]
pub(super) fn Spreads(
    /// What is compared.
    facts: Arc<Facts>,
    /// The page's state.
    view: View,
) -> impl IntoView {
    let many = facts.picks.iter().any(|pick| {
        let run = facts.run(pick);
        run.is_some_and(|known| {
            known
                .run
                .sims
                .iter()
                .filter(|sim| sim.gpu_config == pick.gpu)
                .count()
                > 1
        })
    });
    if !many {
        return ().into_any();
    }
    let names = view.names.get_value();
    let body = move || {
        let ready = view.ready.get()?;
        let spreads: Vec<Option<Spread>> = ready
            .sides()
            .iter()
            .map(|side| Spread::of(&side.column.replicas))
            .collect();
        let largest = spreads.iter().flatten().map(Spread::reach).fold(0.0, f64::max);
        let bars: Vec<_> = names
            .iter()
            .zip(&spreads)
            .enumerate()
            .map(|(place, (name, spread))| bar(place, name, spread.as_ref(), largest))
            .collect();
        let rows: Vec<_> = names
            .iter()
            .zip(&spreads)
            .map(|(name, spread)| row(name, spread.as_ref()))
            .collect();
        let columns = [
            "Column",
            "#Replicas",
            "#Fastest",
            "#Median",
            "#Slowest",
            "#Coefficient of variation",
        ];
        let scale = match largest > 0.0 {
            true => format!(
                "Bars reach {} to either side of the median.",
                format::deviation(largest)
            ),
            false => "Replicas agree exactly.".to_owned(),
        };
        Some(view! {
            <ul class="spread-chart">{bars}</ul>
            <p class="muted small">{scale}</p>
            <details class="behind">
                <summary>"The same as a table"</summary>
                <DataTable label="Spread of the replicas" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
            </details>
        })
    };
    view! {
        <Card title="Replicas">
            <p class="muted small">
                "Each replica's kernels end to end, around the column's median. Replicas that have finished fewer kernels do not count."
            </p>
            <Waiting view />
            {body}
        </Card>
    }
    .into_any()
}

/// The bar from the fastest to the slowest replica, around the median in the middle.
fn bar(place: usize, name: &str, spread: Option<&Spread>, largest: f64) -> impl IntoView + use<> {
    let says = match spread {
        None => "no kernel has finished".to_owned(),
        Some(spread) if spread.replicas < 2 => "one replica: no spread".to_owned(),
        Some(spread) => format!(
            "{} – {} – {}, CV {}",
            format::duration_ns(spread.min_ns),
            format::duration_ns(spread.median_ns),
            format::duration_ns(spread.max_ns),
            variation(spread)
        ),
    };
    let (low, high) = spread.map_or((0.0, 0.0), Spread::ends);
    let at = |part: f64| 50.0 + part / largest.max(f64::MIN_POSITIVE) * 50.0;
    let style = format!("left:{:.2}%;width:{:.2}%", at(low), (at(high) - at(low)).max(0.0));
    let class = format!("series-{}", place % cascade_scene::chart::GPU_COLORS);
    view! {
        <li>
            <span class="name-label" title=name.to_owned()>{name.to_owned()}</span>
            <span class="spread-track" aria-hidden="true"><i class=class style=style></i></span>
            <span class="spread-value">{says}</span>
        </li>
    }
}

/// The coefficient of variation as text.
fn variation(spread: &Spread) -> String {
    let percent = spread.variation.map(|part| format::fixed(part * 100.0, 2, "%"));
    percent.unwrap_or_else(|| format::NONE.to_owned())
}

/// The same as a row of the table.
fn row(name: &str, spread: Option<&Spread>) -> impl IntoView + use<> {
    let time = |of: fn(&Spread) -> f64| {
        spread.map_or_else(
            || format::NONE.to_owned(),
            |spread| format::duration_ns(of(spread)),
        )
    };
    let replicas = spread.map_or_else(
        || "0".to_owned(),
        |spread| match spread.behind {
            0 => spread.replicas.to_string(),
            behind => format!("{} ({behind} behind)", spread.replicas),
        },
    );
    view! {
        <tr>
            <td>{name.to_owned()}</td>
            <td class="number">{replicas}</td>
            <td class="number">{time(|spread| spread.min_ns)}</td>
            <td class="number">{time(|spread| spread.median_ns)}</td>
            <td class="number">{time(|spread| spread.max_ns)}</td>
            <td class="number">{spread.map_or_else(|| format::NONE.to_owned(), variation)}</td>
        </tr>
    }
}
