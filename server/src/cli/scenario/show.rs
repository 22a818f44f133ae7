//! A scenario's result as text.

use serde_json::Value;

use super::Shown;
use crate::cli::Result;
use crate::cli::numbers::{counted, four_digits, grouped};
use crate::cli::out::Out;
use crate::cli::table::Table;

/// A time in ms, or a dash.
pub(super) fn ms(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

pub(super) fn outcome(shown: &Shown, out: &mut Out) -> Result {
    let outcome = &shown.outcome;
    out.line(format_args!("{} · {}", shown.gpu_config, shown.base))?;
    let setting = |name: &str| outcome.scheduler.get(name).map_or(String::new(), plain);
    out.line(format_args!(
        "rules {} · max_num_seqs {} · max_num_batched_tokens {} · {} KV blocks of {} tokens",
        setting("rules"),
        setting("max_num_seqs"),
        setting("max_num_batched_tokens"),
        setting("num_kv_blocks"),
        setting("block_size"),
    ))?;
    let mut table = Table::default().text("latency, ms");
    for name in ["mean", "p50", "p90", "p99", "p50 low", "p50 high"] {
        table = table.number(name);
    }
    let (low, high) = (&outcome.band.low, &outcome.band.high);
    let rows = [
        ("TTFT", "ttft", Some((low.p50_ttft_ms, high.p50_ttft_ms))),
        ("ITL", "itl", Some((low.p50_itl_ms, high.p50_itl_ms))),
        ("TPOT", "tpot", None),
        ("E2E", "e2el", Some((low.p50_e2e_ms, high.p50_e2e_ms))),
        ("queue", "queue", None),
    ];
    for (name, field, band) in rows {
        let stats = outcome.report.get(field);
        let count = stats.and_then(|s| s.get("count")).and_then(Value::as_u64);
        let of = |pointer: &str| {
            let value = stats.filter(|_| count > Some(0)).and_then(|s| s.pointer(pointer));
            ms(value.and_then(Value::as_f64))
        };
        let percentile = |n: usize| of(&format!("/percentiles/{n}/value"));
        let (low, high) = band.unwrap_or_default();
        let cells = [
            of("/mean"),
            percentile(0),
            percentile(1),
            percentile(2),
            ms(low),
            ms(high),
        ];
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }
    out.table(&table)?;
    let number = |name: &str| outcome.report.get(name).and_then(Value::as_f64);
    let whole = |name: &str| {
        outcome
            .report
            .get(name)
            .and_then(Value::as_u64)
            .unwrap_or_default()
    };
    let band = (low.throughput_output_tokens_s, high.throughput_output_tokens_s);
    out.line(format_args!(
        "{:.2} output tokens/s ({:.2} to {:.2}) · {} completed, {} refused · {} · {}",
        outcome.aggregate.throughput_output_tokens_s,
        band.0,
        band.1,
        grouped(whole("completed")),
        grouped(whole("refused")),
        counted(whole("preemptions"), "preemption"),
        counted(outcome.steps_total, "step"),
    ))?;
    if let Some(share) = number("slo_attainment") {
        out.line(format_args!(
            "{:.1} % of the requests keep the SLO",
            share * 100.0
        ))?;
    }
    if let Some(cost) = number("cost_per_million_output_tokens") {
        out.line(format_args!("{} for a million output tokens", four_digits(cost)))?;
    }
    let counts = &outcome.provenance_counts;
    let names = [
        ("measured", counts.measured),
        ("interpolated", counts.interpolated),
        ("extrapolated:roofline", counts.extrapolated),
        ("datasheet", counts.datasheet),
        ("assumed-host", counts.assumed_host),
    ];
    let said = names
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{name} {n}"));
    out.line(format_args!(
        "steps by provenance: {}",
        said.collect::<Vec<_>>().join(", ")
    ))?;
    for warning in &outcome.warnings {
        out.line(format_args!("warning: {warning}"))?;
    }
    out.line("Predictions, not measurements. Assumed:")?;
    for note in &outcome.assumptions {
        out.line(format_args!("- {note}"))?;
    }
    Ok(())
}

/// A JSON value without quotes.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
