//! Output files.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::app::{TestApp, stable};

const MIB: usize = 1 << 20;

async fn put(app: &TestApp, sim: &str, name: &str, bytes: Vec<u8>) -> (u16, Value) {
    let request = app
        .request(Method::PUT, &format!("/api/sims/{sim}/files/{name}"))
        .body(bytes);
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_file_comes_back_as_it_was_put() {
    let app = TestApp::start().await;
    let (run, sim) = app.running_sim().await;
    let (status, stored) = put(&app, &sim, "kernel-stats.csv", b"a,b\n1,2\n".to_vec()).await;
    let expected =
        json!({"name": "kernel-stats.csv", "size": 8, "content_type": "text/csv", "created_at": "[time]"});
    assert_eq!((status, stable(stored)), (200, expected.clone()));
    put(&app, &sim, "accelsim.log.gz", vec![0x1f, 0x8b, 0, 1]).await;
    put(&app, &sim, "kernel-stats.csv", b"again\n\n\n".to_vec()).await;

    let list = stable(app.get(&format!("/api/sims/{sim}/files")).await);
    assert_eq!((list.as_array().unwrap().len(), &list[1]), (2, &expected));
    let of_run = app.get(&format!("/api/runs/{run}/files")).await;
    assert_eq!(
        (
            &of_run[0]["sim_id"],
            &of_run[0]["gpu_config"],
            &of_run[0]["replica"]
        ),
        (&json!(sim), &json!("SM90_H100"), &json!(0))
    );

    let get = app
        .request(Method::GET, &format!("/api/sims/{sim}/files/accelsim.log.gz"))
        .header("accept-encoding", "gzip, br");
    let answer = get.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/gzip");
    assert_eq!(
        answer.headers()["content-disposition"],
        "attachment; filename=\"accelsim.log.gz\""
    );
    assert_eq!(answer.headers()["content-length"], "4");
    assert!(!answer.headers().contains_key("content-encoding"));
    assert_eq!(answer.bytes().await.unwrap().as_ref(), [0x1f, 0x8b, 0, 1]);
    let answer = app
        .request(Method::GET, &format!("/api/sims/{sim}/files/kernel-stats.csv"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.text().await.unwrap(), "again\n\n\n");
}

#[tokio::test]
async fn names_that_could_leave_the_directory_are_refused() {
    let app = TestApp::start().await;
    let (_, sim) = app.running_sim().await;
    let rows = [
        ("my%20file.txt", "my file.txt"),
        ("%2e%2e%2fx", "../x"),
        ("a%00", "a\0"),
        ("%C3%A9", "é"),
    ];
    for (escaped, name) in rows {
        let (status, body) = put(&app, &sim, escaped, b"x".to_vec()).await;
        let detail = format!(r"file name '{name}' must match ^(?!\.\.?$)[A-Za-z0-9._-]{{1,128}}$");
        assert_eq!((status, body), (422, json!({ "detail": detail })));
    }
    assert_eq!(put(&app, &sim, &"x".repeat(129), vec![]).await.0, 422);
    assert_eq!(put(&app, &sim, &"x".repeat(128), vec![]).await.0, 200);
    assert_eq!(put(&app, "sim-000000000000", "a.txt", vec![]).await.0, 404);
    let answer = app
        .request(Method::GET, &format!("/api/sims/{sim}/files/nope.txt"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    assert_eq!(
        answer.json::<Value>().await.unwrap(),
        json!({"detail": format!("sim {sim} has no file 'nope.txt'")})
    );
}

#[tokio::test]
async fn a_file_over_the_limit_gets_an_answer_and_leaves_nothing() {
    let app = TestApp::start().await;
    let (_, sim) = app.running_sim().await;
    let too_big = json!({"detail": "file is over the 64 MiB per-file limit"});
    assert_eq!(
        put(&app, &sim, "big", vec![0; 64 * MIB + 1]).await,
        (413, too_big)
    );
    let left: Vec<_> = std::fs::read_dir(app.dir.path().join("data/incoming"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    for name in ["a", "b", "c", "d"] {
        assert_eq!(put(&app, &sim, name, vec![0; 64 * MIB]).await.0, 200);
    }
    let full = json!({"detail": "the sim's files would pass 256 MiB in all"});
    assert_eq!(put(&app, &sim, "e", vec![0; 1]).await, (413, full));
    assert_eq!(
        put(&app, &sim, "d", vec![0; 64 * MIB]).await.0,
        200,
        "what a put replaces does not count"
    );
}
