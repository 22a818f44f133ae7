//! Results, the comparison and the Perfetto trace.

use cascade_api::TraceState;
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, kernel, stable};

async fn run_with_kernels(app: &TestApp) -> (String, Vec<String>) {
    let (run, sims) = app.run(&[("SM90_H100", 2), ("SM90_H200", 1)]).await;
    for (sim, kernels) in sims.iter().zip([2, 1, 0]) {
        app.launch(sim).await;
        app.heartbeat(sim, "running").await;
        let lines: Vec<String> = (1..=kernels).flat_map(kernel).collect();
        app.log(sim, 0, &lines).await;
        app.heartbeat(sim, "succeeded").await;
    }
    (run, sims)
}

async fn download(app: &TestApp, path: &str, name: &str) -> Value {
    let answer = app.request(Method::GET, path).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(
        answer.headers()["content-disposition"],
        format!("attachment; filename=\"{name}\"").as_str()
    );
    answer.json().await.unwrap()
}

#[tokio::test]
async fn results_hold_everything() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, sims) = run_with_kernels(&app).await;
    let results = download(
        &app,
        &format!("/api/runs/{run}/results"),
        &format!("{run}-results.json"),
    )
    .await;
    let parsed: cascade_api::RunResults = serde_json::from_value(results.clone()).unwrap();
    assert_eq!(
        parsed.sims.iter().map(|s| s.kernels.len()).collect::<Vec<_>>(),
        [2, 1, 0]
    );
    assert_eq!(
        results["comparison"],
        app.get(&format!("/api/runs/{run}/comparison")).await
    );
    assert_eq!(results["trace"], app.get("/api/traces/demo").await);
    let sim = download(
        &app,
        &format!("/api/sims/{}/results", sims[0]),
        &format!("{}-results.json", sims[0]),
    )
    .await;
    assert_eq!(results["sims"][0], sim);
    insta::assert_json_snapshot!("sim_results", stable(sim));
}

#[tokio::test]
async fn results_of_many_kernels_come_in_order() {
    let app = TestApp::start().await;
    let (_, sim) = app.running_sim().await;
    let lines: Vec<String> = (1..=70).flat_map(kernel).collect();
    app.log(&sim, 0, &lines).await;
    let results = app.get(&format!("/api/sims/{sim}/results")).await;
    let uids: Vec<u64> = results["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k["kernel_launch_uid"].as_u64().unwrap())
        .collect();
    assert_eq!(uids, (1..=70).collect::<Vec<u64>>());
}

#[tokio::test]
async fn the_comparison_lines_real_time_up_with_the_median() {
    let app = TestApp::start().await;
    let metadata =
        json!({"trace_gpu_arch": "sm_90", "gpu": "NVIDIA H100", "real_timing": "timing/real.json"});
    app.trace("demo", TraceState::Ready, metadata).await;
    let dir = app.dir.path().join("data/s3/cascade/accelsim-traces/demo/timing");
    std::fs::create_dir_all(&dir).unwrap();
    let rows = json!([{"kernel_id": 2, "kernel_name": "second", "duration_ns": 7}, {"kernel_id": 1, "duration_ns": 5}]);
    std::fs::write(dir.join("real.json"), rows.to_string()).unwrap();
    let (run, _) = run_with_kernels(&app).await;
    insta::assert_json_snapshot!(
        "comparison",
        app.get(&format!("/api/runs/{run}/comparison")).await
    );
    let perfetto = download(
        &app,
        &format!("/api/runs/{run}/perfetto"),
        &format!("{run}-perfetto.json"),
    )
    .await;
    let names: Vec<&str> = perfetto["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["name"] == "process_name")
        .map(|e| e["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "SM90_H100 · Cascade engine simulated GPU",
            "SM90_H200 · Cascade engine simulated GPU",
            "Real hardware · NVIDIA H100"
        ]
    );
    let slices = perfetto["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["ph"] == "X")
        .count();
    assert_eq!(slices, 3 + 2);
}

#[tokio::test]
async fn a_timing_file_outside_the_trace_is_not_read() {
    let app = TestApp::start().await;
    std::fs::create_dir_all(app.dir.path().join("data/s3/cascade/accelsim-traces/demo")).unwrap();
    std::fs::write(
        app.dir.path().join("data/s3/cascade/accelsim-traces/real.json"),
        r#"[{"kernel_id": 1, "duration_ns": 1}]"#,
    )
    .unwrap();
    app.trace(
        "demo",
        TraceState::Ready,
        json!({"trace_gpu_arch": "sm_90", "real_timing": "../real.json"}),
    )
    .await;
    let (run, _) = app.run(&[("SM90_H100", 1)]).await;
    assert_eq!(
        app.get(&format!("/api/runs/{run}/comparison")).await["has_real_timing"],
        false
    );
}
