//! The bundled samples: there from the start, whole, never simulated, and replayed on request.

use std::time::Instant;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TOKEN, TestApp};

const H100: &str = "sample__facebook_opt-125m__h100-e2e";
const A100: &str = "sample__facebook_opt-125m__a100-e2e";
const H100_RUN: &str = "run-sample-opt125m-h100-e2e";
const A100_RUN: &str = "run-sample-opt125m-a100-e2e";
const WORDS: &str = "reconstructed from published statistics";
const FLAGS: [&str; 4] = ["--token", TOKEN, "--samples", "true"];

async fn create(app: &TestApp, trace: &str, gpu: &str, replay: Value) -> (StatusCode, Value) {
    let entries = json!([{"gpu_config": gpu, "count": 1}]);
    let body = json!({"trace_id": trace, "entries": entries, "replay": replay});
    let answer = app.post("/api/runs", body).await;
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_fresh_workspace_shows_finished_samples() {
    let started = Instant::now();
    let app = TestApp::with(&FLAGS).await;
    println!("started with samples in {:?}", started.elapsed());
    let traces = app.get("/api/traces").await;
    let of = |list: &Value, key: &str| -> Vec<Value> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|item| item[key].clone())
            .collect()
    };
    assert_eq!(of(&traces, "id"), [H100, A100]);
    for trace in traces.as_array().unwrap() {
        assert_eq!(
            (&trace["sample"], &trace["state"]),
            (&json!(true), &json!("ready"))
        );
        assert_eq!(trace["has_step_timeline"], true);
        assert_eq!(trace["model"], "facebook/opt-125m");
        assert_eq!(trace["sample_set"], "opt125m-e2e");
    }
    assert_eq!(traces[0]["sample_sim_configs"], json!(["SM90_H100", "SM90_H200"]));
    assert_eq!(traces[0]["real_gpu_config"], "SM90_H100");
    assert_eq!(
        (&traces[1]["trace_gpu_arch"], &traces[1]["kernel_count"]),
        (&json!("sm_80"), &json!(624))
    );
    let runs = app.get("/api/runs").await;
    assert_eq!(of(&runs, "id"), [H100_RUN, A100_RUN]);
    for run in runs.as_array().unwrap() {
        assert_eq!((&run["sample"], &run["replay"]), (&json!(true), &json!(false)));
        assert_eq!(run["state"], "succeeded");
    }
    let run = app.get(&format!("/api/runs/{H100_RUN}")).await;
    let sims: Vec<_> = run["sims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["id"].clone(), s["engine"].clone()))
        .collect();
    let expected = ["sim-sample-opt125m-h100-e2e", "sim-sample-opt125m-h200-e2e"];
    assert_eq!(sims, expected.map(|id| (json!(id), json!("accel-sim"))));
    assert_eq!(run["sims"][0]["kernels_done"], 31);
    let detail = app.get(&format!("/api/traces/{H100}")).await;
    let kernels = detail["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 712);
    assert_eq!(kernels[3]["kernel_id"], 6_217);
    assert_eq!(kernels[3]["grid"], json!([6, 1, 1]));
    assert!(detail["metadata"]["note"].as_str().unwrap().contains(WORDS));
}

#[tokio::test]
async fn a_sample_run_has_kernels_logs_files_and_step_timelines() {
    let app = TestApp::with(&FLAGS).await;
    let kernels = app.get(&format!("/api/runs/{H100_RUN}/kernels")).await;
    let kernels = kernels.as_array().unwrap();
    assert_eq!(kernels.len(), 62);
    let first = kernels.iter().find(|k| k["kernel_launch_uid"] == 6_217).unwrap();
    assert_eq!(
        (&first["gpu_sim_cycle"], &first["gpu_sim_insn"]),
        (&json!(11_139), &json!(null))
    );
    assert_eq!(first["sim_time_ns"], json!(11_139_000.0 / 1_980.0));

    let log = app.request(Method::GET, "/api/sims/sim-sample-opt125m-h100-e2e/log");
    let log = log.send().await.unwrap().text().await.unwrap();
    assert!(log.starts_with(&format!("This log is {WORDS}")), "{log}");
    let files = app.get(&format!("/api/runs/{H100_RUN}/files")).await;
    let names: Vec<_> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["accelsim.log.gz", "sim_durations.json.gz"].repeat(2));

    // The timeline and a comparison tell the same roles of kernels apart.
    let timeline = app
        .get(&format!("/api/runs/{H100_RUN}/timeline?level=kernels"))
        .await;
    let columns = app.get(&format!("/api/runs/{H100_RUN}/kernel-columns")).await;
    let groups = |list: &Value| {
        let groups = list.as_array().unwrap().iter().map(|kernel| {
            let text = |key: &str| kernel[key].as_str().unwrap();
            cascade_scene::group::name(text("group"), text("name"))
        });
        groups.collect::<std::collections::BTreeSet<_>>()
    };
    let told = groups(&columns["kernels"]);
    assert!(told.is_subset(&groups(&timeline["kinds"])), "{told:?}");
    assert!(told.iter().any(|group| group.ends_with(" GEMM")), "{told:?}");

    let timelines = app.get(&format!("/api/runs/{H100_RUN}/step-timelines")).await;
    assert_eq!(timelines.as_array().unwrap().len(), 2);
    let (h100, h200) = (&timelines[0], &timelines[1]);
    assert_eq!(
        (&h100["gpu_config"], &h200["gpu_config"]),
        (&json!("SM90_H100"), &json!("SM90_H200"))
    );
    assert_eq!(h100["simulated"]["steps"].as_array().unwrap().len(), 128);
    let e2e = &h100["compare"]["requests"][0]["e2e_ms"];
    assert!(
        (e2e["simulated"].as_f64().unwrap() - 261.133918).abs() < 1e-6,
        "{e2e}"
    );
    assert_eq!(h200["compare"], json!(null), "there is no measured H200");
    let h200_e2e = h200["simulated"]["requests"][1]["e2e_ms"].as_f64().unwrap();
    assert!((h200_e2e - 261.154211).abs() < 1e-6, "{h200_e2e}");
    let note = h100["simulated"]["meta"]["note"].as_str().unwrap();
    assert!(note.contains(WORDS), "{note}");

    let digests = app.get(&format!("/api/runs/{H100_RUN}/step-digests")).await;
    let (h100, h200) = (&digests[0]["digest"], &digests[1]["digest"]);
    let error = h100["mean"]["e2e_ms"]["error_pct"].as_f64().unwrap();
    assert_eq!(format!("{error:.2}"), "3.02");
    assert_eq!(h200["mean"]["e2e_ms"]["error_pct"], json!(null));
    assert_eq!(
        (&h100["counterfactual"], &h200["counterfactual"]),
        (&json!(false), &json!(true))
    );
    assert!(h100["note"].as_str().unwrap().contains(WORDS));

    for path in ["results", "perfetto", "comparison"] {
        let whole = app.get(&format!("/api/runs/{H100_RUN}/{path}")).await;
        assert!(whole.is_object() || whole.is_array(), "{path}");
    }
}

#[tokio::test]
async fn cancelling_a_sample_run_changes_nothing() {
    let app = TestApp::with(&FLAGS).await;
    let path = format!("/api/runs/{A100_RUN}");
    let before = app.get(&path).await;
    let answer = app.post(&format!("{path}/cancel"), json!(null)).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(app.get(&path).await, before);
}

#[tokio::test]
async fn a_sample_takes_no_simulation_but_a_replay() {
    let app = TestApp::with(&FLAGS).await;
    app.ready().await;
    let rows = [
        (
            H100,
            "SM90_H100",
            json!(false),
            409,
            "is a sample, which has no instruction traces",
        ),
        (
            H100,
            "SM90_H100",
            json!(null),
            409,
            "is a sample, which has no instruction traces",
        ),
        (
            H100,
            "SM80_A100",
            json!(true),
            422,
            "only for SM90_H100, SM90_H200",
        ),
        (
            H100,
            "SM86_RTX3070",
            json!(true),
            422,
            "has no recorded results for SM86_RTX3070",
        ),
        (H100, "SM99_X", json!(true), 422, "unknown gpu_config"),
        ("demo", "SM90_H100", json!(true), 422, "is no sample"),
    ];
    for (trace, gpu, replay, status, detail) in rows {
        let (found, body) = create(&app, trace, gpu, replay).await;
        assert_eq!(found.as_u16(), status, "{trace} {gpu}: {body}");
        assert!(body["detail"].as_str().unwrap().contains(detail), "{body}");
    }
    let (status, body) = create(&app, H100, "SM90_H100", json!("yes")).await;
    assert_eq!(status.as_u16(), 422);
    assert_eq!(body["detail"][0]["loc"], json!(["body", "replay"]));

    let (status, run) = create(&app, H100, "SM90_H200", json!(true)).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!((&run["replay"], &run["sample"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&run["sims"][0]["engine"], &run["sims"][0]["kernels_total"]),
        (&json!("replay"), &json!(31))
    );
    assert_eq!(run["sims"][0]["state"], "pending");
}

#[tokio::test]
async fn samples_are_stored_once_and_only_when_wanted() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/api/traces").await, json!([]));
    let app = app.restart_with(&FLAGS).await;
    let first = (app.get("/api/traces").await, app.get("/api/runs").await);
    let folder = app.running.service.settings.traces_dir().join(H100);
    std::fs::remove_file(folder.join("kernel_mapping.json")).unwrap();
    let timeline = folder.join("corrected_timeline.json");
    let bundled = std::fs::read(&timeline).unwrap();
    std::fs::write(&timeline, "{}").unwrap();
    let app = app.restart_with(&FLAGS).await;
    assert_eq!((app.get("/api/traces").await, app.get("/api/runs").await), first);
    assert!(
        folder.join("kernel_mapping.json").is_file(),
        "a lost file is unpacked again"
    );
    assert!(
        std::fs::read(&timeline).unwrap() == bundled,
        "one that was written over is put back"
    );
    let app = app.restart_with(&["--token", TOKEN, "--samples", "false"]).await;
    assert_eq!(app.get("/api/runs").await, first.1, "what was stored stays");
}

#[tokio::test]
async fn an_uploaded_trace_keeps_a_name_that_it_took() {
    let app = TestApp::start().await;
    app.trace(A100, cascade_api::TraceState::Ready, json!({"model": "mine"}))
        .await;
    let app = app.restart_with(&FLAGS).await;
    let trace = app.get(&format!("/api/traces/{A100}")).await;
    assert_eq!(
        (&trace["model"], &trace["sample"]),
        (&json!("mine"), &json!(false))
    );
    assert_eq!(
        app.get("/api/runs").await.as_array().unwrap().len(),
        1,
        "the other sample"
    );
}
