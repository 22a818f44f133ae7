//! `cascade scenario sweep`: the same scenario with inputs varied.

use cascade_api::ScenarioAggregate;
use cascade_serving::search::pareto;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ask::{Args, put, value};
use super::base::Base;
use super::show::{ms, plain};
use crate::cli::fail::Fail;
use crate::cli::out::Out;
use crate::cli::table::Table;
use crate::cli::{Result, block_on};

/// Most scenarios of a sweep.
const MAX_POINTS: usize = 1_000;

/// An input and its values.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    path: String,
    values: Vec<Value>,
}

impl Axis {
    /// As a search takes it.
    pub(super) fn to_json(&self) -> Value {
        json!({"input": self.path, "values": self.values})
    }
}

/// `path=value,value`, each value JSON or else text.
pub(super) fn axis(text: &str) -> Result<Axis, String> {
    let (path, values) = text.split_once('=').ok_or("give PATH=VALUE,VALUE")?;
    Ok(Axis {
        path: path.to_owned(),
        values: values.split(',').map(value).collect(),
    })
}

/// One scenario of a sweep.
#[derive(Debug, Serialize)]
struct Point {
    values: Map<String, Value>,
    /// What it comes to; null where it was refused.
    aggregate: Option<ScenarioAggregate>,
    report: Option<Map<String, Value>>,
    /// Why it was refused.
    problem: Option<String>,
    /// Whether no other point has more throughput and no more latency.
    pareto: bool,
}

pub(super) fn run(args: &Args, axes: &[Axis], out: &mut Out) -> Result {
    let (body, base) = (args.body()?, Base::of(args)?);
    let mut points = Vec::new();
    for values in combinations(axes)? {
        let mut changed = body.clone();
        for (path, value) in &values {
            put(&mut changed, path, value.clone())?;
        }
        let (aggregate, report, problem) = match block_on(base.run(&changed)) {
            Ok(shown) => (Some(shown.outcome.aggregate), Some(shown.outcome.report), None),
            Err(Fail::Usage(problem)) => (None, None, Some(problem)),
            Err(fail) => return Err(fail),
        };
        points.push(Point {
            values,
            aggregate,
            report,
            problem,
            pareto: false,
        });
    }
    mark(&mut points);
    if out.is_json() {
        return out.json(&points);
    }
    show(&points, axes, out)
}

/// Every combination of the axes' values, the last axis fastest.
fn combinations(axes: &[Axis]) -> Result<Vec<Map<String, Value>>> {
    if axes.len() > 2 {
        return Err(Fail::usage("give --vary once or twice"));
    }
    let count = axes
        .iter()
        .fold(1usize, |count, axis| count.saturating_mul(axis.values.len()));
    if count > MAX_POINTS {
        return Err(Fail::usage(format_args!(
            "the sweep has {count} points, at most {MAX_POINTS} are run"
        )));
    }
    let mut all = vec![Map::new()];
    for axis in axes {
        let with = |map: &Map<String, Value>, value: &Value| {
            let mut map = map.clone();
            map.insert(axis.path.clone(), value.clone());
            map
        };
        all = all
            .iter()
            .flat_map(|map| axis.values.iter().map(move |value| with(map, value)))
            .collect();
    }
    Ok(all)
}

/// Marks the points of which none has more throughput at no more latency.
fn mark(points: &mut [Point]) {
    let choice = |(at, point): (usize, &Point)| {
        let sums = point.aggregate?;
        Some((at, (sums.throughput_output_tokens_s, sums.p99_e2e_ms?)))
    };
    let (places, choices): (Vec<_>, Vec<_>) = points.iter().enumerate().filter_map(choice).unzip();
    for at in pareto(&choices) {
        let point = places.get(at).and_then(|place: &usize| points.get_mut(*place));
        if let Some(point) = point {
            point.pareto = true;
        }
    }
}

fn show(points: &[Point], axes: &[Axis], out: &mut Out) -> Result {
    let mut table = axes
        .iter()
        .fold(Table::default(), |table, axis| table.number(axis.path.as_str()));
    for name in [
        "p50 TTFT ms",
        "p99 TTFT ms",
        "p50 ITL ms",
        "p99 ITL ms",
        "p50 E2E ms",
        "p99 E2E ms",
        "tokens/s",
    ] {
        table = table.number(name);
    }
    table = table.text("pareto").text("problem");
    for point in points {
        let sums = point.aggregate.unwrap_or_default();
        let times = [
            sums.p50_ttft_ms,
            sums.p99_ttft_ms,
            sums.p50_itl_ms,
            sums.p99_itl_ms,
            sums.p50_e2e_ms,
            sums.p99_e2e_ms,
        ];
        let rate = point.aggregate.map(|sums| sums.throughput_output_tokens_s);
        let rate = rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2}"));
        let cells = point.values.values().map(plain).chain(times.map(ms));
        let mark = if point.pareto { "*" } else { "" };
        let ends = [rate, mark.to_owned(), point.problem.clone().unwrap_or_default()];
        table.row(cells.chain(ends));
    }
    out.table(&table)?;
    out.line("* no other point has more tokens/s at no more p99 E2E")
}
