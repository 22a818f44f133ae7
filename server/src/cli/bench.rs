//! `cascade bench-engine`: the engine's validation suite on any GPU.

use cascade_engine::suite::{Check, Findings, KINDS};
use cascade_worker::simulate::find_gpu;
use serde_json::{Value, json};

use super::fail::Fail;
use super::gpus::DirArgs;
use super::numbers::four_digits;
use super::out::{Out, note};
use super::table::Table;
use super::{Result, progress};

/// Which GPU to check the engine on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GPU, such as SM90_H100 (see `cascade gpus`)
    #[arg(long, value_name = "NAME", default_value = "SM90_H100")]
    gpu: String,
    /// Only these kinds, 1 to 16
    #[arg(long, value_name = "N", value_delimiter = ',')]
    kind: Vec<u8>,
    #[command(flatten)]
    dirs: DirArgs,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let gpu = find_gpu(&args.gpu, &args.dirs.told()).map_err(Fail::usage)?;
    let known = |number: &u8| KINDS.iter().any(|kind| kind.number == *number);
    if let Some(number) = args.kind.iter().find(|number| !known(number)) {
        return Err(Fail::usage(format_args!(
            "--kind {number}: there are kinds 1 to {}",
            KINDS.len()
        )));
    }
    let wanted = |number: u8| args.kind.is_empty() || args.kind.contains(&number);
    let kinds: Vec<_> = KINDS.iter().filter(|kind| wanted(kind.number)).collect();
    let bar = progress::count(kinds.len() as u64);
    let mut all = Findings::default();
    for kind in kinds {
        let found = kind.run(&gpu.model);
        all.checks.extend(found.checks);
        all.skipped.extend(found.skipped);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let failed = all.failures().count();
    if out.is_json() {
        out.json(&json!({
            "gpu": gpu.model.name,
            "facts_hash": gpu.model.facts_hash(),
            "status": gpu.model.status.as_str(),
            "status_note": gpu.model.status_note,
            "failed": failed,
            "checks": all.checks.iter().map(entry).collect::<Vec<_>>(),
            "skipped": all.skipped,
        }))?;
    } else {
        print(&all, out)?;
        out.line(format_args!(
            "{}: {} checks, {failed} out of tolerance, {} not for this GPU. The answers follow from its description; \
             they say nothing about real hardware. This GPU is {}: {}",
            gpu.model.name,
            all.checks.len(),
            all.skipped.len(),
            gpu.model.status.as_str(),
            gpu.model.status_note
        ))?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Fail::failed(format_args!("{failed} checks are out of tolerance"))),
    }
}

fn kind_name(number: u8) -> &'static str {
    let kind = KINDS.iter().find(|kind| kind.number == number);
    kind.map_or("", |kind| kind.name)
}

fn entry(check: &Check) -> Value {
    json!({
        "kind": check.kind,
        "kind_name": kind_name(check.kind),
        "name": check.name,
        "unit": check.unit,
        "expected": check.expected,
        "got": check.got,
        "relative_error": check.error(),
        "rule": check.rule.words(),
        "holds": check.holds(),
        "why": check.why,
    })
}

fn print(all: &Findings, out: &mut Out) -> Result {
    let mut table = Table::default()
        .number("#")
        .text("kind")
        .text("what")
        .number("expected")
        .number("got")
        .text("unit")
        .number("off")
        .text("allowed")
        .text("");
    for check in &all.checks {
        let off = match check.expected {
            0.0 => four_digits(check.got),
            _ => format!("{:+.2} %", check.error() * 100.0),
        };
        table.row(vec![
            check.kind.to_string(),
            kind_name(check.kind).to_owned(),
            check.name.clone(),
            four_digits(check.expected),
            four_digits(check.got),
            check.unit.clone(),
            off,
            check.rule.words(),
            if check.holds() { "ok" } else { "OUT" }.to_owned(),
        ]);
    }
    out.table(&table)?;
    for skipped in &all.skipped {
        note(format_args!(
            "kind {}, {}: {}",
            skipped.kind, skipped.name, skipped.why
        ));
    }
    Ok(())
}
