//! Uploads against our S3 endpoint: whole, in parts, taken up again, refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use cascade_client::{Error, Local, Progress, Report, Target, Uploader, folder};
use cascade_s3::{S3Config, S3Endpoint};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

struct Bucket {
    root: tempfile::TempDir,
    endpoint: String,
}

impl Bucket {
    async fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        let config = S3Config::new(root.path(), "cascade", "acme", "secret");
        let (events, mut stored) = tokio::sync::mpsc::channel(1024);
        tokio::spawn(async move { while stored.recv().await.is_some() {} });
        let endpoint = S3Endpoint::new(config, events).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(endpoint.serve(listener, CancellationToken::new()));
        Self {
            root,
            endpoint: format!("http://{address}"),
        }
    }

    fn uploader(&self, secret: &str) -> Uploader {
        let target = Target {
            endpoint: self.endpoint.clone(),
            bucket: "cascade".to_owned(),
            prefix: "accelsim-traces".to_owned(),
            region: "auto".to_owned(),
            credentials: Some(("acme".to_owned(), secret.to_owned())),
        };
        Uploader::new(&target).unwrap()
    }

    async fn upload(&self, files: &[Local]) -> Result<(Report, Progress), Error> {
        let last = Mutex::new(Progress::default());
        let metadata = Map::from_iter([("status".to_owned(), json!("ok"))]);
        let note = |progress| *last.lock().unwrap() = progress;
        let report = self
            .uploader("secret")
            .upload("run 1", files, &metadata, note)
            .await?;
        Ok((report, last.into_inner().unwrap()))
    }

    fn object(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.root.path().join("cascade/accelsim-traces/run 1").join(name)).unwrap()
    }
}

/// Bytes that differ from part to part.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ (i >> 9) ^ (i >> 20)) as u8).collect()
}

fn trace(dir: &Path, files: &BTreeMap<&str, Vec<u8>>) -> Vec<Local> {
    for (name, bytes) in files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder(dir).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_arrives_whole_and_is_not_sent_twice() {
    let bucket = Bucket::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut contents = BTreeMap::from([
        ("traces/kernelslist.g", b"kernel-1.traceg\n".to_vec()),
        ("traces/kernel-1.traceg", noise(100_000)),
        ("traces/name with ü+&.txt", b"odd".to_vec()),
        ("empty", Vec::new()),
        // Above 64 MiB: in parts.
        ("traces/kernel-2.traceg", noise((64 << 20) + 12_345)),
    ]);
    let files = trace(dir.path(), &contents);
    let (report, last) = bucket.upload(&files).await.unwrap();
    let bytes: usize = contents.values().map(Vec::len).sum();
    assert_eq!(
        (report.files, report.bytes, report.skipped_files),
        (5, bytes as u64, 0)
    );
    assert_eq!((last.files_done, last.bytes_done), (5, bytes as u64));
    for (name, bytes) in &contents {
        assert!(bucket.object(name) == *bytes, "{name}");
    }
    let metadata: Value = serde_json::from_slice(&bucket.object("metadata.json")).unwrap();
    assert_eq!(metadata["status"], "ok");
    let listed = metadata["files"].as_array().unwrap();
    assert_eq!(listed.len(), 5);
    assert!(
        listed.contains(&json!({ "key": "accelsim-traces/run 1/traces/kernel-1.traceg", "bytes": 100_000 }))
    );

    let (again, _) = bucket.upload(&files).await.unwrap();
    assert_eq!((again.skipped_files, again.skipped_bytes), (5, bytes as u64));

    // Same size, other bytes: sent.
    contents.insert("traces/kernel-1.traceg", vec![7; 100_000]);
    let files = trace(dir.path(), &contents);
    let (changed, _) = bucket.upload(&files).await.unwrap();
    assert_eq!(changed.skipped_files, 4);
    assert_eq!(bucket.object("traces/kernel-1.traceg"), vec![7; 100_000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_goes_on_after_its_last_whole_part() {
    let bucket = Bucket::start().await;
    let dir = tempfile::tempdir().unwrap();
    let contents = BTreeMap::from([("traces/kernel-1.traceg", noise((80 << 20) + 1))]);
    let files = trace(dir.path(), &contents);
    // A first try that breaks off: the file is shorter than what was planned, so its last part fails.
    let planned: Vec<Local> = files
        .iter()
        .map(|file| Local {
            bytes: file.bytes + 5,
            ..file.clone()
        })
        .collect();
    assert!(bucket.upload(&planned).await.is_err());
    let (report, _) = bucket.upload(&files).await.unwrap();
    assert_eq!(report.skipped_files, 0);
    assert_eq!(report.skipped_bytes, 80 << 20, "the five whole parts were there");
    assert!(bucket.object("traces/kernel-1.traceg") == contents["traces/kernel-1.traceg"]);
}

#[tokio::test]
async fn a_wrong_token_is_refused_with_what_to_check() {
    let bucket = Bucket::start().await;
    let dir = tempfile::tempdir().unwrap();
    let files = trace(
        dir.path(),
        &BTreeMap::from([("traces/kernelslist.g", b"k".to_vec())]),
    );
    let error = bucket
        .uploader("wrong")
        .upload("r", &files, &Map::new(), |_| ())
        .await
        .unwrap_err();
    assert_eq!(error.status(), Some(403), "{error}");
    assert!(error.to_string().contains("SignatureDoesNotMatch"), "{error}");
    assert!(
        !error.to_string().contains("X-Amz"),
        "no signature in messages: {error}"
    );
}
