//! The tables behind the figures, for one GPU at a time: requests, steps, kernel groups, corrections, coverage.

use cascade_api::{KindDigest, RealSim, RequestDigest, StepDigest};
use cascade_scene::format;
use cascade_scene::request::figure::{Unit, capital, error};
use cascade_scene::request::{COUNTERFACTUAL, Column};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::corrections::Corrections;
use super::coverage::Coverage;
use super::groups::Groups;
use crate::ui::{Card, DataTable, EngineBadge, SampleBadge, Switch};

/// The tables of the chosen GPU.
#[component]
pub(super) fn Details(
    /// What the GPUs are predicted to do.
    columns: Memo<Vec<Column>>,
) -> impl IntoView {
    // The GPU is in the address, so that a link shows the same tables.
    let (asked, choose) = query_signal_with_options::<String>(
        "gpu",
        NavigateOptions {
            scroll: false,
            replace: true,
            ..NavigateOptions::default()
        },
    );
    let column = Memo::new(move |_| {
        columns.with(|columns| {
            let asked = asked.get();
            let found = columns
                .iter()
                .find(|column| asked.as_ref() == Some(&column.label));
            found.or_else(|| columns.first()).cloned()
        })
    });
    let label = Memo::new(move |_| column.with(|column| column.as_ref().map(|column| column.label.clone())));
    let choices = move || {
        columns.with(|columns| {
            let choices: Vec<_> = columns
                .iter()
                .map(|column| (Some(column.label.clone()), column.label.clone()))
                .collect();
            (choices.len() > 1).then(|| {
                view! { <Switch label="GPU" choices chosen=label on_choose=move |gpu| choose.set(gpu) /> }
            })
        })
    };
    let tables = move || column.get().map(|column| view! { <Tables column /> });
    view! { <Card title="Details" aside=move || view! { {choices} }>{tables}</Card> }
}

/// The tables of one GPU.
#[component]
fn Tables(
    /// The GPU.
    column: Column,
) -> impl IntoView {
    let sample = column.is_sample().then(|| view! { <SampleBadge /> });
    let Column {
        label,
        engine,
        digest,
        ..
    } = column;
    let counterfactual = digest.counterfactual.then(|| {
        let measured = digest
            .real_gpu
            .as_deref()
            .map(|gpu| format!(" The trace was measured on {gpu}."));
        view! { <p class="muted">{format!("{}.{}", COUNTERFACTUAL, measured.unwrap_or_default())}</p> }
    });
    view! {
        <p class="subline flat"><b>{label}</b> {sample} <EngineBadge engine /></p>
        {counterfactual}
        <h3>"Each request"</h3>
        {requests(&digest)}
        <h3>"Steps by kind"</h3>
        {kinds(&digest)}
        <Groups digest=digest.clone() />
        <Corrections digest=digest.clone() />
        <Coverage digest />
    }
}

/// Titles of real, simulated and error; without a baseline only the simulated one.
fn titles(what: &str, counterfactual: bool) -> Vec<String> {
    if counterfactual {
        vec![format!("#{what}")]
    } else {
        vec![
            format!("#Real {what}"),
            format!("#Simulated {what}"),
            "#Error".into(),
        ]
    }
}

/// Cells under [`titles`].
fn cells(value: &RealSim, unit: Unit, counterfactual: bool) -> impl IntoView + use<> {
    let simulated = view! { <td class="number">{unit.or_none(value.simulated)}</td> };
    if counterfactual {
        simulated.into_any()
    } else {
        view! {
            <td class="number">{unit.or_none(value.real)}</td>
            {simulated}
            <td class="number muted">{error(value, unit)}</td>
        }
        .into_any()
    }
}

/// One row for each repeat after warm-up, then their mean.
fn requests(digest: &StepDigest) -> impl IntoView + use<> {
    let counterfactual = digest.counterfactual;
    let columns = ["request", "TTFT", "ITL"]
        .iter()
        .flat_map(|what| titles(what, counterfactual));
    let columns: Vec<_> = std::iter::once("Repeat".to_owned()).chain(columns).collect();
    let row = |request: &RequestDigest, mean: bool| {
        let name = match request.repeat {
            Some(repeat) if !mean => repeat.to_string(),
            _ => "Mean".to_owned(),
        };
        let values = [request.e2e_ms, request.ttft_ms, request.itl_ms]
            .map(|value| cells(&value, Unit::Ms(3), counterfactual));
        view! { <tr class:group-start=mean><td>{name}</td>{values.into_iter().collect::<Vec<_>>()}</tr> }
    };
    let mut rows: Vec<_> = digest
        .requests
        .iter()
        .map(|request| row(request, false))
        .collect();
    rows.push(row(&digest.mean, true));
    view! {
        <DataTable label="Requests, real and simulated" columns>{rows}</DataTable>
        <p class="muted small">"TTFT: time to first token. ITL: mean time between the tokens after it."</p>
    }
}

/// One row for each kind of step.
fn kinds(digest: &StepDigest) -> impl IntoView + use<> {
    let counterfactual = digest.counterfactual;
    let mut columns = vec!["Step".to_owned(), "#Steps".to_owned()];
    columns.extend(titles("wall", counterfactual));
    columns.extend(titles("GPU busy", counterfactual));
    columns.extend(["#Host", "#Gap before", "#Unmodeled GPU"].map(String::from));
    if !counterfactual {
        columns.push("#Mean |error|".into());
    }
    let row = |kind: &KindDigest| {
        let spread = (!counterfactual).then(|| {
            let text = kind
                .mean_abs_error_pct
                .map_or_else(|| format::NONE.to_owned(), |error| format::fixed(error, 2, "%"));
            view! { <td class="number muted">{text}</td> }
        });
        view! {
            <tr>
                <td>{capital(&kind.kind)}</td>
                <td class="number">{format::count(kind.steps)}</td>
                {cells(&kind.wall_ns, Unit::NsAsMs(3), counterfactual)}
                {cells(&kind.gpu_busy_ns, Unit::NsAsMicros(1), counterfactual)}
                <td class="number">{Unit::NsAsMs(3).or_none(kind.host_ns)}</td>
                <td class="number">{Unit::NsAsMicros(1).or_none(kind.gap_before_ns)}</td>
                <td class="number">{Unit::NsAsMicros(1).or_none(kind.unmodeled_gpu_ns)}</td>
                {spread}
            </tr>
        }
    };
    let rows: Vec<_> = digest.kinds.iter().map(row).collect();
    view! {
        <DataTable label="Steps by kind" columns>{rows}</DataTable>
        <p class="muted small">"Host time, the gap before a step and GPU time of no traced kernel are kept as measured."</p>
    }
}
