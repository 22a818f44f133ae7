//! The comparison itself: bars of one metric, and the table of all of them.

use std::sync::Arc;

use cascade_scene::format;
use cascade_scene::request::compare::{Metric, RunColumn, chart};
use cascade_scene::request::figure::error;
use cascade_scene::request::{COUNTERFACTUAL, COUNTERFACTUAL_MEANS, Column, columns, dilution};
use leptos::html;
use leptos::prelude::*;

use super::facts::Facts;
use crate::data::segment;
use crate::plot::{self, HEIGHT};
use crate::ui::{Card, EngineBadge, Notice, SampleBadge, Switch, SyntheticBadge, Tone, width_of};

/// A column with what its run is.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    /// GPU and prediction.
    run: RunColumn,
    /// The trace it comes from.
    trace: String,
    /// Whether trace or run is bundled.
    sample: bool,
    /// Whether nobody captured the trace.
    synthetic: bool,
}

/// Chart and table of predicted requests; nothing where no column predicts any.
#[component]
pub(super) fn Figures(
    /// What is compared.
    facts: Arc<Facts>,
) -> impl IntoView {
    let mut without = Vec::new();
    let mut sides: Vec<Side> = Vec::new();
    for (pick, name) in facts.picks.iter().zip(facts.names()) {
        let Some(known) = facts.run(pick) else { continue };
        let own = columns(&known.digests).into_iter();
        let mut own = own.filter(|column| column.gpu == pick.gpu).peekable();
        if own.peek().is_none() {
            without.push(name.clone());
        }
        sides.extend(own.map(|column| Side {
            run: RunColumn {
                run: pick.run.clone(),
                column: Column {
                    // Replicas that disagree keep their numbers.
                    label: match column.label.split_once(" #") {
                        Some((_, replica)) => format!("{name} #{replica}"),
                        None => name.clone(),
                    },
                    ..column
                },
            },
            trace: known.run.trace.id.to_string(),
            sample: known.run.summary.sample || known.run.trace.sample,
            synthetic: known.run.trace.synthetic,
        }));
    }
    if sides.is_empty() {
        return ().into_any();
    }
    let without = (!without.is_empty()).then(|| {
        let text = format!("No predicted requests: {}.", without.join(", "));
        view! { <p class="muted small">{text}</p> }
    });
    let diluted: Vec<_> = sides
        .iter()
        .filter_map(|side| {
            let text = dilution(&side.run.column.digest)?;
            let text = format!("{}: {text}", side.run.column.label);
            Some(view! { <Notice tone=Tone::Neutral><p>{text}</p></Notice> })
        })
        .collect();
    let runs: Vec<RunColumn> = sides.iter().map(|side| side.run.clone()).collect();
    view! {
        <Card title="Requests side by side">
            <Bars runs />
            {without}
        </Card>
        <Card title="Request figures">{table(&sides)}</Card>
        {diluted}
    }
    .into_any()
}

/// Bars of the chosen metric. Drawn in the browser, which knows how wide they may be.
#[component]
fn Bars(
    /// What is compared.
    runs: Vec<RunColumn>,
) -> impl IntoView {
    let runs = StoredValue::new(runs);
    let metric = RwSignal::new(Metric::Request);
    let frame = NodeRef::<html::Div>::new();
    let width = width_of(frame);
    let svg = move || {
        let Some(width) = width.get() else {
            return String::new();
        };
        let chart = runs.with_value(|runs| chart(runs, metric.get()));
        plot::svg(&chart, width).unwrap_or_else(|error| {
            leptos::logging::warn!("the chart could not be drawn: {error}");
            String::new()
        })
    };
    let choices = Metric::ALL.map(|metric| (metric, metric.short().to_owned()));
    let label = move || {
        format!(
            "{}, real and simulated; the table below says the same",
            metric.get().name()
        )
    };
    view! {
        <div class="chart-bar">
            <Switch
                label="What the bars show"
                choices=choices.to_vec()
                chosen=metric
                on_choose=move |to| metric.set(to)
            />
            <div class="legend">
                <span class="legend-item"><i class="swatch series-real" aria-hidden="true"></i>"Real"</span>
                <span class="legend-item"><i class="swatch series-0" aria-hidden="true"></i>"Simulated"</span>
            </div>
        </div>
        <figure class="chart">
            <div class="chart-area" node_ref=frame style=format!("height:{HEIGHT}px") role="img" aria-label=label inner_html=svg></div>
        </figure>
    }
}

/// A column for each GPU of each run, a row for each metric.
fn table(sides: &[Side]) -> impl IntoView + use<> {
    let heads: Vec<_> = sides
        .iter()
        .map(|side| {
            let href = format!("/runs/{}#request-time", segment(side.run.run.as_str()));
            view! {
                <th scope="col" class="side">
                    <b>{side.run.column.label.clone()}</b>
                    <a href=href>{side.run.run.to_string()}</a>
                    <span>{side.trace.clone()}</span>
                </th>
            }
        })
        .collect();
    let origins: Vec<_> = sides
        .iter()
        .map(|side| {
            view! {
                <td>
                    <span class="badges">
                        {side.sample.then(|| view! { <SampleBadge /> })}
                        {side.synthetic.then(|| view! { <SyntheticBadge /> })}
                        <EngineBadge engine=side.run.column.engine />
                    </span>
                </td>
            }
        })
        .collect();
    let baselines: Vec<_> = sides
        .iter()
        .map(|side| {
            let digest = &side.run.column.digest;
            if digest.counterfactual {
                return view! {
                    <td class="baseline"><span class="explained" data-tip=COUNTERFACTUAL_MEANS tabindex="0">{COUNTERFACTUAL}</span></td>
                }
                .into_any();
            }
            let text = digest.real_gpu.clone().unwrap_or_else(|| format::NONE.to_owned());
            view! { <td class="baseline">{text}</td> }.into_any()
        })
        .collect();
    let rows: Vec<_> = Metric::ALL
        .into_iter()
        .map(|metric| {
            let cells: Vec<_> = sides
                .iter()
                .map(|side| {
                    let value = metric.of(&side.run.column.digest);
                    let unit = metric.unit();
                    let real = value.real.map(|real| {
                        view! {
                            <span>{format!("real {}", unit.text(real))}</span>
                            <span>{error(&value, unit)}</span>
                        }
                    });
                    view! { <td class="side"><b>{unit.or_none(value.simulated)}</b> {real}</td> }
                })
                .collect();
            view! { <tr><th scope="row">{metric.name()}</th>{cells}</tr> }
        })
        .collect();
    let coverage: Vec<_> = sides
        .iter()
        .map(|side| {
            let coverage = side.run.column.digest.coverage;
            let percent = coverage.gpu_time_fraction.map(|fraction| {
                let text = format!("{} of GPU time", format::fixed(fraction * 100.0, 2, "%"));
                view! { <span>{text}</span> }
            });
            let kernels = format!(
                "{} of {} kernels",
                format::count(coverage.simulated_kernels),
                format::count(coverage.kernels)
            );
            view! { <td class="side"><span>{kernels}</span> {percent}</td> }
        })
        .collect();
    view! {
        <div class="table-frame" role="region" aria-label="Runs side by side" tabindex="0">
            <table class="compare">
                <thead>
                    <tr><th scope="col">"Simulated"</th>{heads}</tr>
                </thead>
                <tbody>
                    <tr><th scope="row">"Numbers from"</th>{origins}</tr>
                    <tr><th scope="row">"Real GPU"</th>{baselines}</tr>
                    {rows}
                    <tr><th scope="row">"Simulated part"</th>{coverage}</tr>
                </tbody>
            </table>
        </div>
    }
}
