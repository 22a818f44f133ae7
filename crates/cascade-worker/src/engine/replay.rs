//! Plays a recorded log back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::Sender;

use super::{End, SetupError};
use crate::job::Replay;
use crate::pump::PIECE_BYTES;
use crate::rundir::RunDir;
use crate::stop::Stop;

/// Lines between two pauses.
const LINES: usize = 200;
/// Files that belong to the recording and not to the simulator's output.
const NOT_OUTPUT: [&str; 2] = ["run.log", "setup.log"];

/// A log that can be played.
pub(crate) struct Playback {
    log: PathBuf,
    delay: Duration,
    outputs: Option<PathBuf>,
    run: PathBuf,
}

impl Playback {
    pub(crate) fn prepare(replay: &Replay, run: &RunDir) -> Result<Self, SetupError> {
        if !replay.log.is_file() {
            return Err(SetupError(format!(
                "the log to replay, {}, is no file",
                replay.log.display()
            )));
        }
        if let Some(dir) = replay.outputs.as_deref().filter(|dir| !dir.is_dir()) {
            return Err(SetupError(format!(
                "the folder of --replay-outputs, {}, is not there",
                dir.display()
            )));
        }
        Ok(Self {
            log: replay.log.clone(),
            delay: replay.delay,
            outputs: replay.outputs.clone(),
            run: run.path().to_owned(),
        })
    }

    pub(crate) async fn run(self, out: Sender<Bytes>, stop: &Stop) -> End {
        let played = tokio::select! {
            played = self.play(&out) => played,
            () = stop.wait() => return End::default(),
        };
        let copied = played.and_then(|()| self.outputs.as_deref().map_or(Ok(()), |dir| copy(dir, &self.run)));
        End {
            error: copied
                .err()
                .map(|error| format!("{}: {error}", self.log.display())),
            ..End::default()
        }
    }

    async fn play(&self, out: &Sender<Bytes>) -> std::io::Result<()> {
        let mut file = File::open(&self.log).await?;
        let mut lines = 0;
        loop {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            if file.read_buf(&mut piece).await? == 0 {
                return Ok(());
            }
            let mut rest = Bytes::from(piece);
            while !rest.is_empty() {
                let end = nth_line(&rest, LINES - lines);
                let part = rest.split_to(end.unwrap_or(rest.len()));
                lines = if end.is_some() {
                    0
                } else {
                    lines + part.iter().filter(|b| **b == b'\n').count()
                };
                if out.send(part).await.is_err() {
                    return Ok(());
                }
                if end.is_some() && !self.delay.is_zero() {
                    tokio::time::sleep(self.delay).await;
                }
            }
        }
    }
}

/// The place after the `n`th newline.
fn nth_line(bytes: &[u8], n: usize) -> Option<usize> {
    let mut newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.nth(n.checked_sub(1)?).map(|(at, _)| at + 1)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && !NOT_OUTPUT.iter().any(|name| entry.file_name() == **name) {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
