//! What the server renders of the form for a new run, and which traces it offers.

use cascade_api::{GpuConfig, TraceState, TraceSummary};
use leptos::prelude::*;
use serde_json::json;

use super::form::{first_trace, left_out};
use super::rows::rows_for;
use super::trace::{Blocked, TraceField};

/// The HTML of a view.
fn html<V: IntoView>(view: impl FnOnce() -> V) -> String {
    Owner::new().with(|| view().to_html())
}

/// A trace that is ready, made at a minute past midnight.
fn trace(id: &str, minute: u8) -> TraceSummary {
    let at = format!("2026-11-08T00:{minute:02}:00Z");
    let text = json!({
        "id": id, "state": "ready", "error": null, "created_at": at, "updated_at": at, "model": null,
        "layers": [], "source_gpu": null, "trace_gpu_arch": "sm_90", "suggested_sim_config": null,
        "kernel_count": 3, "bytes": 1, "has_real_timing": false, "has_step_timeline": false, "sample": false,
    });
    serde_json::from_value(text).unwrap()
}

/// A ready trace, a newer one, a sample and one on its way, which are newer still.
fn traces() -> Vec<TraceSummary> {
    let mut traces = vec![
        trace("old", 1),
        trace("new", 2),
        trace("sample", 3),
        trace("coming", 4),
    ];
    traces[2].sample = true;
    traces[3].state = TraceState::Uploading;
    traces
}

fn gpu(name: &str, arch: &str) -> GpuConfig {
    GpuConfig {
        arch: arch.into(),
        ..GpuConfig::missing(name.into())
    }
}

#[test]
fn the_newest_trace_that_can_run_is_chosen_unless_one_is_asked_for() {
    let traces = traces();
    assert_eq!(first_trace(None, &traces), Some("new".into()));
    assert_eq!(
        first_trace(Some(&"coming".into()), &traces),
        Some("coming".into())
    );
    assert_eq!(first_trace(None, &traces[2..]), None);
    let reasons: Vec<_> = left_out(&traces).into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(reasons, [["sample".into()], ["coming".into()]]);
}

#[test]
fn a_trace_that_cannot_run_is_listed_with_the_reason() {
    let chosen = traces()[1].clone();
    let field = html(|| {
        let chosen = Memo::new(move |_| Some(chosen.clone()));
        view! { <TraceField traces=RwSignal::new(traces()) value=RwSignal::new("new".to_owned()) chosen /> }
    });
    assert_eq!(field.matches("disabled").count(), 2, "{field}");
    assert!(field.contains("coming – still being uploaded"), "{field}");
    assert!(field.contains("href=\"/traces/sample\""), "{field}");
}

#[test]
fn gpus_are_offered_for_the_chosen_trace() {
    let gpus = [gpu("SM80_A100", "sm_80"), gpu("SM90_H100", "sm_90")];
    let [_, ready, sample, coming] = traces().try_into().unwrap();
    Owner::new().with(|| {
        let rows = rows_for(&ready, &gpus, 7);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].gpu_id(), "gpu-7");
        assert_eq!(rows[0].entry().unwrap().gpu_config, "SM90_H100".into());
        assert!(rows_for(&sample, &gpus, 0).is_empty() && rows_for(&coming, &gpus, 0).is_empty());
    });
    let said = |trace: TraceSummary, gpus: &[GpuConfig]| {
        let gpus = gpus.to_vec();
        html(|| view! { <Blocked trace gpus /> })
    };
    assert!(said(sample, &gpus).contains("A sample cannot be simulated"));
    assert!(said(coming, &gpus).contains("Still being uploaded."));
    assert!(said(ready.clone(), &gpus[..1]).contains("sm_80, but the trace is sm_90"));
    assert!(!said(ready, &gpus).contains("<h2>"));
}
