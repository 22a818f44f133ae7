//! The one run that a sample allows: playing back the results that were recorded for it.

use cascade_api::{GpuName, RunCreate, RunEntry, TraceSummary};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::data::{self, segment};
use crate::ui::{Button, Look, Notice, Tone};

/// The GPUs that a sample has recorded results for.
fn recorded(trace: &TraceSummary) -> Vec<GpuName> {
    let mut gpus: Vec<GpuName> = Vec::new();
    for gpu in trace.suggested_sim_config.iter().chain(&trace.sample_sim_configs) {
        if !gpus.contains(gpu) {
            gpus.push(gpu.clone());
        }
    }
    gpus
}

/// Says why nothing else can be run, and starts the replay.
#[component]
pub(super) fn Replay(
    /// The sample.
    trace: TraceSummary,
) -> impl IntoView {
    let gpus = recorded(&trace);
    let named = gpus.iter().map(GpuName::as_str).collect::<Vec<_>>().join(", ");
    let refused = RwSignal::new(None::<String>);
    // Nothing works before the page is alive, so the button waits for that.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let start = Action::new(move |(): &()| {
        let body = RunCreate {
            trace_id: trace.id.clone(),
            entries: gpus
                .iter()
                .map(|gpu| RunEntry {
                    gpu_config: gpu.clone(),
                    count: 1,
                })
                .collect(),
            replay: true,
        };
        data::create_run(body)
    });
    let navigate = use_navigate();
    Effect::new(move || match start.value().get() {
        Some(Ok(run)) => navigate(
            &format!("/runs/{}", segment(run.summary.id.as_str())),
            NavigateOptions::default(),
        ),
        Some(Err(error)) => refused.set(Some(error.to_string())),
        None => {}
    });
    let disabled = Signal::derive(move || !alive.get() || start.pending().get());
    view! {
        <Notice tone=Tone::Neutral>
            <p>
                {format!(
                    "This sample is bundled with the app and {}. It holds no instructions, so nothing can be simulated from it; the results recorded for {named} can be played back.",
                    cascade_scene::request::SAMPLE_NOTE,
                )}
            </p>
            <p class="notice-action">
                <Button look=Look::Primary disabled on_press=move |()| _ = start.dispatch(())>"Replay recorded results"</Button>
            </p>
        </Notice>
        {move || refused.get().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
    }
}
