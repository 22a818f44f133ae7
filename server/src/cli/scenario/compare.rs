//! Saved scenarios side by side: what was asked differently, and what that changed.

use std::collections::BTreeMap;

use cascade_api::{SavedScenario, ScenarioSummary};
use serde::Serialize;
use serde_json::Value;

use super::show::plain;
use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::out::Out;
use crate::cli::table::Table;

/// Saved scenarios side by side.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Comparison {
    scenarios: Vec<Named>,
    /// Inputs in which they differ.
    inputs: Vec<Input>,
    metrics: Vec<Metric>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Named {
    id: String,
    name: String,
}

/// An input, by its path in the scenario.
#[derive(Debug, PartialEq, Serialize)]
struct Input {
    input: String,
    /// Its value in each scenario; null where it was left out.
    values: Vec<Value>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Metric {
    metric: &'static str,
    /// Its value in each scenario.
    values: Vec<Option<f64>>,
    /// Each but the first against the first, as a share of that: 0.5 is half as much again.
    change: Vec<Option<f64>>,
}

impl Comparison {
    /// Compares scenarios with the first of them.
    pub(super) fn of(saved: &[SavedScenario]) -> Result<Self> {
        let asked = saved.iter().map(inputs).collect::<Result<Vec<_>>>()?;
        let mut paths: Vec<&String> = asked.iter().flat_map(BTreeMap::keys).collect();
        paths.sort();
        paths.dedup();
        let inputs = paths.into_iter().map(|path| Input {
            input: path.clone(),
            values: asked
                .iter()
                .map(|inputs| inputs.get(path).cloned().unwrap_or_default())
                .collect(),
        });
        let sums: Vec<_> = saved.iter().map(|saved| metrics(&saved.result)).collect();
        let names = sums.first().into_iter().flatten().map(|(name, _)| *name);
        let metrics = names.enumerate().map(|(at, metric)| {
            let values: Vec<_> = sums
                .iter()
                .map(|sums| sums.get(at).and_then(|(_, value)| *value))
                .collect();
            let first = values.first().copied().flatten();
            let change = values.iter().skip(1).map(|value| change(first, *value));
            Metric {
                metric,
                change: change.collect(),
                values,
            }
        });
        Ok(Self {
            inputs: inputs.filter(Input::differs).collect(),
            metrics: metrics.collect(),
            scenarios: saved
                .iter()
                .map(|saved| Named {
                    id: saved.id.clone(),
                    name: saved.name.clone(),
                })
                .collect(),
        })
    }

    /// Prints it, the changes beside the values.
    pub(super) fn show(&self, out: &mut Out) -> Result {
        let mut table = Table::default().text("");
        for (at, scenario) in self.scenarios.iter().enumerate() {
            table = table.number(scenario.name.as_str());
            if at > 0 {
                table = table.number("change");
            }
        }
        // A value and, but for the first, its change.
        let spread = |cells: Vec<(String, String)>| {
            let cells = cells.into_iter().enumerate();
            cells.flat_map(|(at, (value, change))| std::iter::once(value).chain((at > 0).then_some(change)))
        };
        let ids = self
            .scenarios
            .iter()
            .map(|scenario| (scenario.id.clone(), String::new()));
        table.row(std::iter::once("id".to_owned()).chain(spread(ids.collect())));
        for Input { input, values } in &self.inputs {
            let cells = values.iter().map(|value| match value {
                Value::Null => ("-".to_owned(), String::new()),
                value => (plain(value), String::new()),
            });
            table.row(std::iter::once(input.clone()).chain(spread(cells.collect())));
        }
        for metric in &self.metrics {
            let changes = std::iter::once(None).chain(metric.change.iter().copied());
            let cells = metric
                .values
                .iter()
                .zip(changes)
                .map(|(value, change)| (number(*value), percent(change)));
            table.row(std::iter::once(metric.metric.to_owned()).chain(spread(cells.collect())));
        }
        out.table(&table)?;
        out.line("Predictions, not measurements; changes are against the first.")
    }
}

impl Input {
    fn differs(&self) -> bool {
        self.values.windows(2).any(|pair| pair.first() != pair.last())
    }
}

/// What was asked, by path, and the GPU and trace that it came to. A list is told by its length.
pub(super) fn inputs(saved: &SavedScenario) -> Result<BTreeMap<String, Value>> {
    let asked = serde_json::to_value(&saved.scenario).map_err(Fail::failed)?;
    let mut found = BTreeMap::new();
    collect(&asked, "", &mut found);
    found.insert(
        "gpu_config".to_owned(),
        Value::from(saved.result.gpu_config.as_str()),
    );
    found.insert("trace_id".to_owned(), Value::from(saved.result.trace_id.as_str()));
    Ok(found)
}

fn collect(value: &Value, path: &str, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                collect(field, &format!("{path}{dot}{name}"), found);
            }
        }
        Value::Array(items) => {
            let words = format!("{} items", items.len());
            found.insert(path.to_owned(), Value::from(words));
        }
        // The text of a request trace.
        Value::String(text) if text.contains('\n') => {
            let words = format!("{} lines", text.lines().count());
            found.insert(path.to_owned(), Value::from(words));
        }
        value => {
            found.insert(path.to_owned(), value.clone());
        }
    }
}

/// The main numbers of a result.
pub(super) fn metrics(result: &ScenarioSummary) -> Vec<(&'static str, Option<f64>)> {
    let (sums, steps) = (&result.aggregate, &result.provenance_counts);
    vec![
        ("p50 TTFT ms", sums.p50_ttft_ms),
        ("p99 TTFT ms", sums.p99_ttft_ms),
        ("p50 ITL ms", sums.p50_itl_ms),
        ("p99 ITL ms", sums.p99_itl_ms),
        ("p50 E2E ms", sums.p50_e2e_ms),
        ("p99 E2E ms", sums.p99_e2e_ms),
        ("output tokens/s", Some(sums.throughput_output_tokens_s)),
        ("requests", Some(result.requests as f64)),
        ("steps", Some(result.steps_total as f64)),
        ("extrapolated steps", Some(steps.extrapolated as f64)),
    ]
}

fn change(first: Option<f64>, value: Option<f64>) -> Option<f64> {
    let share = value? / first? - 1.0;
    share.is_finite().then_some(share)
}

/// A number with three decimals, or without any where it is whole.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(
        || "-".to_owned(),
        |value| match value.fract() == 0.0 {
            true => format!("{value}"),
            false => format!("{value:.3}"),
        },
    )
}

fn percent(change: Option<f64>) -> String {
    change.map_or_else(String::new, |share| format!("{:+.1} %", share * 100.0))
}
