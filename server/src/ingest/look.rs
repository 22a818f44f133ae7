//! One look at one trace: everything that reads its folder. It blocks.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use cascade_api::TraceId;
use serde::Deserialize;

use super::complete::{Look, TRACES, Verdict, is_current};
use super::kernels::{self, read_list};
use super::metadata::{METADATA_FILE, Metadata};
use super::record::Record;
use super::tree::{MAX_FILES, Tree, is_stats};

/// Largest file of real timings: 256 MiB, about two million kernels.
pub(crate) const MAX_TIMING_BYTES: u64 = 256 << 20;
/// Name of the file of real timings unless `metadata.json` gives another.
pub(crate) const TIMING_FILE: &str = "real_timing.json";
/// The two files of a step timeline.
const STEP_FILES: [&str; 2] = ["corrected_timeline.json", "kernel_mapping.json"];

/// What a look found.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The files.
    pub tree: Tree,
    /// `metadata.json`, once it is there and readable.
    pub metadata: Option<Metadata>,
    /// Whether the trace carries real kernel timings.
    pub has_real_timing: bool,
    /// Whether it carries a step timeline.
    pub has_step_timeline: bool,
    /// Kernels seen so far; once the trace is ready, the kernel lines of its list.
    pub kernel_count: u64,
    /// The architecture in the kernels' headers, once they can be read.
    pub binary_arch: Option<String>,
    /// Whether it is complete.
    pub verdict: Verdict,
    /// What this server did with it before.
    pub record: Option<Record>,
}

impl Seen {
    /// Paths of the statistics of the upload; those that an earlier one left are none of it.
    pub(super) fn statistics(&self) -> Vec<String> {
        let names = self.tree.in_folder(TRACES).filter(|name| is_stats(name));
        let paths = names.map(|name| format!("{TRACES}{name}"));
        paths
            .filter(|path| is_current(self.metadata.as_ref(), self.record.as_ref(), path))
            .collect()
    }
}

/// Judges a trace whose files were walked into `tree`. `homes` are the beginnings that keys in its
/// `metadata.json` may carry; `ready` says that it was ready before,
/// `stand_ins` that the simulator may need no kernel files.
pub(super) fn judge(
    root: &Path,
    tree: Tree,
    record: Option<Record>,
    homes: &[String],
    quiet: Duration,
    ready: bool,
    stand_ins: bool,
) -> Seen {
    let metadata = match tree.has(METADATA_FILE) {
        true => Metadata::read(&root.join(METADATA_FILE), homes).map(Some),
        false => Ok(None),
    };
    let (metadata, broken) = match metadata {
        Ok(metadata) => (metadata, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let look = Look {
        tree: &tree,
        metadata: metadata.as_ref(),
        record: record.as_ref(),
        quiet,
        stand_ins,
        list: &|path| read_list(root, path),
    };
    let verdict = match broken {
        _ if tree.overflow => Verdict::Failed(format!("more than {MAX_FILES} files; split the trace")),
        Some(error) => Verdict::Failed(error),
        None => look.verdict(),
    };
    let listed = match &verdict {
        Verdict::Processed { .. } => kernels::listed(root, &tree),
        _ if ready => kernels::listed(root, &tree),
        _ => None,
    };
    let timing = metadata
        .as_ref()
        .and_then(|m| m.text("real_timing"))
        .unwrap_or(TIMING_FILE);
    Seen {
        // A name that a walk did not find is none of the trace's files, wherever it points.
        has_real_timing: tree.has(timing) && has_timings(&root.join(timing)),
        has_step_timeline: STEP_FILES.iter().all(|file| tree.has(file)),
        kernel_count: listed.as_ref().map_or_else(|| tree.raw_kernels(), |l| l.count),
        binary_arch: listed.and_then(|l| l.arch),
        metadata,
        verdict,
        tree,
        record,
    }
}

/// A trace's folder, its files and what this server did with them; `None` if there are no files.
///
/// # Errors
/// When the folder is there but cannot be read.
pub(super) fn walk(root: &Path, records: &Path, id: &TraceId) -> io::Result<Option<(Tree, Option<Record>)>> {
    match Tree::walk(root) {
        Ok(tree) if tree.is_empty() => Ok(None),
        Ok(tree) => Ok(Some((tree, Record::read(records, id)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Names of the folders in the traces' folder, links left out; none if it is not there yet.
pub(super) fn folders(traces: &Path) -> io::Result<Vec<TraceId>> {
    let entries = match std::fs::read_dir(traces) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry?;
        // Names that are not UTF-8 have no place in the API.
        if let (Ok(name), true) = (entry.file_name().into_string(), entry.file_type()?.is_dir())
            && !name.starts_with('.')
        {
            ids.push(TraceId::from(name));
        }
    }
    ids.sort();
    Ok(ids)
}

#[derive(Deserialize)]
struct Timing {
    #[expect(dead_code, reason = "only whether it is a whole number counts")]
    kernel_id: i64,
}

fn has_timings(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    if file.metadata().is_ok_and(|m| m.len() > MAX_TIMING_BYTES) {
        let (path, limit) = (path.display(), MAX_TIMING_BYTES >> 20);
        tracing::warn!(%path, "the real timing is over {limit} MiB and is not used");
        return false;
    }
    let rows: Result<Vec<Timing>, _> = serde_json::from_reader(BufReader::new(file.take(MAX_TIMING_BYTES)));
    rows.is_ok_and(|rows| !rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timings_are_a_list_of_rows_with_whole_kernel_ids() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("real_timing.json");
        let rows = [
            (r#"[{"kernel_id": 1, "ns": 5.5}, {"kernel_id": 2}]"#, true),
            (r"[]", false),
            (r#"[{"kernel_id": "1"}]"#, false),
            (r#"[{"kernel_id": 1.5}]"#, false),
            (r#"{"kernel_id": 1}"#, false),
            (r#"[{"kernel_id": 1}"#, false),
        ];
        for (text, expected) in rows {
            std::fs::write(&path, text).unwrap();
            assert_eq!(has_timings(&path), expected, "{text}");
        }
    }

    #[test]
    fn a_timing_file_outside_the_trace_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("t");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(dir.path().join("secret.json"), r#"[{"kernel_id": 1}]"#).unwrap();
        std::fs::write(root.join("real.json"), r#"[{"kernel_id": 1}]"#).unwrap();
        for (name, expected) in [
            ("real.json", true),
            ("../secret.json", false),
            ("missing.json", false),
        ] {
            std::fs::write(
                root.join("metadata.json"),
                format!(r#"{{"real_timing": "{name}"}}"#),
            )
            .unwrap();
            let seen = judge(
                &root,
                Tree::walk(&root).unwrap(),
                None,
                &[],
                Duration::ZERO,
                false,
                false,
            );
            assert_eq!(seen.has_real_timing, expected, "{name}");
        }
    }
}
