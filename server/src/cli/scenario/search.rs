//! `cascade scenario rate|pareto`: many scenarios behind one question.

use std::collections::BTreeMap;

use cascade_api::validate::Validate;
use cascade_api::{Detail, ErrorBody, GpuName, ScenarioSearch, ScenarioSearchResult, SearchPoint};
use cascade_scenario::{plan, search};
use cascade_serving::profile::PerfProfile;
use serde_json::{Map, Value, json};

use super::ask::{Args, put};
use super::base::Base;
use super::show::{ms, plain};
use super::sweep::Axis;
use crate::cli::fail::Fail;
use crate::cli::numbers::four_digits;
use crate::cli::out::Out;
use crate::cli::table::Table;
use crate::cli::{Result, block_on};

/// What makes a result good.
#[derive(Debug, clap::Args)]
pub(crate) struct GoalArgs {
    /// A limit over all requests, METRIC:STATISTIC=MS: ttft:p99=200, itl:mean=20. Metrics are ttft, tpot, itl, e2el
    /// and queue, statistics mean, p50, p90 and p99
    #[arg(long = "limit-ms", value_name = "M:S=MS", value_parser = limit)]
    limits: Vec<Value>,
    /// Each request's most time to first token, ms
    #[arg(long, value_name = "MS")]
    slo_ttft: Option<f64>,
    /// Each request's most time per output token after the first, ms
    #[arg(long, value_name = "MS")]
    slo_tpot: Option<f64>,
    /// Each request's most end-to-end latency, ms
    #[arg(long, value_name = "MS")]
    slo_e2e: Option<f64>,
    /// Share of the requests that must keep the three above [default: 1]
    #[arg(long, value_name = "SHARE")]
    attainment: Option<f64>,
}

/// `cascade scenario rate`.
#[derive(Debug, clap::Args)]
pub(crate) struct RateArgs {
    #[command(flatten)]
    scenario: Args,
    #[command(flatten)]
    goal: GoalArgs,
    /// The lowest rate tried, in requests a second (of a request trace: its speedup)
    #[arg(long, value_name = "RATE", default_value_t = 0.1)]
    low: f64,
    /// The highest
    #[arg(long, value_name = "RATE", default_value_t = 1000.0)]
    high: f64,
    /// How near the answer must be to the highest there is
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    tolerance: f64,
}

/// `cascade scenario pareto`.
#[derive(Debug, clap::Args)]
pub(crate) struct ParetoArgs {
    #[command(flatten)]
    scenario: Args,
    #[command(flatten)]
    goal: GoalArgs,
    /// GPUs to choose from
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    gpus: Vec<String>,
    /// An input and its values, such as scheduler.max_num_seqs=16,64; up to four with the GPUs
    #[arg(long, value_name = "PATH=VALUE,…", value_parser = super::sweep::axis)]
    vary: Vec<Axis>,
    /// The latency weighed against throughput, METRIC:STATISTIC
    #[arg(long, value_name = "M:S", default_value = "e2el:p99")]
    latency: String,
    /// Show every point, not only those that no other beats
    #[arg(long)]
    all: bool,
}

/// `metric:statistic=ms`; the names are checked with the whole question.
fn limit(text: &str) -> Result<Value, String> {
    let form = "give METRIC:STATISTIC=MS, such as ttft:p99=200";
    let (what, most) = text.split_once('=').ok_or(form)?;
    let (metric, statistic) = what.split_once(':').ok_or(form)?;
    let most: f64 = most.parse().map_err(|_not_a_number| form.to_owned())?;
    Ok(json!({"metric": metric, "statistic": statistic, "at_most_ms": most}))
}

/// Looks for the highest rate.
pub(super) fn rate(args: &RateArgs, out: &mut Out) -> Result {
    let range = json!({"low": args.low, "high": args.high, "tolerance": args.tolerance});
    let found = ask(&args.scenario, &args.goal, "rate", range)?;
    if out.is_json() {
        return out.json(&found);
    }
    let mut order: Vec<&SearchPoint> = found.points.iter().collect();
    let value = |point: &SearchPoint| point.values.values().next().and_then(Value::as_f64);
    order.sort_by(|a, b| value(a).unwrap_or(0.0).total_cmp(&value(b).unwrap_or(0.0)));
    table(&order, None, out)?;
    let best = found.best.and_then(|at| found.points.get(at as usize));
    let input = best.and_then(|best| best.values.keys().next());
    match (best.and_then(value), found.bound) {
        (Some(best), Some(bound)) => out.line(format_args!(
            "highest {} that meets the goal: {}; {} does not",
            input.map_or("rate", String::as_str),
            four_digits(best),
            four_digits(bound)
        ))?,
        (Some(best), None) => out.line(format_args!(
            "every rate up to {} meets the goal: raise --high, or give the load more requests",
            four_digits(best)
        ))?,
        (None, _) => out.line(format_args!("not even {} meets the goal", four_digits(args.low)))?,
    }
    notes(&found, out)
}

/// Looks for the settings that none beats.
pub(super) fn front(args: &ParetoArgs, out: &mut Out) -> Result {
    let mut vary: Vec<Value> = args.vary.iter().map(Axis::to_json).collect();
    if !args.gpus.is_empty() {
        vary.insert(0, json!({"input": "gpu_config", "values": args.gpus}));
    }
    if vary.is_empty() {
        return Err(Fail::usage("give --gpus or --vary: something to choose from"));
    }
    let form = || Fail::usage("--latency: give METRIC:STATISTIC, such as e2el:p99");
    let (metric, statistic) = args.latency.split_once(':').ok_or_else(form)?;
    let wanted = json!({"vary": vary, "metric": metric, "statistic": statistic});
    let found = ask(&args.scenario, &args.goal, "pareto", wanted)?;
    if out.is_json() {
        return out.json(&found);
    }
    let chosen: Vec<&SearchPoint> = match args.all {
        true => found.points.iter().collect(),
        false => found
            .front
            .iter()
            .filter_map(|at| found.points.get(*at as usize))
            .collect(),
    };
    table(&chosen, Some(&args.latency), out)?;
    out.line(format_args!(
        "{} of {} points: no other that meets the goal has more tokens/s at no more {}",
        found.front.len(),
        found.points.len(),
        args.latency
    ))?;
    notes(&found, out)
}

/// Asks the app, or answers here.
fn ask(args: &Args, goal: &GoalArgs, kind: &str, wanted: Value) -> Result<ScenarioSearchResult> {
    let base = Base::of(args)?;
    let mut scenario = args.body()?;
    let slos = [
        ("slo.ttft_ms", goal.slo_ttft),
        ("slo.tpot_ms", goal.slo_tpot),
        ("slo.e2el_ms", goal.slo_e2e),
    ];
    for (path, most) in slos {
        if let Some(most) = most {
            put(&mut scenario, path, Value::from(most))?;
        }
    }
    if let Base::Here(..) = base {
        // The rules ask for a base; here it is the profile.
        put(&mut scenario, "model", Value::Null)?;
        put(&mut scenario, "trace_id", Value::from("local"))?;
    }
    let mut body = json!({"scenario": scenario, "goal": {"limits": goal.limits}, kind: wanted});
    if let Some(share) = goal.attainment {
        put(&mut body, "goal.attainment", Value::from(share))?;
    }
    let question = ScenarioSearch::validate(body).map_err(|fields| {
        let detail = Detail::Fields(fields);
        Fail::usage(format_args!("the search does not fit: {}", ErrorBody { detail }))
    })?;
    match base {
        Base::App(client) => block_on(async { Ok(client.search_scenarios(&question).await?) }),
        Base::Here(profile, _) => here(args, *profile, &question),
    }
}

fn here(args: &Args, profile: PerfProfile, question: &ScenarioSearch) -> Result<ScenarioSearchResult> {
    let planned = plan(question).map_err(Fail::usage)?;
    let first = GpuName::from(profile.gpu.gpu.clone());
    let mut profiles = BTreeMap::from([(first.clone(), profile)]);
    for gpu in planned
        .iter()
        .filter_map(|point| point.scenario.gpu_config.as_ref())
    {
        if !profiles.contains_key(gpu) {
            profiles.insert(gpu.clone(), Base::on(args, gpu)?);
        }
    }
    let of = |gpu: &Option<GpuName>| profiles.get(gpu.as_ref().unwrap_or(&first));
    let chosen: Vec<&PerfProfile> = planned
        .iter()
        .filter_map(|point| of(&point.scenario.gpu_config))
        .collect();
    search(question, planned, &chosen).map_err(Fail::usage)
}

fn table(points: &[&SearchPoint], latency: Option<&str>, out: &mut Out) -> Result {
    let empty = Map::new();
    let inputs = points.first().map_or(&empty, |point| &point.values);
    let mut table = inputs
        .keys()
        .fold(Table::default(), |table, input| table.number(input.as_str()));
    table = table.number("tokens/s").number("low").number("high");
    if let Some(latency) = latency {
        table = table.number(format!("{latency} ms"));
    }
    for name in ["p99 TTFT ms", "p99 ITL ms", "p99 E2E ms", "within SLO"] {
        table = table.number(name);
    }
    table = table.text("goal").text("provenance");
    if points.iter().any(|point| point.problem.is_some()) {
        table = table.text("problem");
    }
    for point in points {
        let sums = point.aggregate.unwrap_or_default();
        let rate = |found: Option<f64>| found.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2}"));
        let of = |sums: Option<cascade_api::ScenarioAggregate>| {
            rate(sums.map(|sums| sums.throughput_output_tokens_s))
        };
        let mut cells: Vec<String> = point
            .values
            .values()
            .map(|value| value.as_f64().map_or_else(|| plain(value), number))
            .collect();
        cells.extend([
            of(point.aggregate),
            of(point.band.map(|band| band.low)),
            of(point.band.map(|band| band.high)),
        ]);
        cells.extend(latency.map(|_| ms(point.latency_ms)));
        cells.extend([sums.p99_ttft_ms, sums.p99_itl_ms, sums.p99_e2e_ms].map(ms));
        let share = point.slo_attainment;
        cells.push(share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0)));
        cells.push(if point.good { "met" } else { "not met" }.to_owned());
        cells.push(provenance(point));
        // Not shown where no point has one.
        cells.push(point.problem.clone().unwrap_or_default());
        table.row(cells);
    }
    out.table(&table)
}

/// A whole number as it is, another with four digits.
fn number(value: f64) -> String {
    match value.fract() == 0.0 {
        true => value.to_string(),
        false => four_digits(value),
    }
}

/// Which share of the steps' GPU times is not the profile's own.
fn provenance(point: &SearchPoint) -> String {
    let counts = &point.provenance_counts;
    let parts = [
        (counts.measured, "measured"),
        (counts.interpolated, "interpolated"),
        (counts.extrapolated, "roofline"),
        (counts.datasheet, "datasheet"),
    ];
    let total = parts.iter().map(|(steps, _)| steps).sum::<u64>().max(1);
    let parts = parts.iter().filter(|(steps, _)| *steps > 0);
    let parts = parts.map(|(steps, name)| format!("{:.0} % {name}", *steps as f64 * 100.0 / total as f64));
    parts.collect::<Vec<_>>().join(", ")
}

fn notes(found: &ScenarioSearchResult, out: &mut Out) -> Result {
    for base in &found.bases {
        out.line(format_args!(
            "{} · trace {} · {} · {}",
            base.gpu_config, base.trace_id, base.run_id, base.sim_id
        ))?;
    }
    for warning in &found.warnings {
        out.line(format_args!("warning: {warning}"))?;
    }
    out.line("Predictions, not measurements. Assumed:")?;
    for note in &found.assumptions {
        out.line(format_args!("- {note}"))?;
    }
    Ok(())
}
