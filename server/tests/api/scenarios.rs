//! Scenarios on the bundled samples: published predictions, limits, and what comes back.

mod base;
mod bodies;
mod own_gpu;
mod profile;
mod saved;
mod search;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TOKEN, TestApp};

const H100: &str = "sample__facebook_opt-125m__h100-e2e";
const A100: &str = "sample__facebook_opt-125m__a100-e2e";
const FLAGS: [&str; 4] = ["--token", TOKEN, "--samples", "true"];

/// Runs a scenario that must succeed.
async fn run(app: &TestApp, body: Value) -> Value {
    let answer = app.post("/api/scenarios", body.clone()).await;
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{body}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// Runs a scenario that must be refused; gives the detail.
async fn refused(app: &TestApp, body: Value, status: u16) -> Value {
    let answer = app.post("/api/scenarios", body.clone()).await;
    let found = answer.status().as_u16();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(found, status, "{body}: {answer}");
    answer["detail"].clone()
}

fn short(requests: u32, prompt: u32, output: u32) -> Value {
    json!({"trace_id": H100, "gpu_config": "SM90_H100", "num_requests": requests, "prompt_tokens": prompt,
           "output_tokens": output})
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    body
}

#[track_caller]
fn near(found: &Value, published: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found / published - 1.0).abs() < 0.005,
        "{found}, published {published}"
    );
}

#[tokio::test]
async fn published_batches_come_out() {
    let app = TestApp::with(&FLAGS).await;
    for (requests, ttft, itl, e2e, throughput) in [
        (1, 8.946, 8.125, 1040.662, 123.00),
        (8, 9.799, 8.125, 1041.514, 983.18),
        (64, 33.824, 8.549, 1122.326, 7194.53),
    ] {
        // The rules of vLLM give the same here.
        for more in [json!({}), json!({"policy": "vllm-v1"})] {
            let result = run(&app, with(short(requests, 512, 128), more)).await;
            let sums = &result["aggregate"];
            near(&sums["p50_ttft_ms"], ttft);
            near(&sums["p50_itl_ms"], itl);
            near(&sums["p50_e2e_ms"], e2e);
            near(&sums["throughput_output_tokens_s"], throughput);
            assert_eq!(result["report"]["preemptions"], 0);
        }
    }
}

#[tokio::test]
async fn published_requests_come_out() {
    let app = TestApp::with(&FLAGS).await;
    let rows = [
        (H100, "SM90_H100", 6, 32, 8.946, 8.125, 260.593),
        (H100, "SM90_H100", 128, 128, 8.946, 8.125, 1040.662),
        (H100, "SM90_H100", 1024, 256, 8.956, 8.125, 2080.732),
        (H100, "SM90_H100", 1800, 200, 9.228, 8.125, 1625.977),
        (A100, "SM80_A100", 6, 32, 8.190, 7.139, 229.340),
        (A100, "SM80_A100", 128, 128, 8.190, 7.139, 914.664),
        (A100, "SM80_A100", 1024, 256, 8.398, 7.139, 1828.637),
        (A100, "SM80_A100", 1800, 200, 9.371, 7.139, 1429.838),
    ];
    for (trace, gpu, prompt, output, ttft, itl, e2e) in rows {
        let body = with(
            short(1, prompt, output),
            json!({"trace_id": trace, "gpu_config": gpu}),
        );
        let result = run(&app, body).await;
        let request = &result["requests"][0];
        near(&request["ttft_ms"], ttft);
        near(&request["mean_itl_ms"], itl);
        near(&request["e2e_ms"], e2e);
    }
}

#[tokio::test]
async fn an_answer_says_what_it_rests_on() {
    let app = TestApp::with(&FLAGS).await;
    let body = with(
        short(8, 512, 128),
        json!({"arrival_rate_rps": 0, "scheduler": {"max_num_seqs": 256, "max_num_batched_tokens": 8192}}),
    );
    let result = run(&app, body).await;
    assert_eq!(
        (&result["trace_id"], &result["gpu_config"]),
        (&json!(H100), &json!("SM90_H100"))
    );
    assert_eq!(result["run_id"], "run-sample-opt125m-h100-e2e");
    assert_eq!(
        (&result["sim_id"], &result["cached"]),
        (&json!("sim-sample-opt125m-h100-e2e"), &json!(true))
    );
    assert_eq!(
        (
            &result["steps_total"],
            &result["steps_returned"],
            &result["steps_downsampled"]
        ),
        (&json!(128), &json!(128), &json!(false))
    );
    assert_eq!(
        result["provenance_counts"],
        json!({"measured": 0, "interpolated": 0, "extrapolated:roofline": 128, "assumed-host": 128})
    );
    assert_eq!(
        result["calibration_range"],
        json!({"prefill_tokens": [6, 6], "decode_context": [7, 37]})
    );
    let scheduler = &result["scheduler"];
    assert_eq!(
        (
            &scheduler["rules"],
            &scheduler["num_kv_blocks"],
            &scheduler["gpu_memory_utilization"]
        ),
        (&json!("reference"), &json!(106_267), &json!(0.8))
    );
    assert_eq!(result["kv_cache"]["terms"].as_array().unwrap().len(), 3);
    assert!(result["assumptions"].as_array().unwrap().len() > 5);
    let step = &result["steps"][0];
    assert_eq!(
        (&step["kind"], &step["query_tokens"], &step["provenance"]),
        (&json!("prefill"), &json!(4096), &json!("extrapolated:roofline"))
    );
    let groups: f64 = step["groups_ns"]
        .as_object()
        .unwrap()
        .values()
        .map(|ns| ns.as_f64().unwrap())
        .sum();
    assert!(groups > 0.0 && groups / 1e6 <= step["gpu_ms"].as_f64().unwrap() * 1.01);
    let (low, high) = (&result["band"]["low"], &result["band"]["high"]);
    let sums = result["aggregate"].as_object().unwrap();
    for (name, value) in sums {
        let [low, value, high] = [&low[name], value, &high[name]].map(|v| v.as_f64().unwrap());
        assert!(low <= value && value <= high, "{name}: {low} {value} {high}");
    }
    // The profiled shape itself needs no roofline, and no range moves it.
    let same = run(&app, short(1, 6, 32)).await;
    assert_eq!(same["provenance_counts"]["measured"], 32);
    assert_eq!(same["band"]["low"], same["band"]["high"]);
}

#[tokio::test]
async fn the_published_stress_comes_out() {
    let app = TestApp::with(&FLAGS).await;
    let body = with(
        short(3, 8, 8),
        json!({"scheduler": {"block_size": 4, "num_kv_blocks": 4}}),
    );
    let result = run(&app, body.clone()).await;
    assert_eq!(result["steps_total"], 23);
    let requests = result["requests"].as_array().unwrap();
    let of = |name: &str| requests.iter().map(|r| r[name].clone()).collect::<Vec<_>>();
    assert_eq!(
        (of("preemptions"), of("output_tokens")),
        (vec![json!(0), json!(3), json!(2)], vec![json!(8); 3])
    );
    // vLLM keeps a block for itself, so that none of them fits.
    let detail = refused(&app, with(body, json!({"policy": "vllm-v1"})), 422).await;
    let message = detail[0]["msg"].as_str().unwrap();
    assert!(
        message.contains("request-0") && message.contains("4 KV blocks"),
        "{message}"
    );
}

#[tokio::test]
async fn many_steps_are_sampled_and_all_are_counted() {
    let app = TestApp::with(&FLAGS).await;
    let body = with(short(4, 8, 1_600), json!({"scheduler": {"max_num_seqs": 1}}));
    let result = run(&app, body).await;
    assert_eq!(
        (
            &result["steps_total"],
            &result["steps_returned"],
            &result["steps_downsampled"]
        ),
        (&json!(6_400), &json!(5_000), &json!(true))
    );
    assert!(
        result["steps_sampling"]
            .as_str()
            .unwrap()
            .contains("5000 of 6400")
    );
    let steps = result["steps"].as_array().unwrap();
    assert_eq!(
        (steps.len(), &steps[0]["step_index"], &steps[4_999]["step_index"]),
        (5_000, &json!(0), &json!(6_399))
    );
    let counts = &result["provenance_counts"];
    let gpu = ["measured", "interpolated", "extrapolated:roofline"];
    let total: u64 = gpu.iter().map(|name| counts[name].as_u64().unwrap()).sum();
    assert_eq!((total, &counts["assumed-host"]), (6_400, &json!(6_400)));
    let detail = refused(
        &app,
        with(short(500, 1, 1_999), json!({"scheduler": {"max_num_seqs": 1}})),
        422,
    )
    .await;
    assert!(
        detail[0]["msg"]
            .as_str()
            .unwrap()
            .contains("more than 100000 steps"),
        "{detail}"
    );
}

#[tokio::test]
async fn arrivals_outputs_prices_and_limits_show() {
    let app = TestApp::with(&FLAGS).await;
    let requests = json!([
        {"id": "late", "arrival_s": 0.5, "prompt_tokens": 512, "output_tokens": 1},
        {"arrival_s": 0, "prompt_tokens": 2048, "output_tokens": 0},
    ]);
    // Without a GPU, it is the one that the trace suggests.
    let body =
        json!({"trace_id": H100, "requests": requests, "price_per_gpu_hour": 3.6, "slo": {"e2el_ms": 1000}});
    let result = run(&app, body).await;
    assert_eq!(result["gpu_config"], "SM90_H100");
    let (late, early) = (&result["requests"][0], &result["requests"][1]);
    assert_eq!((&late["id"], &early["id"]), (&json!("late"), &json!("request-1")));
    assert_eq!(
        (&early["ttft_ms"], &early["mean_itl_ms"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&late["mean_itl_ms"], &late["arrival_s"]),
        (&Value::Null, &json!(0.5))
    );
    assert!(late["ttft_ms"].as_f64().unwrap() > 8.0);
    let report = &result["report"];
    assert_eq!(report["slo_attainment"], 1.0);
    let (seconds, tokens) = (report["duration"].as_f64().unwrap(), 1.0);
    let cost = report["cost_per_million_output_tokens"].as_f64().unwrap();
    assert!((cost / (3.6 * seconds / 3600.0 * 1e6 / tokens) - 1.0).abs() < 1e-9);
    // A model's name stands for its newest trace; its suggested GPU comes with it.
    let named = run(
        &app,
        json!({"model": "facebook/opt-125m", "num_requests": 2, "prompt_tokens": 6, "output_tokens": 2,
        "arrival_rate_rps": 4}),
    )
    .await;
    assert_eq!(named["requests"][1]["arrival_s"], 0.25);
}

#[tokio::test]
async fn workloads_run_under_vllms_rules() {
    let app = TestApp::with(&FLAGS).await;
    let fixed = |tokens: u32| json!({"dist": "fixed", "tokens": tokens});
    let body = |requests: u32, seed: u32| {
        json!({"trace_id": H100, "workload": {"seed": seed, "load": {"kind": "open", "requests": requests,
            "arrivals": {"process": "poisson", "rate": 40.0}, "prefix": {"tokens": 256},
            "lengths": {"prompt": fixed(64), "output": fixed(16)}}}})
    };
    let first = run(&app, body(50, 1)).await;
    assert_eq!(
        (&first["scheduler"]["rules"], &first["scheduler"]["max_num_seqs"]),
        (&json!("vllm-v1"), &json!(1024))
    );
    assert_eq!(first["requests"].as_array().unwrap().len(), 50);
    assert!(first["report"]["prefix_hit_rate"].as_f64().unwrap() > 0.5);
    assert_eq!(first, run(&app, body(50, 1)).await, "a seed gives the same again");
    assert_ne!(first["requests"], run(&app, body(50, 2)).await["requests"]);
    for (requests, words) in [
        (5_000, "at most 4096"),
        (4_000, "1000000 prompt and output tokens"),
    ] {
        let detail = refused(&app, body(requests, 1), 422).await;
        assert_eq!(detail[0]["loc"], json!(["body", "workload"]));
        assert!(detail[0]["msg"].as_str().unwrap().contains(words), "{detail}");
    }
    // Requests that cannot be served are told, not hidden.
    let mut long = body(3, 1);
    long["workload"]["load"]["lengths"]["prompt"] = fixed(4_000);
    let result = run(&app, long).await;
    assert_eq!(result["report"]["refused"], 3);
    assert!(
        result["requests"][0]["refusal"]
            .as_str()
            .unwrap()
            .contains("max_model_len")
    );
}

#[tokio::test]
async fn recorded_loads_run_as_they_were_recorded() {
    let app = TestApp::with(&FLAGS).await;
    let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.0,374,44\n\
                2023-11-16 18:15:50.5,396,109\n2023-11-16 18:15:51.0,879,55\n";
    let body = |more: Value| json!({"trace_id": H100, "request_trace": with(json!({"text": text}), more)});
    let result = run(&app, body(json!({"speedup": 2, "limit": 2}))).await;
    let requests = result["requests"].as_array().unwrap();
    assert_eq!((requests.len(), &requests[1]["arrival_s"]), (2, &json!(2.25)));
    assert_eq!(
        (&requests[1]["prompt_tokens"], &requests[1]["output_tokens"]),
        (&json!(396), &json!(109))
    );
    assert_eq!(result["scheduler"]["rules"], "vllm-v1");
    let rows = [
        (
            body(json!({"speedup": 0})),
            json!(["body", "request_trace", "speedup"]),
        ),
        (
            body(json!({"limit": 5_000})),
            json!(["body", "request_trace", "limit"]),
        ),
        (
            body(json!({"text": "what,is,this\n1,2,3\n"})),
            json!(["body", "request_trace"]),
        ),
        (
            body(json!({"text": format!("{text}{}", "2023-11-16 18:16:00.0,10,10\n".repeat(4_094))})),
            json!(["body", "request_trace"]),
        ),
        (with(body(json!({})), json!({"num_requests": 1})), json!(["body"])),
    ];
    for (body, place) in rows {
        let detail = refused(&app, body, 422).await;
        assert_eq!(detail[0]["loc"], place, "{}", detail[0]["msg"]);
    }
}

#[tokio::test]
async fn efficiencies_move_what_is_extrapolated() {
    let app = TestApp::with(&FLAGS).await;
    let body = short(64, 512, 128);
    let usual = run(&app, body.clone()).await;
    let slow = run(&app, with(body.clone(), json!({"efficiency": {"compute": 0.3}}))).await;
    let ttft = |result: &Value| result["aggregate"]["p50_ttft_ms"].as_f64().unwrap();
    assert!(
        ttft(&slow) > ttft(&usual) * 1.2,
        "{} {}",
        ttft(&slow),
        ttft(&usual)
    );
    assert_eq!(
        slow["efficiency"]["compute"],
        json!({"low": 0.3, "assumed": 0.3, "high": 0.85})
    );
    assert_eq!(slow["efficiency"]["bandwidth"]["assumed"], 0.8);
}

#[tokio::test]
async fn the_schema_stands_alone() {
    let app = TestApp::start().await;
    let schema = app.get("/api/scenarios/schema").await;
    assert_eq!(schema["$ref"], "#/$defs/ScenarioCreate");
    let text = schema.to_string();
    assert!(!text.contains("#/components/"), "{text}");
    let defs = schema["$defs"].as_object().unwrap();
    assert!(defs.contains_key("ScenarioScheduler") && defs.contains_key("ScenarioRequest"));
    assert_eq!(
        defs["ScenarioCreate"]["properties"]["num_requests"]["maximum"],
        4096
    );
    let bare = app
        .bare(Method::GET, "/api/scenarios/schema")
        .send()
        .await
        .unwrap();
    assert_eq!(bare.status(), StatusCode::UNAUTHORIZED);
}
