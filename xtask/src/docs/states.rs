//! The life cycles as tables, from the code that holds them.

use cascade_api::{RunState, SimState, TraceState, run_state};

use super::openapi::table;

/// The states of a trace.
pub(super) fn traces() -> String {
    let rows = TraceState::ALL.iter().map(|state| {
        let (meaning, next) = match state {
            TraceState::Uploading => (
                "Files are arriving; `waiting_for` says what is still to come.",
                "`processing`, `ready`, `failed`",
            ),
            TraceState::Processing => (
                "The upload is complete and is being turned into what simulators read.",
                "`ready`, `failed`",
            ),
            TraceState::Ready => (
                "Runs can launch.",
                "`processing` or `failed`, when its files change",
            ),
            TraceState::Failed => (
                "The profiler said so, or the upload cannot be used; `error` says why.",
                "`uploading`, when new files arrive",
            ),
        };
        vec![format!("`{state}`"), meaning.into(), next.into()]
    });
    table(&["state", "meaning", "next"], rows)
}

/// The states of a sim, with the moves that [`SimState::next`] allows.
pub(super) fn sims() -> String {
    let rows = SimState::ALL.iter().map(|state| {
        let meaning = match state {
            SimState::Pending => "Created with the run; waits for a free place.",
            SimState::Launching => "Its process is being started.",
            SimState::Running => "The simulator reported `running`.",
            SimState::Lost => "No heartbeat for longer than the timeout; a later one brings it back.",
            SimState::Succeeded => "The simulator reported `succeeded`.",
            SimState::Failed => {
                "The simulator or its start failed, or it stayed `lost` too long; `error` says why."
            }
            SimState::Cancelled => "The run was cancelled before it finished.",
        };
        let next: Vec<String> = state.next().iter().map(|next| format!("`{next}`")).collect();
        let next = if next.is_empty() {
            "nothing: it is final".into()
        } else {
            next.join(", ")
        };
        vec![format!("`{state}`"), meaning.into(), next]
    });
    table(&["state", "meaning", "next"], rows)
}

/// What the states of two sims make of their run, by [`run_state`] itself.
pub(super) fn runs() -> String {
    let rows = RunState::ALL.iter().map(|state| {
        let meaning = match state {
            RunState::Active => "At least one sim has not finished.",
            RunState::Succeeded => "Every sim succeeded.",
            RunState::Partial => "Every sim finished; some succeeded, some did not.",
            RunState::Failed => "Every sim failed.",
            RunState::Cancelled => "Every sim finished, none succeeded, at least one was cancelled.",
        };
        let pairs = pairs(*state)
            .into_iter()
            .take(3)
            .map(|(a, b)| format!("`{a}` + `{b}`"));
        vec![
            format!("`{state}`"),
            meaning.into(),
            pairs.collect::<Vec<_>>().join("<br>"),
        ]
    });
    table(&["run", "meaning", "two sims, for example"], rows)
}

/// Pairs of sim states that make this run state.
fn pairs(wanted: RunState) -> Vec<(SimState, SimState)> {
    let all = SimState::ALL.iter().rev();
    let pairs = all
        .enumerate()
        .flat_map(|(at, a)| SimState::ALL.iter().rev().skip(at).map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| run_state([*a, *b]) == wanted).collect()
}
