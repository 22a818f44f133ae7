//! A trace's kernel launches, from what the tracer counted or else from the kernels' own headers.

use std::collections::{BTreeMap, BTreeSet};
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
/// Most warnings about one trace.
const MAX_WARNINGS: usize = 10;

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
    let list = whole_list(root, path)?;
    Ok(list.kernels().map(str::to_owned).collect())
}

fn whole_list(root: &Path, path: &str) -> Result<KernelList, String> {
    let file = File::open(root.join(path)).map_err(|error| format!("{path} cannot be read: {error}"))?;
    KernelList::read(BufReader::new(file), path).map_err(|error| error.to_string())
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
    let header = first.and_then(|path| header(&root.join(path)).ok());
    Some(Listed {
        count: u64::try_from(names.len()).unwrap_or(u64::MAX),
        arch: header
            .filter(|h| h.binary_version > 0)
            .map(|h| format!("sm_{}", h.binary_version)),
    })
}

/// The launches of a trace in `traces/`, by kernel id, from the statistics at the paths `stats` or else
/// from the kernels' headers; and what is odd about them. Damaged statistics are passed over: a simulator needs none.
pub(super) fn launches(root: &Path, tree: &Tree, stats: &[String]) -> (Vec<KernelLaunch>, Vec<String>) {
    let list = whole_list(root, &format!("{TRACES}{LIST}")).unwrap_or_default();
    let mut warnings = oddities(&list, tree);
    let mut launches = Vec::new();
    for path in stats {
        match statistics(root, path) {
            Ok(rows) => launches.extend(rows),
            Err(error) => warnings.push(format!("{error}; launches are listed without it")),
        }
    }
    if launches.is_empty() {
        let there = list.kernels().filter(|name| tree.has(&format!("{TRACES}{name}")));
        for name in there.take(MAX_HEADERS) {
            match header(&root.join(TRACES).join(name)) {
                Ok(header) => launches.push(KernelLaunch {
                    kernel_id: kernel_id(name).unwrap_or(header.id),
                    name: header.name,
                    grid: triple(header.grid),
                    block: triple(header.block),
                    instructions: None,
                }),
                Err(error) => warnings.push(format!("{TRACES}{error}; a run fails there")),
            }
        }
        if list.kernels().count() > MAX_HEADERS {
            warnings.push(format!(
                "only the first {MAX_HEADERS} kernels are listed; a run takes all"
            ));
        }
    }
    launches.sort_by_key(|launch| launch.kernel_id);
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("{more} more of this kind"));
    }
    (launches, warnings)
}

/// Lines of a list that say nothing, and kernels that it leaves out: a list that was cut off has both.
fn oddities(list: &KernelList, tree: &Tree) -> Vec<String> {
    let notes = list.notes.iter();
    let mut odd: Vec<String> = notes
        .map(|note| format!("{TRACES}{LIST}:{}: {}", note.line, note.text))
        .collect();
    let listed: BTreeSet<u64> = list.kernels().filter_map(kernel_id).collect();
    // A raw kernel stands beside what was made of it.
    let left_out: BTreeMap<u64, &str> = tree
        .in_folder(TRACES)
        .filter(|name| name.starts_with("kernel-"))
        .filter_map(|name| Some((kernel_id(name)?, name)))
        .filter(|(id, _)| !listed.contains(id))
        .collect();
    if let Some((_, name)) = left_out.first_key_value() {
        odd.push(format!(
            "{TRACES}{LIST} leaves {} of the kernels in {TRACES} out, such as {name}: they are not simulated",
            left_out.len()
        ));
    }
    odd
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

fn triple(dim: Dim3) -> (u32, u32, u32) {
    (dim.x, dim.y, dim.z)
}

/// A kernel file's header.
///
/// # Errors
/// With the file's name, when it is damaged.
fn header(path: &Path) -> Result<KernelHeader, String> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let source = open(file, name).map_err(|error| error.to_string())?;
    Ok(source.header().clone())
}
