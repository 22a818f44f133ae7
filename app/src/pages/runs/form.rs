//! What the form for a new run works out: which GPUs fit, which row is wrong, what is sent. No view here.

use cascade_api::{
    Detail, ErrorBody, GpuConfig, GpuName, Loc, RunEntry, TraceId, TraceState, TraceSummary,
    limits::MAX_COUNT,
};
use cascade_scene::engine;

use crate::ui::plain;

/// Why a trace cannot be simulated on any GPU; `None` when it can.
pub(crate) const fn trace_refusal(trace: &TraceSummary) -> Option<&'static str> {
    match trace.state {
        _ if trace.sample => Some("sample with recorded results, nothing to simulate"),
        TraceState::Uploading => Some("still being uploaded"),
        TraceState::Processing => Some("still being processed"),
        TraceState::Failed => Some("could not be processed"),
        TraceState::Ready => None,
    }
}

/// The trace chosen to begin with: the one that is `asked` for, else the newest that can be simulated.
pub(super) fn first_trace(asked: Option<&TraceId>, traces: &[TraceSummary]) -> Option<TraceId> {
    let fits = traces.iter().filter(|trace| trace_refusal(trace).is_none());
    let newest = || {
        fits.max_by_key(|trace| trace.created_at)
            .map(|trace| trace.id.clone())
    };
    asked.cloned().or_else(newest)
}

/// The traces that cannot be simulated, together by the reason.
pub(super) fn left_out(traces: &[TraceSummary]) -> Vec<(&'static str, Vec<TraceId>)> {
    let mut reasons: Vec<(&'static str, Vec<TraceId>)> = Vec::new();
    for trace in traces {
        let Some(why) = trace_refusal(trace) else {
            continue;
        };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, ids)) => ids.push(trace.id.clone()),
            None => reasons.push((why, vec![trace.id.clone()])),
        }
    }
    reasons
}

/// Why a trace cannot run on a GPU; `None` when it can.
pub(super) fn refusal(trace: &TraceSummary, gpu: &GpuConfig) -> Option<String> {
    (gpu.arch != trace.trace_gpu_arch)
        .then(|| format!("{}, but the trace is {}", gpu.arch, trace.trace_gpu_arch))
}

/// What is said below a chosen GPU: its clock and the engines that can run it here.
pub(super) fn describe(gpu: &GpuConfig) -> String {
    let clock = (gpu.core_clock_mhz > 0.0).then(|| format!("{} MHz core clock", gpu.core_clock_mhz));
    let engines = gpu.engines.iter().map(|engine| engine::name(*engine).to_owned());
    clock.into_iter().chain(engines).collect::<Vec<_>>().join(" · ")
}

/// Which GPUs are not offered for a trace, and why; `None` when all are.
pub(super) fn not_offered(trace: &TraceSummary, gpus: &[GpuConfig]) -> Option<String> {
    let refused: Vec<_> = gpus
        .iter()
        .filter(|gpu| refusal(trace, gpu).is_some())
        .map(|gpu| gpu.name.as_str())
        .collect();
    (!refused.is_empty()).then(|| {
        let arch = &trace.trace_gpu_arch;
        format!(
            "Not offered: {}. The trace holds {arch} instructions, which only {arch} GPUs run.",
            refused.join(", ")
        )
    })
}

/// The GPUs chosen to begin with: those the trace's metadata names, else the first that fits.
pub(super) fn preselected(trace: &TraceSummary, gpus: &[GpuConfig]) -> Vec<GpuName> {
    let fits = |name: &GpuName| {
        gpus.iter()
            .any(|gpu| gpu.name == *name && refusal(trace, gpu).is_none())
    };
    let mut chosen: Vec<GpuName> = trace
        .suggested_sim_config
        .iter()
        .filter(|name| fits(name))
        .cloned()
        .collect();
    for name in trace.sample_sim_configs.iter().filter(|name| fits(name)) {
        if !chosen.contains(name) {
            chosen.push(name.clone());
        }
    }
    if chosen.is_empty() {
        chosen.extend(
            gpus.iter()
                .find(|gpu| refusal(trace, gpu).is_none())
                .map(|gpu| gpu.name.clone()),
        );
    }
    chosen
}

/// The count of a row, or what is wrong with it.
pub(super) fn read_count(text: &str) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(n) if (1..=MAX_COUNT).contains(&n) => Ok(n),
        _ => Err(format!("A whole number from 1 to {MAX_COUNT}")),
    }
}

/// The label of the button that launches `sims` simulations.
pub(super) fn launch_label(sims: u32) -> String {
    let s = if sims == 1 { "" } else { "s" };
    format!("Launch {sims} simulation{s}")
}

/// What the server refused, shared out to the rows it is about; `other` is about none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Refused {
    /// (row, message).
    pub(super) rows: Vec<(usize, String)>,
    /// What belongs to no row.
    pub(super) other: Option<String>,
}

/// Reads the server's answer: a list names `body.entries.<row>.…`, a sentence names the GPU it is about.
pub(super) fn share_out(error: &ErrorBody, entries: &[RunEntry]) -> Refused {
    let mut refused = Refused::default();
    let mut other = Vec::new();
    match &error.detail {
        Detail::Fields(fields) => {
            for field in fields {
                match field.loc.as_slice() {
                    [Loc::Name(_), Loc::Name(list), Loc::Index(row), ..] if list == "entries" => {
                        refused.rows.push((*row as usize, plain(&field.msg)));
                    }
                    _ => other.push(plain(&field.msg)),
                }
            }
        }
        Detail::Text(text) => {
            let about: Vec<usize> = (0..)
                .zip(entries)
                .filter(|(_, e)| names(text, e.gpu_config.as_str()))
                .map(|(i, _)| i)
                .collect();
            if about.is_empty() {
                other.push(text.clone());
            }
            refused
                .rows
                .extend(about.into_iter().map(|row| (row, text.clone())));
        }
    }
    refused.other = (!other.is_empty()).then(|| other.join("; "));
    refused
}

/// Whether `text` holds `name` as a whole word, so that `SM75_RTX2060` is not found in `SM75_RTX2060_S`.
fn names(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
            .any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entries(names: &[&str]) -> Vec<RunEntry> {
        names
            .iter()
            .map(|name| RunEntry {
                gpu_config: (*name).into(),
                count: 1,
            })
            .collect()
    }

    #[test]
    fn a_refusal_lands_on_the_row_it_is_about() {
        let entries = entries(&["SM75_RTX2060", "SM75_RTX2060_S"]);
        let sentence = ErrorBody::text("unknown gpu_config 'SM75_RTX2060_S'");
        assert_eq!(share_out(&sentence, &entries).rows, [(1, sentence.to_string())]);

        let list = json!({"detail": [
            {"type": "greater_than_equal", "loc": ["body", "entries", 1, "count"], "msg": "too small", "input": 0},
            {"type": "missing", "loc": ["body", "trace_id"], "msg": "Field required", "input": {}},
        ]});
        let refused = share_out(&serde_json::from_value(list).unwrap(), &entries);
        assert_eq!(refused.rows, [(1, "Too small".to_owned())]);
        assert_eq!(refused.other.as_deref(), Some("Field required"));
    }

    #[test]
    fn counts_stay_within_the_limit() {
        assert_eq!(read_count(" 64 "), Ok(64));
        for text in ["", "0", "65", "-1", "1.5", "x"] {
            assert!(read_count(text).is_err(), "{text:?}");
        }
        assert_eq!(launch_label(1), "Launch 1 simulation");
        assert_eq!(launch_label(6), "Launch 6 simulations");
    }
}
