//! Uploads a trace's folder to the bucket that the app watches.
//!
//! Objects go to `<prefix>/<run>/<name>`; `metadata.json` goes last and lists every other file with its size,
//! which is how the app knows that the upload is complete. An upload that was cut short is taken up again:
//! objects whose size and MD5 are already there are skipped, and a large object goes on after its last whole
//! part. Each body travels with its MD5, so a damaged one is refused by the server.

mod digest;
mod folder;
mod remote;
mod transfer;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::{TryStreamExt, stream};
use rusty_s3::{Bucket, Credentials, UrlStyle};
use serde_json::{Map, Value};

pub use folder::{Local, folder};

use crate::client::{http, http_uploads, parse};
use crate::error::causes;
use crate::{Error, Result, Retry};

/// Name of the file that goes last.
const METADATA: &str = "metadata.json";
/// Objects and parts that travel at once.
const PARALLEL: usize = 8;
/// Patience once the endpoint has answered: outlasts a restart of it.
const PATIENCE: Retry = Retry {
    give_up_after: Duration::from_secs(60),
    ..Retry::SIMULATOR
};

/// Where uploads go and who sends them.
#[derive(Clone)]
pub struct Target {
    /// The S3 endpoint, such as `http://127.0.0.1:9000`.
    pub endpoint: String,
    /// The bucket, `cascade` by default.
    pub bucket: String,
    /// The folder of traces in the bucket, `accelsim-traces` by default.
    pub prefix: String,
    /// Region to sign for; the app takes any.
    pub region: String,
    /// Access key and secret; `None` for an endpoint that takes unsigned requests.
    pub credentials: Option<(String, String)>,
}

/// How far an upload is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files sent or skipped.
    pub files_done: u64,
    /// Bytes sent or skipped.
    pub bytes_done: u64,
}

/// What an upload did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Files of the trace without `metadata.json`.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Files that were there already.
    pub skipped_files: u64,
    /// Bytes that were there already, parts of large files included.
    pub skipped_bytes: u64,
}

/// Uploads folders to one bucket.
pub struct Uploader {
    http: reqwest::Client,
    uploads: reqwest::Client,
    bucket: Bucket,
    credentials: Option<Credentials>,
    prefix: String,
    /// Bounds the requests in flight over all files and their parts.
    permits: tokio::sync::Semaphore,
}

impl Uploader {
    /// An uploader for `target`.
    ///
    /// # Errors
    /// [`Error::Address`] when the endpoint is no http(s) address.
    pub fn new(target: &Target) -> Result<Self> {
        let address = |reason: String| Error::Address {
            url: target.endpoint.clone(),
            reason,
        };
        let endpoint = parse(&target.endpoint)?;
        let bucket = Bucket::new(
            endpoint,
            UrlStyle::Path,
            target.bucket.clone(),
            target.region.clone(),
        )
        .map_err(|error| address(error.to_string()))?;
        Ok(Self {
            http: http().map_err(|error| address(causes(&error)))?,
            uploads: http_uploads().map_err(|error| address(causes(&error)))?,
            bucket,
            credentials: target
                .credentials
                .as_ref()
                .map(|(key, secret)| Credentials::new(key, secret)),
            prefix: target.prefix.trim_matches('/').to_owned(),
            permits: tokio::sync::Semaphore::new(PARALLEL),
        })
    }

    /// Sends `files` as trace `run`, then `metadata.json` with `metadata` and the list of files.
    /// `progress` is called as files and parts are done.
    ///
    /// # Errors
    /// The first failure; files that are already there stay, and the same call goes on from them.
    pub async fn upload(
        &self,
        run: &str,
        files: &[Local],
        metadata: &Map<String, Value>,
        progress: impl Fn(Progress) + Sync,
    ) -> Result<Report> {
        let root = self.key(run, "");
        // A wrong address shows at once: nobody has waited for anything yet.
        let there = self.list(&root, Retry::PERSON).await?;
        let tally = Tally {
            progress: &progress,
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            skipped_files: AtomicU64::new(0),
            skipped_bytes: AtomicU64::new(0),
        };
        stream::iter(files.iter().map(Ok))
            .try_for_each_concurrent(PARALLEL, |file| {
                let (tally, there) = (&tally, &there);
                async move {
                    let key = self.key(run, &file.name);
                    if let Some(object) = there.get(&key)
                        && self.is_same(file, object).await?
                    {
                        tally.skipped_files.fetch_add(1, Ordering::Relaxed);
                        tally.skip(file.bytes);
                    } else {
                        self.send(&key, file, tally).await?;
                    }
                    tally.file();
                    Ok::<_, Error>(())
                }
            })
            .await?;
        let mut metadata = metadata.clone();
        metadata.insert("files".to_owned(), self.listing(run, files));
        self.put_bytes(
            &self.key(run, METADATA),
            Value::Object(metadata).to_string().into(),
        )
        .await?;
        Ok(Report {
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
            skipped_files: tally.skipped_files.into_inner(),
            skipped_bytes: tally.skipped_bytes.into_inner(),
        })
    }

    /// Names of trace `run`'s objects that `files` would not replace: an upload beside them would mix two
    /// traces. `metadata.json` and what the app itself makes of raw files do not count.
    ///
    /// # Errors
    /// When the bucket cannot be listed.
    pub async fn others(&self, run: &str, files: &[Local]) -> Result<Vec<String>> {
        let root = self.key(run, "");
        let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let there = self.list(&root, Retry::PERSON).await?;
        let there = there.keys().filter_map(|key| key.strip_prefix(&root));
        let others =
            there.filter(|name| *name != METADATA && !names.contains(name) && !is_made(name, &names));
        Ok(others.map(str::to_owned).collect())
    }

    /// Deletes `others` of trace `run`, but first its `metadata.json`, without which the app does not take
    /// the mix for a complete upload.
    ///
    /// # Errors
    /// The first failure; the same call goes on from there.
    pub async fn remove(&self, run: &str, others: &[String]) -> Result<()> {
        self.delete(&self.key(run, METADATA)).await?;
        stream::iter(others.iter().map(Ok))
            .try_for_each_concurrent(
                PARALLEL,
                |name| async move { self.delete(&self.key(run, name)).await },
            )
            .await
    }

    fn key(&self, run: &str, name: &str) -> String {
        if self.prefix.is_empty() {
            format!("{run}/{name}")
        } else {
            format!("{}/{run}/{name}", self.prefix)
        }
    }

    /// The `files` of `metadata.json`: each file's key and size.
    fn listing(&self, run: &str, files: &[Local]) -> Value {
        files
            .iter()
            .map(|file| serde_json::json!({ "key": self.key(run, &file.name), "bytes": file.bytes }))
            .collect()
    }
}

/// Whether the app makes the file `name` of the raw files among `names`.
fn is_made(name: &str, names: &BTreeSet<&str>) -> bool {
    if name == "traces/kernelslist.g" {
        return names.iter().any(|n| n.starts_with("traces/kernelslist"));
    }
    let kernel = [".tracez", ".traceg", ".traceg.xz"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    kernel.is_some_and(|kernel| {
        [".trace", ".trace.xz"]
            .iter()
            .any(|raw| names.contains(format!("{kernel}{raw}").as_str()))
    })
}

/// Counts what is done and tells the caller.
struct Tally<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    files: AtomicU64,
    bytes: AtomicU64,
    skipped_files: AtomicU64,
    skipped_bytes: AtomicU64,
}

impl Tally<'_> {
    fn sent(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.tell();
    }

    fn skip(&self, bytes: u64) {
        self.skipped_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.sent(bytes);
    }

    fn file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.tell();
    }

    fn tell(&self) {
        (self.progress)(Progress {
            files_done: self.files.load(Ordering::Relaxed),
            bytes_done: self.bytes.load(Ordering::Relaxed),
        });
    }
}
