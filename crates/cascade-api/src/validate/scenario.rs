//! The rules for scenarios.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Checker;
use crate::{
    EfficiencyRange, GpuName, Loc, MAX_ARRIVAL_S, MAX_BLOCK_TOKENS, MAX_SCENARIO_REQUESTS,
    MAX_SCENARIO_TOKENS, QueueOrder, RequestTrace, ScenarioCreate, ScenarioEfficiency, ScenarioRequest,
    ScenarioSave, ScenarioScheduler, ScenarioSlo, SchedulingRules, TraceId,
};

/// Longest name of a saved scenario, in characters.
const MAX_NAME: usize = 200;
/// Longest name of a request, in bytes.
const MAX_ID: usize = 200;

/// Fields of a body; what is not here is reported.
const FIELDS: [&str; 16] = [
    "trace_id",
    "model",
    "gpu_config",
    "fresh",
    "num_requests",
    "prompt_tokens",
    "output_tokens",
    "arrival_rate_rps",
    "requests",
    "workload",
    "request_trace",
    "policy",
    "scheduler",
    "slo",
    "price_per_gpu_hour",
    "efficiency",
];
const SHORT: [&str; 4] = [
    "num_requests",
    "prompt_tokens",
    "output_tokens",
    "arrival_rate_rps",
];
const REQUEST: [&str; 5] = ["id", "arrival_s", "prompt_tokens", "output_tokens", "priority"];
const SCHEDULER: [&str; 13] = [
    "max_num_seqs",
    "max_num_batched_tokens",
    "block_size",
    "enable_chunked_prefill",
    "gpu_memory_utilization",
    "num_kv_blocks",
    "max_model_len",
    "policy",
    "long_prefill_token_threshold",
    "scheduler_reserve_full_isl",
    "watermark",
    "enable_prefix_caching",
    "async_scheduling",
];

type Object = Map<String, Value>;
/// `None` where a field was there and wrong.
type Field<T> = Option<Option<T>>;

pub(super) fn scenario_save(c: &mut Checker, value: &Value) -> Option<ScenarioSave> {
    let object = c.object(value)?;
    only(c, object, &["name", "scenario"]);
    let name = c.required(object, "name", |c, v| {
        let name = c.string(v)?;
        if name.trim().is_empty() || name.chars().count() > MAX_NAME {
            reject(c, v, &format!("give a name of 1 to {MAX_NAME} characters"));
            return None;
        }
        Some(name)
    });
    let scenario = c.required(object, "scenario", scenario_create);
    Some(ScenarioSave {
        name: name?,
        scenario: scenario?,
    })
}

pub(super) fn scenario_create(c: &mut Checker, value: &Value) -> Option<ScenarioCreate> {
    let object = c.object(value)?;
    only(c, object, &FIELDS);
    let trace_id = c.optional(object, "trace_id", |c, v| c.string(v).map(TraceId::from));
    let model = c.optional(object, "model", |c, v| c.string(v));
    let gpu_config = c.optional(object, "gpu_config", |c, v| c.string(v).map(GpuName::from));
    let fresh = c.optional(object, "fresh", Checker::boolean);
    let requests_most = i64::from(MAX_SCENARIO_REQUESTS);
    let num_requests = c.optional(object, "num_requests", |c, v| count(c, v, 1, requests_most));
    let prompt_tokens = c.optional(object, "prompt_tokens", |c, v| tokens(c, v, 1));
    let output_tokens = c.optional(object, "output_tokens", |c, v| tokens(c, v, 0));
    let rate = c.optional(object, "arrival_rate_rps", |c, v| number(c, v, 0.0, f64::MAX));
    let requests = c.optional(object, "requests", requests);
    let workload = c.optional(object, "workload", Checker::dict);
    let request_trace = c.optional(object, "request_trace", request_trace);
    let rules = [
        ("vllm-v1", SchedulingRules::VllmV1),
        ("reference", SchedulingRules::Reference),
    ];
    let policy = c.optional(object, "policy", |c, v| c.literal(v, &rules));
    let scheduler = c.optional(object, "scheduler", scheduler);
    let slo = c.optional(object, "slo", slo);
    let price = c.optional(object, "price_per_gpu_hour", |c, v| number(c, v, 0.0, 1e9));
    let efficiency = c.optional(object, "efficiency", efficiency);
    let scenario = ScenarioCreate {
        trace_id: trace_id?,
        model: model?,
        gpu_config: gpu_config?,
        fresh: fresh?.unwrap_or(false),
        num_requests: num_requests?,
        prompt_tokens: prompt_tokens?,
        output_tokens: output_tokens?,
        arrival_rate_rps: rate?,
        requests: requests?,
        workload: workload?,
        request_trace: request_trace?,
        policy: policy?,
        scheduler: scheduler?.unwrap_or_default(),
        slo: slo?,
        price_per_gpu_hour: price?,
        efficiency: efficiency?,
    };
    whole(c, value, object, &scenario).then_some(scenario)
}

/// What several fields say together.
fn whole(c: &mut Checker, value: &Value, object: &Object, scenario: &ScenarioCreate) -> bool {
    let mut fits = true;
    // A trace may be megabytes, which the answer need not repeat.
    let value = if scenario.request_trace.is_some() {
        &Value::Null
    } else {
        value
    };
    let mut wrong = |c: &mut Checker, reason: &str| {
        reject(c, value, reason);
        fits = false;
    };
    if scenario.trace_id.is_some() == scenario.model.is_some() {
        wrong(c, "give exactly one of 'trace_id' and 'model'");
    }
    let given = |name: &&str| object.get(*name).is_some_and(|v| !v.is_null());
    let short = SHORT.iter().any(given);
    let loads = [
        short,
        scenario.requests.is_some(),
        scenario.workload.is_some(),
        scenario.request_trace.is_some(),
    ];
    let loads = loads.into_iter().filter(|given| *given).count();
    match loads {
        1 => {}
        0 => wrong(
            c,
            "give a load: 'num_requests', 'prompt_tokens' and 'output_tokens', or 'requests', or 'workload', or \
             'request_trace'",
        ),
        _ => wrong(
            c,
            "do not mix 'requests', 'workload', 'request_trace' and the short form ('num_requests', 'prompt_tokens', \
             'output_tokens', 'arrival_rate_rps')",
        ),
    }
    if short && loads == 1 {
        let missing: Vec<&str> = SHORT.into_iter().take(3).filter(|name| !given(name)).collect();
        for name in &missing {
            c.at(Loc::Name((*name).into()), |c| {
                c.report("missing", "Field required", value, None);
            });
        }
        if !missing.is_empty() {
            return false;
        }
    }
    let last = scenario.num_requests.unwrap_or(1).saturating_sub(1);
    let rate = scenario.arrival_rate_rps.filter(|rate| *rate > 0.0);
    if rate.is_some_and(|rate| f64::from(last) / rate > MAX_ARRIVAL_S) {
        wrong(
            c,
            &format!("the last request would arrive after {MAX_ARRIVAL_S} s; raise 'arrival_rate_rps'"),
        );
    }
    let tokens = total_tokens(scenario);
    if tokens > MAX_SCENARIO_TOKENS {
        wrong(
            c,
            &format!(
                "the requests have {tokens} prompt and output tokens, at most {MAX_SCENARIO_TOKENS} are simulated"
            ),
        );
    }
    fits
}

fn total_tokens(scenario: &ScenarioCreate) -> u64 {
    let short = [scenario.prompt_tokens, scenario.output_tokens].map(|n| u64::from(n.unwrap_or(0)));
    let short = u64::from(scenario.num_requests.unwrap_or(0)) * (short.iter().sum::<u64>());
    let listed = scenario.requests.iter().flatten();
    short
        + listed
            .map(|r| u64::from(r.prompt_tokens) + u64::from(r.output_tokens))
            .sum::<u64>()
}

fn requests(c: &mut Checker, value: &Value) -> Option<Vec<ScenarioRequest>> {
    let most = MAX_SCENARIO_REQUESTS as usize;
    if let Some(length) = value.as_array().map(Vec::len).filter(|length| *length > most) {
        let msg = format!("List should have at most {most} items after validation, not {length}");
        let ctx = json!({ "field_type": "List", "max_length": most, "actual_length": length });
        // The list itself would make the answer as long as the body.
        c.report("too_long", msg, &Value::Null, Some(ctx));
        return None;
    }
    let list = c.list(value, 1, request)?;
    let mut seen = BTreeSet::new();
    for (position, request) in list.iter().enumerate() {
        let id = request_id(request, position);
        if !seen.insert(id.clone()) {
            reject(c, &json!(id), &format!("two requests are called '{id}'"));
            return None;
        }
    }
    Some(list)
}

/// A request's name: its own, or one made of its position.
fn request_id(request: &ScenarioRequest, position: usize) -> String {
    request
        .id
        .clone()
        .unwrap_or_else(|| format!("request-{position}"))
}

fn request(c: &mut Checker, value: &Value) -> Option<ScenarioRequest> {
    let object = c.object(value)?;
    only(c, object, &REQUEST);
    let id = c.optional(object, "id", |c, v| {
        let id = c.string(v)?;
        if id.is_empty() || id.len() > MAX_ID {
            reject(c, v, &format!("give a name of 1 to {MAX_ID} bytes"));
            return None;
        }
        Some(id)
    });
    let arrival = c.optional(object, "arrival_s", |c, v| number(c, v, 0.0, MAX_ARRIVAL_S));
    let prompt = c.required(object, "prompt_tokens", |c, v| tokens(c, v, 1));
    let output = c.required(object, "output_tokens", |c, v| tokens(c, v, 0));
    let priority = c.optional(object, "priority", |c, v| {
        let number = c.integer(v, Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX)))?;
        i32::try_from(number).ok()
    });
    Some(ScenarioRequest {
        id: id?,
        arrival_s: arrival?.unwrap_or(0.0),
        prompt_tokens: prompt?,
        output_tokens: output?,
        priority: priority?,
    })
}

fn request_trace(c: &mut Checker, value: &Value) -> Option<RequestTrace> {
    let object = c.object(value)?;
    only(c, object, &["text", "file", "speedup", "limit"]);
    let text = c.required(object, "text", |c, v| c.string(v));
    let file = c.optional(object, "file", |c, v| c.string(v));
    let speedup = c.optional(object, "speedup", positive);
    let most = i64::from(MAX_SCENARIO_REQUESTS);
    let limit = c.optional(object, "limit", |c, v| count(c, v, 1, most));
    Some(RequestTrace {
        text: text?,
        file: file?,
        speedup: speedup?,
        limit: limit?,
    })
}

fn scheduler(c: &mut Checker, value: &Value) -> Option<ScenarioScheduler> {
    let object = c.object(value)?;
    only(c, object, &SCHEDULER);
    let any = i64::from(u32::MAX);
    let max_num_seqs = c.optional(object, "max_num_seqs", |c, v| count(c, v, 1, any));
    let budget = c.optional(object, "max_num_batched_tokens", |c, v| count(c, v, 1, any));
    let block = i64::from(MAX_BLOCK_TOKENS);
    let block_size = c.optional(object, "block_size", |c, v| count(c, v, 1, block));
    let chunked = c.optional(object, "enable_chunked_prefill", Checker::boolean);
    let utilization = c.optional(object, "gpu_memory_utilization", share);
    let num_kv_blocks = c.optional(object, "num_kv_blocks", |c, v| count(c, v, 1, any));
    let max_model_len = c.optional(object, "max_model_len", |c, v| count(c, v, 1, any));
    let orders = [("fcfs", QueueOrder::Fcfs), ("priority", QueueOrder::Priority)];
    let policy = c.optional(object, "policy", |c, v| c.literal(v, &orders));
    let threshold = c.optional(object, "long_prefill_token_threshold", |c, v| count(c, v, 0, any));
    let reserve = c.optional(object, "scheduler_reserve_full_isl", Checker::boolean);
    let watermark = c.optional(object, "watermark", |c, v| number(c, v, 0.0, 1.0));
    let caching = c.optional(object, "enable_prefix_caching", Checker::boolean);
    let async_scheduling = c.optional(object, "async_scheduling", Checker::boolean);
    Some(ScenarioScheduler {
        max_num_seqs: max_num_seqs?,
        max_num_batched_tokens: budget?,
        block_size: block_size?,
        enable_chunked_prefill: chunked?,
        gpu_memory_utilization: utilization?,
        num_kv_blocks: num_kv_blocks?,
        max_model_len: max_model_len?,
        policy: policy?,
        long_prefill_token_threshold: threshold?,
        scheduler_reserve_full_isl: reserve?,
        watermark: watermark?,
        enable_prefix_caching: caching?,
        async_scheduling: async_scheduling?,
    })
}

fn slo(c: &mut Checker, value: &Value) -> Option<ScenarioSlo> {
    let object = c.object(value)?;
    only(c, object, &["ttft_ms", "tpot_ms", "e2el_ms"]);
    let mut limit = |name| -> Field<f64> { c.optional(object, name, |c, v| number(c, v, 0.0, 1e12)) };
    let (ttft_ms, tpot_ms, e2el_ms) = (limit("ttft_ms"), limit("tpot_ms"), limit("e2el_ms"));
    Some(ScenarioSlo {
        ttft_ms: ttft_ms?,
        tpot_ms: tpot_ms?,
        e2el_ms: e2el_ms?,
    })
}

fn efficiency(c: &mut Checker, value: &Value) -> Option<ScenarioEfficiency> {
    let object = c.object(value)?;
    only(c, object, &["compute", "bandwidth"]);
    let compute = c.optional(object, "compute", range);
    let bandwidth = c.optional(object, "bandwidth", range);
    Some(ScenarioEfficiency {
        compute: compute?,
        bandwidth: bandwidth?,
    })
}

/// A range, or the assumed value alone.
fn range(c: &mut Checker, value: &Value) -> Option<EfficiencyRange> {
    if value.is_number() {
        let assumed = share(c, value)?;
        return Some(EfficiencyRange {
            assumed,
            low: None,
            high: None,
        });
    }
    let object = c.object(value)?;
    only(c, object, &["assumed", "low", "high"]);
    let assumed = c.required(object, "assumed", share);
    let low = c.optional(object, "low", share);
    let high = c.optional(object, "high", share);
    let range = EfficiencyRange {
        assumed: assumed?,
        low: low?,
        high: high?,
    };
    if range.low.is_some_and(|low| low > range.assumed) || range.high.is_some_and(|high| high < range.assumed)
    {
        reject(c, value, "give low <= assumed <= high");
        return None;
    }
    Some(range)
}

/// Reports every field that is not one of `known`.
pub(super) fn only(c: &mut Checker, object: &Object, known: &[&str]) {
    for (name, value) in object.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        c.at(Loc::Name(name.clone()), |c| {
            c.report("extra_forbidden", "Extra inputs are not permitted", value, None);
        });
    }
}

pub(super) fn reject(c: &mut Checker, value: &Value, reason: &str) {
    let ctx = json!({ "error": reason });
    c.report("value_error", format!("Value error, {reason}"), value, Some(ctx));
}

fn count(c: &mut Checker, value: &Value, least: i64, most: i64) -> Option<u32> {
    u32::try_from(c.integer(value, Some(least), Some(most))?).ok()
}

fn tokens(c: &mut Checker, value: &Value, least: i64) -> Option<u32> {
    count(c, value, least, MAX_SCENARIO_TOKENS as i64)
}

/// A share: above 0 and at most 1.
pub(super) fn share(c: &mut Checker, value: &Value) -> Option<f64> {
    number(c, value, f64::MIN, 1.0)?;
    positive(c, value)
}

/// A number above 0.
pub(super) fn positive(c: &mut Checker, value: &Value) -> Option<f64> {
    let number = number(c, value, f64::MIN, f64::MAX)?;
    if number <= 0.0 {
        let ctx = json!({ "gt": 0.0 });
        c.report("greater_than", "Input should be greater than 0", value, Some(ctx));
        return None;
    }
    Some(number)
}

/// A finite number within `ge..=le`.
pub(super) fn number(c: &mut Checker, value: &Value, ge: f64, le: f64) -> Option<f64> {
    let Some(number) = value.as_f64() else {
        c.report("float_type", "Input should be a valid number", value, None);
        return None;
    };
    if !number.is_finite() {
        c.report("finite_number", "Input should be a finite number", value, None);
        return None;
    }
    if number < ge {
        let msg = format!("Input should be greater than or equal to {ge}");
        c.report("greater_than_equal", msg, value, Some(json!({ "ge": ge })));
        return None;
    }
    if number > le {
        let msg = format!("Input should be less than or equal to {le}");
        c.report("less_than_equal", msg, value, Some(json!({ "le": le })));
        return None;
    }
    Some(number)
}
