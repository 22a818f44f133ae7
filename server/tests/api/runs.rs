//! Creating, reading and cancelling runs, and what sims report.

use cascade_api::TraceState;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TestApp, kernel, stable};

#[tokio::test]
async fn a_new_run_has_every_sim_pending_and_numbered_within_its_entry() {
    let app = TestApp::start().await;
    app.ready().await;
    let entries = json!([
        {"gpu_config": "SM90_H200", "count": 1},
        {"gpu_config": "SM90_H100", "count": 2},
        {"gpu_config": "SM90_H100", "count": 1},
    ]);
    let answer = app
        .post("/api/runs", json!({"trace_id": "demo", "entries": entries}))
        .await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let run: Value = answer.json().await.unwrap();
    let sims: Vec<_> = run["sims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["gpu_config"].clone(), s["replica"].clone()))
        .collect();
    let expected = [
        ("SM90_H100", 0),
        ("SM90_H100", 0),
        ("SM90_H100", 1),
        ("SM90_H200", 0),
    ];
    assert_eq!(sims, expected.map(|(gpu, replica)| (json!(gpu), json!(replica))));
    assert_eq!(run["sim_counts"], json!({"pending": 4}));
    assert_eq!(run["entries"], entries);
}

#[tokio::test]
async fn a_run_looks_as_documented() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, _) = app.run(&[("SM90_H100", 1)]).await;
    insta::assert_json_snapshot!("run_detail", stable(app.get(&format!("/api/runs/{run}")).await));
    let (newer, _) = app.run(&[("SM90_H200", 1)]).await;
    let list = app.get("/api/runs").await;
    assert_eq!((&list[0]["id"], &list[1]["id"]), (&json!(newer), &json!(run)));
    assert!(list[0].get("sims").is_none());
}

#[tokio::test]
async fn a_run_that_cannot_be_is_refused() {
    let app = TestApp::start().await;
    app.ready().await;
    app.trace("late", TraceState::Processing, json!(null)).await;
    let rows = [
        ("nope", "SM90_H100", 404, "trace nope not found"),
        ("late", "SM90_H100", 409, "trace late is processing, not ready"),
        ("demo", "SM99_X", 422, "unknown gpu_config 'SM99_X'"),
        (
            "demo",
            "SM80_A100",
            422,
            "SM80_A100 is sm_80 but trace demo is sm_90",
        ),
    ];
    for (trace, gpu, status, detail) in rows {
        let entries = json!([{"gpu_config": gpu, "count": 1}]);
        let answer = app
            .post("/api/runs", json!({"trace_id": trace, "entries": entries}))
            .await;
        assert_eq!(answer.status().as_u16(), status);
        assert_eq!(answer.json::<Value>().await.unwrap(), json!({ "detail": detail }));
    }
    assert_eq!(app.get("/api/runs").await, json!([]), "nothing was stored");
}

#[tokio::test]
async fn heartbeats_carry_a_sim_through_its_life() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let before = app.sim(&run).await;
    assert_eq!(
        (&before["state"], &before["launcher_ref"]),
        (&json!("running"), &json!("4711"))
    );
    assert!(before["started_at"].is_string() && before["last_heartbeat_at"].is_string());

    let id = sim.as_str().into();
    assert!(
        app.running
            .service
            .sim_lost(&id, "no heartbeat for 60s".into())
            .await
            .unwrap()
    );
    assert_eq!(app.sim(&run).await["error"], "no heartbeat for 60s");
    assert_eq!(
        app.heartbeat(&sim, "running").await,
        json!({"state": "running", "cancel": false})
    );
    let back = app.sim(&run).await;
    assert_eq!(
        (&back["error"], &back["started_at"]),
        (&json!(null), &before["started_at"])
    );

    assert_eq!(
        app.heartbeat(&sim, "succeeded").await,
        json!({"state": "succeeded", "cancel": false})
    );
    let done = app.sim(&run).await;
    assert_eq!(
        (&done["exit_code"], done["finished_at"].is_string()),
        (&json!(0), true)
    );
    assert_eq!(
        app.heartbeat(&sim, "failed").await,
        json!({"state": "succeeded", "cancel": false})
    );
    assert_eq!(app.sim(&run).await, done, "a finished sim stays as it is");
    assert_eq!(app.get(&format!("/api/runs/{run}")).await["state"], "succeeded");
}

#[tokio::test]
async fn cancelling_stops_what_has_not_finished_and_may_be_repeated() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, sims) = app.run(&[("SM90_H100", 3)]).await;
    let mut ended = app.running.service.sims_ended();
    app.launch(&sims[0]).await;
    app.launch(&sims[1]).await;
    app.heartbeat(&sims[0], "running").await;
    app.heartbeat(&sims[0], "succeeded").await;
    app.heartbeat(&sims[1], "running").await;
    app.log(&sims[1], 0, &kernel(1)[..5]).await;
    let path = format!("/api/runs/{run}/cancel");
    let first: Value = app.post(&path, json!(null)).await.json().await.unwrap();
    assert_eq!(first["sim_counts"], json!({"succeeded": 1, "cancelled": 2}));
    assert_eq!(first["state"], "partial");
    assert_eq!(first["sims"][1]["kernels_done"], 1, "the open block is closed");
    let again: Value = app.post(&path, json!(null)).await.json().await.unwrap();
    assert_eq!(again, first);
    assert_eq!(
        app.heartbeat(&sims[1], "running").await,
        json!({"state": "cancelled", "cancel": true})
    );
    let told: Vec<String> = std::iter::from_fn(|| ended.try_recv().ok())
        .map(|end| end.sim_id.to_string())
        .collect();
    assert_eq!(told, sims);
}

#[tokio::test]
async fn a_sim_that_was_cancelled_is_not_launched() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, sims) = app.run(&[("SM90_H100", 2)]).await;
    let service = &app.running.service;
    let pending: Vec<_> = service
        .sims_pending()
        .await
        .unwrap()
        .into_iter()
        .map(|s| s.sim_id.to_string())
        .collect();
    assert_eq!(pending, sims, "first come, first launched");
    let id = sims[0].as_str().into();
    assert!(service.sim_launching(&id).await.unwrap());
    app.post(&format!("/api/runs/{run}/cancel"), json!(null)).await;
    assert!(
        !service.sim_launched(&id, "1".into()).await.unwrap(),
        "what was started must stop"
    );
    assert!(!service.sim_launching(&sims[1].as_str().into()).await.unwrap());
    assert_eq!(service.sims_pending().await.unwrap(), []);
}

#[tokio::test]
async fn step_timelines_come_back_as_they_were_sent() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let list = format!("/api/runs/{run}/step-timelines");
    assert_eq!(app.get(&list).await, json!([]));
    let put = async |body: Value| {
        app.post(&format!("/api/sims/{sim}/step-timeline"), body)
            .await
            .status()
            .as_u16()
    };
    assert_eq!(put(json!({"simulated": {"steps": []}})).await, 422);
    assert_eq!(
        put(json!({"simulated": {"steps": [1], "summary": {}}})).await,
        204
    );
    let simulated = json!({"summary": {"b": 1.5, "a": null}, "steps": [{"é": "\u{1}"}]});
    assert_eq!(
        put(json!({"simulated": simulated, "compare": {"x": 1}})).await,
        204
    );
    let expected = json!([{
        "sim_id": sim, "gpu_config": "SM90_H100", "replica": 0, "simulated": simulated, "compare": {"x": 1},
    }]);
    assert_eq!(app.get(&list).await, expected);
    let answer = app
        .request(Method::GET, "/api/runs/run-1/step-timelines")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}
