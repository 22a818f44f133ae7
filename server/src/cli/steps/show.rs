//! A step digest as tables: requests, steps by kind, kernel groups, corrections.

use cascade_api::{RealSim, StepDigest};

use crate::cli::Result;
use crate::cli::numbers::{grouped, time_ns};
use crate::cli::out::Out;
use crate::cli::table::Table;

/// Prints a digest.
pub(crate) fn digest(digest: &StepDigest, out: &mut Out) -> Result {
    if let Some(note) = &digest.note {
        out.line(format_args!("NOTE: {note}"))?;
    }
    if digest.counterfactual {
        let real = digest.real_gpu.as_deref().unwrap_or("another GPU");
        out.line(format_args!(
            "Measured on {real}: there is no measurement of the simulated GPU, so no error is given."
        ))?;
    }
    requests(digest, out)?;
    out.line("")?;
    kinds(digest, out)?;
    out.line("")?;
    groups(digest, out)?;
    out.line("")?;
    corrections(digest, out)?;
    coverage(digest, out)
}

fn requests(digest: &StepDigest, out: &mut Out) -> Result {
    let mut table = Table::default().text("request");
    for name in [
        "TTFT real",
        "sim",
        "error",
        "ITL real",
        "sim",
        "error",
        "E2E real",
        "sim",
        "error",
    ] {
        table = table.number(name);
    }
    let mean = std::iter::once(("mean".to_owned(), &digest.mean));
    let repeats = digest.requests.iter();
    let repeats = repeats.map(|r| (r.repeat.map_or_else(String::new, |n| format!("repeat {n}")), r));
    for (name, request) in repeats.chain(mean) {
        let pairs = [&request.ttft_ms, &request.itl_ms, &request.e2e_ms];
        let cells = pairs.map(|pair| [ms(pair.real), ms(pair.simulated), percent(pair)]);
        table.row(std::iter::once(name).chain(cells.into_iter().flatten()));
    }
    out.table(&table)
}

fn kinds(digest: &StepDigest, out: &mut Out) -> Result {
    let mut table = Table::default().text("step").number("steps");
    for name in [
        "wall real",
        "sim",
        "error",
        "GPU busy real",
        "sim",
        "error",
        "host kept",
        "gap kept",
    ] {
        table = table.number(name);
    }
    for kind in &digest.kinds {
        let pairs = [&kind.wall_ns, &kind.gpu_busy_ns];
        let cells = pairs.map(|pair| [ns(pair.real), ns(pair.simulated), percent(pair)]);
        let head = [kind.kind.clone(), grouped(kind.steps)];
        let tail = [ns(kind.host_ns), ns(kind.gap_before_ns)];
        table.row(head.into_iter().chain(cells.into_iter().flatten()).chain(tail));
    }
    out.table(&table)
}

fn groups(digest: &StepDigest, out: &mut Out) -> Result {
    let mut table = Table::default()
        .text("kernel group")
        .number("launches")
        .number("real")
        .number("sim")
        .number("error")
        .number("in a decode step");
    for group in &digest.groups {
        table.row([
            group.group.clone(),
            grouped(group.launches),
            ns(group.mean_ns.real),
            ns(group.mean_ns.simulated),
            percent(&group.mean_ns),
            ns(group.step_ns.get("decode").copied()),
        ]);
    }
    out.table(&table)
}

fn corrections(digest: &StepDigest, out: &mut Out) -> Result {
    if digest.corrections.len() < 2 {
        return Ok(());
    }
    let mut table = Table::default()
        .text("correction of kernel times")
        .text("fitted")
        .number("group error %")
        .number("GPU busy")
        .number("E2E")
        .text("groups that got worse");
    for correction in &digest.corrections {
        table.row([
            correction.label.clone(),
            correction.sample.clone(),
            correction
                .group_error_pct
                .map_or_else(|| "-".to_owned(), |pct| format!("{pct:.1}")),
            ns(correction.gpu_busy_ns.simulated),
            ms(correction.e2e_ms.simulated),
            correction.worse.join(", "),
        ]);
    }
    out.table(&table)?;
    out.line("")
}

fn coverage(digest: &StepDigest, out: &mut Out) -> Result {
    let (c, percent) = (&digest.coverage, |part: Option<f64>| {
        part.map_or_else(|| "-".to_owned(), |part| format!("{:.2} %", 100.0 * part))
    });
    let labels: Vec<String> = digest
        .provenance
        .iter()
        .map(|(label, count)| format!("{} {label}", grouped(*count)))
        .collect();
    out.line(format_args!(
        "simulated: {} of {} kernels, {} of the measured GPU time ({})",
        grouped(c.simulated_kernels),
        grouped(c.kernels),
        percent(c.gpu_time_fraction),
        labels.join(", ")
    ))?;
    let Some(d) = &digest.dilution else {
        return Ok(());
    };
    out.line(format_args!(
        "the GPU is busy in {:.1} % of a step; its time is {:+.2} % off, the step {:+.2} %: host time is kept as \
         measured and hides the difference",
        100.0 * d.gpu_share,
        d.gpu_error_pct,
        d.step_error_pct
    ))
}

/// Milliseconds.
pub(super) fn ms(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.3} ms"))
}

fn ns(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), time_ns)
}

/// The signed error as a difference and per cent.
pub(super) fn error(pair: &RealSim, show: fn(Option<f64>) -> String) -> String {
    match pair.error {
        None => "-".to_owned(),
        Some(error) => {
            let sign = if error >= 0.0 { "+" } else { "-" };
            let pct = pair
                .error_pct
                .map_or_else(String::new, |pct| format!(" ({pct:+.2} %)"));
            format!("{sign}{}{pct}", show(Some(error.abs())))
        }
    }
}

fn percent(pair: &RealSim) -> String {
    pair.error_pct
        .map_or_else(|| "-".to_owned(), |pct| format!("{pct:+.2} %"))
}
