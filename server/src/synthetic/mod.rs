//! Synthetic traces as folders on disk: what `cascade trace synth` writes, and the one that the first steps in the
//! browser begin with. Everything in them says that no GPU recorded it.

mod timeline;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cascade_accelsim::post::folder::PROCESSED_LIST;
use cascade_accelsim::synth::{Arch, SynthTrace, model_like};
use cascade_accelsim::trace::{TraceErrorKind, TraceFormat};
use cascade_api::{TraceId, TraceMade};
use cascade_steps::mapping::MAPPING;
use cascade_steps::timeline::CORRECTED;

use crate::error::Error;
use crate::runs::Service;

/// The trace of the first steps: its name, the model that it is like, its forward passes, its architecture.
const FIRST: (&str, &str, u32, u32) = ("synthetic-opt-125m", "opt-125m", 2, 90);
/// Makes one trace at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct WriteError {
    path: PathBuf,
    problem: String,
}

/// How a write failed, told with the file's path.
fn failed<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> WriteError + '_ {
    |problem| WriteError {
        path: path.to_owned(),
        problem: problem.to_string(),
    }
}

/// Writes one kernel's file.
///
/// # Errors
/// When a file cannot be written; the error names it.
pub fn kernel(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), TraceErrorKind>,
) -> Result<(), WriteError> {
    let mut file = BufWriter::new(File::create(path).map_err(failed(path))?);
    write(&mut file).map_err(failed(path))?;
    file.flush().map_err(failed(path))
}

/// Writes a file of text.
///
/// # Errors
/// When a file cannot be written; the error names it.
pub fn text(path: &Path, text: &str) -> Result<(), WriteError> {
    std::fs::write(path, text).map_err(failed(path))
}

/// Writes a trace of a model's forward passes into `root`: metadata, kernels, statistics, list; the list last.
///
/// # Errors
/// When a file cannot be written; the error names it.
pub fn model(root: &Path, trace: &SynthTrace, format: TraceFormat) -> Result<(), WriteError> {
    let traces = root.join("traces");
    std::fs::create_dir_all(&traces).map_err(failed(&traces))?;
    for index in 0..trace.kernels().len() {
        let path = traces.join(trace.file_name(index, format));
        kernel(&path, |file| trace.write_kernel(index, file, format))?;
    }
    text(&traces.join(SynthTrace::STATS_FILE), &trace.stats())?;
    text(&root.join("metadata.json"), &trace.metadata())?;
    text(&traces.join(PROCESSED_LIST), &trace.kernels_list(format))
}

/// Writes the timeline that goes with the trace, with assigned times, and the mapping of its kernels.
///
/// # Errors
/// When a file cannot be written; the error names it.
pub fn steps(root: &Path, model: &str, trace: &SynthTrace, steps: u32) -> Result<(), WriteError> {
    let (made, mapping) = timeline::timeline(model, trace.kernels(), steps);
    let (timeline, map) = (root.join(CORRECTED), root.join(MAPPING));
    text(
        &timeline,
        &serde_json::to_string(&made).map_err(failed(&timeline))?,
    )?;
    text(&map, &serde_json::to_string(&mapping).map_err(failed(&map))?)
}

impl Service {
    /// Makes the small synthetic trace of the first steps, unless it is there. Ingest takes it in as it does any
    /// folder that was copied into the bucket.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn synthetic_trace(&self) -> Result<TraceMade, Error> {
        let _turn = TURN.lock().await;
        let (name, ..) = FIRST;
        let folder = self.settings.traces_dir();
        let created = tokio::task::spawn_blocking(move || first(&folder)).await?;
        Ok(TraceMade {
            id: TraceId::from(name),
            created: created.map_err(Error::io("making the synthetic trace"))?,
        })
    }
}

/// Writes the trace of the first steps into `traces`; answers whether it was not there.
fn first(traces: &Path) -> std::io::Result<bool> {
    let (name, like, passes, arch) = FIRST;
    let (whole, part) = (traces.join(name), traces.join(format!(".{name}")));
    if whole.exists() {
        return Ok(false);
    }
    // A folder that begins with a dot is no trace; the finished one gets its name in one move.
    match std::fs::remove_dir_all(&part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => std::fs::create_dir_all(&part)?,
    }
    let trace = Arch::new(arch).and_then(|arch| model_like(like, passes, arch));
    let trace = trace.map_err(std::io::Error::other)?;
    steps(&part, like, &trace, passes)
        .and_then(|()| model(&part, &trace, TraceFormat::Packed))
        .map_err(std::io::Error::other)?;
    std::fs::rename(part, whole).map(|()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_trace_is_made_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        // What a server that was stopped in the middle leaves.
        std::fs::create_dir_all(folder.path().join(".synthetic-opt-125m/traces/half")).unwrap();
        assert!(first(folder.path()).unwrap());
        let trace = folder.path().join("synthetic-opt-125m");
        let list = std::fs::read_to_string(trace.join("traces/kernelslist.g")).unwrap();
        assert!(
            list.lines()
                .all(|kernel| trace.join("traces").join(kernel).exists()),
            "{list}"
        );
        assert!(
            std::fs::read_to_string(trace.join("metadata.json"))
                .unwrap()
                .contains("\"synthetic\": true")
        );
        assert!(trace.join("corrected_timeline.json").exists());
        assert!(!trace.join("traces/half").exists());
        assert!(!first(folder.path()).unwrap(), "it is there");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing left over"
        );
    }
}
