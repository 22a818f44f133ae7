//! Takes an engine's output to the app, to the log file and to the log parser, in order.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use cascade_accelsim::log::{LogEvent, LogSummary, Parser};
use cascade_api::{LogChunk, SimId};
use cascade_client::{Client, Error};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;

use crate::chunk::Chunker;
use crate::stop::{Stop, Why};
use crate::timing::Seen;

/// Longest a line waits for its chunk to fill.
const CHUNK_WAIT: Duration = Duration::from_millis(500);
/// Pieces of output that may wait for the pump. The engine waits once they do.
pub(crate) const QUEUE: usize = 64;
/// Largest piece of output.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// Sends output as it comes.
pub(crate) struct Pump {
    client: Client,
    sim: SimId,
    stop: Stop,
    file: File,
    parser: Parser,
    /// What step timing will need; none where the trace has no timeline.
    seen: Option<Seen>,
    chunker: Chunker,
    seq: u64,
    /// Why the log could not be delivered; nothing is sent after that.
    broken: Option<String>,
}

impl Pump {
    /// A pump that keeps the whole log at `path`.
    pub(crate) async fn new(client: Client, sim: SimId, stop: Stop, path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            client,
            sim,
            stop,
            file: File::create(path).await?,
            parser: Parser::new(),
            seen: None,
            chunker: Chunker::default(),
            seq: 0,
            broken: None,
        })
    }

    /// Keeps what step timing needs of the log.
    pub(crate) fn keep_kernels(&mut self) {
        self.seen.get_or_insert_default();
    }

    /// What was kept of the log.
    pub(crate) fn take_seen(&mut self) -> Seen {
        self.seen.take().unwrap_or_default()
    }

    /// Takes all that the engine prints, until it is done or the worker must stop.
    pub(crate) async fn run(&mut self, mut output: Receiver<Bytes>, silence: Option<Duration>) {
        let mut since: Option<Instant> = None;
        let mut heard = Instant::now();
        loop {
            let flush = since.map(|since| since + CHUNK_WAIT);
            let quiet = silence.map(|silence| heard + silence);
            tokio::select! {
                biased;
                () = self.stop.wait() => break,
                piece = output.recv() => {
                    let Some(piece) = piece else { break };
                    self.take(&piece).await;
                    heard = Instant::now();
                    since = (!self.chunker.is_empty()).then(|| since.unwrap_or(heard));
                }
                () = at(flush) => {
                    self.flush().await;
                    since = None;
                }
                () = at(quiet) => {
                    self.stop.because(Why::Silent(silence.unwrap_or_default().as_secs()));
                    break;
                }
            }
        }
        if !self.stop.is_set() {
            self.chunker.finish();
            self.flush().await;
        }
    }

    /// Adds a line of the worker's own to the log.
    pub(crate) async fn note(&mut self, text: &str) {
        tracing::info!("{text}");
        self.take(format!("cascade worker: {text}\n").as_bytes()).await;
    }

    /// Sends what waits.
    pub(crate) async fn flush(&mut self) {
        let lines = self.chunker.take();
        if lines.is_empty() || self.broken.is_some() {
            return;
        }
        let chunk = LogChunk { seq: self.seq, lines };
        let sent: Option<Result<(), Error>> = tokio::select! {
            sent = self.client.send_log(&self.sim, &chunk) => Some(sent),
            () = self.stop.wait() => None,
        };
        match sent {
            Some(Ok(())) => self.seq += 1,
            Some(Err(error)) => self.broken = Some(error.to_string()),
            // Stopped in between: whether the chunk arrived is unknown, so no other may take its number.
            None => self.broken = Some("stopped while a piece of the log was on its way".to_owned()),
        }
        if let Some(error) = &self.broken {
            tracing::error!(%error, "the log cannot be delivered");
            self.stop.because(Why::Refused(error.clone()));
        }
    }

    /// Writes the log file out.
    pub(crate) async fn sync(&mut self) {
        if let Err(error) = self.file.flush().await {
            tracing::warn!(%error, "the log file is not whole");
        }
    }

    /// What the log says.
    pub(crate) fn summary(&mut self) -> LogSummary {
        let seen = &mut self.seen;
        std::mem::take(&mut self.parser).finish(&mut |event| keep(seen, event))
    }

    async fn take(&mut self, mut bytes: &[u8]) {
        // A full disk costs the copy of the log, not the simulation.
        if let Err(error) = self.file.write_all(bytes).await {
            tracing::warn!(%error, "the log file is not whole");
        }
        let seen = &mut self.seen;
        self.parser.push(bytes, &mut |event| keep(seen, event));
        loop {
            bytes = self.chunker.push(bytes);
            if !self.chunker.is_full() {
                return;
            }
            self.flush().await;
        }
    }
}

fn keep(seen: &mut Option<Seen>, event: LogEvent) {
    if let Some(seen) = seen {
        seen.take(event);
    }
}

/// Waits until `time`, or for ever.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
