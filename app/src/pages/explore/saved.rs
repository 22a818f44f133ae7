//! What leaves the page: the link, a run on the server, and scenarios saved there.

use cascade_api::{SavedScenario, ScenarioAggregate, ScenarioResult};
use cascade_scene::explorer::{Base, State};
use cascade_scene::format;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use super::run::Run;
use crate::data::{self, DataError, segment};
use crate::ui::{Button, Card, CopyButton, DataTable, LocalTime, Look, Notice, Tone};

/// Link, server run, and the table of saved scenarios.
#[component]
pub(super) fn Saved(
    /// The page's state.
    run: Run,
    /// What was saved before.
    saved: Vec<SavedScenario>,
) -> impl IntoView {
    let saved = RwSignal::new(saved);
    let name = RwSignal::new(String::new());
    let problem = RwSignal::new(None::<String>);
    let done = RwSignal::new(Vec::<ScenarioResult>::new());
    let busy = RwSignal::new(false);
    // The server runs traces; a datasheet alone is run by this page only.
    let traced = Memo::new(move |_| run.state.with(|state| matches!(state.base(), Base::Trace(_))));
    let file = Memo::new(move |_| {
        run.state
            .with(|state| state.get(cascade_scene::explorer::Key::Load) == "file")
    });
    let cannot =
        Signal::derive(move || busy.get() || !traced.get() || file.get() || !run.problems().is_empty());
    let no_name = Signal::derive(move || cannot.get() || name.with(|name| name.trim().is_empty()));
    let on_server = move |()| {
        let bodies = bodies(run);
        busy.set(true);
        problem.set(None);
        done.set(Vec::new());
        spawn_local(async move {
            for body in bodies {
                match data::run_scenario(body).await {
                    Ok(result) => done.update(|done| done.push(result)),
                    Err(error) => problem.set(Some(error.to_string())),
                }
            }
            busy.set(false);
        });
    };
    let save = move |()| {
        let bodies = bodies(run);
        let several = bodies.len() > 1;
        busy.set(true);
        problem.set(None);
        spawn_local(async move {
            for body in bodies {
                let gpu = body.get("gpu_config").and_then(Value::as_str).unwrap_or_default();
                let name = match several {
                    true => format!("{} · {gpu}", name.get_untracked().trim()),
                    false => name.get_untracked().trim().to_owned(),
                };
                match data::save_scenario(json!({ "name": name, "scenario": body })).await {
                    Ok(new) => saved.update(|saved| saved.insert(0, new)),
                    Err(error) => problem.set(Some(error.to_string())),
                }
            }
            busy.set(false);
        });
    };
    let link = Signal::derive(move || {
        let origin = if cfg!(feature = "hydrate") {
            window().location().origin().unwrap_or_default()
        } else {
            String::new()
        };
        format!("{origin}/explore?{}", run.state.with(State::link))
    });
    view! {
        <Card title="Keep and compare">
            <div class="keep-row">
                <CopyLink link />
                <Button disabled=cannot on_press=on_server>"Run on server"</Button>
                <label class="visually-hidden" for="x-save-name">"Name to save under"</label>
                <input
                    class="input"
                    id="x-save-name"
                    placeholder="Name"
                    maxlength="180"
                    prop:value=move || name.get()
                    on:input=move |event| name.set(event_target_value(&event))
                />
                <Button look=Look::Primary disabled=no_name on_press=save>"Save"</Button>
            </div>
            <Show when=move || !traced.get()>
                <p class="muted small">"The server runs and saves scenarios on traces; one on a datasheet alone lives in this page and its link."</p>
            </Show>
            <Show when=move || traced.get() && file.get()>
                <p class="muted small">"A scenario with a trace file runs in this page; scripts can send the file to POST /api/scenarios."</p>
            </Show>
            {move || problem.get().map(|text| view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })}
            {move || server_runs(&done.get())}
            {move || list(saved, problem)}
        </Card>
    }
}

/// The bodies of `POST /api/scenarios`, by GPU.
fn bodies(run: Run) -> Vec<Value> {
    run.state.with_untracked(|state| {
        let gpus = 0..state.gpus().len();
        gpus.filter_map(|at| state.scenario(at).ok()).collect()
    })
}

/// Copies the link as it is when pressed.
#[component]
fn CopyLink(
    /// The link.
    link: Signal<String>,
) -> impl IntoView {
    move || {
        let text = link.get();
        view! { <CopyButton text label="Copy link" /> }
    }
}

/// Heads of a table of results.
fn columns(first: &[&str]) -> Vec<String> {
    let rest = [
        "GPU",
        "#TTFT p50",
        "#TTFT p99",
        "#ITL p50",
        "#E2E p50",
        "#E2E p99",
        "#Tokens/s",
    ];
    first.iter().chain(&rest).map(|head| (*head).to_owned()).collect()
}

/// The main numbers as cells.
fn cells(gpu: &str, aggregate: &ScenarioAggregate) -> impl IntoView + use<> {
    let ms = |value: Option<f64>| value.map_or(format::NONE.to_owned(), |ms| format::duration_ns(ms * 1e6));
    let numbers = [
        ms(aggregate.p50_ttft_ms),
        ms(aggregate.p99_ttft_ms),
        ms(aggregate.p50_itl_ms),
        ms(aggregate.p50_e2e_ms),
        ms(aggregate.p99_e2e_ms),
        format::compact(aggregate.throughput_output_tokens_s),
    ];
    let numbers = numbers.map(|text| view! { <td class="number">{text}</td> });
    view! { <td>{gpu.to_owned()}</td> {Vec::from(numbers)} }
}

/// What the server said.
fn server_runs(results: &[ScenarioResult]) -> Option<impl IntoView + use<>> {
    if results.is_empty() {
        return None;
    }
    let rows: Vec<_> = results
        .iter()
        .map(|result| {
            let href = format!("/runs/{}", segment(result.run_id.as_str()));
            view! { <tr><td><a href=href>{result.run_id.to_string()}</a></td> {cells(result.gpu_config.as_str(), &result.outcome.aggregate)}</tr> }
        })
        .collect();
    Some(view! { <DataTable label="Run on the server" columns=columns(&["Run"])>{rows}</DataTable> })
}

/// Saved scenarios beside each other, newest first.
fn list(saved: RwSignal<Vec<SavedScenario>>, problem: RwSignal<Option<String>>) -> Option<impl IntoView> {
    let all = saved.get();
    if all.is_empty() {
        return None;
    }
    let rows: Vec<_> = all
        .into_iter()
        .map(|scenario| {
            let id = scenario.id.clone();
            let remove = move |()| {
                let id = id.clone();
                spawn_local(async move {
                    match data::delete_scenario(id.clone()).await {
                        Ok(()) => saved.update(|saved| saved.retain(|other| other.id != id)),
                        Err(DataError { body, .. }) => problem.set(Some(body.to_string())),
                    }
                });
            };
            let result = &scenario.result;
            view! {
                <tr>
                    <td>{scenario.name.clone()}</td>
                    <td><LocalTime at=scenario.created_at /></td>
                    <td class="number">{format::count(result.requests)}</td>
                    {cells(result.gpu_config.as_str(), &result.aggregate)}
                    <td><Button look=Look::Ghost label=format!("Delete {}", scenario.name) on_press=remove>"Delete"</Button></td>
                </tr>
            }
        })
        .collect();
    let mut columns = columns(&["Saved", "When", "#Requests"]);
    columns.push(String::new());
    Some(view! { <DataTable label="Saved scenarios" columns>{rows}</DataTable> })
}
