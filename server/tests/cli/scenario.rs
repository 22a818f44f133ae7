//! `cascade scenario`: without a server, against one, and beside vLLM's own steps.

use std::path::{Path, PathBuf};

use serde_json::{Value, json as object};

use super::app::App;
use super::{json, run, text};

const LOAD: [&str; 6] = ["--requests", "64", "--prompt", "512", "--output", "128"];

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[track_caller]
fn near(found: &Value, published: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found / published - 1.0).abs() < 0.005,
        "{found}, published {published}"
    );
}

#[test]
fn a_sample_answers_without_a_server() {
    let args = [&["scenario", "run", "--sample", "h100"][..], &LOAD].concat();
    let result = json(&args);
    near(&result["aggregate"]["p50_ttft_ms"], 33.824);
    near(&result["aggregate"]["throughput_output_tokens_s"], 7194.53);
    assert_eq!(result["gpu_config"], "SM90_H100");
    let shown = run(&args);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for words in [
        "output tokens/s",
        "rules reference",
        "106267 KV blocks",
        "Predictions, not measurements",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
}

#[test]
fn a_timeline_pair_answers_as_its_sample_does() {
    let folder = repository("samples/opt125m-a100-e2e");
    let file = |name: &str| text(&folder.join(name)).to_owned();
    let (timeline, durations, metadata) = (
        file("corrected_timeline.json.gz"),
        file("sim_durations.SM80_A100.json.gz"),
        file("metadata.json"),
    );
    let pair = [
        "--timeline",
        &timeline,
        "--durations",
        &durations,
        "--metadata",
        &metadata,
    ];
    let load = ["--requests", "1", "--prompt", "1800", "--output", "200"];
    let paired = json(&[&["scenario", "run"][..], &pair, &load].concat());
    near(&paired["requests"][0]["ttft_ms"], 9.371);
    let sample = json(&[&["scenario", "run", "--sample", "a100"][..], &load].concat());
    assert_eq!(paired["aggregate"], sample["aggregate"]);
}

#[test]
fn records_beside_a_timeline_give_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let sample = repository("samples/opt125m-h100-e2e");
    for name in ["corrected_timeline.json.gz", "sim_durations.SM90_H100.json.gz"] {
        std::fs::copy(sample.join(name), folder.path().join(name)).unwrap();
    }
    let [timeline, durations] = ["corrected_timeline.json.gz", "sim_durations.SM90_H100.json.gz"]
        .map(|name| text(&folder.path().join(name)).to_owned());
    let args = [
        "scenario",
        "run",
        "--timeline",
        &timeline,
        "--durations",
        &durations,
        "--gpu",
        "SM90_H100",
    ];
    let args = [&args[..], &["--requests", "1", "--prompt", "6", "--output", "32"]].concat();
    let before = json(&args);
    let records = [
        ("run.json", r#"{"engine": {"gpu_memory_utilization": 0.5}}"#),
        ("workload.json", r#"{"max_tokens": 32, "max_model_len": 1024}"#),
    ];
    for (name, text) in records {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let after = json(&args);
    let setting = |result: &Value, name: &str| result["scheduler"][name].clone();
    assert_eq!(setting(&before, "gpu_memory_utilization"), 0.8);
    assert_eq!(setting(&after, "gpu_memory_utilization"), 0.5);
    assert_eq!(setting(&after, "max_model_len"), 1024);
    assert!(setting(&after, "num_kv_blocks").as_u64() < setting(&before, "num_kv_blocks").as_u64());
    assert_eq!(before["aggregate"], after["aggregate"]);
    let says = |result: &Value, words: &str| result["assumptions"].to_string().contains(words);
    assert!(says(&after, "0.5, says run.json") && says(&after, "1024, says workload.json"));
    assert!(says(
        &before,
        "0.8: neither the scenario nor the traced run gives it"
    ));
}

#[test]
fn a_server_answers_as_a_sample_does() {
    let app = App::with_samples();
    let trace = [
        "scenario",
        "run",
        "--trace",
        "sample__facebook_opt-125m__h100-e2e",
    ];
    let mut far = app.json(&[&trace[..], &LOAD].concat());
    let mut here = json(&[&["scenario", "run", "--sample", "h100"][..], &LOAD].concat());
    for result in [&mut far, &mut here] {
        result["base"].take();
    }
    assert_eq!(far, here);
    // A fresh base of a sample is a replay, which the app's own worker plays.
    let fresh = app.json(&[&trace[..], &["--set", "fresh=true"], &LOAD].concat());
    assert!(
        fresh["base"].as_str().unwrap().ends_with("(finished just now)"),
        "{}",
        fresh["base"]
    );
    near(&fresh["aggregate"]["p50_ttft_ms"], 33.824);
    near(&fresh["aggregate"]["throughput_output_tokens_s"], 7194.53);
    let unknown = app.run(&[&["scenario", "run", "--trace", "none"][..], &LOAD].concat());
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("trace none not found"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_file_holds_a_scenario_and_flags_change_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mix.json");
    let workload = object!({"load": {"kind": "closed_loop", "requests": 40, "clients": 4, "lengths": {
        "prompt": {"dist": "uniform", "low": 10, "high": 200}, "output": {"dist": "fixed", "tokens": 8}}}});
    std::fs::write(
        &file,
        object!({"workload": workload, "slo": {"ttft_ms": 1}}).to_string(),
    )
    .unwrap();
    let ask = ["scenario", "run", text(&file), "--sample", "h200"];
    let result = json(&ask);
    assert_eq!(result["report"]["peak_running"], 4);
    assert_eq!(result["report"]["slo_attainment"], 0.0);
    let set = ["--set", "workload.load.clients=2", "--set", "slo.ttft_ms=1000"];
    let result = json(&[&ask[..], &set].concat());
    assert_eq!(result["report"]["peak_running"], 2);
    assert_eq!(result["report"]["slo_attainment"], 1.0);
}

#[test]
fn a_datasheet_answers_for_a_model_without_a_trace() {
    let datasheet = [
        "--datasheet",
        "meta-llama/Llama-3.1-8B",
        "--gpu",
        "SM90_H100",
        "--policy",
        "vllm-v1",
    ];
    let result = json(&[&["scenario", "run"][..], &datasheet, &LOAD].concat());
    let counts = &result["provenance_counts"];
    assert_eq!(
        (&counts["measured"], &counts["datasheet"]),
        (&object!(0), &result["steps_total"])
    );
    // Reading 16 GB of weights at 3.35 TB/s takes 4.8 ms.
    assert!(result["aggregate"]["p50_itl_ms"].as_f64().unwrap() > 4.8);
    assert_eq!(result["calibration_range"]["prefill_tokens"], Value::Null);
}

#[test]
fn what_does_not_fit_is_named() {
    let sample = ["scenario", "run", "--sample", "h100"];
    let rows: [(&[&str], &str); 6] = [
        (&["--requests", "1"], "prompt_tokens"),
        (
            &["--requests", "5000", "--prompt", "1", "--output", "1"],
            "less than or equal to 4096",
        ),
        (
            &["--requests", "1", "--prompt", "2000", "--output", "2000"],
            "at most 2048",
        ),
        (
            &[
                "--set",
                "scheduler.seqs=3",
                "--requests",
                "1",
                "--prompt",
                "1",
                "--output",
                "1",
            ],
            "seqs",
        ),
        (
            &[
                "--policy",
                "sjf",
                "--requests",
                "1",
                "--prompt",
                "1",
                "--output",
                "1",
            ],
            "vllm-v1",
        ),
        (&["no-such-file.json"], "no-such-file.json"),
    ];
    for (more, words) in rows {
        let ran = run(&[&sample[..], more].concat());
        assert_eq!(ran.code, 2, "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{more:?}: {}", ran.stderr);
    }
    let ran = run(&["scenario", "run", "--sample", "b200"]);
    assert_eq!(
        (ran.code, ran.stderr.contains("h100, h200, a100")),
        (2, true),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_sweep_varies_two_inputs() {
    let load = ["--prompt", "512", "--output", "64", "--requests", "1"];
    let vary = [
        "--vary",
        "num_requests=8,32",
        "--vary",
        "scheduler.max_num_seqs=4,64,0",
    ];
    let args = [&["scenario", "sweep", "--sample", "h100"][..], &load, &vary].concat();
    let points = json(&args);
    let points = points.as_array().unwrap();
    assert_eq!(points.len(), 6);
    assert_eq!(
        points[4]["values"],
        object!({"num_requests": 32, "scheduler.max_num_seqs": 64})
    );
    let rate = |at: usize| {
        points[at]["aggregate"]["throughput_output_tokens_s"]
            .as_f64()
            .unwrap()
    };
    // A larger batch, and requests enough to fill it.
    assert!(rate(1) > rate(0) && rate(4) > rate(3) && rate(4) > rate(1));
    assert!(
        points[2]["problem"]
            .as_str()
            .unwrap()
            .contains("greater than or equal to 1")
    );
    assert_eq!(
        (&points[4]["pareto"], &points[3]["pareto"]),
        (&object!(true), &object!(false))
    );
    let shown = run(&args);
    assert!(
        shown.stdout.contains("scheduler.max_num_seqs"),
        "{}",
        shown.stdout
    );
}

#[test]
fn every_recorded_step_of_vllm_conforms() {
    let golden = repository("crates/cascade-serving/tests/golden");
    let ran = run(&["scenario", "conform", text(&golden)]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("45 files, 0 with a difference"),
        "{}",
        ran.stdout
    );
    let rows = json(&["scenario", "conform", text(&golden)]);
    assert!(rows.as_array().unwrap().iter().all(|row| row["conforms"] == true));
}

#[test]
fn the_first_difference_of_each_file_is_named() {
    let trace = object!({
        "config": {"num_gpu_blocks": 5, "block_size": 4},
        "requests": [{"id": "a", "prompt_tokens": 8, "output_tokens": 2}],
        "steps": [
            {"step": 1, "scheduled": [["a", 8]], "preempted": [], "running": ["a"], "waiting": [],
             "computed_after": {"a": 8}, "free_blocks": 2, "finished": []},
            {"step": 2, "scheduled": [["a", 1]], "preempted": [], "running": ["a"], "waiting": [],
             "computed_after": {"a": 9}, "free_blocks": 1, "finished": ["a"]},
        ],
    });
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, trace: &Value| std::fs::write(dir.path().join(name), trace.to_string()).unwrap();
    put("a.json", &trace);
    assert_eq!(run(&["scenario", "conform", text(dir.path())]).code, 0);
    let mut other = trace;
    other["steps"][1]["free_blocks"] = object!(3);
    put("b.json", &other);
    put("c.json", &object!({}));
    let ran = run(&["--json", "scenario", "conform", text(dir.path())]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&rows[0]["conforms"], &rows[0]["scheduled_tokens"]),
        (&object!(true), &object!(9))
    );
    assert_eq!(
        rows[1]["difference"],
        "step 2: free_blocks: vLLM has 3, this scheduler has 1"
    );
    assert!(
        rows[2]["difference"]
            .as_str()
            .unwrap()
            .starts_with("not a step trace")
    );
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(run(&["scenario", "conform", text(empty.path())]).code, 2);
}

#[test]
fn scenarios_are_saved_listed_compared_and_deleted() {
    let app = App::with_samples();
    let save = |name: &str, gpu: &str, requests: &str| {
        let trace = "sample__facebook_opt-125m__h100-e2e";
        let base = ["scenario", "save", name, "--trace", trace, "--gpu", gpu];
        let load = ["--requests", requests, "--prompt", "512", "--output", "128"];
        app.json(&[&base[..], &load].concat())
    };
    let few = save("few", "SM90_H100", "8");
    let many = save("many", "SM90_H200", "64");
    let listed = app.json(&["scenario", "list"]);
    assert_eq!(listed, object!([many, few]));
    assert_eq!(app.json(&["scenario", "show", "few"]), few);
    let id = |saved: &Value| saved["id"].as_str().unwrap().to_owned();
    let compared = app.json(&["scenario", "compare", "few", &id(&many)]);
    let inputs = object!([
        {"input": "gpu_config", "values": ["SM90_H100", "SM90_H200"]},
        {"input": "num_requests", "values": [8, 64]},
    ]);
    assert_eq!(compared["inputs"], inputs);
    let metrics = compared["metrics"].as_array().unwrap();
    let rate = metrics
        .iter()
        .find(|row| row["metric"] == "output tokens/s")
        .unwrap();
    let (before, after) = (
        rate["values"][0].as_f64().unwrap(),
        rate["values"][1].as_f64().unwrap(),
    );
    near(&object!(before), 983.18);
    assert!((rate["change"][0].as_f64().unwrap() - (after / before - 1.0)).abs() < 1e-12);
    let shown = app.run(&["scenario", "compare", "few", "many"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for words in ["SM90_H200", "p99 TTFT ms", "983.18", "change", "%"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    // A name that stands for two is refused before anything is deleted.
    save("few", "SM90_H100", "1");
    let unclear = app.run(&["scenario", "delete", "many", "few"]);
    assert_eq!(unclear.code, 2);
    assert!(unclear.stderr.contains(&id(&few)), "{}", unclear.stderr);
    assert_eq!(app.json(&["scenario", "list"]).as_array().unwrap().len(), 3);
    assert_eq!(app.run(&["scenario", "delete", "many", &id(&few)]).code, 0);
    assert_eq!(app.json(&["scenario", "list"]).as_array().unwrap().len(), 1);
    for (args, words) in [
        (&["scenario", "show", "scn-000000000000"][..], "404"),
        (&["scenario", "show", "absent"], "no saved scenario"),
        (&["scenario", "compare", "few"], "at least two"),
        (
            &[
                "scenario",
                "save",
                "x",
                "--sample",
                "h100",
                "--requests",
                "1",
                "--prompt",
                "1",
                "--output",
                "1",
            ],
            "--trace",
        ),
    ] {
        let refused = app.run(args);
        assert_eq!(refused.code, 2, "{args:?}");
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
}

#[test]
fn rates_and_fronts_are_found_here_as_in_the_app() {
    let app = App::with_samples();
    let trace = ["--trace", "sample__facebook_opt-125m__h100-e2e"];
    let load = ["--requests", "300", "--prompt", "512", "--output", "64"];
    let rate = ["scenario", "rate", "--slo-ttft", "60", "--attainment", "0.95"];
    let here = json(&[&rate[..], &["--sample", "h100"], &load].concat());
    let far = app.json(&[&rate[..], &trace, &load].concat());
    assert_eq!((&here["points"], &here["best"]), (&far["points"], &far["best"]));
    let front = [
        "scenario",
        "pareto",
        "--gpus",
        "SM90_H100,SM90_H200",
        "--vary",
        "num_requests=1,64",
    ];
    let here = json(&[&front[..], &["--sample", "h100"], &load].concat());
    let far = app.json(&[&front[..], &trace, &load].concat());
    assert_eq!((&here["points"], &here["front"]), (&far["points"], &far["front"]));
    let shown = run(&[&rate[..], &["--sample", "h100"], &load].concat());
    assert!(
        shown.stdout.contains("highest arrival_rate_rps"),
        "{}",
        shown.stdout
    );
    let shown = run(&[&front[..], &["--sample", "h100", "--latency", "ttft:p50"], &load].concat());
    for words in ["of 4 points", "roofline", "ttft:p50 ms"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    for (args, words) in [
        (&["scenario", "rate", "--sample", "h100"][..], "give a load"),
        (
            &["scenario", "rate", "--sample", "h100", "--limit-ms", "ttft=5"],
            "METRIC:STATISTIC=MS",
        ),
        (
            &["scenario", "rate", "--sample", "h100", "--limit-ms", "ttft:p98=5"],
            "'p99'",
        ),
        (
            &["scenario", "pareto", "--sample", "a100", "--gpus", "SM90_H100"],
            "SM80_A100",
        ),
    ] {
        let args = match words {
            "give a load" => args.to_vec(),
            _ => [args, &load].concat(),
        };
        let refused = run(&args);
        assert_eq!(refused.code, 2, "{args:?}");
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
}
