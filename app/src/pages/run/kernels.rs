//! Kernels of a run: where the time goes, as a chart and as a table, real against simulated.

use cascade_api::{Comparison, ComparisonRow, GpuName};
use cascade_scene::comparison::{error, totals};
use cascade_scene::{engine, format, kernel_name::readable, page::Page};
use leptos::prelude::*;

use super::chart::Charts;
use crate::live::Live;
use crate::ui::{Card, DataTable, Pager};

/// Rows on a page.
const ROWS: usize = 20;

/// Totals, charts and the table behind them.
#[component]
pub(super) fn Kernels(
    /// The run.
    live: Live,
) -> impl IntoView {
    let empty = Memo::new(move |_| live.kernels(|table| table.rows.is_empty()));
    view! {
        <Card title="Kernels">
            <Show
                when=move || !empty.get()
                fallback=|| view! { <p class="muted">"No kernel has finished yet."</p> }
            >
                <Totals live />
                <Charts live />
                <Rows live />
            </Show>
        </Card>
    }
}

/// One figure block for each GPU.
#[component]
fn Totals(
    /// The run.
    live: Live,
) -> impl IntoView {
    let blocks = move || {
        live.kernels(|table| {
            totals(table)
                .into_iter()
                .map(|total| {
                    let made_by = made_by(table, &total.gpu);
                    let error = total.mean_abs_error.map(|error| {
                        view! { <span class="muted">{format!("mean error {:.1} %", error * 100.0)}</span> }
                    });
                    view! {
                        <div class="total">
                            <dt>{total.gpu.to_string()}</dt>
                            <dd>{format::duration_ns(total.sim_ns)}</dd>
                            <dd class="muted">{format!("{} · {made_by}", format::plural(total.kernels as u64, "kernel"))}</dd>
                            <dd>{error}</dd>
                        </div>
                    }
                })
                .collect::<Vec<_>>()
        })
    };
    view! { <dl class="totals">{blocks}</dl> }
}

/// The engines behind one GPU's column.
fn made_by(table: &Comparison, gpu: &GpuName) -> String {
    let engines = table
        .engines
        .get(gpu)
        .into_iter()
        .flatten()
        .map(|engine| engine::label(*engine));
    engines.collect::<Vec<_>>().join(", ")
}

/// The table: one row for each kernel position.
#[component]
fn Rows(
    /// The run.
    live: Live,
) -> impl IntoView {
    let number = RwSignal::new(0);
    let total = Signal::derive(move || live.kernels(|table| table.rows.len()));
    let page = Signal::derive(move || Page::new(number.get(), ROWS, total.get()));
    let columns = untrack(|| live.kernels(columns));
    let rows = move || {
        let shown = page.get().rows();
        live.kernels(|table| {
            let rows = table.rows.get(shown).unwrap_or_default();
            rows.iter().map(|row| one_row(table, row)).collect::<Vec<_>>()
        })
    };
    view! {
        <DataTable label="Kernel times, median over replicas" columns=columns>{rows}</DataTable>
        <Pager page total on_go=move |to| number.set(to) />
    }
}

/// Titles of the columns: number, name, real time where there is any, then each GPU with its error.
fn columns(table: &Comparison) -> Vec<String> {
    let real = table.has_real_timing;
    let gpus = table.configs.iter().flat_map(|gpu| {
        let name = engine::column(gpu, table.engines.get(gpu).map_or(&[], Vec::as_slice));
        std::iter::once(format!("#{name}")).chain(real.then(|| "#Error".to_owned()))
    });
    let head = ["##", "Kernel"]
        .into_iter()
        .chain(real.then_some("#Real"))
        .map(str::to_owned);
    head.chain(gpus).collect()
}

/// One kernel position.
fn one_row(table: &Comparison, row: &ComparisonRow) -> impl IntoView + use<> {
    let time = |ns: Option<f64>| ns.map_or_else(|| format::NONE.to_owned(), format::duration_ns);
    let real = table
        .has_real_timing
        .then(|| view! { <td class="number">{time(row.real_ns)}</td> });
    let cells: Vec<_> = table
        .configs
        .iter()
        .map(|gpu| {
            let ns = row.sim_ns.get(gpu).copied().flatten();
            let deviation = table.has_real_timing.then(|| {
                let error = ns.and_then(|ns| error(ns, row.real_ns));
                let text = error.map_or_else(|| format::NONE.to_owned(), format::deviation);
                view! { <td class="number muted">{text}</td> }
            });
            view! { <td class="number">{time(ns)}</td> {deviation} }
        })
        .collect();
    view! {
        <tr>
            <td class="number muted">{row.kernel_index}</td>
            <td class="kernel" title=row.kernel_name.clone()>{readable(&row.kernel_name)}</td>
            {real}
            {cells}
        </tr>
    }
}
