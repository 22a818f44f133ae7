//! Numbers, tables and colours.

use leptos::prelude::*;

use super::LONG;
use crate::ui::{Badge, DataTable, Pager, Progress, SortTable, Stat, Tile, Tone};

/// Figures, progress and tiles.
#[component]
pub(super) fn Figures() -> impl IntoView {
    let badge = || view! { <Badge text="running" tone=Tone::Active dot=true /> };
    view! {
        <dl class="stats card">
            <Stat label="Simulations ended">"2 of 3"</Stat>
            <Stat label="IPC" title="Thread instructions per cycle of the whole simulated GPU">"1,204.7"</Stat>
            <Stat label="Kernels simulated">"311 of 1,204" <Progress label="Kernels simulated" done=311 total=1204 /></Stat>
            <Stat label="Unknown yet">"–" <Progress label="Nothing yet" done=0 total=0 /></Stat>
        </dl>
        <div class="tile-grid">
            <Tile title="run-9f56e171af08" href="/ui" badges=badge><p class="muted small">"demo-opt-125m on SM90_H100"</p></Tile>
            <Tile title=LONG href="/ui"><p class="muted small">"A name that never ends"</p></Tile>
        </div>
    }
}

/// A table that sorts, one that pages, an empty one.
#[component]
pub(super) fn Tables() -> impl IntoView {
    const ROWS: [(&str, u32); 4] = [
        ("qkv_gemm", 4_210),
        ("attention", 9_804),
        ("layer_norm", 377),
        (LONG, 12),
    ];
    let order = RwSignal::new((1_u8, true));
    let rows = move || {
        let (by, descending) = order.get();
        let mut rows = ROWS.to_vec();
        match by {
            0 => rows.sort_by_key(|row| row.0),
            _ => rows.sort_by_key(|row| row.1),
        }
        if descending {
            rows.reverse();
        }
        let row = |(name, cycles): (&'static str, u32)| {
            view! { <tr><td class="kernel">{name}</td><td class="number">{cycles}</td></tr> }
        };
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let number = RwSignal::new(0);
    let page = Signal::derive(move || cascade_scene::page::Page::new(number.get(), 50, 311));
    let columns = vec![("Kernel", Some(0)), ("#Cycles", Some(1))];
    view! {
        <SortTable label="Kernels, sorted" columns order>{rows}</SortTable>
        <Pager page total=311 on_go=move |to| number.set(to) />
        <DataTable label="An empty table" columns=vec!["Kernel".to_owned(), "#Cycles".to_owned()]>
            <tr><td colspan="2" class="muted">"No kernel fits the search."</td></tr>
        </DataTable>
    }
}

/// Every colour by its token.
#[component]
pub(super) fn Colours() -> impl IntoView {
    const TOKENS: [&str; 24] = [
        "bg",
        "surface",
        "surface-2",
        "surface-3",
        "line",
        "line-strong",
        "line-field",
        "text",
        "text-2",
        "accent",
        "accent-soft",
        "good",
        "good-soft",
        "warn",
        "warn-soft",
        "bad",
        "series-0",
        "series-1",
        "series-2",
        "series-3",
        "series-4",
        "series-5",
        "series-6",
        "series-7",
    ];
    let swatch = |token: &'static str| {
        view! { <li><span class="swatch" style=format!("background:var(--{token})")></span> <code>{token}</code></li> }
    };
    view! { <ul class="swatches">{TOKENS.map(swatch)}</ul> }
}
