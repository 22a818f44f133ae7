//! The list of traces.

use cascade_api::{TraceState, TraceSummary};
use cascade_scene::format;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::data::{self, segment};
use crate::pages::home::SendTrace;
use crate::ui::{
    Age, ButtonLink, Card, DataTable, Empty, Look, PageHead, SampleNote, SearchInput, SortTable, TraceBadge,
    TraceMarks, has_words, kept, loaded,
};

/// What traces can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// The trace's name.
    Name,
    /// How it stands.
    State,
    /// Kernels in it.
    Kernels,
    /// Bytes of it.
    Size,
    /// When its first file landed.
    Created,
}

/// Every trace of the workspace, also those that others send meanwhile.
#[component]
pub(crate) fn Traces() -> impl IntoView {
    let traces = Resource::new(|| (), |()| data::traces());
    let health = Resource::new(|| (), |()| async { Ok(data::health().await.ok()) });
    // Beside what is loaded, so that a search stays when the list is loaded again.
    let (query, order) = (RwSignal::new(String::new()), RwSignal::new((Key::Created, true)));
    view! {
        <Title text="Traces" />
        <div class="page">
            <PageHead title="Traces" />
            <div class="filter">
                <SearchInput label="Search by trace, model or GPU" value=query />
            </div>
            {loaded(traces, move |traces| view! { <Rows traces query order /> })}
            <Card title="Send a trace">{loaded(health, |health| view! { <SendTrace health /> })}</Card>
        </div>
    }
}

/// The list itself, kept up to date.
#[component]
fn Rows(
    /// The traces at first.
    traces: Vec<TraceSummary>,
    /// What was typed into the search.
    query: RwSignal<String>,
    /// Sorted by; the largest first.
    order: RwSignal<(Key, bool)>,
) -> impl IntoView {
    let coming = |traces: &Vec<TraceSummary>| traces.iter().any(|trace| on_its_way(trace.state));
    let traces = kept(traces, coming, |_| async { data::traces().await.map(Some) });
    let none = Memo::new(move |_| traces.now.with(Vec::is_empty));
    let shown = move || {
        if none.get() {
            view! {
                <Empty title="No traces yet">
                    <p>"A trace appears here as soon as its first file lands."</p>
                    <ButtonLink look=Look::Primary href="/">"Take the first steps"</ButtonLink>
                </Empty>
            }
            .into_any()
        } else {
            view! { <section class="card trace-list">{sorted(traces.now, query, order)}</section> }.into_any()
        }
    };
    view! { {traces.warning()} {shown} }
}

/// Traces as a table that can be sorted. A row that does not change stays, and with it the focus.
fn sorted(
    traces: RwSignal<Vec<TraceSummary>>,
    query: RwSignal<String>,
    order: RwSignal<(Key, bool)>,
) -> impl IntoView {
    let columns = vec![
        ("Trace", Some(Key::Name)),
        ("State", Some(Key::State)),
        ("Model", None),
        ("GPU", None),
        ("Arch", None),
        ("#Kernels", Some(Key::Kernels)),
        ("#Size", Some(Key::Size)),
        ("Age", Some(Key::Created)),
    ];
    let any = Memo::new(move |_| traces.with(|traces| traces.iter().any(|trace| trace.sample)));
    let shown = Memo::new(move |_| {
        let (key, descending) = order.get();
        let fits = |trace: &&TraceSummary| query.with(|query| has_words(query, &words(trace)));
        let mut shown: Vec<_> = traces.with(|traces| traces.iter().filter(fits).cloned().collect());
        match key {
            Key::Name => shown.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str())),
            Key::State => shown.sort_by_key(|trace| trace.state.to_string()),
            Key::Kernels => shown.sort_by_key(|trace| trace.kernel_count),
            Key::Size => shown.sort_by_key(|trace| trace.bytes),
            Key::Created => shown.sort_by_key(|trace| trace.created_at),
        }
        if descending {
            shown.reverse();
        }
        shown
    });
    let none = move || {
        let none = shown.with(Vec::is_empty);
        none.then(|| view! { <tr><td colspan="8" class="muted">"No trace fits the search."</td></tr> })
    };
    // Whatever happens to a trace is a newer state of it.
    let same = |trace: &TraceSummary| (trace.id.clone(), trace.updated_at);
    view! {
        <SortTable label="Traces" columns order>
            <For each=move || shown.get() key=same children=|trace| row(&trace) />
            {none}
        </SortTable>
        {move || view! { <SampleNote any=any.get() /> }}
    }
}

/// What a search looks through.
fn words(trace: &TraceSummary) -> String {
    let model = trace.model.as_deref().unwrap_or_default();
    let gpu = trace.source_gpu.as_deref().unwrap_or_default();
    format!(
        "{} {model} {gpu} {} {}",
        trace.id, trace.trace_gpu_arch, trace.state
    )
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
