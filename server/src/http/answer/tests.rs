//! Errors as they go on the wire.

use axum::body::to_bytes;
use axum::http::header::WWW_AUTHENTICATE;
use axum::response::IntoResponse;
use cascade_api::TraceState;

use crate::error::Error;

#[tokio::test]
async fn each_error_has_its_status_and_sentence() {
    let io = || Error::io("cannot store a file")(std::io::Error::other("disk full"));
    let rows: [(Error, u16, &str); 17] = [
        (Error::NoTrace("nope".into()), 404, "trace nope not found"),
        (
            Error::NoRun("run-000000000000".into()),
            404,
            "run run-000000000000 not found",
        ),
        (
            Error::NoSim("sim-000000000000".into()),
            404,
            "sim sim-000000000000 not found",
        ),
        (
            Error::NoFile {
                sim: "sim-1".into(),
                name: "nope.txt".into(),
            },
            404,
            "sim sim-1 has no file 'nope.txt'",
        ),
        (Error::NoRoute, 404, "Not Found"),
        (Error::BadMethod, 405, "Method Not Allowed"),
        (Error::Unauthorized, 401, "missing or wrong token"),
        (Error::CrossSite, 403, "this request came from another site"),
        (
            Error::TraceNotReady {
                id: "demo-failed".into(),
                state: TraceState::Failed,
            },
            409,
            "trace demo-failed is failed, not ready",
        ),
        (
            Error::UnknownGpu("SM99_X".into()),
            422,
            "unknown gpu_config 'SM99_X'",
        ),
        (
            Error::WrongArch {
                gpu: "SM90_H100".into(),
                arch: "sm_90".into(),
                trace: "demo".into(),
                trace_arch: "sm_86".into(),
            },
            422,
            "SM90_H100 is sm_90 but trace demo is sm_86",
        ),
        (
            Error::FileName("my file.txt".into()),
            422,
            r"file name 'my file.txt' must match ^(?!\.\.?$)[A-Za-z0-9._-]{1,128}$",
        ),
        (Error::FileTooBig, 413, "file is over the 64 MiB per-file limit"),
        (
            Error::SimFilesTooBig,
            413,
            "the sim's files would pass 256 MiB in all",
        ),
        (
            Error::BodyTooBig { limit: 32 << 20 },
            413,
            "body is over the 32 MiB limit",
        ),
        (
            Error::TooManySims {
                asked: 20_000,
                max: 10_000,
            },
            422,
            "a run can have at most 10000 sims, not 20000",
        ),
        (io(), 500, "Internal Server Error"),
    ];
    for (error, status, detail) in rows {
        let answer = error.into_response();
        assert_eq!(answer.status(), status, "{detail}");
        assert_eq!(answer.headers().contains_key(WWW_AUTHENTICATE), status == 401);
        let body = to_bytes(answer.into_body(), 4096).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body, serde_json::json!({ "detail": detail }));
    }
    assert_eq!(
        io().chain(),
        "cannot store a file: disk full",
        "the log gets the cause"
    );
}
