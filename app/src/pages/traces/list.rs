//! The list of traces.

use cascade_api::{TraceState, TraceSummary};
use cascade_scene::format;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::data::{self, segment};
use crate::pages::home::Guide;
use crate::ui::{Age, DataTable, Empty, PageHead, SampleNote, TraceBadge, TraceMarks, loaded, poll_while};

/// Every trace of the workspace. While one is on its way, the list asks again every two seconds.
#[component]
pub(crate) fn Traces() -> impl IntoView {
    let traces = Resource::new(|| (), |()| data::traces());
    poll_while(traces, |traces: &Vec<TraceSummary>| {
        traces.iter().any(|trace| on_its_way(trace.state))
    });
    view! {
        <Title text="Traces" />
        <div class="page">
            <PageHead title="Traces" />
            {loaded(
                traces,
                |traces| {
                    if traces.is_empty() {
                        view! {
                            <Empty title="No traces yet">
                                <p>"A trace appears here as soon as its first file lands."</p>
                            </Empty>
                            <Guide />
                        }
                            .into_any()
                    } else {
                        view! { <section class="card">{trace_table(&traces)}</section> }.into_any()
                    }
                },
            )}
        </div>
    }
}

/// Whether a trace will change by itself.
pub(super) const fn on_its_way(state: TraceState) -> bool {
    matches!(state, TraceState::Uploading | TraceState::Processing)
}

/// Traces as a table.
pub(crate) fn trace_table(traces: &[TraceSummary]) -> impl IntoView + use<> {
    let columns = [
        "Trace", "State", "Model", "GPU", "Arch", "#Kernels", "#Size", "Age",
    ];
    let rows: Vec<_> = traces.iter().map(row).collect();
    let any = traces.iter().any(|trace| trace.sample);
    view! {
        <DataTable label="Traces" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
        <SampleNote any />
    }
}

/// One trace as a row.
fn row(trace: &TraceSummary) -> impl IntoView + use<> {
    let href = format!("/traces/{}", segment(trace.id.as_str()));
    let failed = trace
        .error
        .clone()
        .map(|error| view! { <p class="row-error">{error}</p> });
    view! {
        <tr>
            <td>
                <a class="row-link" href=href>{trace.id.to_string()}</a>
                {failed}
            </td>
            <td>
                <span class="badges"><TraceBadge state=trace.state /> <TraceMarks trace /></span>
            </td>
            <td>{or_none(trace.model.as_deref())}</td>
            <td>{or_none(trace.source_gpu.as_deref())}</td>
            <td><code>{trace.trace_gpu_arch.clone()}</code></td>
            <td class="number">{format::count(trace.kernel_count)}</td>
            <td class="number">{format::bytes(trace.bytes)}</td>
            <td class="nowrap"><Age at=trace.created_at /></td>
        </tr>
    }
}

/// A value, or the sign for none.
pub(super) fn or_none(text: Option<&str>) -> String {
    text.unwrap_or(format::NONE).to_owned()
}
