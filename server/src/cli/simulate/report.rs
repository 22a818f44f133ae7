//! The results of `simulate-trace` as a table and as JSON.

use cascade_accelsim::trace::KernelHeader;
use cascade_api::{Bar, KernelExplanation, StatValue, explain as explain_stats};
use cascade_engine::report::{Origin, kernel_stats};
use cascade_engine::{KernelEstimate, Level, Options};
use cascade_worker::simulate::{Check, Gpu, Kernels, SimulateError};
use serde_json::{Value, json};

use crate::cli::Result;
use crate::cli::numbers::{counted, grouped, shortened, time_ns};
use crate::cli::out::Out;
use crate::cli::table::Table;

/// Widest kernel name in the table.
const NAME_WIDTH: usize = 44;
/// Unknown opcodes of a kernel that are named.
const MOST_OPCODES: usize = 8;

/// A kernel that was simulated.
pub(super) struct Kernel {
    uid: u64,
    grid: String,
    block: String,
    estimate: KernelEstimate,
    origin: Origin,
}

impl Kernel {
    pub(super) fn new(uid: u64, header: &KernelHeader, estimate: &KernelEstimate, origin: Origin) -> Self {
        Self {
            uid,
            grid: header.grid.to_string(),
            block: header.block.to_string(),
            estimate: estimate.clone(),
            origin,
        }
    }

    /// What limits it, from the same statistics as its log has.
    fn explanation(&self) -> Option<KernelExplanation> {
        let value = |text: String| match text.parse::<f64>() {
            Ok(number) if number.is_finite() => StatValue::Number(number),
            _ => StatValue::Text(text),
        };
        let stats = kernel_stats(&self.estimate).into_iter();
        explain_stats(
            &stats
                .map(|(name, text)| (format!("cascade_engine_{name}"), value(text)))
                .collect(),
        )
    }
}

/// A trace on one GPU.
pub(super) struct Simulated {
    pub(super) gpu: Gpu,
    pub(super) options: Options,
    pub(super) kernels: Vec<Kernel>,
    /// How far simulated members of groups were from the first.
    pub(super) checks: Vec<Check>,
    pub(super) error: Option<SimulateError>,
    /// Seconds it took here.
    pub(super) seconds: f64,
}

impl Simulated {
    fn sum(&self, of: impl Fn(&KernelEstimate) -> u64) -> u64 {
        self.kernels.iter().map(|kernel| of(&kernel.estimate)).sum()
    }

    /// Kernels whose own result is new, those that share another's, and those whose result was kept.
    fn origins(&self) -> [usize; 3] {
        let count =
            |of: &dyn Fn(Origin) -> bool| self.kernels.iter().filter(|kernel| of(kernel.origin)).count();
        [
            count(&|origin| origin.same_as.is_none() && !origin.cached),
            count(&|origin| origin.same_as.is_some()),
            count(&|origin| origin.cached),
        ]
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
        // A sum over fewer kernels would look like that of the trace.
        let broken = results.iter().any(|result| result.error.is_some());
        let title = if broken { "those above" } else { "all" };
        let mut cells = vec![String::new(), title.to_owned(), String::new(), String::new()];
        cells.push(grouped(longest.sum(|kernel| kernel.thread_insts)));
        for result in results {
            cells.extend(match result.kernels.len() == longest.kernels.len() {
                true => [
                    grouped(result.sum(|kernel| kernel.cycles)),
                    time_ns(result.time_ns()),
                    String::new(),
                ],
                false => ["-".to_owned(), "-".to_owned(), String::new()],
            });
        }
        table.row(cells);
    }
    out.table(&table)?;
    for result in results {
        let model = &result.gpu.model;
        let (level, cold) = (result.options.level, result.options.cold);
        let how = match (level, cold) {
            (Level::L0, _) => "analytic bounds",
            (Level::L1, true) => "event by event, L2 empty before each kernel",
            (Level::L1, false) => "event by event, L2 as the kernels before left it",
        };
        let level = level.as_str();
        out.line(format_args!(
            "{}: Cascade engine, level {level} ({how}), {}. {} {} here.",
            model.name,
            model.status.as_str(),
            model.status_note,
            time_ns(result.seconds * 1e9),
        ))?;
        let [simulated, shared, cached] = result.origins();
        if shared + cached > 0 {
            out.line(format_args!(
                "{}: {} simulated, {} share the result of an equal one, {} kept from an earlier run.",
                model.name,
                counted(simulated as u64, "kernel"),
                grouped(shared as u64),
                grouped(cached as u64),
            ))?;
        }
        for kernel in &result.kernels {
            for remark in remarks(&kernel.estimate) {
                out.line(format_args!("{}: kernel {} {remark}", model.name, kernel.uid))?;
            }
        }
        if let Some(sampled) = sampled(result) {
            out.line(format_args!("{}: {sampled}", model.name))?;
        }
        for check in &result.checks {
            out.line(format_args!("{}: {check}.", model.name))?;
        }
    }
    Ok(())
}

/// What a reader of one kernel's numbers must know.
fn remarks(kernel: &KernelEstimate) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(why) = &kernel.fallback {
        remarks.push(format!("was bounded, not simulated: {why}"));
    }
    if kernel.blocks < kernel.blocks_in_grid {
        remarks.push(format!(
            "was traced in part: {} of its {} thread blocks, and only those are timed",
            grouped(kernel.blocks),
            grouped(kernel.blocks_in_grid)
        ));
    }
    if let [_, ..] = kernel.unknown_opcodes.as_slice() {
        let names: Vec<&str> = kernel
            .unknown_opcodes
            .iter()
            .map(|(name, _)| name.as_str())
            .take(MOST_OPCODES)
            .collect();
        let more = kernel.unknown_opcodes.len().saturating_sub(names.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        remarks.push(format!(
            "has opcodes that the engine does not know, {:.1} % of its instructions, timed as integer ones: {}{more}",
            (1.0 - kernel.coverage) * 100.0,
            names.join(", ")
        ));
    }
    remarks
}

/// How much was sampled, if anything.
fn sampled(result: &Simulated) -> Option<String> {
    let stats = result
        .kernels
        .iter()
        .filter_map(|kernel| kernel.estimate.cycle_stats.as_ref());
    let stats: Vec<_> = stats.filter(|stats| stats.sampled_fraction < 1.0).collect();
    let worst = stats.iter().map(|stats| stats.sampling_error).fold(0.0, f64::max);
    let least = stats
        .iter()
        .map(|stats| stats.sampled_fraction)
        .fold(1.0, f64::min);
    let start = match result.options.sample_sms {
        Some(_) => ", from an empty L2",
        None => "",
    };
    (!stats.is_empty()).then(|| {
        format!(
            "{} of {} sampled{start}: at least {:.1} % of the instructions were simulated, estimated error up to {:.1} %.",
            grouped(stats.len() as u64),
            counted(result.kernels.len() as u64, "kernel"),
            least * 100.0,
            worst * 100.0
        )
    })
}

/// Says of each kernel what limits it and what would help; launches that share a result once.
pub(super) fn explain(results: &[Simulated], out: &mut Out) -> Result {
    for result in results {
        let own = result
            .kernels
            .iter()
            .filter(|kernel| kernel.origin.same_as.is_none());
        for kernel in own {
            let Some(it) = kernel.explanation() else { continue };
            out.line("")?;
            out.line(format_args!(
                "{} #{} {}: {} cycles, {}",
                result.gpu.model.name,
                kernel.uid,
                kernel.estimate.name,
                grouped(kernel.estimate.cycles),
                time_ns(kernel.estimate.time_ns)
            ))?;
            out.line(format_args!("  {}", it.limit))?;
            for help in &it.helps {
                let up_to = help.up_to.map_or(String::new(), |times| {
                    format!(" (at most {times:.2} times as fast)")
                });
                out.line(format_args!("  would help: {}{up_to}", help.what))?;
            }
            list(out, "time", &it.parts)?;
            list(out, "each resource alone", &it.bounds)?;
            list(out, "warps' time", &it.waits)?;
            for rate in &it.rates {
                let text = match rate.text.as_str() {
                    "" => String::new(),
                    text => format!(" ({text})"),
                };
                out.line(format_args!(
                    "  {}: {:.1} %{text}",
                    rate.label,
                    rate.share * 100.0
                ))?;
            }
            for caveat in &it.caveats {
                out.line(format_args!("  note: {caveat}"))?;
            }
        }
    }
    Ok(())
}

fn list(out: &mut Out, title: &str, bars: &[Bar]) -> Result {
    if bars.is_empty() {
        return Ok(());
    }
    out.line(format_args!("  {title}:"))?;
    for bar in bars {
        out.line(format_args!(
            "    {:>5.1} %  {:>14}  {}",
            bar.share * 100.0,
            grouped(bar.cycles.round() as u64),
            bar.label
        ))?;
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
            "provenance": kernel.origin.to_string(),
            "cached": kernel.origin.cached,
            "grid": kernel.grid,
            "block": kernel.block,
            "l2_start": kernel.estimate.l2_start(),
            "estimate": kernel.estimate,
            "explanation": kernel.explanation(),
        })).collect::<Vec<_>>(),
        "totals": {
            "kernels": result.kernels.len(),
            "cycles": result.sum(|kernel| kernel.cycles),
            "time_ns": result.time_ns(),
            "warp_insts": result.sum(|kernel| kernel.warp_insts),
            "thread_insts": result.sum(|kernel| kernel.thread_insts),
        },
        "origins": {
            "simulated": result.origins()[0],
            "shared": result.origins()[1],
            "cached": result.origins()[2],
        },
        "dedup_checks": result.checks.iter().map(|check| json!({
            "uid": check.uid,
            "name": check.name,
            "cycles": check.cycles,
            "checked": check.checked,
            "worst_uid": check.worst_uid,
            "worst_cycles": check.worst_cycles,
            "max_difference_cycles": check.difference(),
            "max_difference_relative": check.relative(),
        })).collect::<Vec<_>>(),
        "seconds": result.seconds,
        "error": result.error.as_ref().map(ToString::to_string),
    })
}
