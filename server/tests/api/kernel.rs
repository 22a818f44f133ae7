//! One kernel, explained.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TestApp, kernel};

#[tokio::test]
async fn a_kernel_comes_with_its_statistics_and_what_they_say() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let mut first = kernel(1);
    first.splice(
        7..7,
        [
            "gpu_occupancy = 12.5000% ".into(),
            "L2_total_cache_accesses = 100".into(),
            "L2_total_cache_misses = 50".into(),
        ],
    );
    let mut second = kernel(2);
    second.splice(
        7..7,
        [
            "L2_total_cache_accesses = 140".into(),
            "L2_total_cache_misses = 60".into(),
        ],
    );
    let ours = [
        "cascade_engine_level = L1",
        "cascade_engine_status = unvalidated",
        "cascade_engine_t0_cycles = 100.0",
        "cascade_engine_body_cycles = 900.0",
        "cascade_engine_bound_dram = 810.0",
        "cascade_engine_winning_bound = dram",
        "cascade_engine_issue_cycles = 100",
        "cascade_engine_stall_dram = 300",
    ];
    let mut third = kernel(3);
    third.splice(7..7, ours.map(String::from));
    app.log(&sim, 0, &[first, second, third].concat()).await;

    let get = async |index: u64| app.get(&format!("/api/sims/{sim}/kernels/{index}")).await;
    let found = get(0).await;
    assert_eq!(found["kernel_index"], 0);
    assert_eq!(found["run_id"], run);
    assert_eq!(found["engine"], "cascade");
    assert_eq!(found["gpu_config"]["name"], "SM90_H100");
    assert_eq!(found["kernels_done"], 3);
    assert_eq!(found["real_ns"], Value::Null);
    assert_eq!(found["stats"]["L2_total_cache_accesses"], json!(100.0));
    let rates = found["explanation"]["rates"].as_array().unwrap();
    assert_eq!(
        rates.iter().map(|r| &r["share"]).collect::<Vec<_>>(),
        [&json!(0.125), &json!(0.5)]
    );

    let second = get(1).await;
    assert_eq!(second["explanation"]["rates"][0]["text"], "30 of 40 accesses");

    let third = get(2).await;
    let explained = &third["explanation"];
    assert_eq!(explained["bounds"][0]["key"], "dram");
    assert_eq!(explained["waits"][0]["share"], json!(0.75));
    assert!(
        explained["limit"].as_str().unwrap().contains("DRAM bandwidth"),
        "{explained}"
    );

    for index in ["3", "-1", "one", "99999999999999999999"] {
        let path = format!("/api/sims/{sim}/kernels/{index}");
        let answer = app.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{index}");
        let detail = answer.json::<Value>().await.unwrap()["detail"].clone();
        assert_eq!(
            detail,
            format!("sim {sim} has no kernel {index}: it has finished 3")
        );
    }
    let answer = app
        .request(Method::GET, "/api/sims/sim-none/kernels/0")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}
