//! `cascade log show`: what an Accel-Sim log says, and how the run ended.

mod source;

pub(super) use source::open;

use std::path::{Path, PathBuf};

use cascade_accelsim::log::{
    Banner, Ending, KernelBlock, LogEvent, LogSummary, Totals, Verdict, explain, read_log,
};
use serde::Serialize;

use super::Result;
use super::fail::Fail;
use super::numbers::{counted, four_digits, grouped, grouped_f64, shortened};
use super::out::Out;
use super::table::Table;

/// What to do with a log.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Kernels, totals, how the run ended in plain words, and warnings; exit code 1 when it failed
    Show {
        /// The log, packed with gzip or not; - reads standard input
        file: PathBuf,
    },
}

/// A kernel without its hundreds of statistics.
#[derive(Debug, Serialize)]
struct Row {
    index: usize,
    line: u64,
    uids: Vec<u64>,
    name: String,
    stream: Option<u64>,
    gpu_sim_cycle: Option<u64>,
    gpu_sim_insn: Option<u64>,
    gpu_ipc: Option<f64>,
    totals: Totals,
    /// Whether its cycles are those of several kernels together.
    overlaps: bool,
    complete: bool,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    file: &'a Path,
    simulators: &'a [Banner],
    kernels: &'a [Row],
    #[serde(flatten)]
    summary: &'a LogSummary,
    verdict: &'a Verdict,
}

pub(crate) fn run(command: Command, out: &mut Out) -> Result {
    let Command::Show { file } = command;
    let source = source::open(&file)?;
    let (mut simulators, mut kernels) = (Vec::new(), Vec::new());
    let summary = read_log(source, |event| match event {
        LogEvent::Banner(banner) => simulators.push(banner),
        LogEvent::Kernel(block) => kernels.push(row(*block)),
        _ => {}
    });
    let summary = summary.map_err(Fail::file(&file))?;
    let verdict = explain(&summary, None, None, None);
    let shown = Shown {
        file: &file,
        simulators: &simulators,
        kernels: &kernels,
        summary: &summary,
        verdict: &verdict,
    };
    if out.is_json() {
        out.json(&shown)?
    } else {
        print(&shown, out)?
    }
    if verdict.succeeded {
        Ok(())
    } else {
        Err(Fail::Failed(None))
    }
}

fn row(block: KernelBlock) -> Row {
    Row {
        index: block.index,
        line: block.line,
        overlaps: block.overlaps(),
        name: match block.names.as_slice() {
            [] => block.finished_name.unwrap_or_default(),
            names => names.join(" + "),
        },
        uids: block.uids,
        stream: block.stream,
        gpu_sim_cycle: block.gpu_sim_cycle,
        gpu_sim_insn: block.gpu_sim_insn,
        gpu_ipc: block.gpu_ipc,
        totals: block.totals,
        complete: block.complete,
    }
}

fn print(shown: &Shown<'_>, out: &mut Out) -> Result {
    for simulator in shown.simulators {
        let version = simulator.version.as_deref().unwrap_or("of unknown version");
        out.line(format_args!(
            "{} {version}, build {}",
            simulator.name, simulator.build
        ))?;
    }
    let count = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), grouped);
    if !shown.kernels.is_empty() {
        let mut table = Table::default()
            .number("#")
            .text("kernel")
            .number("cycles")
            .number("instructions");
        table = table.number("IPC").number("total cycles");
        for kernel in shown.kernels {
            let mark = if kernel.complete { "" } else { " (cut off)" };
            table.row([
                (kernel.index + 1).to_string(),
                shortened(&kernel.name, 60) + mark,
                count(kernel.gpu_sim_cycle) + if kernel.overlaps { "*" } else { "" },
                count(kernel.gpu_sim_insn),
                kernel.gpu_ipc.map_or_else(|| "-".to_owned(), four_digits),
                kernel
                    .totals
                    .gpu_tot_sim_cycle
                    .map_or_else(|| "-".to_owned(), grouped_f64),
            ]);
        }
        out.table(&table)?;
        if shown.kernels.iter().any(|kernel| kernel.overlaps) {
            out.line("* kernels overlap: cycles since the block before, not those of one kernel")?;
        }
    }
    let totals = shown.summary.totals;
    let shown_total = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), grouped_f64);
    out.line(format_args!(
        "{} finished of {} launched · {} cycles · {} instructions · IPC {} · {} instructions/s simulated",
        counted(shown.summary.kernels_finished as u64, "kernel"),
        shown.summary.kernels_launched,
        shown_total(totals.gpu_tot_sim_cycle),
        shown_total(totals.gpu_tot_sim_insn),
        totals.gpu_tot_ipc.map_or_else(|| "-".to_owned(), four_digits),
        shown_total(totals.sim_rate_ips),
    ))?;
    match (&shown.verdict.message, shown.verdict.succeeded) {
        (None, _) => out.line("Ended: complete.")?,
        (Some(message), true) => out.line(format_args!("Ended: complete. {message}"))?,
        (Some(message), false) => out.line(format_args!("Ended: FAILED. {message}"))?,
    }
    if let Ending::Failed(failure) = &shown.summary.ending {
        out.line(format_args!("At line {}:", failure.line))?;
        for line in failure.excerpt.lines() {
            out.line(format_args!("    {line}"))?;
        }
    }
    for warning in &shown.summary.warnings {
        out.line(format_args!("warning: line {}: {}", warning.line, warning.text))?;
    }
    match shown.summary.warnings_dropped {
        0 => Ok(()),
        more => out.line(format_args!("warning: and {more} more")),
    }
}
