//! Drives a request body into an [`Upload`]: reading happens on the async side, hashing and writing on
//! blocking threads, one batch ahead of each other, so memory stays at two batches an upload.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use rustix::fs::fdatasync;
use tokio::task::{JoinHandle, spawn_blocking};

use super::Upload;
use crate::error::{Result, StoreError, io};

/// Bytes read before they are handed to a blocking thread.
const BATCH_BYTES: usize = 1 << 20;
/// Bytes after which written data is sent to the disk in the background, so that the final sync is short.
const WRITEBACK_BYTES: u64 = 32 << 20;

/// Receives a whole body. `start` and `done` run on a blocking thread; for a small body both run in one go.
///
/// # Errors
/// What the body, the disk or the two functions run into. Nothing was made visible then unless `done` did.
pub(crate) async fn receive<T: Send + 'static>(
    mut body: Incoming,
    idle: Duration,
    start: impl FnOnce() -> Result<Upload> + Send + 'static,
    done: impl FnOnce(Upload) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (mut batch, mut end) = next_batch(&mut body, idle).await?;
    if end {
        return blocking(move || done(feed_all(start()?, batch)?)).await;
    }
    let mut upload = blocking(start).await?;
    let mut writeback: Option<Writeback> = None;
    let mut sent_to_disk = 0;
    while !end {
        if upload.length() - sent_to_disk >= WRITEBACK_BYTES
            && writeback.as_ref().is_none_or(JoinHandle::is_finished)
        {
            settle(writeback.take()).await?;
            sent_to_disk = upload.length();
            let file = upload
                .file()
                .try_clone()
                .map_err(io("opening the temporary file"))?;
            writeback = Some(spawn_blocking(move || fdatasync(&file)));
        }
        let feed = blocking(move || feed_all(upload, batch));
        let (fed, next) = tokio::join!(feed, next_batch(&mut body, idle));
        upload = fed?;
        (batch, end) = next?;
    }
    settle(writeback).await?;
    blocking(move || done(feed_all(upload, batch)?)).await
}

/// A sync in the background.
type Writeback = JoinHandle<rustix::io::Result<()>>;

/// Waits for a sync in the background. Its failure must not get lost: the system reports it only once.
async fn settle(writeback: Option<Writeback>) -> Result<()> {
    match writeback {
        None => Ok(()),
        Some(sync) => match sync.await {
            Ok(result) => result.map_err(io("syncing an upload")),
            Err(_stopped) => Err(StoreError::Aborted("the server is shutting down".to_owned())),
        },
    }
}

fn feed_all(mut upload: Upload, batch: Vec<Bytes>) -> Result<Upload> {
    for bytes in batch {
        upload.feed(bytes)?;
    }
    Ok(upload)
}

/// Runs a function on a blocking thread.
///
/// # Errors
/// What the function returns, or that the server is shutting down.
pub(crate) async fn blocking<T: Send + 'static>(f: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match spawn_blocking(f).await {
        Ok(result) => result,
        Err(_stopped) => Err(StoreError::Aborted("the server is shutting down".to_owned())),
    }
}

/// The next frames, about [`BATCH_BYTES`] in all; true where the body has ended.
async fn next_batch(body: &mut Incoming, idle: Duration) -> Result<(Vec<Bytes>, bool)> {
    let mut batch = Vec::new();
    let mut size = 0;
    while size < BATCH_BYTES {
        let frame = tokio::time::timeout(idle, body.frame());
        match frame.await.map_err(|_elapsed| StoreError::Idle(idle.as_secs()))? {
            None => return Ok((batch, true)),
            Some(Err(error)) => return Err(StoreError::Aborted(error.to_string())),
            Some(Ok(frame)) => {
                // HTTP trailers carry nothing here: aws-chunked has its own in the body.
                if let Ok(data) = frame.into_data() {
                    size += data.len();
                    batch.push(data);
                }
            }
        }
    }
    Ok((batch, false))
}
