//! `cascade compare`: a simulated timeline against the measured one.

use std::path::PathBuf;

use cascade_steps::digest::NOTE_FIELDS;
use cascade_steps::{StepComparison, compare_steps, same_gpu};

use super::show::{error, ms};
use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::numbers::{counted, time_ns};
use crate::cli::out::Out;
use crate::cli::table::Table;

/// Two timelines of one profile.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The measured timeline, corrected_timeline.json
    real: PathBuf,
    /// The simulated one, simulated_timeline.json
    simulated: PathBuf,
    /// Write compare.json here as well; - is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let (real, simulated) = (super::timeline(&args.real)?, super::timeline(&args.simulated)?);
    let compared = compare_steps(&real, &simulated).map_err(Fail::usage)?;
    if let Some(path) = &args.output {
        super::write(path, &compared, out)?;
        if path.as_os_str() == "-" {
            return Ok(());
        }
    }
    if out.is_json() {
        return out.json(&compared);
    }
    let text = |field| real.meta_text(field);
    if let Some(note) = NOTE_FIELDS.iter().find_map(|field| text(field)) {
        out.line(format_args!("NOTE: {note}"))?;
    }
    let simulation = simulated.summary.get("simulation");
    let config = simulation
        .and_then(|s| s.get("gpu_config"))
        .and_then(|v| v.as_str());
    let gpu = text("gpu_name").unwrap_or("an unknown GPU");
    if !config.is_some_and(|config| same_gpu(config, gpu)) {
        let config = config.unwrap_or("a GPU that the file does not name");
        out.line(format_args!(
            "Measured on {gpu}, simulated on {config}: read what follows as differences, not as errors of the simulation."
        ))?;
    }
    requests(&compared, out)?;
    steps(&compared, out)
}

fn requests(compared: &StepComparison, out: &mut Out) -> Result {
    let mut table = Table::default()
        .number("repeat")
        .text("request")
        .number("real")
        .number("simulated")
        .number("difference");
    for request in &compared.requests {
        for (name, pair) in [
            ("TTFT", &request.ttft_ms),
            ("mean ITL", &request.itl_ms_mean),
            ("p50 ITL", &request.itl_ms_p50),
            ("E2E", &request.e2e_ms),
        ] {
            if pair.real.or(pair.simulated).is_some() {
                table.row([
                    request.repeat.to_string(),
                    name.to_owned(),
                    ms(pair.real),
                    ms(pair.simulated),
                    error(pair, ms),
                ]);
            }
        }
    }
    out.table(&table)
}

fn steps(compared: &StepComparison, out: &mut Out) -> Result {
    out.line(format_args!(
        "\n{}, absolute differences:",
        counted(compared.steps.len() as u64, "step")
    ))?;
    let mut table = Table::default()
        .text("")
        .number("mean")
        .number("p50")
        .number("p95")
        .number("mean %")
        .number("p95 %")
        .number("signed mean %");
    let ns = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), time_ns);
    let pct = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.3}"));
    for (name, s) in [
        ("wall", &compared.summary.wall_ns),
        ("GPU busy", &compared.summary.gpu_busy_ns),
    ] {
        table.row([
            name.to_owned(),
            ns(s.mean_abs_error),
            ns(s.p50_abs_error),
            ns(s.p95_abs_error),
            pct(s.mean_abs_error_pct),
            pct(s.p95_abs_error_pct),
            s.mean_error_pct
                .map_or_else(|| "-".to_owned(), |v| format!("{v:+.3}")),
        ]);
    }
    out.table(&table)
}
