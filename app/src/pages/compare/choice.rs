//! Which runs are compared, and which can be added.

use cascade_api::{RunId, RunState, RunSummary, TraceId, TraceSummary};
use leptos::prelude::*;

use super::Facts;
use crate::data::segment;
use crate::ui::{Card, Icon, IconName, ReplayBadge, SampleBadge, SampleNote};

/// Most runs at once; more columns than this nobody reads.
pub(super) const MAX_RUNS: usize = 8;
/// Most runs offered to add.
const MAX_OFFERED: usize = 12;

/// The ids in `?runs=a,b`, each once, at most [`MAX_RUNS`].
pub(super) fn read_ids(asked: &str) -> Vec<RunId> {
    let mut ids: Vec<RunId> = Vec::new();
    for id in asked.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        let id = RunId::from(id);
        if !ids.contains(&id) && ids.len() < MAX_RUNS {
            ids.push(id);
        }
    }
    ids
}

/// The address that compares these runs.
pub(super) fn address(ids: &[RunId]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| segment(id.as_str())).collect();
    format!("/compare?runs={}", ids.join(","))
}

/// The runs of a sample set, or of the first there is: for each trace the bundled run, else its newest that
/// succeeded. `runs` are newest first.
pub(super) fn preset(runs: &[RunSummary], traces: &[TraceSummary], set: Option<&str>) -> Vec<RunId> {
    let named = traces.iter().filter_map(|trace| trace.sample_set.as_deref());
    let Some(set) = set.or_else(|| named.min()) else {
        return Vec::new();
    };
    let mut members: Vec<&TraceSummary> = traces
        .iter()
        .filter(|trace| trace.sample_set.as_deref() == Some(set))
        .collect();
    // The newest architecture first, as H100 before A100.
    members.sort_by(|a, b| {
        b.trace_gpu_arch
            .cmp(&a.trace_gpu_arch)
            .then_with(|| a.id.cmp(&b.id))
    });
    let run_of = |trace: &TraceId| {
        let mut own = runs.iter().filter(|run| run.trace_id == *trace);
        let bundled = own.clone().find(|run| run.sample);
        bundled.or_else(|| own.find(|run| run.state == RunState::Succeeded))
    };
    members
        .into_iter()
        .filter_map(|trace| run_of(&trace.id))
        .map(|run| run.id.clone())
        .take(MAX_RUNS)
        .collect()
}

/// The runs to offer: those whose trace is in a set with a compared one first, then all that have succeeded.
fn offered<'a>(facts: &'a Facts, chosen: &[RunId]) -> Vec<&'a RunSummary> {
    let set_of = |trace: &TraceId| {
        let trace = facts.traces.iter().find(|other| other.id == *trace);
        trace.and_then(|trace| trace.sample_set.as_deref())
    };
    let sets: Vec<&str> = facts
        .compared
        .iter()
        .filter_map(|(run, _)| run.trace.sample_set.as_deref())
        .collect();
    let has_timeline = |run: &RunSummary| {
        facts
            .traces
            .iter()
            .any(|trace| trace.id == run.trace_id && trace.has_step_timeline)
    };
    let mut offered: Vec<&RunSummary> = facts
        .runs
        .iter()
        .filter(|run| !chosen.contains(&run.id) && has_timeline(run))
        .filter(|run| matches!(run.state, RunState::Succeeded | RunState::Partial))
        .collect();
    offered.sort_by_key(|run| !set_of(&run.trace_id).is_some_and(|set| sets.contains(&set)));
    offered.truncate(MAX_OFFERED);
    offered
}

/// Compared runs with a way to leave each out, and runs with a way to add each. All are links.
#[component]
pub(super) fn Chooser(
    /// What is compared and what there is.
    facts: Facts,
) -> impl IntoView {
    let chosen: Vec<RunId> = facts
        .compared
        .iter()
        .map(|(run, _)| run.summary.id.clone())
        .collect();
    let taken: Vec<_> = facts
        .compared
        .iter()
        .map(|(run, _)| {
            let id = run.summary.id.clone();
            let rest: Vec<RunId> = chosen.iter().filter(|other| **other != id).cloned().collect();
            let href = format!("/runs/{}", segment(id.as_str()));
            let label = format!("Leave {id} out");
            view! {
                <li class="chip">
                    <a href=href>{id.to_string()}</a>
                    <span class="muted">{run.trace.id.to_string()}</span>
                    {run.summary.sample.then(|| view! { <SampleBadge /> })}
                    {run.summary.replay.then(|| view! { <ReplayBadge /> })}
                    <a class="button ghost icon-only" href=address(&rest) aria-label=label.clone() title=label>
                        <Icon name=IconName::Cross />
                    </a>
                </li>
            }
        })
        .collect();
    let more: Vec<_> = offered(&facts, &chosen)
        .into_iter()
        .filter(|_| chosen.len() < MAX_RUNS)
        .map(|run| {
            let mut all = chosen.clone();
            all.push(run.id.clone());
            view! {
                <li>
                    <a class="button" href=address(&all)>
                        <Icon name=IconName::Plus />
                        <span class="visually-hidden">"Add "</span>
                        {format!("{} ", run.id)}
                        <span class="muted">{run.trace_id.to_string()}</span>
                    </a>
                </li>
            }
        })
        .collect();
    let any_sample = facts
        .compared
        .iter()
        .any(|(run, _)| run.summary.sample || run.trace.sample);
    let none = taken.is_empty().then(
        || view! { <p class="muted">"No run is chosen. Add two or more that have predicted requests."</p> },
    );
    let add =
        (!more.is_empty()).then(|| view! { <p class="muted small">"Add"</p> <ul class="chips">{more}</ul> });
    view! {
        <Card title="Runs">
            {none}
            <ul class="chips">{taken}</ul>
            {add}
            <SampleNote any=any_sample />
        </Card>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cascade_api::Timestamp;
    use indexmap::IndexMap;

    fn run(id: &str, trace: &str, sample: bool) -> RunSummary {
        RunSummary {
            id: id.into(),
            trace_id: trace.into(),
            created_at: Timestamp::from_micros(0),
            state: RunState::Succeeded,
            entries: Vec::new(),
            sim_counts: IndexMap::new(),
            sample,
            replay: sample,
        }
    }

    fn trace(id: &str, arch: &str, set: Option<&str>) -> TraceSummary {
        serde_json::from_value(serde_json::json!({
            "id": id, "state": "ready", "error": null, "created_at": "2026-11-08T03:05:34Z",
            "updated_at": "2026-11-08T03:05:34Z", "model": null, "layers": [], "source_gpu": null,
            "trace_gpu_arch": arch, "suggested_sim_config": null, "sample_set": set, "kernel_count": 0,
            "bytes": 0, "has_real_timing": false, "has_step_timeline": true, "sample": set.is_some(),
        }))
        .unwrap()
    }

    #[test]
    fn an_address_names_each_run_once_and_not_too_many() {
        assert_eq!(read_ids(" a,b,,a ").len(), 2);
        let many: Vec<_> = (0..20).map(|n| n.to_string()).collect();
        assert_eq!(read_ids(&many.join(",")).len(), MAX_RUNS);
        assert_eq!(address(&read_ids("run-1,x&y")), "/compare?runs=run-1,x%26y");
    }

    #[test]
    fn a_set_is_filled_with_its_bundled_runs() {
        let traces = [
            trace("own", "sm_90", None),
            trace("a100", "sm_80", Some("opt")),
            trace("h100", "sm_90", Some("opt")),
        ];
        let runs = [
            run("run-new", "h100", false),
            run("run-own", "own", false),
            run("run-h", "h100", true),
            run("run-a", "a100", true),
        ];
        let ids = |ids: &[&str]| ids.iter().map(|id| RunId::from(*id)).collect::<Vec<_>>();
        assert_eq!(preset(&runs, &traces, None), ids(&["run-h", "run-a"]));
        assert_eq!(preset(&runs, &traces, Some("opt")), ids(&["run-h", "run-a"]));
        assert_eq!(
            preset(&runs[..2], &traces, Some("opt")),
            ids(&["run-new"]),
            "without a bundled run the newest that succeeded stands in"
        );
        assert!(preset(&runs, &traces[..1], None).is_empty());
    }
}
