//! Kernels of a run: where the time goes, as a chart and as a table, real against simulated.

use cascade_scene::comparison::error;
use cascade_scene::kernels::{Kernels as Table, Key};
use cascade_scene::{engine, format};
use leptos::prelude::*;

use super::chart::Charts;
use crate::live::Live;
use crate::ui::{Card, VirtualColumn, VirtualTable};

/// Totals, charts and the table behind them.
#[component]
pub(super) fn Kernels(
    /// The run.
    live: Live,
    /// Opens the panel of a kernel.
    on_open: Callback<u64>,
) -> impl IntoView {
    let empty = Memo::new(move |_| live.kernels(Table::is_empty));
    view! {
        <Card title="Kernels">
            <Show
                when=move || !empty.get()
                fallback=|| view! { <p class="muted">"No kernel has finished."</p> }
            >
                <Totals live />
                <Charts live />
                <Rows live on_open />
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
        let totals = live.totals();
        live.kernels(|table| {
            table
                .gpus()
                .map(|(gpu, engines)| {
                    let made_by: Vec<_> = engines.iter().map(|engine| engine::label(*engine)).collect();
                    let total = totals.iter().find(|total| total.gpu_config == *gpu);
                    let time =
                        total.map_or_else(|| "…".to_owned(), |total| format::duration_ns(total.sim_ns));
                    let kernels = total.map_or_else(
                        || "adding up".to_owned(),
                        |total| format::plural(total.kernels, "kernel"),
                    );
                    let error = total.and_then(|total| total.mean_abs_error).map(|error| {
                        view! { <span class="muted">{format!("mean error {:.1} %", error * 100.0)}</span> }
                    });
                    view! {
                        <div class="total">
                            <dt>{gpu.to_string()}</dt>
                            <dd>{time}</dd>
                            <dd class="muted">{format!("{kernels} · {}", made_by.join(", "))}</dd>
                            <dd>{error}</dd>
                        </div>
                    }
                })
                .collect::<Vec<_>>()
        })
    };
    view! { <dl class="totals">{blocks}</dl> }
}

/// The table: one row for each kernel position.
#[component]
fn Rows(
    /// The run.
    live: Live,
    /// Opens the panel of a kernel.
    on_open: Callback<u64>,
) -> impl IntoView {
    let filter = RwSignal::new(String::new());
    let order = RwSignal::new((Key::Index, false));
    // Rows by place; none while they are in launch order.
    let places = Memo::new(move |_| live.kernels(|table| table.order(order.get(), &filter.read())));
    let rows = Memo::new(move |_| match &*places.read() {
        Some(places) => places.len(),
        None => live.kernels(Table::len),
    });
    let row_at = move |place: usize| match &*places.read_untracked() {
        Some(places) => places.get(place).copied().map_or(usize::MAX, |row| row as usize),
        None => place,
    };
    let cells = Callback::new(move |place: usize| {
        places.track();
        live.kernels(|table| cells(table, row_at(place)))
    });
    let found = move || {
        let (shown, here) = (rows.get(), live.kernels(Table::len));
        let all = live.kernels(Table::rows);
        match (live.complete(), shown < here) {
            (false, _) => format!(
                "{} of {} are here",
                format::count(here as u64),
                format::plural(all as u64, "kernel")
            ),
            (true, true) => format!(
                "{} of {}",
                format::count(shown as u64),
                format::plural(here as u64, "kernel")
            ),
            (true, false) => format::plural(here as u64, "kernel"),
        }
    };
    let columns = untrack(|| live.kernels(columns));
    view! {
        <div class="table-bar">
            <input
                class="input"
                type="search"
                placeholder="Filter by name"
                aria-label="Filter kernels by name"
                on:input=move |event| filter.set(event_target_value(&event))
            />
            <span class="muted small" role="status">{found}</span>
        </div>
        <VirtualTable
            id="kernels"
            label="Kernel times, median over replicas"
            columns
            order
            rows
            cells
            on_open=Callback::new(move |place| on_open.run(row_at(place) as u64))
        />
    }
}

/// The columns: number, name, real time where there is any, then each GPU with its error.
fn columns(table: &Table) -> Vec<VirtualColumn<Key>> {
    let column = |title: String, key, width| VirtualColumn {
        title,
        key: Some(key),
        width,
    };
    let real = table.has_real();
    let mut columns = vec![
        column("##".into(), Key::Index, "min(84px, 14vw)"),
        column("Kernel".into(), Key::Name, "auto"),
    ];
    if real {
        columns.push(column("#Real".into(), Key::Real, "min(110px, 25vw)"));
    }
    for (at, (gpu, engines)) in table.gpus().enumerate() {
        columns.push(column(
            format!("#{}", engine::column(gpu, engines)),
            Key::Gpu(at),
            "min(150px, 27vw)",
        ));
        if real {
            columns.push(column("#Error".into(), Key::Error(at), "min(90px, 20vw)"));
        }
    }
    columns
}

/// One kernel position.
fn cells(table: &Table, row: usize) -> AnyView {
    let time = |ns: Option<f64>| ns.map_or_else(|| format::NONE.to_owned(), format::duration_ns);
    let (full, name) = table.name(row).unwrap_or_default();
    let real_ns = table.real_ns(row);
    let real = table
        .has_real()
        .then(|| view! { <td class="number">{time(real_ns)}</td> });
    let gpus: Vec<_> = (0..table.gpus().count())
        .map(|gpu| {
            let ns = table.ns(row, gpu);
            let deviation = table.has_real().then(|| {
                let error = ns.and_then(|ns| error(ns, real_ns));
                let text = error.map_or_else(|| format::NONE.to_owned(), format::deviation);
                view! { <td class="number muted">{text}</td> }
            });
            view! { <td class="number">{time(ns)}</td> {deviation} }
        })
        .collect();
    view! {
        <td class="number muted">{format::launch(row as u64)}</td>
        <td class="kernel" title=full.to_owned()>{name.to_owned()}</td>
        {real}
        {gpus}
    }
    .into_any()
}
