//! How much was simulated, and where every kernel's time comes from.

use cascade_api::StepDigest;
use cascade_scene::format;
use cascade_scene::request::provenance;
use leptos::prelude::*;

use crate::ui::{DataTable, Stat};

/// Coverage in figures, then launches by origin.
#[component]
pub(super) fn Coverage(
    /// What is predicted.
    digest: StepDigest,
) -> impl IntoView {
    let coverage = digest.coverage;
    let percent = |fraction: Option<f64>| {
        fraction.map_or_else(
            || format::NONE.to_owned(),
            |fraction| format::fixed(fraction * 100.0, 2, "%"),
        )
    };
    let kernels = format!(
        "{} of {} ({})",
        format::count(coverage.simulated_kernels),
        format::count(coverage.kernels),
        percent(coverage.kernel_fraction)
    );
    let rows: Vec<_> = provenance(&digest)
        .into_iter()
        .map(|(name, meaning, launches, share)| {
            view! {
                <tr>
                    <td>{name}</td>
                    <td class="muted">{meaning}</td>
                    <td class="number">{format::count(launches)}</td>
                    <td class="number">{format::fixed(share * 100.0, 1, "%")}</td>
                </tr>
            }
        })
        .collect();
    let host = digest.host_model.unwrap_or_else(|| format::NONE.to_owned());
    let real = digest.real_gpu.unwrap_or_else(|| format::NONE.to_owned());
    let columns = ["Kernel times", "Meaning", "#Launches", "#Share"];
    view! {
        <h3>"Coverage and provenance"</h3>
        <dl class="stats framed">
            <Stat label="Kernels with a simulated time">{kernels}</Stat>
            <Stat label="Of the measured GPU time" title="The rest is kept as measured">{percent(coverage.gpu_time_fraction)}</Stat>
            <Stat label="Host model" title="scaled-gaps: the measured time between kernels, scaled so that a step ends within its measured wall time">{host}</Stat>
            <Stat label="Real times from">{real}</Stat>
        </dl>
        <DataTable label="Where kernel times come from" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
        <p class="muted small">"Coverage says how much was simulated, not how well."</p>
    }
}
