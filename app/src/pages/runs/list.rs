//! The list of runs.

use cascade_api::{RunId, RunState, RunSummary, SimState};
use cascade_scene::format;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::data::{self, segment};
use crate::ui::{
    Age, ButtonLink, DataTable, DocLink, Empty, Look, PageHead, ReplayBadge, RunBadge, SampleBadge,
    SampleNote, SearchInput, SortTable, Switch, SyntheticBadge, has_words, kept, loaded,
};

/// What runs can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// The trace's name.
    Trace,
    /// How the run stands.
    State,
    /// How many sims it has.
    Sims,
    /// When it was created.
    Created,
}

/// Which runs are shown, and in which order.
#[derive(Clone, Copy)]
struct View {
    /// What was typed into the search.
    query: RwSignal<String>,
    /// Only runs in this state.
    state: RwSignal<Option<RunState>>,
    /// Sorted by; the largest first.
    order: RwSignal<(Key, bool)>,
    /// Runs chosen to be compared, in the order in which they were.
    chosen: RwSignal<Vec<RunId>>,
}

impl View {
    /// The runs that fit, in order.
    fn of(self, runs: &[RunSummary]) -> Vec<RunSummary> {
        let (state, (key, descending)) = (self.state.get(), self.order.get());
        let fits = |run: &&RunSummary| {
            state.is_none_or(|state| run.state == state)
                && self.query.with(|query| has_words(query, &words(run)))
        };
        let mut shown: Vec<_> = runs.iter().filter(fits).cloned().collect();
        match key {
            Key::Trace => shown.sort_by(|a, b| a.trace_id.as_str().cmp(b.trace_id.as_str())),
            Key::State => shown.sort_by_key(|run| run.state.to_string()),
            Key::Sims => shown.sort_by_key(|run| run.sim_counts.values().sum::<u32>()),
            Key::Created => shown.sort_by_key(|run| run.created_at),
        }
        if descending {
            shown.reverse();
        }
        shown
    }
}

/// What a search looks through.
fn words(run: &RunSummary) -> String {
    let gpus: Vec<_> = run
        .entries
        .iter()
        .map(|entry| entry.gpu_config.as_str())
        .collect();
    format!("{} {} {} {}", run.id, run.trace_id, gpus.join(" "), run.state)
}

/// Every run of the workspace, those that are made elsewhere too.
#[component]
pub(crate) fn Runs() -> impl IntoView {
    let runs = Resource::new(|| (), |()| data::runs());
    // Beside what is loaded, so that a search stays when the list is loaded again.
    let list = View {
        query: RwSignal::new(String::new()),
        state: RwSignal::new(None),
        order: RwSignal::new((Key::Created, true)),
        chosen: RwSignal::new(Vec::new()),
    };
    let actions = move || {
        let compare = move || {
            let chosen = list.chosen.get();
            match chosen.len() {
                0 | 1 => view! { <ButtonLink href="/compare">"Compare"</ButtonLink> },
                n => {
                    let ids: Vec<_> = chosen.iter().map(|id| segment(id.as_str())).collect();
                    view! { <ButtonLink href=format!("/compare?runs={}", ids.join(","))>{format!("Compare {n} runs")}</ButtonLink> }
                }
            }
        };
        view! {
            {compare}
            <ButtonLink look=Look::Primary href="/runs/new">"New run"</ButtonLink>
        }
    };
    view! {
        <Title text="Runs" />
        <div class="page">
            <PageHead title="Runs" actions=actions />
            <Filter list />
            {loaded(runs, move |runs| view! { <Rows runs list /> })}
        </div>
    }
}

/// The list itself, kept up to date.
#[component]
fn Rows(
    /// The runs at first.
    runs: Vec<RunSummary>,
    /// What is shown.
    list: View,
) -> impl IntoView {
    let active = |runs: &Vec<RunSummary>| runs.iter().any(|run| run.state == RunState::Active);
    let runs = kept(runs, active, |_| async { data::runs().await.map(Some) });
    let none = Memo::new(move |_| runs.now.with(Vec::is_empty));
    let shown = move || {
        if none.get() {
            view! {
                <Empty title="No runs yet">
                    <p>"A run simulates one trace on as many GPUs as you like, side by side."</p>
                    <ButtonLink look=Look::Primary href="/">"Take the first steps"</ButtonLink>
                    <DocLink href="/docs/runs">"How runs work"</DocLink>
                </Empty>
            }
            .into_any()
        } else {
            view! { <section class="card run-list">{sorted(runs.now, list)}</section> }.into_any()
        }
    };
    view! { {runs.warning()} {shown} }
}

/// The search, and the choice of a state.
#[component]
fn Filter(
    /// What is shown.
    list: View,
) -> impl IntoView {
    let choices = [
        (None, "All"),
        (Some(RunState::Active), "Active"),
        (Some(RunState::Succeeded), "Succeeded"),
        (Some(RunState::Failed), "Failed"),
    ];
    let choices = choices.map(|(state, name)| (state, name.to_owned())).to_vec();
    view! {
        <div class="filter">
            <SearchInput label="Search by run, trace or GPU" value=list.query />
            <Switch label="State" choices chosen=list.state on_choose=move |to| list.state.set(to) />
        </div>
    }
}

/// Runs as a table that can be sorted, and chosen from. A row that does not change stays, and with it the focus.
fn sorted(runs: RwSignal<Vec<RunSummary>>, list: View) -> impl IntoView {
    let columns = vec![
        ("", None),
        ("Run", None),
        ("State", Some(Key::State)),
        ("Trace", Some(Key::Trace)),
        ("GPUs", None),
        ("#Sims done", Some(Key::Sims)),
        ("Age", Some(Key::Created)),
    ];
    let any = Memo::new(move |_| runs.with(|runs| runs.iter().any(|run| run.sample)));
    let shown = Memo::new(move |_| runs.with(|runs| list.of(runs)));
    let none = move || {
        let none = shown.with(Vec::is_empty);
        none.then(|| view! { <tr><td colspan="7" class="muted">"No run fits the search."</td></tr> })
    };
    let same = |run: &RunSummary| (run.id.clone(), run.state, format!("{:?}", run.sim_counts));
    view! {
        <SortTable label="Runs" columns order=list.order>
            <For each=move || shown.get() key=same children=move |run| row(&run, Some(list.chosen)) />
            {none}
        </SortTable>
        {move || view! { <SampleNote any=any.get() /> }}
    }
}

/// Runs as a table.
pub(crate) fn run_table(runs: &[RunSummary]) -> impl IntoView + use<> {
    let columns = ["Run", "State", "Trace", "GPUs", "#Sims done", "Age"];
    let rows: Vec<_> = runs.iter().map(|run| row(run, None)).collect();
    let any = runs.iter().any(|run| run.sample);
    view! {
        <DataTable label="Runs" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
        <SampleNote any />
    }
}

/// One run as a row, with a box that chooses it where runs are chosen.
fn row(run: &RunSummary, chosen: Option<RwSignal<Vec<RunId>>>) -> impl IntoView + use<> {
    let choice = chosen.map(|chosen| {
        let (id, same) = (run.id.clone(), run.id.clone());
        let turn = move |_| {
            chosen.update(|chosen| {
                let before = chosen.len();
                chosen.retain(|other| *other != id);
                if chosen.len() == before {
                    chosen.push(id.clone());
                }
            });
        };
        view! {
            <td class="choice">
                <input
                    type="checkbox"
                    aria-label=format!("Compare {}", run.id)
                    prop:checked=move || chosen.with(|chosen| chosen.contains(&same))
                    on:change=turn
                />
            </td>
        }
    });
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
            {choice}
            <td><a class="row-link mono" href=href>{run.id.to_string()}</a></td>
            <td>
                <span class="badges">
                    <RunBadge state=run.state />
                    {run.sample.then(|| view! { <SampleBadge /> })}
                    {run.replay.then(|| view! { <ReplayBadge /> })}
                    {run.synthetic.then(|| view! { <SyntheticBadge /> })}
                </span>
            </td>
            <td><a href=trace>{run.trace_id.to_string()}</a></td>
            <td><span class="clamp">{entries.join(", ")}</span></td>
            <td class="number nowrap">{format::count(done.into())} " / " {format::count(all.into())} {failed}</td>
            <td class="nowrap"><Age at=run.created_at /></td>
        </tr>
    }
}
