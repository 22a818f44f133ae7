//! The panel of one kernel beside a run: opened from the table of kernels, kept in the address.

use cascade_api::SimId;
use leptos::html;
use leptos::prelude::*;

use crate::live::Live;
use crate::pages::kernel::KernelPanel;
use crate::ui::{Icon, IconName};

/// A panel on the right. The browser's own `<dialog>` keeps the focus inside, closes on Escape and gives the
/// focus back.
#[component]
pub(super) fn Panel(
    /// The run.
    live: Live,
    /// The kernel that is open.
    kernel: Signal<Option<u64>>,
    /// The sim whose kernel it is.
    selected: Memo<Option<SimId>>,
    /// Opens another kernel, or none.
    on_kernel: Callback<Option<u64>>,
    /// Chooses another sim.
    on_sim: Callback<SimId>,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = node.get() else { return };
        let open = kernel.get().is_some();
        if open && !dialog.open() {
            // Fails only where the dialog is no longer in the document: then nobody looks at it.
            drop(dialog.show_modal());
        } else if !open && dialog.open() {
            dialog.close();
        }
    });
    let asked = Signal::derive(move || Some((selected.get()?, kernel.get()?)));
    let last = Memo::new(move |_| {
        let id = selected.get()?;
        let done = live.run.with(|run| {
            run.sims
                .iter()
                .find(|sim| sim.id == id)
                .map(|sim| sim.kernels_done)
        });
        done?.checked_sub(1)
    });
    let before = Memo::new(move |_| kernel.get()?.checked_sub(1));
    let after = Memo::new(move |_| Some(kernel.get()? + 1).filter(|next| Some(*next) <= last.get()));
    let turn = move |label: &'static str, to: Memo<Option<u64>>| {
        view! {
            <button type="button" class="button ghost" disabled=move || to.get().is_none()
                on:click=move |_| if let Some(to) = to.get_untracked() { on_kernel.run(Some(to)) }>
                {label}
            </button>
        }
    };
    let sims = move || {
        live.run.with_untracked(|run| {
            let option = |sim: &cascade_api::SimSummary| {
                let id = sim.id.clone();
                let chosen = move || selected.get().as_ref() == Some(&id);
                view! { <option value=sim.id.to_string() selected=chosen>{format!("{} #{}", sim.gpu_config, sim.replica)}</option> }
            };
            run.sims.iter().map(option).collect::<Vec<_>>()
        })
    };
    let on_backdrop = move |event: leptos::ev::MouseEvent| {
        let outside = node
            .get_untracked()
            .is_some_and(|dialog| event.target().is_some_and(|target| target == *dialog.as_ref()));
        if outside {
            on_kernel.run(None);
        }
    };
    view! {
        <dialog
            class="panel"
            node_ref=node
            aria-label="Kernel"
            on:close=move |_| if kernel.get_untracked().is_some() { on_kernel.run(None) }
            on:click=on_backdrop
        >
            <Show when=move || kernel.get().is_some()>
                <div class="panel-bar">
                    <select class="input" aria-label="Simulation" on:change=move |event| on_sim.run(SimId::new(event_target_value(&event)))>
                        {sims}
                    </select>
                    {turn("← Previous", before)}
                    {turn("Next →", after)}
                    <button type="button" class="button ghost icon-only" aria-label="Close" on:click=move |_| on_kernel.run(None)>
                        <Icon name=IconName::Cross />
                    </button>
                </div>
                <div class="panel-body"><KernelPanel asked /></div>
            </Show>
        </dialog>
    }
}
