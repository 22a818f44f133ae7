//! Other runs in the same picture: those that are there, and a choice of those that could join.

use cascade_api::{RunId, RunState, RunSummary};
use leptos::prelude::*;

use super::card::Timeline;
use super::stage::Stage;
use crate::ui::{Icon, IconName};

/// Runs offered at most.
const MOST: usize = 50;
/// GPUs of a run that are named.
const NAMED: usize = 3;

/// A run that could be added.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Offer {
    /// The run.
    run: RunId,
    /// Whether it simulates the page's trace.
    same: bool,
    /// How the choice reads.
    says: String,
}

/// The other runs that may have kernels, those of the same trace first. `all` are newest first.
pub(super) fn offers(of: &RunSummary, all: &[RunSummary]) -> Vec<Offer> {
    let some = |run: &&RunSummary| {
        let kernels = matches!(
            run.state,
            RunState::Active | RunState::Partial | RunState::Succeeded
        );
        kernels && run.id != of.id
    };
    let offer = |run: &RunSummary| {
        let same = run.trace_id == of.trace_id;
        let mut says = format!("{} · {}", run.id, gpus(run));
        if !same {
            says += &format!(" · {}", run.trace_id);
        }
        if run.synthetic {
            says += " · synthetic";
        }
        Offer {
            run: run.id.clone(),
            same,
            says,
        }
    };
    let mut offers: Vec<Offer> = all.iter().filter(some).map(offer).collect();
    offers.sort_by_key(|offer| !offer.same);
    offers.truncate(MOST);
    offers
}

/// A run's GPUs, each once: by name, or where there are many, how many.
fn gpus(run: &RunSummary) -> String {
    let mut names: Vec<&str> = Vec::new();
    for entry in &run.entries {
        if !names.contains(&entry.gpu_config.as_str()) {
            names.push(entry.gpu_config.as_str());
        }
    }
    if names.len() > NAMED {
        format!("{} GPUs", names.len())
    } else {
        names.join(", ")
    }
}

/// The added runs, each with a way to leave it out, and the choice of more where any are offered.
#[component]
pub(super) fn Runs(
    /// The timeline.
    timeline: Timeline,
    /// What could be added.
    offers: Vec<Offer>,
) -> impl IntoView {
    let runs = timeline.runs;
    let leave = move |run: &RunId| {
        // Lanes change their places: what was selected would be another one's.
        timeline.change(|stage: &mut Stage| stage.select(None));
        let rest = runs.with_untracked(|runs| runs.iter().filter(|other| *other != run).cloned().collect());
        timeline.show_runs(rest);
    };
    let chip = move |run: RunId| {
        let (name, label) = (run.to_string(), format!("Leave {run} out"));
        view! {
            <span class="timeline-run">
                <span class="mono">{name}</span>
                <button type="button" class="button ghost icon-only" aria-label=label.clone() title=label on:click=move |_| leave(&run)>
                    <Icon name=IconName::Cross />
                </button>
            </span>
        }
    };
    let chips = move || {
        let added: Vec<RunId> = runs.with(|runs| runs.iter().skip(1).cloned().collect());
        added.into_iter().map(chip).collect::<Vec<_>>()
    };
    let choice = (!offers.is_empty()).then(|| {
        let group = move |same: bool, label: &'static str| {
            let free = |offer: &&Offer| offer.same == same && runs.with(|runs| !runs.contains(&offer.run));
            let options: Vec<_> = offers
                .iter()
                .filter(free)
                .map(|offer| view! { <option value=offer.run.to_string()>{offer.says.clone()}</option> })
                .collect();
            (!options.is_empty()).then(|| view! { <optgroup label=label>{options}</optgroup> })
        };
        let groups = move || [group(true, "Same trace"), group(false, "Other traces")];
        let add = move |event: leptos::ev::Event| {
            let select: web_sys::HtmlSelectElement = event_target(&event);
            let mut all = runs.get_untracked();
            let run = RunId::from(select.value());
            select.set_value("");
            if !run.as_str().is_empty() && !all.contains(&run) {
                all.push(run);
                timeline.show_runs(all);
            }
        };
        view! {
            <select class="input timeline-add" aria-label="Add a run" title="Show another run's lanes below these" on:change=add>
                <option value="">"Add a run…"</option>
                {groups}
            </select>
        }
    });
    view! { {choice} {chips} }
}

#[cfg(test)]
mod tests {
    use super::super::card::Canvas;
    use super::{Offer, offers};
    use cascade_api::{RunEntry, RunState, RunSummary};
    use leptos::prelude::*;

    fn run(id: &str, trace: &str, gpus: &[&str]) -> RunSummary {
        let entry = |gpu: &&str| RunEntry {
            gpu_config: (*gpu).into(),
            count: 1,
        };
        RunSummary {
            id: id.into(),
            trace_id: trace.into(),
            created_at: cascade_api::Timestamp::from_micros(0),
            state: RunState::Succeeded,
            entries: gpus.iter().map(entry).collect(),
            sim_counts: indexmap::IndexMap::new(),
            sample: false,
            replay: false,
            synthetic: trace == "made",
        }
    }

    #[test]
    fn runs_of_the_same_trace_are_offered_first_and_the_run_itself_never() {
        let own = run("run-own", "t", &["H100"]);
        let mut failed = run("run-f", "t", &["H100"]);
        failed.state = RunState::Failed;
        let all = [
            run("run-new", "made", &["A", "B", "C", "D", "A"]),
            own.clone(),
            failed,
            run("run-old", "t", &["H100", "H200", "H100"]),
        ];
        let says: Vec<(String, bool)> = offers(&own, &all)
            .into_iter()
            .map(|Offer { says, same, .. }| (says, same))
            .collect();
        assert_eq!(
            says,
            [
                ("run-old · H100, H200".to_owned(), true),
                ("run-new · 4 GPUs · made · synthetic".to_owned(), false)
            ]
        );
    }

    #[test]
    fn the_choice_is_on_the_page_only_where_there_is_one() {
        let html = |offers: Vec<Offer>| {
            let runs = vec!["run-own".into()];
            let view = || view! { <Canvas runs steps=false done=Signal::from(0) offers /> }.to_html();
            Owner::new().with(view)
        };
        let offer = offers(&run("run-own", "t", &[]), &[run("run-old", "t", &["H100"])]);
        let page = html(offer);
        assert!(
            page.contains("Add a run") && page.contains("run-old · H100"),
            "{page}"
        );
        assert!(
            page.contains("Same trace") && !page.contains("Other traces"),
            "{page}"
        );
        assert!(!html(Vec::new()).contains("Add a run"));
    }
}
