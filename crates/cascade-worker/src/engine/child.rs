//! Accel-Sim as a child process.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use cascade_accelsim::list::KernelList;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::mpsc::Sender;

use super::{End, SetupError};
use crate::job::{Job, binary, config};
use crate::pump::PIECE_BYTES;
use crate::rundir::RunDir;
use crate::stop::Stop;

/// How long a simulator has to end after SIGTERM. Below the five seconds that launchers give the worker.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is awaited after the simulator ended: something it started may hold the pipe open.
const DRAIN: Duration = Duration::from_secs(2);

/// A command that is ready to start.
pub(crate) struct Child {
    program: PathBuf,
    list: PathBuf,
    dir: PathBuf,
    kernels: Option<usize>,
}

impl Child {
    pub(crate) fn prepare(job: &Job, run: &RunDir) -> Result<Self, SetupError> {
        let Some(root) = &job.accelsim_dir else {
            return Err(SetupError(
                "CASCADE_ACCELSIM_DIR is not set: it names the checkout of Accel-Sim".to_owned(),
            ));
        };
        let program = needed(binary(root), "Accel-Sim's binary")?;
        let list = needed(job.list(), "the processed trace")?;
        let gpu = &job.gpu;
        let configs = [
            needed(config(root, gpu), gpu)?,
            needed(
                root.join("gpu-simulator/configs/tested-cfgs")
                    .join(gpu)
                    .join("trace.config"),
                gpu,
            )?,
        ];
        for dir in configs.iter().filter_map(|config| config.parent()) {
            run.copy_files(dir, &[])
                .map_err(|error| SetupError(format!("{}: {error}", dir.display())))?;
        }
        Ok(Self {
            program: absolute(&program)?,
            list: absolute(&list)?,
            dir: run.path().to_owned(),
            kernels: count(&list),
        })
    }

    pub(crate) async fn run(self, out: Sender<Bytes>, stop: &Stop) -> End {
        let kernels = self.kernels;
        match self.spawn_and_read(out, stop).await {
            Ok(status) => End {
                exit_code: Some(
                    status
                        .code()
                        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default()),
                ),
                signal: status.signal(),
                error: None,
                kernels,
            },
            Err(error) => End {
                exit_code: Some(127),
                error: Some(format!("{} could not be run: {error}", self.program.display())),
                kernels,
                ..End::default()
            },
        }
    }

    async fn spawn_and_read(&self, out: Sender<Bytes>, stop: &Stop) -> std::io::Result<ExitStatus> {
        // One pipe for both streams keeps their lines in the order in which they were written.
        let (reader, writer) = std::io::pipe()?;
        let mut command = Command::new(&self.program);
        command
            .arg("-trace")
            .arg(&self.list)
            .args(["-config", "./gpgpusim.config", "-config", "./trace.config"])
            .current_dir(&self.dir)
            .env_remove("CASCADE_TOKEN")
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        let mut child = command.spawn()?;
        // The command holds the pipe's writing end; without it gone the output would never end.
        drop(command);
        let mut output = pipe::Receiver::from_owned_fd(reader.into())?;
        let mut reading = true;
        let mut drained: Option<tokio::time::Instant> = None;
        let mut status = None;
        while reading || status.is_none() {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            let deadline = drained.unwrap_or_else(tokio::time::Instant::now);
            tokio::select! {
                () = stop.wait(), if status.is_none() => {
                    drop(output);
                    return end_group(&mut child).await;
                }
                read = output.read_buf(&mut piece), if reading => match read {
                    Ok(n) if n > 0 => reading = out.send(piece.into()).await.is_ok(),
                    _ => reading = false,
                },
                ended = child.wait(), if status.is_none() => {
                    status = Some(ended?);
                    drained = Some(tokio::time::Instant::now() + DRAIN);
                }
                () = tokio::time::sleep_until(deadline), if drained.is_some() => reading = false,
            }
        }
        status.ok_or_else(|| std::io::Error::other("the simulator's end was missed"))
    }
}

/// SIGTERM to the child's process group, and SIGKILL if that is not enough.
async fn end_group(child: &mut tokio::process::Child) -> std::io::Result<ExitStatus> {
    let group = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    let send = |signal: Signal| {
        if let Some(group) = group
            && let Err(error) = kill_process_group(group, signal)
        {
            tracing::debug!(%error, "the simulator is gone already");
        }
    };
    send(Signal::TERM);
    let ended = tokio::time::timeout(GRACE, child.wait()).await;
    // Also after a quiet end: what the simulator started may still be there.
    send(Signal::KILL);
    match ended {
        Ok(status) => status,
        Err(_) => child.wait().await,
    }
}

fn needed(path: PathBuf, what: &str) -> Result<PathBuf, SetupError> {
    if path.is_file() {
        Ok(path)
    } else {
        Err(SetupError(format!(
            "{what} is missing: {} is no file",
            path.display()
        )))
    }
}

fn absolute(path: &Path) -> Result<PathBuf, SetupError> {
    std::path::absolute(path).map_err(|error| SetupError(format!("{}: {error}", path.display())))
}

/// Kernels in a list; `None` where the list has a fault, which the simulator will tell.
fn count(list: &Path) -> Option<usize> {
    let file = std::io::BufReader::new(std::fs::File::open(list).ok()?);
    Some(
        KernelList::read(file, &list.to_string_lossy())
            .ok()?
            .kernels()
            .count(),
    )
}
