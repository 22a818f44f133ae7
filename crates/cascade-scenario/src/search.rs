//! Searches: the highest rate that meets a goal, and settings of which none beats the other.

use std::collections::BTreeSet;

use cascade_api::validate::Validate;
use cascade_api::{
    Detail, ErrorBody, MAX_SEARCH_GPUS, MAX_SEARCH_STEPS, ScenarioCreate, ScenarioSearch,
    ScenarioSearchResult, SearchGoal, SearchMetric, SearchPoint, SearchRate, SearchStatistic,
};
use cascade_serving::metrics::Report;
use cascade_serving::profile::PerfProfile;
use cascade_serving::search::{Goal, Limit, Metric, Statistic, highest_rate, pareto};
use serde_json::{Map, Value};

use crate::{Refused, evaluate, with_efficiency};

/// Inputs that say which sim is the base, beside the GPU: one search has one trace.
const FIXED: [&str; 3] = ["trace_id", "model", "fresh"];

/// One scenario to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    values: Map<String, Value>,
    /// The scenario.
    pub scenario: ScenarioCreate,
}

/// The scenarios of which a pareto front is looked for; for a rate the one that is varied.
///
/// # Errors
/// An input that there is not or a value that does not fit it.
pub fn plan(ask: &ScenarioSearch) -> Result<Vec<Planned>, Refused> {
    let Some(front) = &ask.pareto else {
        return Ok(vec![Planned {
            values: Map::new(),
            scenario: ask.scenario.clone(),
        }]);
    };
    let fixed = front
        .vary
        .iter()
        .find(|axis| FIXED.contains(&axis.input.as_str()));
    if let Some(axis) = fixed {
        let problem = format!("a search has one trace: {} is not varied", axis.input);
        return Err(Refused::field("pareto.vary", problem));
    }
    let mut all = vec![Map::new()];
    for axis in &front.vary {
        let with = |map: &Map<String, Value>, value: &Value| {
            let mut map = map.clone();
            map.insert(axis.input.clone(), value.clone());
            map
        };
        all = all
            .iter()
            .flat_map(|map| axis.values.iter().map(move |value| with(map, value)))
            .collect();
    }
    let planned: Vec<Planned> = all
        .into_iter()
        .map(|values| {
            let scenario = changed(&ask.scenario, &values)?;
            Ok(Planned { values, scenario })
        })
        .collect::<Result<_, Refused>>()?;
    let gpus: BTreeSet<_> = planned.iter().map(|point| &point.scenario.gpu_config).collect();
    if gpus.len() > MAX_SEARCH_GPUS {
        let problem = format!("names {} GPUs, at most {MAX_SEARCH_GPUS} are taken", gpus.len());
        return Err(Refused::field("pareto.vary", problem));
    }
    Ok(planned)
}

/// Runs a search. `profiles` has one for each scenario of [`plan`].
///
/// # Errors
/// A rate that cannot be varied, a scenario that cannot be run at any rate, or more steps than a search may take.
pub fn search(
    ask: &ScenarioSearch,
    planned: Vec<Planned>,
    profiles: &[&PerfProfile],
) -> Result<ScenarioSearchResult, Refused> {
    let mut run = Run::new(ask);
    match (&ask.rate, profiles.first()) {
        (Some(rate), Some(profile)) => run.highest(rate, profile)?,
        _ => run.front(planned, profiles)?,
    }
    Ok(run.result)
}

struct Run<'a> {
    ask: &'a ScenarioSearch,
    goal: Goal,
    steps: u64,
    max_steps: u64,
    result: ScenarioSearchResult,
}

impl<'a> Run<'a> {
    fn new(ask: &'a ScenarioSearch) -> Self {
        Self {
            goal: goal(&ask.goal, ask),
            ask,
            steps: 0,
            max_steps: MAX_SEARCH_STEPS,
            result: ScenarioSearchResult::default(),
        }
    }

    /// Runs one scenario and keeps what it comes to.
    fn point(
        &mut self,
        values: Map<String, Value>,
        scenario: &ScenarioCreate,
        profile: &PerfProfile,
    ) -> Result<Report, Refused> {
        let profile = with_efficiency(profile, scenario.efficiency)?;
        let outcome = evaluate(&profile, scenario)?;
        self.steps = self.steps.saturating_add(outcome.steps_total);
        if self.steps > self.max_steps {
            return Err(Refused::text(format!(
                "the search took more than {} steps after {} scenarios: give fewer values or a shorter load",
                self.max_steps,
                self.result.points.len()
            )));
        }
        let report = serde_json::from_value::<Report>(Value::Object(outcome.report));
        let report = report.map_err(|error| Refused::text(format!("its report cannot be read: {error}")))?;
        for note in outcome.assumptions {
            add(&mut self.result.assumptions, note);
        }
        for note in outcome.warnings {
            add(&mut self.result.warnings, note);
        }
        let weighed = self.ask.pareto.as_ref();
        let latency = weighed.and_then(|front| {
            let stats = metric(front.metric).of(&report);
            statistic(front.statistic).of(stats).filter(|_| stats.count > 0)
        });
        self.result.points.push(SearchPoint {
            values,
            good: self.goal.met_by(&report),
            aggregate: Some(outcome.aggregate),
            band: Some(outcome.band),
            latency_ms: latency,
            slo_attainment: report.slo_attainment,
            cost_per_million_output_tokens: report.cost_per_million_output_tokens,
            provenance_counts: outcome.provenance_counts,
            problem: None,
        });
        Ok(report)
    }

    fn highest(&mut self, range: &SearchRate, profile: &PerfProfile) -> Result<(), Refused> {
        let input = rate_input(&self.ask.scenario)?;
        let goal = self.goal.clone();
        let run = |rate: f64| {
            let values = Map::from_iter([(input.to_owned(), Value::from(rate))]);
            let scenario = changed(&self.ask.scenario, &values)?;
            // A low rate takes many steps, so a limit may be that of the range and not of the load.
            self.point(values, &scenario, profile)
                .map_err(|refused| Refused::text(format!("at {input} = {rate}: {refused}")))
        };
        let found = highest_rate(run, &goal, (range.low, range.high), range.tolerance)?;
        self.result.bound = found.bound;
        let best = found.best.map(|(rate, _)| rate);
        let at = found.tries.iter().position(|tried| Some(tried.rate) == best);
        self.result.best = at.and_then(|at| u32::try_from(at).ok());
        Ok(())
    }

    fn front(&mut self, planned: Vec<Planned>, profiles: &[&PerfProfile]) -> Result<(), Refused> {
        for (Planned { values, scenario }, profile) in planned.into_iter().zip(profiles) {
            match self.point(values.clone(), &scenario, profile) {
                // A setting that cannot serve the load is a result too; a search that takes too long is none.
                Err(Refused::Field { field, problem }) => self.result.points.push(SearchPoint {
                    values,
                    problem: Some(format!("{field}: {problem}")),
                    ..SearchPoint::default()
                }),
                Err(refused) if self.steps <= self.max_steps => self.result.points.push(SearchPoint {
                    values,
                    problem: Some(refused.to_string()),
                    ..SearchPoint::default()
                }),
                Err(refused) => return Err(refused),
                Ok(_) => {}
            }
        }
        let candidates = self
            .result
            .points
            .iter()
            .zip(0..)
            .filter_map(|(point, at): (_, u32)| {
                let rate = point.aggregate.filter(|_| point.good)?.throughput_output_tokens_s;
                Some((at, (rate, point.latency_ms?)))
            });
        let (places, choices): (Vec<_>, Vec<_>) = candidates.unzip();
        self.result.front = pareto(&choices)
            .into_iter()
            .filter_map(|at| places.get(at).copied())
            .collect();
        Ok(())
    }
}

fn add(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// The input that is a scenario's rate.
fn rate_input(scenario: &ScenarioCreate) -> Result<&'static str, Refused> {
    if scenario.request_trace.is_some() {
        return Ok("request_trace.speedup");
    }
    if scenario.requests.is_some() {
        return Err(Refused::field(
            "scenario.requests",
            "listed requests have no rate: give the short form, a workload or a request trace",
        ));
    }
    let Some(workload) = &scenario.workload else {
        return Ok("arrival_rate_rps");
    };
    let arrivals = workload.get("load").and_then(|load| load.get("arrivals"));
    match arrivals.and_then(|arrivals| arrivals.get("rate")) {
        Some(_) => Ok("workload.load.arrivals.rate"),
        None => Err(Refused::field(
            "scenario.workload",
            "its arrivals have no rate: give the process fixed, poisson or gamma",
        )),
    }
}

/// The scenario with inputs changed, checked as a body is.
fn changed(scenario: &ScenarioCreate, values: &Map<String, Value>) -> Result<ScenarioCreate, Refused> {
    let mut body = serde_json::to_value(scenario).map_err(|error| Refused::text(error.to_string()))?;
    for (path, value) in values {
        put(&mut body, path, value.clone()).map_err(|problem| Refused::field(path, problem))?;
    }
    ScenarioCreate::validate(body).map_err(|fields| {
        let detail = Detail::Fields(fields);
        let values = Value::Object(values.clone());
        Refused::text(format!("with {values}: {}", ErrorBody { detail }))
    })
}

/// Sets the field at a path of names with dots between.
///
/// # Errors
/// A path that leads through something that has no fields, or past the end of a list.
pub fn put(body: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let mut place = body;
    for name in path.split('.') {
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        place = match place {
            Value::Object(fields) => fields.entry(name).or_insert(Value::Null),
            Value::Array(items) => {
                let item = name.parse::<usize>().ok().and_then(|at| items.get_mut(at));
                item.ok_or_else(|| format!("the list has no item {name}"))?
            }
            _ => return Err(format!("{name} is no field of an object")),
        };
    }
    *place = value;
    Ok(())
}

fn goal(asked: &SearchGoal, ask: &ScenarioSearch) -> Goal {
    let slo = ask.scenario.slo.unwrap_or_default();
    let limited = slo.ttft_ms.or(slo.tpot_ms).or(slo.e2el_ms).is_some();
    let limit = |limit: &cascade_api::SearchLimit| Limit {
        metric: metric(limit.metric),
        statistic: statistic(limit.statistic),
        at_most_ms: limit.at_most_ms,
    };
    Goal {
        limits: asked.limits.iter().map(limit).collect(),
        attainment: asked.attainment.or(limited.then_some(1.0)),
    }
}

fn metric(metric: SearchMetric) -> Metric {
    match metric {
        SearchMetric::Ttft => Metric::Ttft,
        SearchMetric::Tpot => Metric::Tpot,
        SearchMetric::Itl => Metric::Itl,
        SearchMetric::E2el => Metric::E2el,
        SearchMetric::Queue => Metric::Queue,
    }
}

/// Every report has these percentiles.
fn statistic(statistic: SearchStatistic) -> Statistic {
    match statistic {
        SearchStatistic::Mean => Statistic::Mean,
        SearchStatistic::P50 => Statistic::Percentile(50.0),
        SearchStatistic::P90 => Statistic::Percentile(90.0),
        SearchStatistic::P99 => Statistic::Percentile(99.0),
    }
}

#[cfg(test)]
mod tests;
