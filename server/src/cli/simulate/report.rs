//! The results of `simulate-trace` as a table and as JSON.

use cascade_accelsim::trace::KernelHeader;
use cascade_engine::KernelEstimate;
use cascade_worker::simulate::{Gpu, Kernels, SimulateError};
use serde_json::{Value, json};

use crate::cli::Result;
use crate::cli::numbers::{four_digits, grouped, shortened, time_ns};
use crate::cli::out::Out;
use crate::cli::table::Table;

/// Widest kernel name in the table.
const NAME_WIDTH: usize = 44;

/// A kernel that was simulated.
pub(super) struct Kernel {
    uid: u64,
    grid: String,
    block: String,
    estimate: KernelEstimate,
}

impl Kernel {
    pub(super) fn new(uid: u64, header: &KernelHeader, estimate: &KernelEstimate) -> Self {
        Self {
            uid,
            grid: header.grid.to_string(),
            block: header.block.to_string(),
            estimate: estimate.clone(),
        }
    }
}

/// A trace on one GPU.
pub(super) struct Simulated {
    pub(super) gpu: Gpu,
    pub(super) kernels: Vec<Kernel>,
    pub(super) error: Option<SimulateError>,
    /// Seconds it took here.
    pub(super) seconds: f64,
}

impl Simulated {
    fn sum(&self, of: impl Fn(&KernelEstimate) -> u64) -> u64 {
        self.kernels.iter().map(|kernel| of(&kernel.estimate)).sum()
    }

    fn time_ns(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.estimate.time_ns).sum()
    }
}

pub(super) fn print(results: &[Simulated], out: &mut Out) -> Result {
    let mut table = Table::default()
        .number("#")
        .text("kernel")
        .text("grid")
        .text("block")
        .number("instructions");
    for result in results {
        table = table
            .number(format!("{} cycles", result.gpu.model.name))
            .number("time")
            .text("bound");
    }
    // Kernels are the same on every GPU, and a GPU that failed has fewer.
    let longest = results.iter().max_by_key(|result| result.kernels.len());
    if longest.is_none_or(|result| result.kernels.is_empty()) {
        return Ok(());
    }
    for (i, kernel) in longest
        .into_iter()
        .flat_map(|result| result.kernels.iter().enumerate())
    {
        let mut cells = vec![
            kernel.uid.to_string(),
            shortened(&kernel.estimate.name, NAME_WIDTH),
            kernel.grid.clone(),
            kernel.block.clone(),
            grouped(kernel.estimate.thread_insts),
        ];
        for result in results {
            cells.extend(match result.kernels.get(i).map(|kernel| &kernel.estimate) {
                Some(it) => [
                    grouped(it.cycles),
                    time_ns(it.time_ns),
                    it.winner.as_str().to_owned(),
                ],
                None => ["-".to_owned(), "-".to_owned(), String::new()],
            });
        }
        table.row(cells);
    }
    if let Some(longest) = longest.filter(|result| result.kernels.len() > 1) {
        let mut cells = vec![String::new(), "all".to_owned(), String::new(), String::new()];
        cells.push(grouped(longest.sum(|kernel| kernel.thread_insts)));
        for result in results {
            cells.extend([
                grouped(result.sum(|kernel| kernel.cycles)),
                time_ns(result.time_ns()),
                String::new(),
            ]);
        }
        table.row(cells);
    }
    out.table(&table)?;
    for result in results {
        let model = &result.gpu.model;
        let level = result
            .kernels
            .first()
            .map_or("L0", |kernel| kernel.estimate.level.as_str());
        out.line(format_args!(
            "{}: Cascade engine, level {level} (analytic bounds), {}. {} {} s here.",
            model.name,
            model.status.as_str(),
            model.status_note,
            four_digits(result.seconds),
        ))?;
        let covered = result
            .kernels
            .iter()
            .map(|kernel| kernel.estimate.coverage)
            .fold(1.0, f64::min);
        if covered < 1.0 {
            out.line(format_args!(
                "{}: some kernels have opcodes the engine does not know; the least covered one is at {:.1} %",
                model.name,
                covered * 100.0
            ))?;
        }
    }
    Ok(())
}

pub(super) fn json(kernels: &Kernels, results: &[Simulated]) -> Value {
    json!({
        "trace": kernels.path,
        "engine": "cascade",
        "provenance": "simulated",
        "gpus": results.iter().map(gpu).collect::<Vec<_>>(),
    })
}

fn gpu(result: &Simulated) -> Value {
    let model = &result.gpu.model;
    json!({
        "name": model.name,
        "arch": format!("sm_{}", model.sm),
        "status": model.status.as_str(),
        "status_note": model.status_note,
        "facts_hash": model.facts_hash(),
        "core_clock_mhz": model.chip.core_clock.value,
        "config": result.gpu.config,
        "kernels": result.kernels.iter().map(|kernel| json!({
            "uid": kernel.uid,
            "grid": kernel.grid,
            "block": kernel.block,
            "estimate": kernel.estimate,
        })).collect::<Vec<_>>(),
        "totals": {
            "kernels": result.kernels.len(),
            "cycles": result.sum(|kernel| kernel.cycles),
            "time_ns": result.time_ns(),
            "warp_insts": result.sum(|kernel| kernel.warp_insts),
            "thread_insts": result.sum(|kernel| kernel.thread_insts),
        },
        "error": result.error.as_ref().map(ToString::to_string),
    })
}
