//! One kernel of a sim: what it took and why. A page of its own, and a panel for pages that list kernels.

mod bars;
mod explained;
mod stats;

use cascade_api::{KernelDetail, SimId};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::data::{self, DataError, segment};
use crate::ui::{Failure, loaded};
use explained::Explained;

/// The address of one kernel's page. `index` is the kernel's place among those that the sim finished.
pub(crate) fn kernel_href(sim: &SimId, index: u64) -> String {
    format!("/sims/{}/kernels/{index}", segment(sim.as_str()))
}

/// The kernel that the address names.
#[component]
pub(crate) fn KernelPage() -> impl IntoView {
    let params = use_params_map();
    let param = move |name: &str| params.with(|params| params.get(name).unwrap_or_default());
    let asked = move || (SimId::new(param("id")), param("index"));
    let detail = Resource::new(asked, |(sim, index)| data::sim_kernel(sim, index));
    view! {
        <Title text=move || format!("Kernel {}", param("index")) />
        <div class="page kernel-page">{loaded(detail, |detail| view! { <Explained detail alone=true /> })}</div>
    }
}

/// The same in a panel: asks for the kernel once it is wanted, in the browser only. `asked` is a sim and a kernel
/// of it; none shows nothing.
#[component]
pub(crate) fn KernelPanel(
    /// What is wanted.
    #[prop(into)]
    asked: Signal<Option<(SimId, u64)>>,
) -> impl IntoView {
    let found = RwSignal::new(None::<Result<KernelDetail, DataError>>);
    let attempt = RwSignal::new(0_u32);
    Effect::new(move || {
        attempt.track();
        let Some((sim, index)) = asked.get() else {
            found.set(None);
            return;
        };
        let wanted = Some((sim.clone(), index));
        leptos::task::spawn_local_scoped(async move {
            let answer = data::sim_kernel(sim, index.to_string()).await;
            // An answer that comes late is not the one that is waited for any more.
            if asked.try_get_untracked().is_some_and(|now| now == wanted) {
                found.set(Some(answer));
            }
        });
    });
    move || match found.get() {
        Some(Ok(detail)) => view! { <Explained detail /> }.into_any(),
        Some(Err(error)) => {
            view! { <Failure error on_retry=move |()| attempt.update(|n| *n += 1) /> }.into_any()
        }
        None => view! { <p class="loading" role="status">"Loading…"</p> }.into_any(),
    }
}
