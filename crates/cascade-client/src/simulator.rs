//! The calls of a simulator. Each is safe to repeat.

use std::path::Path;

use bytes::Bytes;
use cascade_api::{Heartbeat, HeartbeatAck, LogChunk, SimFile, SimId};
use reqwest::{Body, Method, Url, header};
use serde::Serialize;
use tokio_util::io::ReaderStream;

use crate::client::{Repeat, json};
use crate::{Client, Error, Result};

/// Bytes read from a file at a time.
const READ_BYTES: usize = 256 << 10;

impl Client {
    /// Reports a sim's state.
    ///
    /// # Errors
    /// 404 for an unknown sim, 422 for a state that a simulator cannot report.
    pub async fn heartbeat(&self, sim: &SimId, beat: &Heartbeat) -> Result<HeartbeatAck> {
        let url = self.url(&["sims", sim.as_str(), "heartbeat"]);
        let make = |c: &Self| Ok(c.request(Method::POST, url.clone()).json(beat));
        json(self.send(Repeat::Always, make).await?).await
    }

    /// Sends a piece of output.
    ///
    /// # Errors
    /// 404 for an unknown sim.
    pub async fn send_log(&self, sim: &SimId, chunk: &LogChunk) -> Result<()> {
        self.post_large(&["sims", sim.as_str(), "logs"], chunk).await
    }

    /// Sends what whole steps took: a `StepTimelineUpload` as JSON, which can be very long.
    ///
    /// # Errors
    /// 422 when `simulated` lacks `steps` or `summary`.
    pub async fn send_step_timeline(&self, sim: &SimId, json: Bytes) -> Result<()> {
        let url = self.url(&["sims", sim.as_str(), "step-timeline"]);
        self.post_bytes(url, json).await
    }

    async fn post_large(&self, path: &[&str], value: &(impl Serialize + Sync)) -> Result<()> {
        let url = self.url(path);
        // Encoded once, not for each try.
        let body = serde_json::to_vec(value).map_err(|error| Error::Answer {
            url: url.to_string(),
            reason: error.to_string(),
        })?;
        self.post_bytes(url, body.into()).await
    }

    async fn post_bytes(&self, url: Url, body: Bytes) -> Result<()> {
        let make = |c: &Self| {
            let request = c.upload(Method::POST, url.clone(), body.len() as u64);
            Ok(request
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.clone()))
        };
        self.send(Repeat::Always, make).await.map(drop)
    }

    /// Uploads the file at `path` as output file `name`, piece by piece.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be read; 413 over a limit, 422 for a name the server does not take.
    pub async fn put_file(&self, sim: &SimId, name: &str, path: &Path) -> Result<SimFile> {
        let url = self.url(&["sims", sim.as_str(), "files", name]);
        let make = |c: &Self| {
            let (body, len) = file_body(path, 0, u64::MAX)?;
            let request = c.upload(Method::PUT, url.clone(), len);
            Ok(request
                .header(header::CONTENT_TYPE, "application/octet-stream")
                .header(header::CONTENT_LENGTH, len)
                .body(body))
        };
        json(self.send(Repeat::Always, make).await?).await
    }
}

/// A file's bytes from `start`, at most `len` of them, as a request body, and how many there are.
pub(crate) fn file_body(path: &Path, start: u64, len: u64) -> Result<(Body, u64)> {
    use std::io::Seek;
    use tokio::io::AsyncReadExt;

    let mut file = std::fs::File::open(path).map_err(Error::file(path))?;
    let size = file.metadata().map_err(Error::file(path))?.len();
    file.seek(std::io::SeekFrom::Start(start))
        .map_err(Error::file(path))?;
    let len = len.min(size.saturating_sub(start));
    let reader = tokio::fs::File::from_std(file).take(len);
    Ok((
        Body::wrap_stream(ReaderStream::with_capacity(reader, READ_BYTES)),
        len,
    ))
}
