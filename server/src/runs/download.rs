//! Downloads that are written while they are read: results, logs, the Perfetto trace.
//!
//! None of them is ever in memory as a whole: a task fills a short queue and waits for the reader.

use std::io;
use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use cascade_api::{RunId, RunSummary, SimId, SimSummary, TraceDetail, TraceId};
use cascade_steps::perfetto::Export;
use serde::Serialize;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Service;
use crate::error::Error;

/// Bytes sent at once.
const PIECE: usize = 64 * 1024;
/// Pieces written ahead of the reader.
const AHEAD: usize = 4;
/// Kernels read at once with their statistics, about 30 KB each.
const FULL_PAGE: u32 = 32;
/// Kernels read at once without.
const PAGE: u32 = 4_096;

/// A part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRange {
    /// From this byte up to, but not including, that one.
    From(u64, u64),
    /// So many bytes at the end.
    Last(u64),
}

/// A body that is still being written.
pub type Download = ReceiverStream<io::Result<Bytes>>;

pub(super) type Written = Result<(), Broken>;

/// Why a download ended early.
#[derive(Debug)]
pub(super) enum Broken {
    /// The reader went away.
    Left,
    /// We could not go on.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Broken {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Gathers what is written into pieces.
pub(super) struct Writer {
    pieces: mpsc::Sender<io::Result<Bytes>>,
    buffer: BytesMut,
}

impl Writer {
    pub(super) async fn text(&mut self, text: &str) -> Written {
        self.bytes(text.as_bytes()).await
    }

    pub(super) async fn json<T: Serialize + Sync>(&mut self, value: &T) -> Written {
        let json = serde_json::to_vec(value).map_err(io::Error::from);
        self.bytes(&json.map_err(Error::io("cannot write JSON"))?).await
    }

    async fn bytes(&mut self, bytes: &[u8]) -> Written {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < PIECE {
            return Ok(());
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Written {
        let piece = self.buffer.split().freeze();
        self.pieces.send(Ok(piece)).await.map_err(|_left| Broken::Left)
    }
}

/// Starts a task that writes a download.
pub(super) fn download<F>(write: impl FnOnce(Writer) -> F) -> Download
where
    F: Future<Output = (Writer, Written)> + Send + 'static,
{
    let (pieces, read) = mpsc::channel(AHEAD);
    let end = pieces.clone();
    let writing = write(Writer {
        pieces,
        buffer: BytesMut::new(),
    });
    tokio::spawn(async move {
        let (mut writer, written) = writing.await;
        let written = match written {
            Ok(()) => writer.flush().await,
            early => early,
        };
        if let Err(Broken::Failed(error)) = written {
            tracing::error!(error = error.chain(), "a download broke off");
            // The reader learns of it by a connection that closes too early.
            drop(end.send(Err(io::Error::other("the download broke off"))).await);
        }
    });
    ReceiverStream::new(read)
}

impl Service {
    /// Everything a run produced, as one `RunResults` object.
    pub async fn run_results(&self, id: &RunId) -> Result<Download, Error> {
        let (run, sims) = self.run_record(id).await?;
        let trace = self.trace(&run.trace_id).await?;
        let sims = sims.into_iter().map(|sim| sim.summary).collect();
        let service = self.clone();
        Ok(download(|mut w| async move {
            let written = service.write_run(&mut w, run, trace, sims).await;
            (w, written)
        }))
    }

    async fn write_run(
        &self,
        w: &mut Writer,
        run: RunSummary,
        trace: TraceDetail,
        sims: Vec<SimSummary>,
    ) -> Written {
        w.text("{\"run\":").await?;
        w.json(&run).await?;
        w.text(",\"trace\":").await?;
        w.json(&trace).await?;
        w.text(",\"sims\":[").await?;
        for (i, sim) in sims.iter().enumerate() {
            if i > 0 {
                w.text(",").await?;
            }
            self.write_sim(w, sim, &run.trace_id).await?;
        }
        w.text("],\"comparison\":").await?;
        w.json(&self.comparison(&run.id).await?).await?;
        w.text("}").await
    }

    /// Everything one sim produced, as one `SimResults` object.
    pub async fn sim_results(&self, id: &SimId) -> Result<Download, Error> {
        let sim = self.sim(id).await?;
        let (run, _) = self.run_record(&sim.run_id).await?;
        let service = self.clone();
        Ok(download(|mut w| async move {
            let written = service.write_sim(&mut w, &sim, &run.trace_id).await;
            (w, written)
        }))
    }

    async fn write_sim(&self, w: &mut Writer, sim: &SimSummary, trace: &TraceId) -> Written {
        w.text("{\"sim\":").await?;
        w.json(sim).await?;
        w.text(",\"trace_id\":").await?;
        w.json(trace).await?;
        w.text(",\"gpu_config\":").await?;
        w.json(&self.gpu(&sim.gpu_config)).await?;
        w.text(",\"kernels\":[").await?;
        let mut next = 0;
        loop {
            // Kernels that finish meanwhile belong to a later download: `sim` does not count them.
            let page = self.db.kernels_full(&sim.id, next, FULL_PAGE).await?;
            let mut page = page
                .into_iter()
                .take_while(|k| k.kernel_index < sim.kernels_done)
                .peekable();
            if page.peek().is_none() {
                break;
            }
            for kernel in page {
                if next > 0 {
                    w.text(",").await?;
                }
                next = kernel.kernel_index + 1;
                w.json(&kernel).await?;
            }
        }
        w.text("],\"totals\":").await?;
        w.json(&sim.latest).await?;
        w.text("}").await
    }

    /// The run's kernels as a Chrome trace.
    pub async fn run_perfetto(&self, id: &RunId) -> Result<Download, Error> {
        let run = self.run(id).await?;
        let real = self.real_timing(&run.trace).await?;
        let service = self.clone();
        Ok(download(|mut w| async move {
            let mut export = Export::new(cascade_scene::kernel_name::readable);
            let written = async {
                w.text(export.head()).await?;
                for sim in &run.sims {
                    let (mut lane, names) = export.lane(&sim.gpu_config, sim.engine, sim.replica, &sim.id);
                    w.text(&names).await?;
                    let mut next = 0;
                    loop {
                        let page = service.db.kernels_of_sim(&sim.id, next, PAGE).await?;
                        let Some(last) = page.last() else { break };
                        next = last.kernel_index + 1;
                        for kernel in &page {
                            w.text(&export.slice(&mut lane, kernel)).await?;
                        }
                    }
                }
                if let Some(real) = real {
                    let gpu = run.trace.source_gpu.as_deref().unwrap_or("unknown GPU");
                    w.text(&export.real(gpu, &real)).await?;
                }
                w.text(&export.end(&run.summary.id, &run.summary.trace_id)).await
            }
            .await;
            (w, written)
        }))
    }

    /// A sim's log: every acknowledged line, in the order of the chunks' numbers.
    pub async fn sim_log(&self, id: &SimId) -> Result<Download, Error> {
        let (turn, sim) = self.sim_turn(id).await?;
        let early = self.db.early_chunks_list(id).await?;
        drop(turn);
        let path = self.logs.path(id);
        Ok(download(move |mut w| async move {
            let written = write_log(&mut w, path, sim.log_bytes, early).await;
            (w, written)
        }))
    }

    /// A part of a sim's log: its place, from byte to byte, how many bytes the log has, and the bytes. Lines that came
    /// before their turn are not among them.
    pub async fn sim_log_range(
        &self,
        id: &SimId,
        range: LogRange,
    ) -> Result<(u64, u64, u64, Download), Error> {
        let (turn, sim) = self.sim_turn(id).await?;
        drop(turn);
        let all = sim.log_bytes;
        let (start, end) = match range {
            LogRange::From(start, end) => (start, end.min(all)),
            LogRange::Last(bytes) => (all.saturating_sub(bytes), all),
        };
        if start >= end {
            return Err(Error::Range(all));
        }
        let path = self.logs.path(id);
        let body = download(move |mut w| async move {
            let written = write_file(&mut w, path, start, end - start).await;
            (w, written)
        });
        Ok((start, end, all, body))
    }

    /// The step timelines of a run's sims, as a list of `SimStepTimeline` objects.
    pub async fn run_timelines(&self, id: &RunId) -> Result<Download, Error> {
        self.run_record(id).await?;
        let sims = self.db.timelines_of_run(id).await?;
        let service = self.clone();
        Ok(download(|mut w| async move {
            let written = async {
                w.text("[").await?;
                for (i, (sim, gpu, replica)) in sims.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    let (sim_id, gpu) = (serde_json::json!(sim), serde_json::json!(gpu));
                    let head =
                        format!("{comma}{{\"sim_id\":{sim_id},\"gpu_config\":{gpu},\"replica\":{replica},");
                    w.text(&head).await?;
                    // The stored object goes on after its own opening brace.
                    write_file(&mut w, service.timeline_path(sim), 1, u64::MAX).await?;
                }
                w.text("]").await
            }
            .await;
            (w, written)
        }))
    }
}

async fn write_log(w: &mut Writer, path: PathBuf, bytes: u64, early: Vec<Vec<String>>) -> Written {
    if bytes > 0 {
        write_file(w, path, 0, bytes).await?;
    }
    for line in early.iter().flatten() {
        w.text(line).await?;
        w.text("\n").await?;
    }
    Ok(())
}

/// Copies up to `bytes` of a file, its first `skip` left out.
async fn write_file(w: &mut Writer, path: PathBuf, skip: u64, bytes: u64) -> Written {
    let failed = || Error::io("cannot read a stored file");
    let mut file = tokio::fs::File::open(path).await.map_err(failed())?;
    tokio::io::AsyncSeekExt::seek(&mut file, io::SeekFrom::Start(skip))
        .await
        .map_err(failed())?;
    let mut file = file.take(bytes);
    let mut piece = vec![0; PIECE];
    loop {
        let read = file.read(&mut piece).await.map_err(failed())?;
        if read == 0 {
            return Ok(());
        }
        w.bytes(piece.get(..read).unwrap_or_default()).await?;
    }
}
