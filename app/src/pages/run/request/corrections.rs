//! What corrections of the simulated times would give, beside the raw result and never in its place.

use cascade_api::{CorrectionDigest, RealSim, StepDigest};
use cascade_scene::format;
use cascade_scene::request::figure::Unit;
use leptos::prelude::*;

use crate::ui::{Badge, DataTable, Tone};

/// The raw result first, then each correction; nothing where there is none.
#[component]
pub(super) fn Corrections(
    /// What is predicted.
    digest: StepDigest,
) -> impl IntoView {
    let counterfactual = digest.counterfactual;
    if digest.corrections.is_empty() {
        return None;
    }
    let mut columns = vec!["Correction", "Basis", "#Taken off each kernel"];
    if counterfactual {
        columns.extend(["#GPU busy, decode", "#Request"]);
    } else {
        columns.extend(["#Mean error of groups", "#Weighted by time"]);
        columns.extend(["#GPU busy, decode", "#Error", "#Request", "#Error"]);
        columns.push("Groups that got worse");
    }
    let columns = columns.into_iter().map(String::from).collect::<Vec<_>>();
    let rows: Vec<_> = digest
        .corrections
        .iter()
        .map(|correction| row(correction, counterfactual))
        .collect();
    Some(view! {
        <h3>"Corrections"</h3>
        <DataTable label="Corrections beside the raw result" columns>{rows}</DataTable>
        <p class="muted small">
            "Everything else on this page is raw. A correction is in-sample when its constant was fitted to these very kernels: its error then says nothing about other workloads. Out-of-sample means that nothing was fitted to them."
        </p>
    })
}

/// What a correction gives, with its error in per cent where there is a baseline.
fn simulated(value: &RealSim, unit: Unit, counterfactual: bool) -> impl IntoView + use<> {
    let error = (!counterfactual).then(|| {
        let text = value
            .error_pct
            .map_or_else(|| format::NONE.to_owned(), |error| format::signed(error, 2, "%"));
        view! { <td class="number muted">{text}</td> }
    });
    view! { <td class="number">{unit.or_none(value.simulated)}</td> {error} }
}

/// One correction.
fn row(correction: &CorrectionDigest, counterfactual: bool) -> impl IntoView + use<> {
    let percent = |value: Option<f64>| {
        value.map_or_else(|| format::NONE.to_owned(), |value| format::fixed(value, 1, "%"))
    };
    let (basis, tone) = match correction.sample.as_str() {
        "none" => ("raw".to_owned(), Tone::Neutral),
        "in-sample" => ("in-sample".to_owned(), Tone::Warn),
        other => (other.to_owned(), Tone::Good),
    };
    let off = Some(correction.subtracted_ns).filter(|ns| *ns != 0.0);
    let off = Unit::NsAsMicros(3).or_none(off);
    let label = match correction.sample.as_str() {
        "none" => "none: the raw result".to_owned(),
        _ => correction.label.clone(),
    };
    let errors = (!counterfactual).then(|| {
        view! {
            <td class="number">{percent(correction.group_error_pct)}</td>
            <td class="number">{percent(correction.weighted_error_pct)}</td>
        }
    });
    let worse = (!counterfactual).then(|| {
        let text = match correction.worse.as_slice() {
            [] => format::NONE.to_owned(),
            groups => groups.join(", "),
        };
        view! { <td class="worse">{text}</td> }
    });
    view! {
        <tr>
            <td class="correction">{label}</td>
            <td><Badge text=basis tone /></td>
            <td class="number">{off}</td>
            {errors}
            {simulated(&correction.gpu_busy_ns, Unit::NsAsMicros(1), counterfactual)}
            {simulated(&correction.e2e_ms, Unit::Ms(2), counterfactual)}
            {worse}
        </tr>
    }
}
