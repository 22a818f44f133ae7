//! Turning raw traces into what simulators read, with the built-in post-processor or an external one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use cascade_accelsim::post::folder::{Done, FolderOptions, FolderReport, process_folder};
use cascade_accelsim::trace::TraceFormat;
use cascade_api::TraceId;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::complete::{LIST, TRACES};
use super::record::Record;
use crate::launcher::process::{self, Identity};

/// Lines of an external post-processor's output that its error quotes, as the documentation promises.
const QUOTED_LINES: usize = 5;
/// Time between `SIGTERM` and `SIGKILL` for it when the server stops; shorter than the server's own.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// How traces are post-processed.
#[derive(Clone, Debug)]
pub(super) struct Postprocess {
    /// `CASCADE_POSTPROCESS_CMD`; without it, the built-in post-processor.
    pub command: Option<String>,
    /// Kernels at a time, for one trace.
    pub threads: usize,
    /// Memory for one trace's lines, bytes.
    pub memory_bytes: usize,
    /// Holds each trace's log, record and temporary runs: `work/postprocess`.
    pub dir: PathBuf,
}

/// Why there is no processed trace.
#[derive(Debug, thiserror::Error)]
pub(super) enum PostprocessError {
    /// It is what the trace's error says.
    #[error("{0}")]
    Failed(String),
    /// The server stops; it goes on at the next start.
    #[error("interrupted")]
    Interrupted,
}

impl From<String> for PostprocessError {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl Postprocess {
    /// Processes the trace in `root`, which `record` (stored already) describes.
    ///
    /// # Errors
    /// When the trace cannot be processed, or `stop` comes first.
    pub(super) async fn run(
        &self,
        id: &TraceId,
        root: &Path,
        record: Record,
        stop: &CancellationToken,
    ) -> Result<(), PostprocessError> {
        let log = self.dir.join(format!("{id}.log"));
        match &self.command {
            Some(command) => self.external(command, id, root, record, &log, stop).await?,
            None => self.built_in(id, root, log, stop).await?,
        }
        match root.join(TRACES).join(LIST).is_file() {
            true => Ok(()),
            false => Err(format!("post-processing left no {TRACES}{LIST}").into()),
        }
    }

    /// Runs on a thread of its own, which neither holds up other work nor the server's end: what it had
    /// finished is found at the next start.
    async fn built_in(
        &self,
        id: &TraceId,
        root: &Path,
        log: PathBuf,
        stop: &CancellationToken,
    ) -> Result<(), PostprocessError> {
        let options = FolderOptions {
            threads: self.threads,
            format: TraceFormat::Packed,
            memory_bytes: self.memory_bytes,
            scratch: self.dir.join(format!("{id}.runs")),
        };
        let (traces, scratch) = (root.join(TRACES), options.scratch.clone());
        let (done, result) = oneshot::channel();
        let work = move || {
            let processed = process_folder(&traces, &options, &|kernel: &Done| {
                tracing::debug!(kernel = kernel.raw, "post-processed");
            });
            let processed = processed.map_err(|error| format!("post-processing failed: {error}"));
            let logged = write_log(&log, &processed);
            if let Err(error) = logged.and_then(|()| std::fs::remove_dir_all(&scratch)) {
                tracing::debug!(%error, "cannot clear up after post-processing");
            }
            // Nobody listens when the server stops.
            drop(done.send(processed.map(drop)));
        };
        let thread = std::thread::Builder::new()
            .name("post-process".into())
            .spawn(work);
        thread.map_err(|error| format!("post-processing could not start: {error}"))?;
        match stop.run_until_cancelled(result).await {
            None => Err(PostprocessError::Interrupted),
            Some(Ok(processed)) => Ok(processed?),
            Some(Err(_)) => Err(String::from("post-processing broke off; the server's log says why").into()),
        }
    }

    async fn external(
        &self,
        command: &str,
        id: &TraceId,
        root: &Path,
        mut record: Record,
        log: &Path,
        stop: &CancellationToken,
    ) -> Result<(), PostprocessError> {
        if let Some(left) = record.process.take().filter(Identity::is_alive) {
            tracing::warn!(trace = %id, pid = left.pid, "stopping a post-processor of a server that was killed");
            process::stop_group(left.pid, STOP_GRACE).await;
        }
        let traces = root.join(TRACES);
        // An external tool may write its list first; one that is there afterwards is its own and whole.
        match std::fs::remove_file(traces.join(LIST)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("cannot remove the old {TRACES}{LIST}: {error}").into());
            }
            _ => {}
        }
        let argv = shlex::split(command).unwrap_or_default();
        let Some((program, args)) = argv.split_first() else {
            return Err(format!("CASCADE_POSTPROCESS_CMD is no command: {command}").into());
        };
        let output = std::fs::File::create(log);
        let output = output.map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let error_output = output.try_clone().map_err(|error| error.to_string())?;
        let mut child = process::command(program)
            .args(args)
            .arg(&traces)
            .args(["-j", &self.threads.to_string()])
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(error_output))
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => format!("post-processor not found: {program}"),
                _ => format!("post-processor could not start: {program}: {error}"),
            })?;
        let group = child.id().unwrap_or_default();
        record.process = Identity::of(group);
        if let Err(error) = record.write(&self.dir, id) {
            tracing::warn!(trace = %id, %error, "cannot write the post-processor's process id down");
        }
        let Some(ended) = stop.run_until_cancelled(child.wait()).await else {
            let waited = tokio::join!(process::stop_group(group, STOP_GRACE), child.wait()).1;
            tracing::info!(trace = %id, ?waited, "stopped the post-processor");
            return Err(PostprocessError::Interrupted);
        };
        let status = ended.map_err(|error| format!("post-processing could not be waited for: {error}"))?;
        // Helpers that it left behind must not write on.
        process::stop_group(group, STOP_GRACE).await;
        if status.success() {
            return Ok(());
        }
        let how = match status.code() {
            Some(code) => format!("exited {code}"),
            None => process::how_ended(status),
        };
        let lines = process::last_lines(log, QUOTED_LINES).join("\n");
        Err(format!("post-processing {how}: {lines}").into())
    }
}

fn write_log(path: &Path, processed: &Result<FolderReport, String>) -> std::io::Result<()> {
    let mut log = std::io::BufWriter::new(std::fs::File::create(path)?);
    match processed {
        Err(error) => writeln!(log, "{error}")?,
        Ok(report) => {
            for kernel in &report.kernels {
                match &kernel.report {
                    Some(done) => writeln!(
                        log,
                        "{}: {} warp instructions in {} thread blocks",
                        kernel.processed, done.warp_instrs, done.blocks
                    )?,
                    None => writeln!(log, "{}: done before", kernel.processed)?,
                }
            }
            for warning in report.all_warnings() {
                writeln!(log, "warning: {warning}")?;
            }
        }
    }
    log.flush()
}
