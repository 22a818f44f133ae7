//! What lies in a trace folder: lists, statistics and the kernels to process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use super::{FolderError, Result, at};
use crate::list::{KernelList, Stats};
use crate::trace::TraceFormat;

/// Raw lists with their names.
pub(super) type Lists = Vec<(String, KernelList)>;

/// The raw lists and the names of the statistics files, both in order of names.
pub(super) fn scan(dir: &Path) -> Result<(Lists, Vec<String>)> {
    let (mut lists, mut stats) = (Vec::new(), Vec::new());
    for entry in at(dir, fs::read_dir(dir))? {
        // Names that are not UTF-8 belong to nothing that a tracer writes.
        let Ok(name) = at(dir, entry)?.file_name().into_string() else {
            continue;
        };
        if name == "kernelslist" || name.starts_with("kernelslist_ctx_") && !name.ends_with(".g") {
            lists.push(name);
        } else if name == "stats.csv" || name.starts_with("stats_ctx_") {
            stats.push(name);
        }
    }
    lists.sort();
    stats.sort();
    if lists.is_empty() {
        return Err(FolderError::NoList(dir.into()));
    }
    let mut read = Vec::new();
    for name in lists {
        let list = KernelList::read(BufReader::new(plain_file(&dir.join(&name))?), &name)?;
        read.push((name, list));
    }
    Ok((read, stats))
}

/// Opens a plain file, never through a link.
pub(super) fn plain_file(path: &Path) -> Result<File> {
    let kind = at(path, fs::symlink_metadata(path))?.file_type();
    if !kind.is_file() {
        return Err(FolderError::NotAFile(path.into()));
    }
    at(path, File::open(path))
}

/// Instruction counts of the statistics, by raw file name.
pub(super) fn reported(
    dir: &Path,
    stats: &[String],
    warnings: &mut Vec<String>,
) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for name in stats {
        let stats = Stats::read(BufReader::new(plain_file(&dir.join(name))?), name)?;
        warnings.extend(
            stats
                .notes
                .iter()
                .map(|note| format!("{name}:{}: {}", note.line, note.text)),
        );
        for launch in stats.launches {
            if let Some(count) = launch.reported_warp_instrs {
                counts.insert(launch.file, count);
            }
        }
    }
    Ok(counts)
}

/// One kernel to process.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) raw: String,
    pub(super) format: TraceFormat,
    pub(super) bytes: u64,
}

/// The distinct kernels of the lists in launch order, each checked to be a plain file of known format.
pub(super) fn jobs(dir: &Path, lists: &[(String, KernelList)]) -> Result<Vec<Job>> {
    let mut seen = BTreeSet::new();
    let mut jobs = Vec::new();
    for (list, file) in lists
        .iter()
        .flat_map(|(name, list)| list.kernels().map(move |file| (name, file)))
    {
        if !seen.insert(file) {
            continue;
        }
        let named = || (list.clone(), file.to_owned());
        let Some(format) = TraceFormat::of_name(file) else {
            let (list, file) = named();
            return Err(FolderError::UnknownFormat { list, file });
        };
        let path = dir.join(file);
        let metadata = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (list, file) = named();
                return Err(FolderError::MissingKernel { list, file });
            }
            other => at(&path, other)?,
        };
        if !metadata.is_file() {
            return Err(FolderError::NotAFile(path));
        }
        if format.is_raw() {
            jobs.push(Job {
                raw: file.to_owned(),
                format,
                bytes: metadata.len(),
            });
        }
    }
    Ok(jobs)
}
