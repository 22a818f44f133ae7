//! The list of GPUs.

use cascade_api::GpuConfig;
use cascade_scene::engine;
use leptos::prelude::*;
use leptos_meta::Title;

use super::form::in_words;
use crate::data::{self, segment};
use crate::ui::{ButtonLink, Card, DataTable, Empty, Look, PageHead, loaded};

/// Every GPU a run can simulate: known ones, and hypothetical ones made here.
#[component]
pub(crate) fn Gpus() -> impl IntoView {
    let gpus = Resource::new(|| (), |()| data::gpu_configs());
    let actions = || view! { <ButtonLink look=Look::Primary href="/gpus/new">"Make a GPU"</ButtonLink> };
    view! {
        <Title text="GPUs" />
        <div class="page">
            <PageHead title="GPUs" actions=actions />
            {loaded(gpus, |gpus| view! { <Lists gpus /> })}
        </div>
    }
}

/// The two kinds, a table each.
#[component]
fn Lists(
    /// All of them.
    gpus: Vec<GpuConfig>,
) -> impl IntoView {
    let (own, known): (Vec<_>, Vec<_>) = gpus.into_iter().partition(|gpu| gpu.derived.is_some());
    let own = if own.is_empty() {
        view! {
            <Empty title="No GPU of your own yet">
                <p>"Take a known GPU, change its SMs, clocks, caches or bandwidth, and see what it does to your workload. Or sweep one value over a range as one run."</p>
                <ButtonLink href="/gpus/new">"Make a GPU"</ButtonLink>
            </Empty>
        }
        .into_any()
    } else {
        let rows: Vec<_> = own.iter().map(own_row).collect();
        let columns = ["GPU", "Made from", "What differs"].map(String::from).to_vec();
        view! {
            <Card title="Hypothetical">
                <DataTable label="Hypothetical GPUs" columns>{rows}</DataTable>
            </Card>
        }
        .into_any()
    };
    let rows: Vec<_> = known.iter().map(known_row).collect();
    let columns = ["GPU", "Architecture", "#Core clock", "Engines", "What is known"]
        .map(String::from)
        .to_vec();
    view! {
        {own}
        <Card title="Known">
            <DataTable label="Known GPUs" columns>{rows}</DataTable>
        </Card>
    }
}

fn own_row(gpu: &GpuConfig) -> impl IntoView + use<> {
    let derived = gpu.derived.clone();
    let base = derived
        .as_ref()
        .map(|derived| derived.base.to_string())
        .unwrap_or_default();
    let changes: Vec<_> = derived
        .into_iter()
        .flat_map(|derived| derived.changes)
        .map(|(key, change)| format!("{} {} instead of {}", in_words(&key), change.to, change.from))
        .collect();
    view! {
        <tr>
            <td><a class="row-link mono" href=href(gpu)>{gpu.name.to_string()}</a></td>
            <td class="mono">{base}</td>
            <td>{changes.join("; ")}</td>
        </tr>
    }
}

fn known_row(gpu: &GpuConfig) -> impl IntoView + use<> {
    let engines: Vec<_> = gpu
        .engines
        .iter()
        .map(|one| engine::name(*one).to_owned())
        .collect();
    view! {
        <tr>
            <td><a class="row-link mono" href=href(gpu)>{gpu.name.to_string()}</a></td>
            <td class="mono">{gpu.arch.clone()}</td>
            <td class="number nowrap">{format!("{} MHz", gpu.core_clock_mhz)}</td>
            <td class="nowrap">{engines.join(", ")}</td>
            <td class="muted">{gpu.notes.join("; ")}</td>
        </tr>
    }
}

fn href(gpu: &GpuConfig) -> String {
    format!("/gpus/{}", segment(gpu.name.as_str()))
}
