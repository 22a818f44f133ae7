//! Cascade's own engine, in this process.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use bytes::Bytes;
use cascade_engine::Options;
use cascade_engine::report::LogWriter;
use tokio::sync::mpsc::Sender;

use super::{End, SetupError};
use crate::job::Job;
use crate::pump::PIECE_BYTES;
use crate::rundir::RunDir;
use crate::simulate::{Cache, Dedup, Gpu, Kernels, Reuse, StatsCsv, Step, find_gpu, simulate};
use crate::stop::Stop;

/// Name of the table that goes with the other output files.
const STATS_NAME: &str = "kernel-stats.csv";

/// A trace and a GPU that fit together as far as can be told without reading kernels.
pub(crate) struct Embedded {
    trace_dir: PathBuf,
    kernels: Kernels,
    gpu: Gpu,
    threads: usize,
    options: Options,
    dedup: Dedup,
    verify: usize,
    cache: Option<Cache>,
    stats: PathBuf,
}

impl Embedded {
    pub(crate) fn prepare(job: &Job, run: &RunDir) -> Result<Self, SetupError> {
        let kernels = Kernels::from_list(&job.list());
        let kernels = kernels.map_err(|error| SetupError(within(&job.trace_dir, &error.to_string())))?;
        let gpu = find_gpu(&job.gpu, &job.gpu_dirs()).map_err(|error| SetupError(error.to_string()))?;
        Ok(Self {
            trace_dir: job.trace_dir.clone(),
            kernels,
            gpu,
            threads: job.threads,
            options: job.options,
            dedup: job.dedup,
            verify: job.verify_dedup,
            cache: job.cache_dir.as_deref().map(Cache::new),
            stats: run.path().join(STATS_NAME),
        })
    }

    pub(crate) async fn run(self, out: Sender<Bytes>, stop: &Stop) -> End {
        let stop = stop.clone();
        let kernels = self.kernels.list.kernels().count();
        // Its own threads do the work; this one only waits for them and writes.
        let ended = tokio::task::spawn_blocking(move || self.work(Pipe::new(out), &stop)).await;
        let error = match ended {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(error) => Some(format!("the engine broke down: {error}")),
        };
        End {
            exit_code: Some(i32::from(error.is_some())),
            error,
            kernels: Some(kernels),
            ..End::default()
        }
    }

    fn work(&self, mut out: Pipe, stop: &Stop) -> Result<(), String> {
        let write = |error: io::Error| format!("the log could not be written: {error}");
        let started = Instant::now();
        self.introduce(&mut out).map_err(write)?;
        let options = self.options;
        let list = self.kernels.path.to_string_lossy();
        let mut log = LogWriter::new(out, &self.gpu.model, &options, &list).map_err(write)?;
        let table =
            std::fs::File::create(&self.stats).and_then(|file| StatsCsv::new(io::BufWriter::new(file)));
        let mut table = table.map_err(|error| format!("{STATS_NAME}: {error}"))?;
        let reuse = Reuse {
            dedup: self.dedup,
            verify: self.verify,
            cache: self.cache.as_ref(),
        };
        let result = simulate(
            &self.kernels,
            &self.gpu.model,
            &options,
            reuse,
            self.threads,
            &|| stop.is_set(),
            &mut |step| match step {
                Step::Memcpy { address, bytes } => log.memcpy(&format!("MemcpyHtoD,{address:#018x},{bytes}")),
                Step::Started { file, uid, header } => log.kernel_started(file, header, uid),
                Step::Finished {
                    uid,
                    header,
                    estimate,
                    origin,
                } => {
                    table.row(uid, header, estimate, origin)?;
                    log.kernel_finished(estimate, uid, origin, started.elapsed().as_secs_f64())
                }
                Step::Checked(check) => log.note(&check.to_string()),
                Step::Note(text) => log.note(text),
            },
        );
        table.finish().map_err(|error| format!("{STATS_NAME}: {error}"))?;
        match result {
            Ok(()) => log.finish().map(drop).map_err(write),
            Err(error) => {
                let reason = within(&self.trace_dir, &error.to_string());
                log.fail(&reason).map_err(write)?;
                Err(reason)
            }
        }
    }

    /// Says which description of the GPU is used and what speaks against it.
    fn introduce(&self, out: &mut Pipe) -> io::Result<()> {
        match &self.gpu.config {
            None => writeln!(
                out,
                "cascade worker: {} is the description that Cascade ships",
                self.gpu.model.name
            )?,
            Some(path) => writeln!(
                out,
                "cascade worker: {} is read from {}",
                self.gpu.model.name,
                path.display()
            )?,
        }
        for other in &self.gpu.disagreements {
            writeln!(
                out,
                "cascade worker: the Accel-Sim config of this name says {} = {} {}, Cascade uses {}",
                other.key, other.config, other.unit, other.facts
            )?;
        }
        Ok(())
    }
}

/// A text with the trace's files as the trace names them: where this machine keeps them tells its reader nothing.
fn within(trace_dir: &Path, text: &str) -> String {
    text.replace(&format!("{}/", trace_dir.display()), "")
}

/// A writer into the worker's channel. A piece goes when it is full and when the log is flushed.
struct Pipe {
    out: Sender<Bytes>,
    piece: Vec<u8>,
}

impl Pipe {
    fn new(out: Sender<Bytes>) -> Self {
        Self {
            out,
            piece: Vec::with_capacity(PIECE_BYTES),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        self.out
            .blocking_send(piece.into())
            .map_err(|gone| io::Error::new(io::ErrorKind::BrokenPipe, gone))
    }
}
