//! Post-processes a whole trace folder on disk.
//!
//! The one exception to this crate's rule that callers do the input and output: it exists only with the
//! feature `fs`, which programs for the browser never enable. Each kernel is written under a temporary
//! name, synced and renamed, and `kernelslist.g` comes last in the same way. A run that was killed can be
//! started again: whole outputs are kept, everything else is made anew.

mod files;
mod finished;
mod scan;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use files::{FolderStore, write_whole};
use finished::finished;
use scan::{Job, jobs, plain_file, reported, scan};

use super::lists::processed_name;
use super::{KernelReport, Options, PostError, process_kernel, processed_list};
use crate::list::ListError;
use crate::trace::{TraceError, TraceFormat, xz_reader};

/// Name of the list that simulators read.
pub const PROCESSED_LIST: &str = "kernelslist.g";
/// Buffer of a file, bytes.
const FILE_BUFFER_BYTES: usize = 256 << 10;
/// Stack of a worker thread, bytes.
const STACK_BYTES: usize = 4 << 20;

/// How a folder is processed.
#[derive(Clone, Debug)]
pub struct FolderOptions {
    /// Kernels at a time.
    pub threads: usize,
    /// Format of the processed kernels.
    pub format: TraceFormat,
    /// Memory for lines of all kernels at a time together, bytes.
    pub memory_bytes: usize,
    /// Folder for temporary runs: made when missing, needs room for the largest raw traces at a time.
    pub scratch: PathBuf,
}

/// One kernel that is done.
#[derive(Clone, Debug)]
pub struct Done {
    /// Name of the raw file.
    pub raw: String,
    /// Name of the processed file.
    pub processed: String,
    /// What came out; `None` when an earlier run had finished it.
    pub report: Option<KernelReport>,
    /// Sentences for people.
    pub warnings: Vec<String>,
}

/// What came out of a folder.
#[derive(Clone, Debug, Default)]
pub struct FolderReport {
    /// Kernels in launch order.
    pub kernels: Vec<Done>,
    /// Sentences for people about the lists and statistics.
    pub warnings: Vec<String>,
}

impl FolderReport {
    /// All warnings, those of the lists first.
    pub fn all_warnings(&self) -> impl Iterator<Item = &str> {
        self.warnings
            .iter()
            .chain(self.kernels.iter().flat_map(|done| &done.warnings))
            .map(String::as_str)
    }
}

/// Why a folder could not be processed.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
    /// A list or statistics file is damaged.
    #[error(transparent)]
    List(#[from] ListError),
    /// No list in the folder.
    #[error("{}: no `kernelslist` or `kernelslist_ctx_…`; the upload is incomplete or this is no trace folder", .0.display())]
    NoList(PathBuf),
    /// A kernel of a list that is not there.
    #[error("{list} names {file}, which is missing; upload the trace again")]
    MissingKernel {
        /// Name of the list.
        list: String,
        /// Name of the kernel's file.
        file: String,
    },
    /// A kernel whose format is unknown.
    #[error("{list} names {file}: only .trace and .trace.xz (and processed) files can be used")]
    UnknownFormat {
        /// Name of the list.
        list: String,
        /// Name of the kernel's file.
        file: String,
    },
    /// A link or something else that is no plain file.
    #[error("{}: not a plain file; links are refused in trace folders", .0.display())]
    NotAFile(PathBuf),
    /// Kernels failed; the others are processed and kept.
    #[error("{failed} of {total} kernels failed; the first: {first}")]
    Kernels {
        /// How many failed.
        failed: usize,
        /// How many there are.
        total: usize,
        /// Why the first one failed.
        first: Box<FolderError>,
    },
    /// One kernel failed.
    #[error(transparent)]
    Kernel(#[from] PostError),
    /// A finished output of an earlier run is damaged.
    #[error(transparent)]
    Output(#[from] TraceError),
}

type Result<T> = std::result::Result<T, FolderError>;

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|error| FolderError::Io {
        path: path.into(),
        error,
    })
}

/// Processes every kernel that the raw lists in `dir` name, then writes `kernelslist.g`. `progress` is
/// called from worker threads after each kernel.
///
/// # Errors
/// When a list is missing or damaged, a kernel's file is missing or no plain file, or a kernel cannot be
/// processed; then `kernelslist.g` is not written.
pub fn process_folder(
    dir: &Path,
    options: &FolderOptions,
    progress: &(dyn Fn(&Done) + Sync),
) -> Result<FolderReport> {
    let (lists, stats) = scan(dir)?;
    let mut report = FolderReport::default();
    for (name, list) in &lists {
        report.warnings.extend(
            list.notes
                .iter()
                .map(|note| format!("{name}:{}: {}", note.line, note.text)),
        );
    }
    let reported = reported(dir, &stats, &mut report.warnings)?;
    let jobs = jobs(dir, &lists)?;
    at(&options.scratch, fs::create_dir_all(&options.scratch))?;
    let threads = options.threads.clamp(1, jobs.len().max(1));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .build();
    let pool = pool.map_err(|error| FolderError::Io {
        path: dir.into(),
        error: io::Error::other(error),
    })?;
    let kernel = Options {
        format: options.format,
        memory_bytes: options.memory_bytes / threads,
    };
    // The longest first, so that no thread is left alone with it at the end.
    let mut order: Vec<(usize, &Job)> = jobs.iter().enumerate().collect();
    order.sort_by_key(|(index, job)| (std::cmp::Reverse(job.bytes), *index));
    let mut results: Vec<(usize, Result<Done>)> = pool.install(|| {
        let run = |(index, job): (usize, &Job)| {
            let done = process(
                dir,
                job,
                &kernel,
                &options.scratch,
                reported.get(&job.raw).copied(),
            );
            if let Ok(done) = &done {
                progress(done);
            }
            (index, done)
        };
        order.into_par_iter().with_max_len(1).map(run).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    let mut failures = Vec::new();
    for (_, result) in results {
        match result {
            Ok(done) => report.kernels.push(done),
            Err(error) => failures.push(error),
        }
    }
    let failed = failures.len();
    if let Some(first) = failures.into_iter().next() {
        return Err(FolderError::Kernels {
            failed,
            total: jobs.len(),
            first: Box::new(first),
        });
    }
    let text = processed_list(&lists, options.format);
    write_whole(dir, PROCESSED_LIST, |file| {
        at(&dir.join(PROCESSED_LIST), file.write_all(text.as_bytes()))
    })?;
    Ok(report)
}

fn process(dir: &Path, job: &Job, options: &Options, scratch: &Path, reported: Option<u64>) -> Result<Done> {
    let processed = processed_name(&job.raw, options.format);
    let (raw_path, output_path) = (dir.join(&job.raw), dir.join(&processed));
    if let Some(report) = finished(&raw_path, &output_path, &processed)? {
        let warnings = report.warnings(&job.raw, reported);
        return Ok(Done {
            raw: job.raw.clone(),
            processed,
            report: None,
            warnings,
        });
    }
    let input = BufReader::with_capacity(FILE_BUFFER_BYTES, plain_file(&raw_path)?);
    let mut temp = FolderStore::new(scratch, &job.raw)?;
    let report = write_whole(dir, &processed, |output| {
        let report = match job.format {
            TraceFormat::RawXz => {
                let text = at(&raw_path, xz_reader(input))?;
                process_kernel(text, &job.raw, output, &mut temp, options)?
            }
            _ => process_kernel(input, &job.raw, output, &mut temp, options)?,
        };
        Ok(report)
    })?;
    temp.remove_all()?;
    let warnings = report.warnings(&job.raw, reported);
    Ok(Done {
        raw: job.raw.clone(),
        processed,
        report: Some(report),
        warnings,
    })
}
