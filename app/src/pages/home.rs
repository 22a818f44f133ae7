//! The overview: recent runs and traces, or how to get the first ones.

use cascade_api::{RunState, RunSummary, TraceState, TraceSummary};
use leptos::prelude::*;
use leptos_meta::Title;

use super::runs::run_table;
use super::traces::trace_table;
use crate::data;
use crate::site::use_site;
use crate::ui::{Card, CodeBlock, PageHead, loaded, poll_while};

/// Rows of each list here; the lists' own pages show all.
const RECENT: usize = 6;

/// Recent runs and traces.
#[component]
pub(crate) fn Home() -> impl IntoView {
    let lists = Resource::new(
        || (),
        |()| async { Ok((data::runs().await?, data::traces().await?)) },
    );
    poll_while(lists, |(runs, traces): &(Vec<RunSummary>, Vec<TraceSummary>)| {
        runs.iter().any(|run| run.state == RunState::Active)
            || traces
                .iter()
                .any(|t| matches!(t.state, TraceState::Uploading | TraceState::Processing))
    });
    view! {
        <Title text="Overview" />
        <div class="page">
            <PageHead title="Overview" />
            {loaded(lists, |(runs, traces)| view! { <Lists runs traces /> })}
        </div>
    }
}

/// The two lists, and the guide where one of them is empty.
#[component]
fn Lists(
    /// Runs, newest first.
    runs: Vec<RunSummary>,
    /// Traces, newest first.
    traces: Vec<TraceSummary>,
) -> impl IntoView {
    let guide = (runs.is_empty() || traces.is_empty()).then(|| view! { <Guide /> });
    let recent_runs = (!runs.is_empty()).then(|| {
        let table = run_table(runs.get(..RECENT.min(runs.len())).unwrap_or_default());
        view! { <Card title="Recent runs" aside=|| view! { <a href="/runs">"All runs"</a> }>{table}</Card> }
    });
    let recent_traces = (!traces.is_empty()).then(|| {
        let table = trace_table(traces.get(..RECENT.min(traces.len())).unwrap_or_default());
        view! { <Card title="Recent traces" aside=|| view! { <a href="/traces">"All traces"</a> }>{table}</Card> }
    });
    view! { {guide} {recent_runs} {recent_traces} }
}

/// The first steps, with this app's address filled in.
#[component]
pub(crate) fn Guide() -> impl IntoView {
    let site = use_site();
    let s3 = site
        .s3_endpoint
        .map(|endpoint| format!("export CASCADE_S3_ENDPOINT={endpoint}\n"));
    let connect = format!(
        "export CASCADE_URL={}\n{}export CASCADE_TOKEN=<your token>",
        site.url,
        s3.unwrap_or_default()
    );
    view! {
        <Card title="First steps">
            <ol class="steps">
                <li>
                    <h3>"Point the command line at this workspace"</h3>
                    <CodeBlock code=connect />
                </li>
                <li>
                    <h3>"Get a trace"</h3>
                    <p class="muted">
                        "Profile a workload on a real GPU, or synthesise a small one to look around. A synthetic trace is marked as such everywhere."
                    </p>
                    <CodeBlock code="cascade trace synth --model-like opt-125m --steps 1 --arch sm_90 -o my-trace" />
                </li>
                <li>
                    <h3>"Upload it"</h3>
                    <CodeBlock code="cascade upload my-trace --run-name my-trace" />
                </li>
                <li>
                    <h3>"Simulate it"</h3>
                    <p class="muted">
                        "Once the trace is ready, open it and choose " <b>"New run"</b> ", or stay on the command line:"
                    </p>
                    <CodeBlock code="cascade runs create my-trace --gpu SM90_H100:2 --gpu SM90_H200" />
                </li>
            </ol>
            <div class="actions small">
                <a href="/docs/quickstart" rel="external">"Quickstart"</a>
                <a href="/docs/trace" rel="external">"Trace a workload"</a>
            </div>
        </Card>
    }
}
