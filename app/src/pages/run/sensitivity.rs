//! The chart of a sweep: how the run's time depends on the one value in which its GPUs differ.

use cascade_api::GpuConfig;
use cascade_scene::format;
use cascade_scene::sensitivity::Sensitivity as Sweep;
use leptos::html;
use leptos::prelude::*;

use crate::data;
use crate::live::Live;
use crate::plot::{self, HEIGHT};
use crate::ui::{Card, DataTable, width_of};

/// The chart with its table; nothing for a run that is no sweep.
#[component]
pub(super) fn Sensitivity(
    /// The run.
    live: Live,
) -> impl IntoView {
    let gpus = RwSignal::new(Vec::<GpuConfig>::new());
    Effect::new(move || {
        leptos::task::spawn_local_scoped_with_cancellation(async move {
            // Without them there is no chart; the times are in the table of kernels all the same.
            if let Ok(mut all) = data::gpu_configs().await {
                live.run.with_untracked(|run| {
                    let entries = &run.summary.entries;
                    all.retain(|gpu| entries.iter().any(|entry| entry.gpu_config == gpu.name));
                });
                // A run without a hypothetical GPU is no sweep, whatever its kernels took.
                if all.iter().any(|gpu| gpu.derived.is_some()) {
                    gpus.set(all);
                }
            }
        });
    });
    let sweep = Memo::new(move |_| {
        let told = live.complete() && gpus.with(|gpus| !gpus.is_empty());
        told.then(|| live.kernels(|table| gpus.with(|gpus| Sweep::of(gpus, &table.comparison()))))?
    });
    move || sweep.get().map(|sweep| view! { <Chart sweep /> })
}

#[component]
fn Chart(
    /// The sweep as it is.
    sweep: Sweep,
) -> impl IntoView {
    let frame = NodeRef::<html::Div>::new();
    let width = width_of(frame);
    let chart = sweep.chart();
    let svg = move || match width.get() {
        Some(width) => plot::svg(&chart, width).unwrap_or_else(|error| {
            leptos::logging::warn!("the chart could not be drawn: {error}");
            String::new()
        }),
        None => String::new(),
    };
    let reference = sweep.against_ns;
    let rows: Vec<_> = sweep
        .points
        .iter()
        .map(|point| {
            let against = format::deviation(point.ns / reference - 1.0);
            view! {
                <tr>
                    <td class="number">{point.value.to_string()}</td>
                    <td class="mono">{point.gpu.to_string()}</td>
                    <td class="number nowrap">{format::duration_ns(point.ns)}</td>
                    <td class="number nowrap">{against}</td>
                </tr>
            }
        })
        .collect();
    let said = sweep.told();
    let columns = [
        format!("#{}", sweep.key),
        "GPU".into(),
        "#Simulated time".into(),
        format!("#Against {}", sweep.against),
    ];
    view! {
        <Card title=format!("Sensitivity to {}", sweep.key)>
            <p class="muted small">
                {format!("All {} that every GPU has finished, added up. Nothing of a hypothetical GPU is validated. ", format::plural(sweep.kernels as u64, "kernel"))}
                {said}
            </p>
            <figure class="chart">
                <div
                    class="chart-area"
                    node_ref=frame
                    style=format!("height:{HEIGHT}px")
                    role="img"
                    aria-label="Simulated time by the size of the value; the table below lists the same times"
                    inner_html=svg
                ></div>
            </figure>
            <DataTable label="Simulated time by the size of the value" columns=columns.to_vec()>{rows}</DataTable>
        </Card>
    }
}
