//! A trace's kernel launches, from what the tracer counted or else from the kernels' own headers.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use cascade_accelsim::list::{KernelList, ListError, Stats, kernel_id};
use cascade_accelsim::trace::{Dim3, KernelHeader, open};
use cascade_api::KernelLaunch;

use super::complete::{LIST, TRACES};
use super::tree::Tree;

/// Most headers that are read for the launches of a trace without statistics; each costs a file opened.
const MAX_HEADERS: usize = 20_000;

/// What a trace's processed list says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// Kernel lines.
    pub count: u64,
    /// Architecture in the header of the first kernel that is there, such as `sm_80`.
    pub arch: Option<String>,
}

/// The kernels' file names in the list at `path` within the trace.
///
/// # Errors
/// With file and line, when the list cannot be read.
pub(super) fn read_list(root: &Path, path: &str) -> Result<Vec<String>, String> {
    let file = File::open(root.join(path)).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let list = KernelList::read(BufReader::new(file), path).map_err(|error| error.to_string())?;
    Ok(list.kernels().map(str::to_owned).collect())
}

/// Reads the processed list, in `traces/` or else beside it; `None` if it cannot be read.
pub(super) fn listed(root: &Path, tree: &Tree) -> Option<Listed> {
    let home = if tree.has(&format!("{TRACES}{LIST}")) {
        TRACES
    } else {
        ""
    };
    let names = read_list(root, &format!("{home}{LIST}")).ok()?;
    let first = names
        .iter()
        .map(|name| format!("{home}{name}"))
        .find(|path| tree.has(path));
    let header = first.and_then(|path| header(&root.join(path)));
    Some(Listed {
        count: u64::try_from(names.len()).unwrap_or(u64::MAX),
        arch: header
            .filter(|h| h.binary_version > 0)
            .map(|h| format!("sm_{}", h.binary_version)),
    })
}

/// The launches of a trace in `traces/`, by kernel id, from the statistics at the paths `stats` or else
/// from the kernels' headers. Damaged statistics are passed over: a simulator needs none.
pub(super) fn launches(root: &Path, tree: &Tree, stats: &[String]) -> Vec<KernelLaunch> {
    let mut launches = Vec::new();
    for path in stats {
        match statistics(root, path) {
            Ok(rows) => launches.extend(rows),
            Err(error) => tracing::warn!(root = %root.display(), %error, "cannot read statistics"),
        }
    }
    if launches.is_empty() {
        let names = read_list(root, &format!("{TRACES}{LIST}")).unwrap_or_default();
        let there = names.iter().filter(|name| tree.has(&format!("{TRACES}{name}")));
        let headers = there.take(MAX_HEADERS).filter_map(|name| from_header(root, name));
        launches = headers.collect();
        if names.len() > MAX_HEADERS {
            tracing::warn!(root = %root.display(), "listing only the first {MAX_HEADERS} kernels");
        }
    }
    launches.sort_by_key(|launch| launch.kernel_id);
    launches
}

fn statistics(root: &Path, path: &str) -> Result<Vec<KernelLaunch>, ListError> {
    let file = File::open(root.join(path)).map_err(|error| ListError {
        file: path.to_owned(),
        line: 0,
        kind: error.into(),
    })?;
    let stats = Stats::read(BufReader::new(file), path)?;
    for note in &stats.notes {
        tracing::debug!(path, line = note.line, "{}", note.text);
    }
    let rows = stats.launches.into_iter().filter_map(|row| {
        Some(KernelLaunch {
            kernel_id: row.kernel_id?,
            name: row.name,
            grid: triple(row.grid),
            block: triple(row.block),
            instructions: row.warp_instrs,
        })
    });
    Ok(rows.collect())
}

fn from_header(root: &Path, name: &str) -> Option<KernelLaunch> {
    let header = header(&root.join(TRACES).join(name))?;
    Some(KernelLaunch {
        kernel_id: kernel_id(name).unwrap_or(header.id),
        name: header.name,
        grid: triple(header.grid),
        block: triple(header.block),
        instructions: None,
    })
}

fn triple(dim: Dim3) -> (u32, u32, u32) {
    (dim.x, dim.y, dim.z)
}

/// A kernel file's header; `None`, with a line in the log, when it is damaged.
fn header(path: &Path) -> Option<KernelHeader> {
    let name = path.file_name()?.to_str()?;
    let file = File::open(path).map_err(|error| error.to_string());
    let opened = file.and_then(|file| open(file, name).map_err(|error| error.to_string()));
    match opened {
        Ok(source) => Some(source.header().clone()),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "cannot read a kernel's header");
            None
        }
    }
}
