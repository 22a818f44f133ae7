//! Which columns are compared, a column being one GPU of one run, and how an address names them.

use cascade_api::{GpuName, RunId, RunState, RunSummary, TraceId, TraceSummary};
use cascade_scene::chart::spread;
use cascade_scene::compare::MAX_SIDES;

use super::facts::Asked;
use crate::data::segment;

/// One column.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Pick {
    /// The run.
    pub(super) run: RunId,
    /// One of its GPUs.
    pub(super) gpu: GpuName,
}

impl Pick {
    /// Reads `run:GPU`; `None` without a colon. A GPU's name has none.
    fn parse(text: &str) -> Option<Self> {
        let (run, gpu) = text.trim().rsplit_once(':')?;
        Some(Self {
            run: run.into(),
            gpu: gpu.into(),
        })
    }
}

/// The address that compares these columns.
pub(super) fn address(picks: &[Pick]) -> String {
    let one = |pick: &Pick| format!("of={}:{}", segment(pick.run.as_str()), segment(pick.gpu.as_str()));
    let all: Vec<_> = picks.iter().map(one).collect();
    format!(
        "/compare?{}",
        if all.is_empty() {
            "of=".to_owned()
        } else {
            all.join("&")
        }
    )
}

/// What an address asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// The columns, each once and at most [`MAX_SIDES`].
    pub(super) picks: Vec<Pick>,
    /// Columns for which there is no room.
    pub(super) left_out: Vec<Pick>,
    /// What there is not.
    pub(super) missing: Vec<String>,
}

/// The columns an address asks for. Where they are too many, some of them from the first to the last, so that a sweep
/// is seen whole.
pub(super) fn choose(asked: &Asked, runs: &[RunSummary], traces: &[TraceSummary]) -> Choice {
    let named = |text: &&str| !text.is_empty();
    let mut wanted: Vec<String> = asked.of.clone();
    if let Some(list) = &asked.runs {
        wanted.extend(list.split(',').map(str::trim).filter(named).map(str::to_owned));
    } else if wanted.is_empty() {
        let own = match asked.set {
            None => newest(runs),
            Some(_) => Vec::new(),
        };
        let chosen = match own.is_empty() {
            true => preset(runs, traces, asked.set.as_deref()),
            false => own,
        };
        wanted.extend(chosen.iter().map(ToString::to_string));
    }
    let (mut picks, mut missing) = (Vec::new(), Vec::new());
    for text in wanted.iter().map(|text| text.trim()).filter(named) {
        let whole = runs.iter().find(|run| run.id.as_str() == text);
        let found = match (whole, Pick::parse(text)) {
            (Some(run), _) => columns_of(run),
            (None, Some(pick)) => {
                let run = runs.iter().find(|run| run.id == pick.run);
                let has = run.is_some_and(|run| run.entries.iter().any(|entry| entry.gpu_config == pick.gpu));
                if has { vec![pick] } else { Vec::new() }
            }
            (None, None) => Vec::new(),
        };
        if found.is_empty() {
            missing.push(text.to_owned());
        }
        for pick in found {
            if !picks.contains(&pick) {
                picks.push(pick);
            }
        }
    }
    let shown = spread(picks.len(), MAX_SIDES);
    let (picks, left_out) = picks
        .into_iter()
        .enumerate()
        .partition::<Vec<_>, _>(|(at, _)| shown.contains(at));
    let only = |picks: Vec<(usize, Pick)>| picks.into_iter().map(|(_, pick)| pick).collect();
    Choice {
        picks: only(picks),
        left_out: only(left_out),
        missing,
    }
}

/// A column for each GPU of a run.
pub(super) fn columns_of(run: &RunSummary) -> Vec<Pick> {
    let mut picks: Vec<Pick> = Vec::new();
    for entry in &run.entries {
        let pick = Pick {
            run: run.id.clone(),
            gpu: entry.gpu_config.clone(),
        };
        if !picks.contains(&pick) {
            picks.push(pick);
        }
    }
    picks
}

/// What is compared where nothing was asked for: the newest run of this workspace with results, and where it has a
/// single GPU, the next one as well, of the same trace if there is one. `runs` are newest first; what is bundled or
/// played back does not count.
fn newest(runs: &[RunSummary]) -> Vec<RunId> {
    let results = |run: &&RunSummary| matches!(run.state, RunState::Succeeded | RunState::Partial);
    let mut own = runs
        .iter()
        .filter(|run| !run.sample && !run.replay)
        .filter(results);
    let Some(first) = own.next() else {
        return Vec::new();
    };
    let other = match columns_of(first).len() {
        0 | 1 => {
            let same = own.clone().find(|run| run.trace_id == first.trace_id);
            same.or_else(|| own.next())
        }
        _ => None,
    };
    let chosen = std::iter::once(first).chain(other);
    chosen.map(|run| run.id.clone()).collect()
}

/// The runs of a sample set, or of the first there is: for each trace the bundled run, else its newest that
/// succeeded. `runs` are newest first.
fn preset(runs: &[RunSummary], traces: &[TraceSummary], set: Option<&str>) -> Vec<RunId> {
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
        .collect()
}

/// Columns that could be added, those that belong to a chosen one first: of the same run, of the same trace, of a
/// trace in the same sample set. Only runs with something finished.
pub(super) fn offered(runs: &[RunSummary], traces: &[TraceSummary], chosen: &[Pick]) -> Vec<(Pick, TraceId)> {
    let trace_of = |id: &RunId| runs.iter().find(|run| run.id == *id).map(|run| &run.trace_id);
    let set_of = |id: &TraceId| {
        let trace = traces.iter().find(|trace| trace.id == *id);
        trace.and_then(|trace| trace.sample_set.as_deref())
    };
    let own: Vec<&TraceId> = chosen.iter().filter_map(|pick| trace_of(&pick.run)).collect();
    let sets: Vec<&str> = own.iter().filter_map(|trace| set_of(trace)).collect();
    let far = |pick: &Pick, trace: &TraceId| {
        if chosen.iter().any(|other| other.run == pick.run) {
            0
        } else if own.contains(&trace) {
            1
        } else if set_of(trace).is_some_and(|set| sets.contains(&set)) {
            2
        } else {
            3
        }
    };
    let some = |run: &&RunSummary| {
        matches!(
            run.state,
            RunState::Succeeded | RunState::Partial | RunState::Active
        )
    };
    let mut all: Vec<(Pick, TraceId)> = runs
        .iter()
        .filter(some)
        .flat_map(|run| {
            columns_of(run)
                .into_iter()
                .map(|pick| (pick, run.trace_id.clone()))
        })
        .filter(|(pick, _)| !chosen.contains(pick))
        .collect();
    all.sort_by_key(|(pick, trace)| far(pick, trace));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use cascade_api::{RunEntry, Timestamp};
    use indexmap::IndexMap;

    fn run(id: &str, trace: &str, sample: bool) -> RunSummary {
        RunSummary {
            id: id.into(),
            trace_id: trace.into(),
            created_at: Timestamp::from_micros(0),
            state: RunState::Succeeded,
            entries: ["SM90_H100", "SM90_H200", "SM90_H100"]
                .map(|gpu| RunEntry {
                    gpu_config: gpu.into(),
                    count: 1,
                })
                .to_vec(),
            sim_counts: IndexMap::new(),
            sample,
            replay: sample,
            synthetic: false,
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

    fn asked(of: &[&str]) -> Asked {
        Asked {
            of: of.iter().map(|text| (*text).to_owned()).collect(),
            ..Asked::default()
        }
    }

    #[test]
    fn an_address_names_each_column_once_and_not_too_many() {
        let runs = [run("run-a", "t", false), run("run-b", "t", false)];
        let of = [
            "run-a:SM90_H100",
            "run-a:SM90_H100",
            "run-b",
            "run-x:SM90_H100",
            "run-a:SM80_A100",
            "junk",
        ];
        let Choice { picks, missing, .. } = choose(&asked(&of), &runs, &[]);
        let names: Vec<_> = picks
            .iter()
            .map(|pick| format!("{}:{}", pick.run, pick.gpu))
            .collect();
        assert_eq!(names, ["run-a:SM90_H100", "run-b:SM90_H100", "run-b:SM90_H200"]);
        assert_eq!(missing, ["run-x:SM90_H100", "run-a:SM80_A100", "junk"]);

        let link = address(&picks);
        assert_eq!(
            link,
            "/compare?of=run-a:SM90_H100&of=run-b:SM90_H100&of=run-b:SM90_H200"
        );
        let back: Vec<&str> = link
            .split(['?', '&'])
            .filter_map(|part| part.strip_prefix("of="))
            .collect();
        assert_eq!(choose(&asked(&back), &runs, &[]).picks, picks);
        let all = choose(
            &Asked {
                runs: Some("run-b,run-a".into()),
                ..Asked::default()
            },
            &runs,
            &[],
        )
        .picks;
        assert_eq!(all.len(), 4);
        assert_eq!(all[0].run, "run-b".into());
        let many: Vec<_> = (0..9).map(|n| run(&n.to_string(), "t", false)).collect();
        let ids: Vec<_> = many.iter().map(|run| run.id.as_str()).collect();
        let chosen = choose(&asked(&ids), &many, &[]);
        assert_eq!((chosen.picks.len(), chosen.left_out.len()), (MAX_SIDES, 10));
        let ends = [&chosen.picks[0], &chosen.picks[MAX_SIDES - 1]].map(|pick| pick.run.as_str());
        assert_eq!(ends, ["0", "8"], "from the first to the last");
    }

    #[test]
    fn no_column_is_an_address_too() {
        let runs = [run("run-a", "t", true)];
        let traces = [trace("t", "sm_90", Some("opt"))];
        assert_eq!(
            choose(&Asked::default(), &runs, &traces).picks.len(),
            2,
            "the first sample set stands in"
        );
        assert!(
            choose(&asked(&[""]), &runs, &traces).picks.is_empty(),
            "{}",
            address(&[])
        );
    }

    #[test]
    fn without_a_question_the_newest_own_run_is_compared_and_samples_only_without_any() {
        let mut failed = run("run-f", "t", false);
        failed.state = RunState::Failed;
        let single = |id: &str, trace: &str| {
            let mut run = run(id, trace, false);
            run.entries.truncate(1);
            run
        };
        let (sample, pair) = (run("run-s", "s", true), run("run-2", "t", false));
        let traces = [trace("s", "sm_90", Some("opt"))];
        let chosen = |runs: &[RunSummary]| {
            let Choice { picks, missing, .. } = choose(&Asked::default(), runs, &traces);
            assert!(missing.is_empty(), "{missing:?}");
            let names = picks.iter().map(|pick| format!("{}:{}", pick.run, pick.gpu));
            names.collect::<Vec<_>>().join(" ")
        };
        let both = "run-2:SM90_H100 run-2:SM90_H200";
        assert_eq!(chosen(&[sample.clone(), failed.clone(), pair.clone()]), both);
        assert_eq!(
            chosen(&[failed.clone(), sample.clone()]),
            "run-s:SM90_H100 run-s:SM90_H200"
        );
        let alone = single("run-1", "t");
        assert_eq!(chosen(&[alone.clone(), sample]), "run-1:SM90_H100");
        assert_eq!(
            chosen(&[alone.clone(), single("run-u", "u"), pair]),
            format!("run-1:SM90_H100 {both}"),
            "the same trace first"
        );
        assert_eq!(
            chosen(&[alone, single("run-u", "u")]),
            "run-1:SM90_H100 run-u:SM90_H100"
        );
        let set = Asked {
            set: Some("opt".into()),
            ..Asked::default()
        };
        let runs = [run("run-2", "t", false), run("run-s", "s", true)];
        assert_eq!(choose(&set, &runs, &traces).picks[0].run, "run-s".into());
    }

    #[test]
    fn what_belongs_to_a_column_is_offered_first() {
        let mut failed = run("run-f", "t", false);
        failed.state = RunState::Failed;
        let runs = [
            run("run-z", "u", false),
            run("run-b", "t", false),
            run("run-a", "t", false),
            failed,
        ];
        let chosen = [Pick {
            run: "run-a".into(),
            gpu: "SM90_H100".into(),
        }];
        let offers = offered(&runs, &[], &chosen);
        let names: Vec<_> = offers
            .iter()
            .map(|(pick, _)| format!("{}:{}", pick.run, pick.gpu))
            .collect();
        assert_eq!(
            names,
            [
                "run-a:SM90_H200",
                "run-b:SM90_H100",
                "run-b:SM90_H200",
                "run-z:SM90_H100",
                "run-z:SM90_H200"
            ]
        );
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
