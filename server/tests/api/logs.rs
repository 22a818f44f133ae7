//! Log chunks: nothing lost, nothing doubled, whatever happens between them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, kernel};

async fn log_text(app: &TestApp, sim: &str) -> Vec<String> {
    let answer = app
        .request(Method::GET, &format!("/api/sims/{sim}/log"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(
        answer.headers()["content-disposition"],
        format!("attachment; filename=\"{sim}.log\"").as_str()
    );
    answer.text().await.unwrap().lines().map(str::to_owned).collect()
}

async fn uids(app: &TestApp, run: &str) -> Vec<(u64, u64)> {
    let kernels = app.get(&format!("/api/runs/{run}/kernels")).await;
    let pair = |k: &Value| {
        (
            k["kernel_index"].as_u64().unwrap(),
            k["kernel_launch_uid"].as_u64().unwrap(),
        )
    };
    kernels.as_array().unwrap().iter().map(pair).collect()
}

#[tokio::test]
async fn a_chunk_becomes_progress_kernels_and_a_log() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    app.log(&sim, 0, &kernel(1)).await;
    let now = app.sim(&run).await;
    assert_eq!(
        (&now["kernels_done"], &now["current_kernel"]),
        (&json!(1), &json!("_Z4copyPf"))
    );
    let latest = json!({"gpu_tot_sim_cycle": 1000.0, "gpu_tot_sim_insn": 640.0, "gpu_tot_ipc": 0.5, "sim_rate_ips": 10516.0});
    assert_eq!(now["latest"], latest);
    assert_eq!(now["log_tail"].as_array().unwrap().len(), 12);
    let kernels = app.get(&format!("/api/runs/{run}/kernels")).await;
    let expected = json!([{
        "sim_id": sim, "kernel_index": 0, "kernel_name": "_Z4copyPf", "kernel_launch_uid": 1, "gpu_sim_cycle": 1000,
        "gpu_sim_insn": 640, "gpu_ipc": 0.64, "sim_time_ns": 1000.0 / 1980.0 * 1000.0, "stats": {},
    }]);
    assert_eq!(kernels, expected);
    assert_eq!(log_text(&app, &sim).await, kernel(1));
}

#[tokio::test]
async fn repeats_are_ignored_and_chunks_that_come_early_wait() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let all: Vec<String> = (1..=3).flat_map(kernel).collect();
    let chunks: Vec<&[String]> = all.chunks(5).collect();
    for seq in [0, 2, 3, 2, 0, 5] {
        app.log(&sim, seq, chunks[seq as usize]).await;
    }
    assert_eq!(uids(&app, &run).await, [], "chunk 1 is missing");
    assert_eq!(
        log_text(&app, &sim).await.len(),
        5 * 4,
        "early chunks are part of the log already"
    );
    app.log(&sim, 1, chunks[1]).await;
    assert_eq!(uids(&app, &run).await, [(0, 1)]);
    for seq in [4, 6, 7, 7, 0] {
        app.log(&sim, seq, chunks[seq as usize]).await;
    }
    assert_eq!(uids(&app, &run).await, [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(log_text(&app, &sim).await, all);
}

#[tokio::test]
async fn what_waits_for_a_chunk_that_never_comes_is_taken_at_the_end() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    app.log(&sim, 0, &kernel(1)).await;
    app.log(&sim, 2, &kernel(2)[..10]).await;
    app.heartbeat(&sim, "succeeded").await;
    assert_eq!(
        uids(&app, &run).await,
        [(0, 1), (1, 2)],
        "the open block is closed too"
    );
    let done = app.sim(&run).await;
    assert_eq!(
        (&done["kernels_done"], &done["state"]),
        (&json!(2), &json!("succeeded"))
    );
    app.log(&sim, 3, &kernel(3)).await;
    assert_eq!(
        log_text(&app, &sim).await.len(),
        12 + 10 + 12,
        "a late chunk is still stored"
    );
    assert_eq!(
        uids(&app, &run).await.len(),
        2,
        "but a finished sim gets no more kernels"
    );
}

#[tokio::test]
async fn a_log_does_not_wait_for_ever() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    for seq in 1..=257 {
        app.log(&sim, seq, &[format!("line {seq}")]).await;
    }
    assert_eq!(app.sim(&run).await["log_tail"][19], "line 257");
}

#[tokio::test]
async fn what_waits_for_a_chunk_is_bounded_in_bytes() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let lines = vec!["x".repeat(1 << 20); 23];
    for seq in 1..=2 {
        app.log(&sim, seq, &lines).await;
    }
    assert_eq!(app.sim(&run).await["log_tail"], json!([]), "46 MiB may wait");
    app.log(&sim, 3, &lines).await;
    assert_eq!(app.sim(&run).await["log_tail"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn a_restart_between_any_two_chunks_changes_nothing() {
    let all: Vec<String> = (1..=2).flat_map(kernel).collect();
    let mut app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    for (seq, line) in (0..).zip(&all) {
        app.log(&sim, seq, std::slice::from_ref(line)).await;
        if seq % 4 == 3 {
            app = app.restart().await;
            app.log(&sim, seq, &["a repeat after a restart".into()]).await;
        }
    }
    app.heartbeat(&sim, "succeeded").await;
    app = app.restart().await;
    assert_eq!(uids(&app, &run).await, [(0, 1), (1, 2)]);
    assert_eq!(log_text(&app, &sim).await, all);
    assert_eq!(app.sim(&run).await["latest"]["gpu_tot_sim_cycle"], 3000.0);
}

#[tokio::test]
async fn bytes_that_were_never_acknowledged_are_gone_after_a_restart() {
    use std::io::Write;
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    app.log(&sim, 0, &kernel(1)).await;
    let path = app.dir.path().join(format!("data/logs/{sim}.log"));
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"kernel_name = torn\ngpu_sim_cyc").unwrap();
    let app = app.restart().await;
    app.log(&sim, 1, &kernel(2)).await;
    assert_eq!(uids(&app, &run).await, [(0, 1), (1, 2)]);
    assert_eq!(log_text(&app, &sim).await, [kernel(1), kernel(2)].concat());
}

#[tokio::test]
async fn a_line_with_line_breaks_stays_one_line() {
    let app = TestApp::start().await;
    let (_, sim) = app.running_sim().await;
    app.log(&sim, 0, &["a\nb".into(), "ends\n".into(), String::new()])
        .await;
    assert_eq!(log_text(&app, &sim).await, ["a\u{2424}b", "ends", ""]);
}
