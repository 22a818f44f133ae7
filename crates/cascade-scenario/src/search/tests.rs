//! Searches, on a datasheet.

use cascade_serving::datasheet::{Efficiency, datasheet};
use cascade_serving::facts::builtin;
use cascade_serving::profile::HostTime;
use serde_json::json;

use super::*;

fn profile(gpu: &str) -> PerfProfile {
    let model = builtin("meta-llama/Llama-3.1-8B").unwrap();
    let gpu = datasheet(gpu).unwrap();
    PerfProfile::from_datasheet(model, gpu, Efficiency::default(), HostTime::default()).unwrap()
}

fn asked(body: Value) -> ScenarioSearch {
    ScenarioSearch::validate(body).unwrap()
}

fn short(slo: Value) -> Value {
    json!({"trace_id": "t", "num_requests": 200, "prompt_tokens": 512, "output_tokens": 64, "policy": "vllm-v1",
           "slo": slo})
}

fn run(ask: &ScenarioSearch) -> Result<ScenarioSearchResult, Refused> {
    let planned = plan(ask)?;
    let profiles: Vec<PerfProfile> = planned
        .iter()
        .map(|point| {
            profile(
                point
                    .scenario
                    .gpu_config
                    .as_ref()
                    .map_or("SM90_H100", |gpu| gpu.as_str()),
            )
        })
        .collect();
    search(ask, planned, &profiles.iter().collect::<Vec<_>>())
}

#[test]
fn the_highest_rate_meets_the_goal_and_the_bound_does_not() {
    let ask = asked(json!({
        "scenario": short(json!({"ttft_ms": 200})),
        "goal": {"attainment": 0.9, "limits": [{"metric": "itl", "statistic": "p99", "at_most_ms": 60}]},
        "rate": {"low": 1, "high": 5000},
    }));
    let found = run(&ask).unwrap();
    let best = &found.points[found.best.unwrap() as usize];
    let rate = best.values["arrival_rate_rps"].as_f64().unwrap();
    let bound = found.bound.unwrap();
    assert!(
        best.good && rate < bound && bound <= rate * 1.01,
        "{rate} {bound}"
    );
    for (rate, good) in [(rate, true), (bound, false)] {
        let scenario = changed(
            &ask.scenario,
            &Map::from_iter([("arrival_rate_rps".to_owned(), json!(rate))]),
        );
        let outcome = evaluate(&profile("SM90_H100"), &scenario.unwrap()).unwrap();
        let share = outcome.report["slo_attainment"].as_f64().unwrap();
        let itl = outcome.aggregate.p99_itl_ms.unwrap();
        assert_eq!(share >= 0.9 && itl <= 60.0, good, "{rate}: {share} {itl}");
    }
    assert!(best.provenance_counts.datasheet > 0 && !found.assumptions.is_empty());
}

#[test]
fn a_workloads_rate_and_a_traces_speedup_are_rates_too() {
    let load = |load: Value| {
        let mut scenario = json!({"trace_id": "t", "slo": {"ttft_ms": 500}});
        scenario
            .as_object_mut()
            .unwrap()
            .extend(load.as_object().unwrap().clone());
        run(&asked(
            json!({"scenario": scenario, "rate": {"low": 0.5, "high": 64, "tolerance": 0.5}}),
        ))
    };
    let lengths =
        json!({"prompt": {"dist": "fixed", "tokens": 900}, "output": {"dist": "fixed", "tokens": 16}});
    let workload = |arrivals: Value| json!({"workload": {"load": {"kind": "open", "requests": 300, "arrivals": arrivals, "lengths": lengths}}});
    let found = load(workload(json!({"process": "poisson", "rate": 1}))).unwrap();
    assert!(found.best.is_some());
    assert!(found.points[0].values.contains_key("workload.load.arrivals.rate"));
    let text: String = (0..300)
        .map(|i| format!("{},900,16\n", f64::from(i) / 10.0))
        .collect();
    let trace = json!({"request_trace": {"text": format!("arrival_s,prompt_tokens,output_tokens\n{text}")}});
    let found = load(trace).unwrap();
    assert!(found.best.is_some() && found.points[0].values.contains_key("request_trace.speedup"));
    let refused = load(workload(json!({"process": "at_once"})))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("poisson"), "{refused}");
    let listed = json!({"requests": [{"prompt_tokens": 8, "output_tokens": 8}]});
    assert!(load(listed).unwrap_err().to_string().contains("no rate"));
}

#[test]
fn a_rate_at_which_the_load_cannot_be_run_is_named() {
    let mut scenario = short(json!({"ttft_ms": 200}));
    scenario["num_requests"] = 2000.into();
    scenario["prompt_tokens"] = 128.into();
    let ask = asked(json!({"scenario": scenario, "rate": {"low": 0.1, "high": 5000}}));
    let refused = run(&ask).unwrap_err().to_string();
    assert!(refused.starts_with("at arrival_rate_rps = 0.1: "), "{refused}");
}

#[test]
fn no_point_beats_one_of_the_front() {
    let ask = asked(json!({
        "scenario": short(json!(null)),
        "pareto": {
            "vary": [
                {"input": "gpu_config", "values": ["SM90_H100", "SM90_H200"]},
                {"input": "scheduler.max_num_seqs", "values": [2, 8, 64]},
                {"input": "scheduler.num_kv_blocks", "values": [1, 4000]},
            ],
            "metric": "itl",
            "statistic": "p99",
        },
    }));
    let found = run(&ask).unwrap();
    assert_eq!(found.points.len(), 12);
    // One KV block holds none of the prompts.
    assert_eq!(
        found
            .points
            .iter()
            .filter(|point| point.problem.is_some())
            .count(),
        6
    );
    let choice = |point: &SearchPoint| Some((point.aggregate?.throughput_output_tokens_s, point.latency_ms?));
    let front: Vec<_> = found
        .front
        .iter()
        .map(|at| choice(&found.points[*at as usize]).unwrap())
        .collect();
    assert!(front.len() >= 2);
    for (rate, latency) in found.points.iter().filter_map(choice) {
        let beats = |(r, l): &(f64, f64)| rate >= *r && latency <= *l && (rate, latency) != (*r, *l);
        assert!(!front.iter().any(beats));
        assert!(front.iter().any(|(r, l)| *r >= rate && *l <= latency));
    }
}

#[test]
fn what_cannot_be_varied_is_refused_before_anything_runs() {
    for (input, values, words) in [
        (
            "scheduler.max_num_sequences",
            json!([1]),
            "scheduler.max_num_sequences",
        ),
        (
            "scheduler.max_num_seqs",
            json!([1, 0]),
            "greater than or equal to 1",
        ),
        ("trace_id", json!(["a"]), "one trace"),
        ("num_requests.x", json!([1]), "num_requests.x"),
    ] {
        let ask = asked(json!({
            "scenario": short(json!(null)), "pareto": {"vary": [{"input": input, "values": values}]}
        }));
        let refused = plan(&ask).unwrap_err().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
    for (body, words) in [
        (json!({"scenario": short(json!(null))}), "exactly one of"),
        (
            json!({"scenario": short(json!(null)), "rate": {"low": 1, "high": 2}}),
            "every rate is good",
        ),
        (
            json!({"scenario": short(json!({"ttft_ms": 1})), "rate": {"low": 3, "high": 2}}),
            "low <= high",
        ),
        (
            json!({"scenario": short(json!(null)), "goal": {"attainment": 0.5}, "pareto": {"vary": []}}),
            "at least 1 item",
        ),
        (
            json!({"scenario": short(json!(null)), "pareto": {"vary": [
                {"input": "num_requests", "values": (1..=101).collect::<Vec<u32>>()},
                {"input": "output_tokens", "values": [1, 2]}]}}),
            "202 scenarios, at most 200",
        ),
    ] {
        let detail = Detail::Fields(ScenarioSearch::validate(body).unwrap_err());
        let text = ErrorBody { detail }.to_string();
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_search_that_takes_too_many_steps_ends() {
    let ask = asked(json!({
        "scenario": short(json!(null)),
        "pareto": {"vary": [{"input": "num_requests", "values": [100, 200]}]},
    }));
    let planned = plan(&ask).unwrap();
    let h100 = profile("SM90_H100");
    let mut run = Run::new(&ask);
    run.max_steps = 100;
    let refused = run.front(planned, &[&h100, &h100]).unwrap_err().to_string();
    assert!(
        refused.contains("more than 100 steps after 1 scenario"),
        "{refused}"
    );
}
