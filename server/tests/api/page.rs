//! What a run's page reads: rows by columns, changes put together, logs by range, previews and the archive.

use std::io::{Cursor, Read};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TestApp, kernel, text};
use crate::events::Events;

#[tokio::test]
async fn rows_come_in_slices_that_make_up_the_comparison() {
    let app = TestApp::start().await;
    app.ready().await;
    let (run, sims) = app.run(&[("SM90_H100", 2), ("SM90_H200", 1)]).await;
    for (sim, kernels) in sims.iter().zip([5, 3, 4]) {
        app.launch(sim).await;
        app.heartbeat(sim, "running").await;
        let lines: Vec<String> = (1..=kernels).flat_map(kernel).collect();
        app.log(sim, 0, &lines).await;
    }
    let first = app.get(&format!("/api/runs/{run}/kernel-rows?rows=2")).await;
    assert_eq!((&first["rows"], &first["from"]), (&json!(5), &json!(0)));
    assert_eq!(first["names"], json!(["_Z4copyPf"]));
    assert_eq!(first["name"], json!([0, 0]));
    let comparison = app.get(&format!("/api/runs/{run}/comparison")).await;
    let sum = |gpu: &str| -> f64 {
        let rows = comparison["rows"].as_array().unwrap();
        rows.iter().filter_map(|row| row["sim_ns"][gpu].as_f64()).sum()
    };
    for (total, (gpu, kernels)) in first["totals"]
        .as_array()
        .unwrap()
        .iter()
        .zip([("SM90_H100", 5), ("SM90_H200", 4)])
    {
        assert_eq!(
            (&total["gpu_config"], &total["kernels"]),
            (&json!(gpu), &json!(kernels))
        );
        assert!(
            (total["sim_ns"].as_f64().unwrap() - sum(gpu)).abs() < 1e-6,
            "{total}"
        );
    }
    let rest = app.get(&format!("/api/runs/{run}/kernel-rows?from=2")).await;
    assert_eq!(rest["name"], json!([0, 0, 0]));
    let lengths = |slice: &Value| -> Vec<usize> {
        let sims = slice["sims"].as_array().unwrap();
        sims.iter()
            .map(|sim| sim["ns"].as_array().unwrap().len())
            .collect()
    };
    assert_eq!((lengths(&first), lengths(&rest)), (vec![2, 2, 2], vec![3, 1, 2]));
    assert_eq!(
        rest["sims"][2]["ns"][1],
        comparison["rows"][3]["sim_ns"]["SM90_H200"]
    );
    let none = app.get(&format!("/api/runs/{run}/kernel-rows?from=9")).await;
    assert_eq!((&none["name"], &none["rows"]), (&json!([]), &json!(5)));
    let bad = app.request(Method::GET, &format!("/api/runs/{run}/kernel-rows?from=x"));
    assert_eq!(
        bad.send().await.unwrap().status(),
        StatusCode::UNPROCESSABLE_ENTITY
    );
}

#[tokio::test]
async fn a_page_is_told_what_changed_once() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    app.log(&sim, 0, &["before".into()]).await;
    let mut events = Events::at(&app, &format!("/api/runs/{run}/live?log={sim}")).await;
    let first = events.next().await.unwrap();
    assert_eq!(
        (&first["type"], &first["log_bytes"]),
        (&json!("snapshot"), &json!(7))
    );
    assert_eq!(first["run"]["sims"][0]["log_tail"], json!([]));
    app.log(&sim, 1, &kernel(1)).await;
    app.log(&sim, 2, &kernel(2)).await;
    app.log(&sim, 3, &["after".into()]).await;
    let (mut kernels, mut lines, mut done) = (Vec::new(), 0, json!(0));
    while done != json!(2) || lines < 25 {
        let batch = events.next().await.unwrap();
        assert_eq!(batch["type"], "batch");
        kernels.extend(
            batch["kernels"]
                .as_array()
                .unwrap()
                .iter()
                .map(|kernel| kernel[1].clone()),
        );
        lines += batch["log"].as_array().unwrap().len();
        if let Some(sim) = batch["sims"].get(0) {
            done = sim["kernels_done"].clone();
        }
    }
    assert_eq!((kernels, lines), (vec![json!(0), json!(1)], 25));
}

#[tokio::test]
async fn a_log_is_read_in_parts() {
    let app = TestApp::start().await;
    let (_, sim) = app.running_sim().await;
    app.log(&sim, 0, &["one".into(), "two".into()]).await;
    let read = async |range: &str| {
        let request = app.request(Method::GET, &format!("/api/sims/{sim}/log"));
        let answer = request.header("range", range).send().await.unwrap();
        let place = answer
            .headers()
            .get("content-range")
            .map(|place| place.to_str().unwrap().to_owned());
        (answer.status().as_u16(), place, answer.text().await.unwrap())
    };
    let part = |place: &str, text: &str| (206, Some(place.to_owned()), text.to_owned());
    assert_eq!(read("bytes=0-2").await, part("bytes 0-2/8", "one"));
    assert_eq!(read("bytes=4-").await, part("bytes 4-7/8", "two\n"));
    assert_eq!(read("bytes=-4").await, part("bytes 4-7/8", "two\n"));
    assert_eq!(read("bytes=-999").await, part("bytes 0-7/8", "one\ntwo\n"));
    assert_eq!(read("bytes=5-999").await, part("bytes 5-7/8", "wo\n"));
    assert_eq!(read("bytes=8-").await.0, 416);
    for other in ["bytes=3-1", "bytes=0-1,4-5", "lines=0-1", "bytes=-"] {
        assert_eq!(read(other).await, (200, None, "one\ntwo\n".to_owned()), "{other}");
    }
}

async fn put(app: &TestApp, sim: &str, name: &str, bytes: Vec<u8>) {
    let request = app.request(Method::PUT, &format!("/api/sims/{sim}/files/{name}"));
    assert_eq!(request.body(bytes).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn files_are_looked_at_and_taken_along_together() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let csv: String = (0..300).map(|n| format!("{n},x\n")).collect();
    let mut packed = Vec::new();
    let mut gzip = flate2::read::GzEncoder::new(csv.as_bytes(), flate2::Compression::fast());
    gzip.read_to_end(&mut packed).unwrap();
    put(&app, &sim, "a.csv", csv.clone().into_bytes()).await;
    put(&app, &sim, "b.csv.gz", packed.clone()).await;
    put(&app, &sim, "broken.txt.gz", b"no gzip".to_vec()).await;
    put(&app, &sim, "plot.png", vec![1]).await;
    put(&app, &sim, "empty.txt", Vec::new()).await;

    let path = |name: &str| format!("/api/sims/{sim}/files/{name}/preview");
    let plain = app.get(&path("a.csv")).await;
    assert_eq!(
        (plain["lines"].as_array().unwrap().len(), &plain["more"]),
        (200, &json!(true))
    );
    assert_eq!(app.get(&path("b.csv.gz")).await, plain);
    assert_eq!(
        app.get(&path("empty.txt")).await,
        json!({"lines": [], "more": false})
    );
    for (name, status) in [("broken.txt.gz", 422), ("plot.png", 422), ("none.txt", 404)] {
        let answer = app.request(Method::GET, &path(name)).send().await.unwrap();
        assert_eq!(answer.status(), status, "{name}");
        assert!(!text(&answer.json::<Value>().await.unwrap()["detail"]).is_empty());
    }

    let answer = app
        .request(Method::GET, &format!("/api/runs/{run}/files.zip"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["content-type"], "application/zip");
    assert_eq!(
        answer.headers()["content-disposition"],
        format!("attachment; filename=\"{run}-files.zip\"").as_str()
    );
    let bytes = answer.bytes().await.unwrap();
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), 5);
    let mut read = |name: &str| {
        let mut out = Vec::new();
        let path = format!("{run}/SM90_H100/0/{name}");
        archive.by_name(&path).unwrap().read_to_end(&mut out).unwrap();
        out
    };
    assert_eq!(read("a.csv"), csv.as_bytes());
    assert_eq!(read("b.csv.gz"), packed);
}
