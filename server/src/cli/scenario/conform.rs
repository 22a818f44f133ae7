//! `cascade scenario conform`: our scheduler beside step traces of vLLM's.

use std::path::{Path, PathBuf};

use cascade_serving::conform::{Summary, Trace, replay};
use serde::Serialize;

use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::numbers::{counted, grouped};
use crate::cli::out::Out;
use crate::cli::steps::read;
use crate::cli::table::Table;

/// Largest step trace.
const MAX_TRACE_BYTES: usize = 256 << 20;

/// Step traces.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A folder of step traces, .json or .json.gz, or one of them
    dir: PathBuf,
}

/// What became of a file.
#[derive(Debug, Serialize)]
struct Row {
    file: String,
    conforms: bool,
    steps: Option<u64>,
    scheduled_tokens: Option<u64>,
    preemptions: Option<u64>,
    /// The first difference, and what this scheduler did instead.
    difference: Option<String>,
}

pub(super) fn run(args: &Args, out: &mut Out) -> Result {
    let mut rows = Vec::new();
    for path in files(&args.dir)? {
        rows.push(row(&path)?);
    }
    let differing = rows.iter().filter(|row| !row.conforms).count();
    if out.is_json() {
        out.json(&rows)?;
    } else {
        show(&rows, differing, out)?;
    }
    match differing {
        0 => Ok(()),
        _ => Err(Fail::Failed(None)),
    }
}

/// The traces of a folder, by name.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    if dir.is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(Fail::file(dir))? {
        let path = entry.map_err(Fail::file(dir))?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if (name.ends_with(".json") || name.ends_with(".json.gz")) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        let dir = dir.display();
        return Err(Fail::usage(format_args!(
            "{dir}: there is no .json or .json.gz file in it"
        )));
    }
    Ok(paths)
}

fn row(path: &Path) -> Result<Row> {
    let bytes = read(path, MAX_TRACE_BYTES)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let trace = std::str::from_utf8(&bytes).map_err(|error| error.to_string());
    let trace = trace.and_then(|text| Trace::parse(text).map_err(|error| error.to_string()));
    let outcome = trace.and_then(|trace| replay(&trace).map_err(|difference| difference.to_string()));
    let of = |count: fn(&Summary) -> u64| outcome.as_ref().ok().map(count);
    Ok(Row {
        file: name.to_string_lossy().into_owned(),
        conforms: outcome.is_ok(),
        steps: of(|summary| summary.steps),
        scheduled_tokens: of(|summary| summary.scheduled_tokens),
        preemptions: of(|summary| summary.preemptions),
        difference: outcome.err(),
    })
}

fn show(rows: &[Row], differing: usize, out: &mut Out) -> Result {
    let mut table = Table::default().text("file").number("steps").number("tokens");
    table = table.number("preemptions").text("first difference");
    let count = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), grouped);
    for row in rows {
        table.row([
            row.file.clone(),
            count(row.steps),
            count(row.scheduled_tokens),
            count(row.preemptions),
            row.difference.clone().unwrap_or_else(|| "none".to_owned()),
        ]);
    }
    out.table(&table)?;
    let all = counted(rows.len() as u64, "file");
    out.line(format_args!(
        "{all}, {} with a difference",
        grouped(differing as u64)
    ))
}
