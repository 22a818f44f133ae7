//! One GPU: every value that our engine knows of it, and where it comes from.

use cascade_api::{GpuDetail, GpuFact, GpuName};
use cascade_scene::format::{bytes, plural};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_params_map};

use super::form::in_words;
use crate::data::{self, segment};
use crate::ui::{
    Button, ButtonLink, Card, ConfirmDialog, Crumb, DataTable, Empty, Look, NoteText, Notice, PageHead, Tone,
    loaded,
};

/// The GPU named in the address.
#[component]
pub(crate) fn GpuPage() -> impl IntoView {
    let params = use_params_map();
    let name = move || GpuName::new(params.with(|params| params.get("name").unwrap_or_default()));
    let detail = Resource::new(name, data::gpu_detail);
    view! {
        <Title text=move || name().to_string() />
        <div class="page">{loaded(detail, |detail| view! { <Detail detail /> })}</div>
    }
}

#[component]
fn Detail(
    /// The GPU.
    detail: GpuDetail,
) -> impl IntoView {
    let name = detail.gpu.name.clone();
    let own = detail.gpu.derived.clone();
    // A hypothetical GPU is changed from the one it was made from.
    let base = own.as_ref().map_or(&name, |derived| &derived.base);
    let values = own.iter().flat_map(|derived| &derived.changes);
    let values = values.map(|(key, change)| format!("&{}={}", segment(key), change.to));
    let change = format!(
        "/gpus/new?base={}{}",
        segment(base.as_str()),
        values.collect::<String>()
    );
    let can_change = !detail.facts.is_empty();
    let asked = RwSignal::new(false);
    let failed = RwSignal::new(None::<String>);
    let delete = Action::new({
        let name = name.clone();
        move |(): &()| data::delete_gpu(name.clone())
    });
    let navigate = use_navigate();
    Effect::new(move || match delete.value().get() {
        Some(Ok(())) => navigate("/gpus", NavigateOptions::default()),
        Some(Err(error)) => failed.set(Some(error.to_string())),
        None => {}
    });
    let removable = own.is_some() && detail.sims == 0;
    let used = (own.is_some() && detail.sims > 0).then(|| {
        let sims = plural(detail.sims, "sim");
        view! { <p class="muted small">{format!("{sims} in your runs used it, so it stays: their times are this GPU's.")}</p> }
    });
    let actions = move || {
        view! {
            {can_change.then(|| view! { <ButtonLink href=change>"Change values"</ButtonLink> })}
            {removable
                .then(|| view! { <Button look=Look::Danger on_press=move |()| asked.set(true)>"Delete"</Button> })}
        }
    };
    let facts = if detail.facts.is_empty() {
        view! { <Empty title="Known to Accel-Sim alone"><p>"Cascade's own engine has no description of this GPU."</p></Empty> }
            .into_any()
    } else {
        let changes = own.map(|derived| derived.changes).unwrap_or_default();
        let rows: Vec<_> = detail
            .facts
            .into_iter()
            .map(|fact| {
                let size = in_bytes(&fact, fact.value);
                let was = changes.get(&fact.key).filter(|change| change.from != change.to);
                let was = was.map(|change| {
                    let size = in_bytes(&fact, change.from).unwrap_or_default();
                    view! { <span class="muted small">{format!(" instead of {}{size}", change.from)}</span> }
                });
                let size = size.map(|size| view! { <span class="muted small">{size}</span> });
                view! {
                    <tr>
                        <td title=fact.key.clone()>{in_words(&fact.key)}</td>
                        <td class="number nowrap">{fact.value.to_string()} {size} {was}</td>
                        <td class="nowrap">{fact.unit}</td>
                        <td class="muted">{fact.source}</td>
                    </tr>
                }
            })
            .collect();
        let columns = ["Value", "#Size", "Unit", "Source"].map(String::from).to_vec();
        view! {
            <Card title="Values">
                <DataTable label="Values with their sources" columns>{rows}</DataTable>
            </Card>
        }
        .into_any()
    };
    view! {
        <PageHead title=name.to_string() crumb=Crumb { href: "/gpus", text: "GPUs" } actions=actions />
        <p>{detail.title} " · " <span class="mono">{detail.gpu.arch.clone()}</span> " · " <b>{detail.status}</b></p>
        <p class="muted"><NoteText note=detail.status_note /></p>
        {used}
        {move || failed.get().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
        {facts}
        <ConfirmDialog
            open=asked
            title="Delete this GPU?"
            confirm="Delete"
            on_confirm=move |()| {
                delete.dispatch(());
            }
        >
            <p>"No run has used it. Making it again takes the same values."</p>
        </ConfirmDialog>
    }
}

/// A number of bytes in a unit that can be read, behind the number itself; nothing for other values.
fn in_bytes(fact: &GpuFact, value: f64) -> Option<String> {
    (fact.unit == "bytes" && value >= 1024.0).then(|| format!(" ({})", bytes(value as u64)))
}
