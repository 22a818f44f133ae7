//! GPUs: the catalogue, hypothetical GPUs and sweeps, what is refused, what a restart keeps.

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::app::TestApp;

async fn create(app: &TestApp, body: Value) -> (u16, Value) {
    let answer = app.post("/api/gpu-configs", body).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn send(app: &TestApp, method: Method, path: &str) -> Response {
    app.request(method, path).send().await.unwrap()
}

#[tokio::test]
async fn a_hypothetical_gpu_is_made_listed_and_deleted() {
    let app = TestApp::start().await;
    let wide = json!({"name": "SM90_WIDE", "base": "SM90_H100", "changes": {"chip.sms": 160}});
    let (status, made) = create(&app, wide.clone()).await;
    assert_eq!((status, made.as_array().unwrap().len()), (201, 1), "{made}");
    assert_eq!(made[0]["arch"], "sm_90");
    assert_eq!(
        made[0]["derived"],
        json!({"base": "SM90_H100", "changes": {"chip.sms": {"from": 132.0, "to": 160.0}}})
    );
    assert!(
        made[0]["notes"][0].as_str().unwrap().contains("hypothetical"),
        "{made}"
    );
    // Again: the same. Otherwise: another.
    assert_eq!(create(&app, wide).await, (201, made.clone()));
    let other = json!({"name": "SM90_WIDE", "base": "SM90_H100", "changes": {"chip.sms": 161}});
    let (status, error) = create(&app, other).await;
    assert_eq!(status, 409, "{error}");

    let listed: Value = app.get("/api/gpu-configs").await;
    assert!(listed.as_array().unwrap().contains(&made[0]));
    let detail: Value = app.get("/api/gpu-configs/SM90_WIDE").await;
    assert_eq!(detail["status"], "unvalidated");
    let facts = detail["facts"].as_array().unwrap();
    let sms = facts.iter().find(|fact| fact["key"] == "chip.sms").unwrap();
    assert_eq!((&sms["value"], &sms["unit"]), (&json!(160.0), &json!("SM")));
    assert_eq!(sms["source"], "hypothetical: SM90_H100 has 132");

    assert_eq!(
        send(&app, Method::DELETE, "/api/gpu-configs/SM90_WIDE")
            .await
            .status(),
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        send(&app, Method::GET, "/api/gpu-configs/SM90_WIDE")
            .await
            .status(),
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        send(&app, Method::DELETE, "/api/gpu-configs/SM90_H100")
            .await
            .status(),
        StatusCode::CONFLICT
    );
    assert_eq!(
        send(&app, Method::DELETE, "/api/gpu-configs/SM90_H900")
            .await
            .status(),
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_sweep_makes_one_gpu_for_each_value_or_none() {
    let app = TestApp::start().await;
    let body = json!({"base": "SM90_H100", "changes": {"chip.sms": 100},
                      "sweep": {"key": "chip.dram_bandwidth", "values": [1676, 3352.5, 6704]}});
    let (status, made) = create(&app, body).await;
    assert_eq!(status, 201, "{made}");
    let names: Vec<&str> = made
        .as_array()
        .unwrap()
        .iter()
        .map(|gpu| gpu["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "SM90_H100_dram_bandwidth_1676",
            "SM90_H100_dram_bandwidth_3352p5",
            "SM90_H100_dram_bandwidth_6704"
        ]
    );
    assert_eq!(made[1]["derived"]["changes"]["chip.dram_bandwidth"]["to"], 3352.5);

    let body = json!({"name": "SM90_TWICE", "base": "SM90_H100", "title": " ",
                      "sweep": {"key": "chip.sms", "values": [64, 64]}});
    let (status, made) = create(&app, body).await;
    assert_eq!((status, made.as_array().unwrap().len()), (201, 1), "{made}");
    let detail: Value = app.get("/api/gpu-configs/SM90_TWICE_64").await;
    assert_eq!(detail["title"], "SM90_H100 with chip.sms 64 instead of 132");

    let body =
        json!({"name": "SM90_CUT", "base": "SM90_H100", "sweep": {"key": "chip.sms", "values": [64, 0]}});
    let (status, error) = create(&app, body).await;
    assert_eq!(status, 422);
    assert_eq!(error["detail"][0]["loc"], json!(["body", "sweep", "values", 1]));
    assert_eq!(
        send(&app, Method::GET, "/api/gpu-configs/SM90_CUT_64")
            .await
            .status(),
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn what_does_not_fit_is_refused_at_its_field() {
    let app = TestApp::start().await;
    for (body, loc, part) in [
        (
            json!({"base": "SM90_H100"}),
            json!(["body", "name"]),
            "Field required",
        ),
        (
            json!({"name": "SM90_X", "base": "SM90_H900"}),
            json!(["body", "base"]),
            "names no GPU",
        ),
        (
            json!({"name": "X", "base": "SM90_H100"}),
            json!(["body", "name"]),
            "starts with `SM90_`",
        ),
        (
            json!({"name": "SM90_/../X", "base": "SM90_H100"}),
            json!(["body", "name"]),
            "may only have letters",
        ),
        (
            json!({"name": "SM90_X", "base": "SM90_H100", "changes": {"chip.sms": 1.5}}),
            json!(["body", "changes", "chip.sms"]),
            "expected a whole number",
        ),
        (
            json!({"name": "SM90_X", "base": "SM90_H100", "changes": {"chip.cores": 1}}),
            json!(["body", "changes", "chip.cores"]),
            "is not a value of SM90_H100",
        ),
        (
            json!({"name": "SM90_X", "base": "SM90_H100", "changes": {"chip.sms": "many"}}),
            json!(["body", "changes", "chip.sms"]),
            "valid number",
        ),
        (
            json!({"name": "SM90_X", "base": "SM90_H100", "sms": 3}),
            json!(["body", "sms"]),
            "not permitted",
        ),
        (
            json!({"base": "SM90_H100", "sweep": {"key": "chip.sms", "values": []}}),
            json!(["body", "sweep", "values"]),
            "at least 1 item",
        ),
        (
            json!({"base": "SM90_H100", "sweep": {"key": "chip.cores", "values": [1]}}),
            json!(["body", "sweep", "key"]),
            "is not a value of SM90_H100",
        ),
        (
            json!({"base": "SM90_H100", "sweep": {"key": "chip.sms", "values": [1e300]}}),
            json!(["body", "sweep", "values", 0]),
            "chip.sms is 1e300 SM, expected 1 to 1024",
        ),
        (
            json!({"base": "SM90_H100", "changes": {"chip.sms": 4}, "sweep": {"key": "chip.sms", "values": [4]}}),
            json!(["body", "changes", "chip.sms"]),
            "leave it out of the changes",
        ),
        (
            json!({"name": "SM90_X", "base": "SM90_H100", "changes": {"latency.dram": 300}}),
            json!(["body", "changes", "latency.dram"]),
            "less than latency.l2",
        ),
    ] {
        let (status, error) = create(&app, body.clone()).await;
        assert_eq!(error["detail"].as_array().unwrap().len(), 1, "{error}");
        assert_eq!(
            (status, &error["detail"][0]["loc"]),
            (422, &loc),
            "{body}: {error}"
        );
        assert!(
            error["detail"][0]["msg"].as_str().unwrap().contains(part),
            "{body}: {error}"
        );
    }
}

#[tokio::test]
async fn a_gpu_that_a_run_uses_stays_and_survives_a_restart() {
    let app = TestApp::start().await;
    let (status, _) = create(
        &app,
        json!({"name": "SM90_OWN", "base": "SM90_H100", "changes": {"chip.sms": 8}}),
    )
    .await;
    assert_eq!(status, 201);
    app.ready().await;
    let body = json!({"trace_id": "demo", "entries": [{"gpu_config": "SM90_OWN", "count": 1}]});
    let answer = app.post("/api/runs", body).await;
    assert_eq!(
        answer.status(),
        StatusCode::CREATED,
        "{}",
        answer.text().await.unwrap()
    );
    let answer = send(&app, Method::DELETE, "/api/gpu-configs/SM90_OWN").await;
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    let error: Value = answer.json().await.unwrap();
    assert_eq!(error["detail"], "1 sim ran on SM90_OWN, whose results need it");
    let app = app.restart().await;
    let detail: Value = app.get("/api/gpu-configs/SM90_OWN").await;
    assert_eq!(detail["derived"]["changes"]["chip.sms"]["to"], 8.0);
    assert_eq!(detail["sims"], 1);
}

#[tokio::test]
async fn gpus_of_a_sweep_are_listed_by_their_value() {
    let app = TestApp::start().await;
    app.ready().await;
    let body = json!({"base": "SM90_H100", "sweep": {"key": "chip.core_clock", "values": [1000, 900, 1980]}});
    assert_eq!(create(&app, body).await.0, 201);
    let sorted =
        ["", "_core_clock_900", "_core_clock_1000", "_core_clock_1980"].map(|end| format!("SM90_H100{end}"));
    let names = |gpus: &Value, field: &str| -> Vec<String> {
        let names = gpus.as_array().unwrap().iter();
        let names = names.map(|gpu| gpu[field].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("SM90_H100")).collect()
    };
    assert_eq!(names(&app.get("/api/gpu-configs").await, "name"), sorted);
    let entries: Vec<(&str, u32)> = sorted.iter().rev().map(|name| (name.as_str(), 1)).collect();
    let (run, _) = app.run(&entries).await;
    let run: Value = app.get(&format!("/api/runs/{run}")).await;
    assert_eq!(
        names(&run["sims"], "gpu_config"),
        sorted,
        "whatever order they were asked in"
    );
}
