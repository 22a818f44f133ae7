//! `cascade trace info` and `list`.

use std::path::{Path, PathBuf};

use cascade_accelsim::trace::KernelHeader;
use cascade_api::TraceDetail;
use serde_json::{Value, json};

use crate::cli::fail::Fail;
use crate::cli::numbers::{bytes, counted, grouped, shortened};
use crate::cli::out::Out;
use crate::cli::remote::Remote;
use crate::cli::simulate::source;
use crate::cli::table::Table;
use crate::cli::{Result, block_on};

/// Which trace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A trace's folder, a kernel list, one kernel's trace, or a trace's id in the app
    trace: String,
    #[command(flatten)]
    remote: Remote,
}

/// Whose traces.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn list(args: &ListArgs, out: &mut Out) -> Result {
    let traces = block_on(async { Ok(args.remote.client()?.traces().await?) })?;
    if out.is_json() {
        return out.json(&traces);
    }
    let mut table = Table::default()
        .text("trace")
        .text("state")
        .text("arch")
        .text("model")
        .number("kernels");
    table = table.number("size").text("error");
    for trace in traces {
        table.row([
            trace.id.to_string(),
            trace.state.to_string(),
            trace.trace_gpu_arch,
            trace.model.unwrap_or_default(),
            grouped(trace.kernel_count),
            bytes(trace.bytes),
            trace.error.unwrap_or_default(),
        ]);
    }
    out.table(&table)
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Result {
    let path = Path::new(&args.trace);
    crate::cli::simulate::source::note_synthetic(path);
    if path.exists() {
        return local(path, out);
    }
    let trace = block_on(async { Ok(args.remote.client()?.trace(&args.trace).await?) });
    let trace = trace.map_err(|fail| match fail {
        Fail::Unreachable(message) => Fail::Unreachable(format!(
            "{:?} is no file or folder here, and {message}",
            args.trace
        )),
        other => other,
    })?;
    if out.is_json() {
        out.json(&trace)
    } else {
        print(&trace, out)
    }
}

fn print(trace: &TraceDetail, out: &mut Out) -> Result {
    let it = &trace.summary;
    out.line(format_args!(
        "{} · {} · {} · {} · {}",
        it.id,
        it.state,
        it.trace_gpu_arch,
        counted(it.kernel_count, "kernel"),
        bytes(it.bytes)
    ))?;
    for (what, value) in [
        ("error", &it.error),
        ("model", &it.model),
        ("captured on", &it.source_gpu),
    ] {
        if let Some(value) = value {
            out.line(format_args!("{what}: {value}"))?;
        }
    }
    if it.synthetic {
        out.line("synthetic: its kernels were written by Cascade, not captured on a GPU")?;
    }
    for warning in &trace.warnings {
        out.line(format_args!("warning: {warning}"))?;
    }
    let mut table = Table::default()
        .number("id")
        .text("kernel")
        .text("grid")
        .text("block")
        .number("instructions");
    for kernel in &trace.kernels {
        table.row([
            kernel.kernel_id.to_string(),
            shortened(&kernel.name, 60),
            format!("{:?}", kernel.grid),
            format!("{:?}", kernel.block),
            kernel.instructions.map_or_else(|| "-".to_owned(), grouped),
        ]);
    }
    out.table(&table)
}

/// A kernel's file as far as its header.
struct Local {
    file: PathBuf,
    bytes: u64,
    header: Result<KernelHeader, String>,
}

fn local(path: &Path, out: &mut Out) -> Result {
    let kernels = source::headers(path)?;
    let kernels: Vec<Local> = kernels
        .into_iter()
        .map(|file| Local {
            bytes: std::fs::metadata(&file).map_or(0, |meta| meta.len()),
            header: source::header(&file),
            file,
        })
        .collect();
    if out.is_json() {
        return out.json(&kernels.iter().map(value).collect::<Vec<_>>());
    }
    let mut table = Table::default()
        .text("file")
        .number("size")
        .text("kernel")
        .text("grid")
        .text("block");
    table = table.number("regs").number("shared").text("arch").text("tracer");
    for kernel in &kernels {
        let name = kernel
            .file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut cells = vec![name, bytes(kernel.bytes)];
        match &kernel.header {
            Ok(header) => cells.extend([
                shortened(&header.name, 60),
                header.grid.to_string(),
                header.block.to_string(),
                header.nregs.to_string(),
                bytes(header.shmem_bytes),
                format!("sm_{}", header.binary_version),
                header
                    .tracer_version
                    .map_or_else(|| "1 or 2".to_owned(), |version| version.to_string()),
            ]),
            Err(error) => cells.push(format!("cannot be read: {error}")),
        }
        table.row(cells);
    }
    out.table(&table)?;
    match kernels.iter().filter(|kernel| kernel.header.is_err()).count() {
        0 => Ok(()),
        bad => Err(Fail::usage(format_args!(
            "{bad} of {} cannot be read",
            counted(kernels.len() as u64, "kernel")
        ))),
    }
}

fn value(kernel: &Local) -> Value {
    json!({
        "file": kernel.file,
        "bytes": kernel.bytes,
        "header": kernel.header.as_ref().ok(),
        "error": kernel.header.as_ref().err(),
    })
}
