//! Bodies that do not fit.

use reqwest::Method;
use serde_json::{Value, json};

use super::{FLAGS, H100, refused, short, with};
use crate::app::TestApp;

#[tokio::test]
async fn a_body_that_does_not_fit_is_told_where() {
    let app = TestApp::with(&FLAGS).await;
    let ok = || short(2, 8, 8);
    let listed = |requests: Value| json!({"trace_id": H100, "requests": requests});
    let one = || json!({"prompt_tokens": 8, "output_tokens": 8});
    let long: Vec<Value> = (0..4_097).map(|_| one()).collect();
    let rows: Vec<(Value, &str, Value)> = vec![
        (json!([]), "model_attributes_type", json!(["body"])),
        (json!({}), "value_error", json!(["body"])),
        (with(ok(), json!({"model": "m"})), "value_error", json!(["body"])),
        (json!({"trace_id": H100}), "value_error", json!(["body"])),
        (
            json!({"trace_id": H100, "num_requests": 1, "prompt_tokens": 4}),
            "missing",
            json!(["body", "output_tokens"]),
        ),
        (
            with(ok(), json!({"requests": [one()]})),
            "value_error",
            json!(["body"]),
        ),
        (
            with(listed(json!([one()])), json!({"arrival_rate_rps": 1})),
            "value_error",
            json!(["body"]),
        ),
        (
            with(ok(), json!({"num_requests": 0})),
            "greater_than_equal",
            json!(["body", "num_requests"]),
        ),
        (
            with(ok(), json!({"num_requests": 4097})),
            "less_than_equal",
            json!(["body", "num_requests"]),
        ),
        (
            with(ok(), json!({"num_requests": true})),
            "int_type",
            json!(["body", "num_requests"]),
        ),
        (
            with(ok(), json!({"prompt_tokens": 0})),
            "greater_than_equal",
            json!(["body", "prompt_tokens"]),
        ),
        (
            with(ok(), json!({"prompt_tokens": 1.5})),
            "int_from_float",
            json!(["body", "prompt_tokens"]),
        ),
        (
            with(ok(), json!({"output_tokens": -1})),
            "greater_than_equal",
            json!(["body", "output_tokens"]),
        ),
        (
            with(ok(), json!({"arrival_rate_rps": -1})),
            "greater_than_equal",
            json!(["body", "arrival_rate_rps"]),
        ),
        (
            with(ok(), json!({"arrival_rate_rps": "x"})),
            "float_type",
            json!(["body", "arrival_rate_rps"]),
        ),
        (
            with(ok(), json!({"arrival_rate_rps": 1e-10})),
            "value_error",
            json!(["body"]),
        ),
        (short(4_096, 200, 100), "value_error", json!(["body"])),
        (short(1, 2_000, 49), "value_error", json!(["body"])),
        (
            with(ok(), json!({"max_seqs": 3})),
            "extra_forbidden",
            json!(["body", "max_seqs"]),
        ),
        (
            with(ok(), json!({"scheduler": {"seqs": 3}})),
            "extra_forbidden",
            json!(["body", "scheduler", "seqs"]),
        ),
        (
            with(ok(), json!({"scheduler": {"block_size": 0}})),
            "greater_than_equal",
            json!(["body", "scheduler", "block_size"]),
        ),
        (
            with(ok(), json!({"scheduler": {"gpu_memory_utilization": 0}})),
            "greater_than",
            json!(["body", "scheduler", "gpu_memory_utilization"]),
        ),
        (
            with(ok(), json!({"scheduler": {"gpu_memory_utilization": 0.001}})),
            "value_error",
            json!(["body", "scheduler", "gpu_memory_utilization"]),
        ),
        (
            with(ok(), json!({"scheduler": {"watermark": 0.1}})),
            "value_error",
            json!(["body", "scheduler", "watermark"]),
        ),
        (
            with(ok(), json!({"policy": "sjf"})),
            "literal_error",
            json!(["body", "policy"]),
        ),
        (
            with(
                ok(),
                json!({"efficiency": {"compute": {"assumed": 0.5, "low": 0.6}}}),
            ),
            "value_error",
            json!(["body", "efficiency", "compute"]),
        ),
        (
            json!({"trace_id": H100, "workload": {"load": {"kind": "storm"}}}),
            "value_error",
            json!(["body", "workload"]),
        ),
        (listed(json!([])), "too_short", json!(["body", "requests"])),
        (listed(json!(long)), "too_long", json!(["body", "requests"])),
        (
            listed(json!([with(one(), json!({"arrival_s": 2e9}))])),
            "less_than_equal",
            json!(["body", "requests", 0, "arrival_s"]),
        ),
        (
            listed(json!([with(one(), json!({"arrival_s": -1}))])),
            "greater_than_equal",
            json!(["body", "requests", 0, "arrival_s"]),
        ),
        (
            listed(json!([{"prompt_tokens": 8}])),
            "missing",
            json!(["body", "requests", 0, "output_tokens"]),
        ),
        (
            listed(json!([with(one(), json!({"id": "request-1"})), one()])),
            "value_error",
            json!(["body", "requests"]),
        ),
    ];
    for (body, kind, place) in rows {
        let detail = refused(&app, body.clone(), 422).await;
        let found = (&detail[0]["type"], &detail[0]["loc"]);
        assert_eq!(found, (&json!(kind), &place), "{body}: {}", detail[0]["msg"]);
    }
    let several = with(
        ok(),
        json!({"num_requests": 0, "prompt_tokens": "many", "fresh": 1}),
    );
    assert_eq!(refused(&app, several, 422).await.as_array().unwrap().len(), 3);
    let answer = app
        .request(Method::POST, "/api/scenarios")
        .body("{\"trace_id\":")
        .send()
        .await
        .unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["detail"][0]["type"], "json_invalid");
}

#[tokio::test]
async fn a_prompt_over_the_budget_needs_chunks() {
    let app = TestApp::with(&FLAGS).await;
    let scheduler = |chunks: bool| json!({"scheduler": {"max_num_batched_tokens": 256, "enable_chunked_prefill": chunks}});
    let detail = refused(&app, with(short(1, 512, 8), scheduler(false)), 422).await;
    assert!(
        detail[0]["msg"]
            .as_str()
            .unwrap()
            .contains("chunked prefill is off"),
        "{detail}"
    );
    let result = super::run(&app, with(short(1, 512, 8), scheduler(true))).await;
    assert_eq!(
        result["steps_total"], 9,
        "two chunks, the second of which samples, and seven decodes"
    );
}

/// Values that a schema describes: one for each alternative, with all properties and with those required.
fn examples(schema: &Value, defs: &Value) -> Vec<Value> {
    if let Some(name) = schema["$ref"].as_str() {
        return examples(&defs[name.trim_start_matches("#/$defs/")], defs);
    }
    if let Some([only]) = schema["allOf"].as_array().map(Vec::as_slice) {
        return examples(only, defs);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let choices = choices.iter().filter(|choice| choice["type"] != "null");
        return choices.flat_map(|choice| examples(choice, defs)).collect();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.clone();
    }
    match schema["type"].as_str().unwrap_or_else(|| panic!("{schema}")) {
        "boolean" => vec![json!(true)],
        "number" => vec![json!(1.5)],
        "integer" => vec![json!(7)],
        "object" => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let (mut whole, mut least) = (vec![json!({})], json!({}));
            for (name, property) in schema["properties"].as_object().unwrap() {
                let values = examples(property, defs);
                if required.contains(&json!(name)) {
                    least[name] = values[0].clone();
                }
                let with = |object: &Value, value: &Value| {
                    let mut object = object.clone();
                    object[name] = value.clone();
                    object
                };
                // Every value of this property, beside the first of the others.
                let first = whole[0].clone();
                whole = whole.iter().map(|object| with(object, &values[0])).collect();
                whole.extend(values.iter().skip(1).map(|value| with(&first, value)));
            }
            whole.push(least);
            whole
        }
        other => panic!("{other} is no type of a workload"),
    }
}

#[tokio::test]
async fn workloads_are_what_their_schema_says() {
    let app = TestApp::with(&FLAGS).await;
    let schema = app.get("/api/scenarios/schema").await;
    let workload = &schema["$defs"]["ScenarioWorkload"];
    let all = examples(workload, &schema["$defs"]);
    let kinds = [
        "open",
        "closed_loop",
        "sessions",
        "at_once",
        "gamma",
        "burst",
        "exponential",
        "lognormal",
    ];
    let text = json!(all).to_string();
    assert!(
        all.len() > 30 && kinds.iter().all(|kind| text.contains(&format!("\"{kind}\""))),
        "{text}"
    );
    // Which turns are too many is no matter of their schema.
    let endless = |turns: &Value| turns["dist"] == "lognormal" && turns["max"].is_null();
    for workload in all.into_iter().filter(|w| !endless(&w["load"]["turns"])) {
        super::run(&app, json!({"trace_id": H100, "workload": workload})).await;
    }
}
