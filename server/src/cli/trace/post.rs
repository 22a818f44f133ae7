//! `cascade trace post-process`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cascade_accelsim::post::folder::{FolderOptions, FolderReport, PROCESSED_LIST, process_folder};
use cascade_accelsim::trace::TraceFormat;
use serde_json::{Value, json};

use super::format;
use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::numbers::{counted, grouped};
use crate::cli::out::{Out, note};
use crate::cli::table::Table;

/// Memory for the lines of raw kernels unless told otherwise, MiB.
const MEMORY_MIB: usize = 512;

/// What to process and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder with kernelslist and the raw kernels, or the folder whose `traces` holds them
    dir: PathBuf,
    /// Kernels at once [default: all cores]
    #[arg(long, short = 'j', value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Format of the processed kernels
    #[arg(long, default_value = "tracez", value_parser = format)]
    format: TraceFormat,
    /// Memory for lines of all kernels at once, in MiB; larger kernels go through temporary files
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_MIB)]
    memory: usize,
    /// Folder for temporary files [default: `.runs` in the folder]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let inner = args.dir.join("traces");
    let dir = if inner.is_dir() { inner } else { args.dir };
    let threads = args
        .jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, usize::from);
    let options = FolderOptions {
        threads,
        format: args.format,
        memory_bytes: args.memory.saturating_mul(1 << 20),
        scratch: args.scratch.unwrap_or_else(|| dir.join(".runs")),
    };
    let report = process_folder(&dir, &options, &|done| {
        note(format_args!("{} -> {}", done.raw, done.processed))
    });
    let report = report.map_err(Fail::usage)?;
    for warning in report.all_warnings() {
        note(format_args!("warning: {warning}"));
    }
    if out.is_json() {
        return out.json(&value(&report));
    }
    let mut table = Table::default()
        .text("kernel")
        .number("blocks")
        .number("warp instr.")
        .number("thread instr.");
    for done in &report.kernels {
        let cells = done.report.as_ref().map_or_else(
            || ["-".to_owned(), "done before".to_owned(), "-".to_owned()],
            |kernel| [kernel.blocks, kernel.warp_instrs, kernel.thread_instrs].map(grouped),
        );
        table.row(std::iter::once(done.processed.clone()).chain(cells));
    }
    out.table(&table)?;
    out.line(format_args!(
        "{} in {}",
        counted(report.kernels.len() as u64, "kernel"),
        dir.join(PROCESSED_LIST).display()
    ))
}

fn value(report: &FolderReport) -> Value {
    let kernels = report.kernels.iter().map(|done| {
        let kernel = done.report.as_ref();
        json!({
            "raw": done.raw,
            "processed": done.processed,
            "blocks": kernel.map(|kernel| kernel.blocks),
            "warp_insts": kernel.map(|kernel| kernel.warp_instrs),
            "thread_insts": kernel.map(|kernel| kernel.thread_instrs),
            "warnings": done.warnings,
        })
    });
    json!({ "kernels": kernels.collect::<Vec<_>>(), "warnings": report.warnings })
}
