//! The list of runs.

use cascade_api::{RunState, RunSummary, SimState};
use cascade_scene::format;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::data::{self, segment};
use crate::ui::{
    Age, ButtonLink, DataTable, Empty, Look, PageHead, ReplayBadge, RunBadge, SampleBadge, SampleNote,
    loaded, poll_while,
};

/// Every run of the workspace. While one is active, the list asks again every two seconds.
#[component]
pub(crate) fn Runs() -> impl IntoView {
    let runs = Resource::new(|| (), |()| data::runs());
    poll_while(runs, |runs: &Vec<RunSummary>| {
        runs.iter().any(|run| run.state == RunState::Active)
    });
    let actions = || {
        view! {
            <ButtonLink href="/compare">"Compare"</ButtonLink>
            <ButtonLink look=Look::Primary href="/runs/new">"New run"</ButtonLink>
        }
    };
    view! {
        <Title text="Runs" />
        <div class="page">
            <PageHead title="Runs" actions=actions />
            {loaded(
                runs,
                |runs| {
                    if runs.is_empty() {
                        view! {
                            <Empty title="No runs yet">
                                <p>"A run simulates one trace on as many GPUs as you like, side by side."</p>
                                <ButtonLink href="/traces">"Choose a trace"</ButtonLink>
                                <a class="small" href="/docs/runs" rel="external">"How runs work"</a>
                            </Empty>
                        }
                            .into_any()
                    } else {
                        view! { <section class="card">{run_table(&runs)}</section> }.into_any()
                    }
                },
            )}
        </div>
    }
}

/// Runs as a table.
pub(crate) fn run_table(runs: &[RunSummary]) -> impl IntoView + use<> {
    let columns = ["Run", "State", "Trace", "GPUs", "#Sims done", "Age"];
    let rows: Vec<_> = runs.iter().map(row).collect();
    let any = runs.iter().any(|run| run.sample);
    view! {
        <DataTable label="Runs" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
        <SampleNote any />
    }
}

/// One run as a row.
fn row(run: &RunSummary) -> impl IntoView + use<> {
    let href = format!("/runs/{}", segment(run.id.as_str()));
    let trace = format!("/traces/{}", segment(run.trace_id.as_str()));
    let entries: Vec<_> = run
        .entries
        .iter()
        .map(|entry| format!("{} × {}", entry.gpu_config, entry.count))
        .collect();
    let all: u32 = run.sim_counts.values().sum();
    let done: u32 = run
        .sim_counts
        .iter()
        .filter(|(state, _)| state.is_terminal())
        .map(|(_, n)| n)
        .sum();
    let failed = run.sim_counts.get(&SimState::Failed).copied().unwrap_or(0);
    let failed =
        (failed > 0).then(|| view! { <span class="bad-text">{format!(" · {failed} failed")}</span> });
    view! {
        <tr>
            <td><a class="row-link mono" href=href>{run.id.to_string()}</a></td>
            <td>
                <span class="badges">
                    <RunBadge state=run.state />
                    {run.sample.then(|| view! { <SampleBadge /> })}
                    {run.replay.then(|| view! { <ReplayBadge /> })}
                </span>
            </td>
            <td><a href=trace>{run.trace_id.to_string()}</a></td>
            <td>{entries.join(", ")}</td>
            <td class="number nowrap">{format::count(done.into())} " / " {format::count(all.into())} {failed}</td>
            <td class="nowrap"><Age at=run.created_at /></td>
        </tr>
    }
}
