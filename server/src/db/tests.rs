//! The database: its lock, its migrations and its rows.

use cascade_api::{KernelLaunch, TraceState};
use serde_json::json;

use super::{Db, DbError, TraceUpdate};

async fn temp() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path()).await.unwrap();
    (dir, db)
}

fn update(metadata: serde_json::Value) -> TraceUpdate {
    TraceUpdate {
        id: "demo".into(),
        metadata: metadata.as_object().cloned(),
        binary_arch: None,
        kernel_count: 4,
        bytes: 100,
        has_real_timing: false,
        has_step_timeline: false,
    }
}

#[tokio::test]
async fn two_servers_cannot_share_a_data_directory() {
    let (dir, db) = temp().await;
    let error = Db::open(dir.path()).await.unwrap_err();
    assert!(matches!(error, DbError::InUse(_)), "{error}");
    assert!(error.to_string().contains("CASCADE_DATA_DIR"));
    db.close().await;
    drop(db);
    Db::open(dir.path()).await.unwrap();
}

#[tokio::test]
async fn a_trace_keeps_its_state_and_takes_its_facts_from_metadata() {
    let (_dir, db) = temp().await;
    let (trace, changed) = db.trace_upsert(&update(json!(null))).await.unwrap();
    assert_eq!(
        (trace.state, changed, trace.trace_gpu_arch.as_str()),
        (TraceState::Uploading, true, "sm_90")
    );
    assert!(
        db.trace_state_set(&"demo".into(), TraceState::Ready, None)
            .await
            .unwrap()
    );

    let metadata = json!({"model": "m", "layers": ["a", 1], "gpu": 7, "trace_gpu_arch": "sm_86"});
    let (trace, changed) = db.trace_upsert(&update(metadata.clone())).await.unwrap();
    assert!(changed);
    assert_eq!((trace.state, trace.source_gpu), (TraceState::Ready, None));
    assert_eq!(
        (trace.layers, trace.trace_gpu_arch.as_str()),
        (vec!["a".to_owned()], "sm_86")
    );
    let (_, changed) = db.trace_upsert(&update(metadata)).await.unwrap();
    assert!(!changed, "the same files change nothing");
}

#[tokio::test]
async fn kernels_come_back_by_id() {
    let (_dir, db) = temp().await;
    db.trace_upsert(&update(json!({"a": 1}))).await.unwrap();
    let kernel = |kernel_id, instructions| KernelLaunch {
        kernel_id,
        name: format!("k{kernel_id}"),
        grid: (1, 2, 3),
        block: (128, 1, 1),
        instructions,
    };
    let id = "demo".into();
    db.trace_kernels_replace(&id, &[kernel(9, None)], &["odd".into()])
        .await
        .unwrap();
    db.trace_kernels_replace(&id, &[kernel(2, Some(5)), kernel(1, None)], &[])
        .await
        .unwrap();
    let detail = db.trace_detail(&id).await.unwrap().unwrap();
    assert_eq!(detail.kernels, [kernel(1, None), kernel(2, Some(5))]);
    assert_eq!(detail.metadata, json!({"a": 1}).as_object().cloned());
    assert!(db.trace_detail(&"nope\0".into()).await.unwrap().is_none());
}
