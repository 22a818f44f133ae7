//! The rules for searches.

use serde_json::Value;

use super::Checker;
use super::scenario::{number, only, positive, reject, scenario_create, share};
use crate::{
    MAX_SEARCH_INPUTS, MAX_SEARCH_POINTS, ScenarioSearch, SearchGoal, SearchInput, SearchLimit, SearchMetric,
    SearchPareto, SearchRate, SearchStatistic,
};

/// Highest rate or speedup.
const MAX_RATE: f64 = 1e6;
/// Smallest tolerance: one that the number of tries can reach.
const MIN_TOLERANCE: f64 = 1e-4;
/// Most limits of a goal.
const MAX_LIMITS: usize = 20;
/// Longest path of an input, in bytes.
const MAX_PATH: usize = 200;

const METRICS: [(&str, SearchMetric); 5] = [
    ("ttft", SearchMetric::Ttft),
    ("tpot", SearchMetric::Tpot),
    ("itl", SearchMetric::Itl),
    ("e2el", SearchMetric::E2el),
    ("queue", SearchMetric::Queue),
];
const STATISTICS: [(&str, SearchStatistic); 4] = [
    ("mean", SearchStatistic::Mean),
    ("p50", SearchStatistic::P50),
    ("p90", SearchStatistic::P90),
    ("p99", SearchStatistic::P99),
];

pub(super) fn scenario_search(c: &mut Checker, value: &Value) -> Option<ScenarioSearch> {
    let object = c.object(value)?;
    only(c, object, &["scenario", "goal", "rate", "pareto"]);
    let scenario = c.required(object, "scenario", scenario_create);
    let goal = c.optional(object, "goal", goal);
    let rate = c.optional(object, "rate", rate);
    let pareto = c.optional(object, "pareto", pareto);
    let search = ScenarioSearch {
        scenario: scenario?,
        goal: goal?.unwrap_or_default(),
        rate: rate?,
        pareto: pareto?,
    };
    let mut fits = true;
    let mut wrong = |c: &mut Checker, reason: &str| {
        // The body may hold a request trace, which the answer need not repeat.
        reject(c, &Value::Null, reason);
        fits = false;
    };
    if search.rate.is_some() == search.pareto.is_some() {
        wrong(c, "give exactly one of 'rate' and 'pareto'");
    }
    let slo = search.scenario.slo.unwrap_or_default();
    let limited = slo.ttft_ms.or(slo.tpot_ms).or(slo.e2el_ms).is_some();
    if search.goal.attainment.is_some() && !limited {
        wrong(
            c,
            "'goal.attainment' is a share of requests within the scenario's 'slo', which sets no limit",
        );
    }
    if search.rate.is_some() && !limited && search.goal.limits.is_empty() {
        wrong(
            c,
            "every rate is good without a limit: give 'scenario.slo' or 'goal.limits'",
        );
    }
    fits.then_some(search)
}

fn goal(c: &mut Checker, value: &Value) -> Option<SearchGoal> {
    let object = c.object(value)?;
    only(c, object, &["attainment", "limits"]);
    let attainment = c.optional(object, "attainment", share);
    let limits = c.optional(object, "limits", |c, v| {
        let limits = c.list(v, 0, limit)?;
        at_most(c, v, limits.len(), MAX_LIMITS).then_some(limits)
    });
    Some(SearchGoal {
        attainment: attainment?,
        limits: limits?.unwrap_or_default(),
    })
}

fn limit(c: &mut Checker, value: &Value) -> Option<SearchLimit> {
    let object = c.object(value)?;
    only(c, object, &["metric", "statistic", "at_most_ms"]);
    let metric = c.required(object, "metric", |c, v| c.literal(v, &METRICS));
    let statistic = c.required(object, "statistic", |c, v| c.literal(v, &STATISTICS));
    let most = c.required(object, "at_most_ms", |c, v| number(c, v, 0.0, f64::MAX));
    Some(SearchLimit {
        metric: metric?,
        statistic: statistic?,
        at_most_ms: most?,
    })
}

fn rate(c: &mut Checker, value: &Value) -> Option<SearchRate> {
    let object = c.object(value)?;
    only(c, object, &["low", "high", "tolerance"]);
    let end = |c: &mut Checker, v: &Value| {
        number(c, v, f64::MIN, MAX_RATE)?;
        positive(c, v)
    };
    let low = c.required(object, "low", end);
    let high = c.required(object, "high", end);
    let tolerance = c.optional(object, "tolerance", |c, v| number(c, v, MIN_TOLERANCE, 1.0));
    let rate = SearchRate {
        low: low?,
        high: high?,
        tolerance: tolerance?.unwrap_or(0.01),
    };
    if rate.low > rate.high {
        reject(c, value, "give low <= high");
        return None;
    }
    Some(rate)
}

fn pareto(c: &mut Checker, value: &Value) -> Option<SearchPareto> {
    let object = c.object(value)?;
    only(c, object, &["vary", "metric", "statistic"]);
    let vary = c.required(object, "vary", |c, v| {
        let inputs = c.list(v, 1, input)?;
        if !at_most(c, v, inputs.len(), MAX_SEARCH_INPUTS) {
            return None;
        }
        let points = inputs
            .iter()
            .fold(1usize, |n, input| n.saturating_mul(input.values.len()));
        if points > MAX_SEARCH_POINTS {
            let reason = format!("is {points} scenarios, at most {MAX_SEARCH_POINTS} are run");
            reject(c, &Value::Null, &reason);
            return None;
        }
        Some(inputs)
    });
    let metric = c.optional(object, "metric", |c, v| c.literal(v, &METRICS));
    let statistic = c.optional(object, "statistic", |c, v| c.literal(v, &STATISTICS));
    Some(SearchPareto {
        vary: vary?,
        metric: metric?.unwrap_or_default(),
        statistic: statistic?.unwrap_or_default(),
    })
}

fn input(c: &mut Checker, value: &Value) -> Option<SearchInput> {
    let object = c.object(value)?;
    only(c, object, &["input", "values"]);
    let path = c.required(object, "input", |c, v| {
        let path = c.string(v)?;
        if path.is_empty() || path.len() > MAX_PATH {
            reject(c, v, &format!("give a path of 1 to {MAX_PATH} bytes"));
            return None;
        }
        Some(path)
    });
    let values = c.required(object, "values", |c, v| {
        let values = c.list(v, 1, |_, v| Some(v.clone()))?;
        at_most(c, v, values.len(), MAX_SEARCH_POINTS).then_some(values)
    });
    Some(SearchInput {
        input: path?,
        values: values?,
    })
}

fn at_most(c: &mut Checker, value: &Value, length: usize, most: usize) -> bool {
    if length > most {
        reject(c, value, &format!("has {length} items; give at most {most}"));
    }
    length <= most
}
