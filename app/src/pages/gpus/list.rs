//! The list of GPUs.

use cascade_api::{GpuConfig, GpuName};
use cascade_scene::engine;
use leptos::prelude::*;
use leptos_meta::Title;

use super::form::in_words;
use crate::data::{self, GpuNote, segment};
use crate::ui::{
    Badge, ButtonLink, Card, DataTable, Empty, GpuNotes, Look, PageHead, Tone, loaded, status_word,
};

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
    let columns = ["GPU", "Architecture", "#Core clock", "Engines", "Status"]
        .map(String::from)
        .to_vec();
    let of: Vec<GpuName> = known.iter().map(|gpu| gpu.name.clone()).collect();
    let notes: Vec<GpuNote> = known.into_iter().map(GpuNote::from).collect();
    view! {
        {own}
        <Card title="Known">
            // Most GPUs share their notes, so that each is said once and not in every row.
            <GpuNotes of notes />
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
        .map(|(key, change)| match change.to == change.from {
            // One point of a sweep may be the base's own value.
            true => format!("{} {}, as its base", in_words(&key), change.to),
            false => format!("{} {} instead of {}", in_words(&key), change.to, change.from),
        })
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
    let status = status_word(&gpu.notes).map(|word| {
        let tone = if word.starts_with("validated") {
            Tone::Good
        } else {
            Tone::Warn
        };
        view! { <Badge text=word.to_owned() tone /> }
    });
    view! {
        <tr>
            <td><a class="row-link mono" href=href(gpu)>{gpu.name.to_string()}</a></td>
            <td class="mono">{gpu.arch.clone()}</td>
            <td class="number nowrap">{format!("{} MHz", gpu.core_clock_mhz)}</td>
            <td class="nowrap">{engines.join(", ")}</td>
            <td>{status}</td>
        </tr>
    }
}

fn href(gpu: &GpuConfig) -> String {
    format!("/gpus/{}", segment(gpu.name.as_str()))
}
