//! The kernels of a trace, a page of them at a time.

use cascade_api::KernelLaunch;
use cascade_scene::{format, kernel_name::readable, page::Page};
use leptos::prelude::*;

use crate::ui::{DataTable, Pager};

/// Rows on a page.
const ROWS: usize = 50;

/// Kernels with their launch shape.
#[component]
pub(super) fn KernelTable(
    /// The kernels, by `kernel_id`.
    kernels: Vec<KernelLaunch>,
    /// Whether it is a sample's, which holds no instructions to count.
    sample: bool,
) -> impl IntoView {
    let total = kernels.len();
    let kernels = StoredValue::new(kernels);
    let number = RwSignal::new(0);
    let page = Signal::derive(move || Page::new(number.get(), ROWS, total));
    let rows = move || {
        kernels.with_value(|kernels| {
            kernels
                .get(page.get().rows())
                .unwrap_or_default()
                .iter()
                .map(|kernel| row(kernel, sample))
                .collect::<Vec<_>>()
        })
    };
    let columns = ["#Id", "Kernel", "#Grid", "#Block", "#Warp instructions"];
    view! {
        <DataTable label="Kernels of the trace" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
        <Pager page total on_go=move |to| number.set(to) />
    }
}

/// One kernel as a row.
fn row(kernel: &KernelLaunch, sample: bool) -> impl IntoView + use<> {
    let instructions = match kernel.instructions {
        Some(n) => format::count(n),
        None if sample => format::NONE.to_owned(),
        None => "file incomplete".to_owned(),
    };
    view! {
        <tr>
            <td class="number">{kernel.kernel_id}</td>
            <td class="kernel" title=kernel.name.clone()>{readable(&kernel.name)}</td>
            <td class="number nowrap">{format::dim3(kernel.grid)}</td>
            <td class="number nowrap">{format::dim3(kernel.block)}</td>
            <td class="number">{instructions}</td>
        </tr>
    }
}
