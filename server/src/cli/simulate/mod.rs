//! `cascade simulate-trace`: a trace folder on one or more GPUs, on the spot.

mod report;
pub(crate) mod source;

use std::fs::File;
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cascade_engine::report::LogWriter;
use cascade_engine::{EngineError, Options};
use cascade_worker::simulate::{Check, Gpu, Kernels, Reuse, SimulateError, Step, find_gpu, simulate};
use indicatif::ProgressBar;

use super::engine::EngineArgs;
use super::fail::Fail;
use super::gpus::DirArgs;
use super::out::{Out, note};
use super::reuse::ReuseArgs;
use super::{Result, progress};
use report::{Kernel, Simulated};

/// What to simulate, on which GPUs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A trace's folder, its `traces` folder, a kernel list, or one kernel's trace; raw traces are
    /// post-processed into a temporary folder first
    trace: PathBuf,
    /// A GPU, such as SM90_H100; may be given several times (see `cascade gpus`)
    #[arg(long = "gpu", value_name = "NAME", required = true, num_args = 1.., value_delimiter = ',')]
    gpus: Vec<String>,
    /// The engine
    #[arg(long, value_enum, default_value_t = Engine::Cascade)]
    engine: Engine,
    /// Say of each kernel what limits it and what would help
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    closely: EngineArgs,
    /// Write the log that a sim would print (one GPU only)
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Kernels simulated at once [default: all cores]
    #[arg(long, short = 'j', value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Where raw traces are post-processed [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
    #[command(flatten)]
    reuse: ReuseArgs,
}

/// Engines that need no server.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Engine {
    /// Cascade's own.
    Cascade,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let Engine::Cascade = args.engine;
    if args.log.is_some() && args.gpus.len() > 1 {
        return Err(Fail::usage(
            "--log takes the log of one GPU: give one --gpu, or run the command once for each",
        ));
    }
    let dirs = args.dirs.told();
    let gpus = args.gpus.iter().map(|name| find_gpu(name, &dirs));
    let gpus = gpus.collect::<Result<Vec<Gpu>, _>>().map_err(Fail::usage)?;
    let threads = args
        .jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, usize::from);
    let found = source::find(&args.trace, args.scratch.as_deref(), threads)?;
    let kernels = &found.kernels;
    for remark in &kernels.list.notes {
        note(format_args!(
            "{}:{}: {}",
            kernels.path.display(),
            remark.line,
            remark.text
        ));
    }
    let bar = progress::count((kernels.list.kernels().count() * gpus.len()) as u64);
    let cache = args.reuse.cache.open();
    let reuse = Reuse {
        dedup: args.reuse.dedup.into(),
        verify: args.reuse.verify_dedup,
        cache: cache.as_ref(),
    };
    let options = args.closely.options();
    let results: Result<Vec<Simulated>> = gpus
        .into_iter()
        .map(|gpu| one(kernels, gpu, &options, reuse, threads, args.log.as_deref(), &bar))
        .collect();
    bar.finish_and_clear();
    let results = results?;
    if out.is_json() {
        out.json(&report::json(kernels, &results))?
    } else {
        report::print(&results, out)?;
        if args.explain {
            report::explain(&results, out)?;
        }
    }
    let failures: Vec<&Simulated> = results.iter().filter(|result| result.error.is_some()).collect();
    if failures.is_empty() {
        return Ok(());
    }
    let told = |result: &&Simulated| {
        let error = result
            .error
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        format!("{}: {error}", result.gpu.model.name)
    };
    let message = failures.iter().map(told).collect::<Vec<_>>().join("\n");
    // A trace of another architecture is wrong input; a trace that breaks in the middle is a failed simulation.
    let wrong_input = failures.iter().all(|result| {
        matches!(
            result.error,
            Some(
                SimulateError::Engine(EngineError::Arch(_))
                    | SimulateError::Open { .. }
                    | SimulateError::List(_)
            )
        )
    });
    Err(if wrong_input {
        Fail::Usage(message)
    } else {
        Fail::failed(message)
    })
}

/// Simulates on one GPU. What cannot be simulated is part of the result.
fn one(
    kernels: &Kernels,
    gpu: Gpu,
    options: &Options,
    reuse: Reuse<'_>,
    threads: usize,
    log: Option<&Path>,
    bar: &ProgressBar,
) -> Result<Simulated> {
    let mut log = match log {
        None => None,
        Some(path) => {
            let file = File::create(path).map_err(Fail::file(path))?;
            let list = kernels.path.to_string_lossy();
            Some(LogWriter::new(BufWriter::new(file), &gpu.model, options, &list).map_err(Fail::file(path))?)
        }
    };
    let started = Instant::now();
    let mut done = Vec::new();
    let mut checks: Vec<Check> = Vec::new();
    let result = simulate(
        kernels,
        &gpu.model,
        options,
        reuse,
        threads,
        &|| false,
        &mut |step| match step {
            Step::Memcpy { address, bytes } => match &mut log {
                Some(log) => log.memcpy(&format!("MemcpyHtoD,{address:#018x},{bytes}")),
                None => Ok(()),
            },
            Step::Started { file, uid, header } => match &mut log {
                Some(log) => log.kernel_started(file, header, uid),
                None => Ok(()),
            },
            Step::Finished {
                uid,
                header,
                estimate,
                origin,
            } => {
                bar.inc(1);
                done.push(Kernel::new(uid, header, estimate, origin));
                match &mut log {
                    Some(log) => log.kernel_finished(estimate, uid, origin, started.elapsed().as_secs_f64()),
                    None => Ok(()),
                }
            }
            Step::Checked(check) => {
                checks.push(check.clone());
                match &mut log {
                    Some(log) => log.note(&check.to_string()),
                    None => Ok(()),
                }
            }
            Step::Note(text) => {
                note(text);
                match &mut log {
                    Some(log) => log.note(text),
                    None => Ok(()),
                }
            }
        },
    );
    let error = result.err();
    if let Some(log) = log {
        let ended = match &error {
            None => log.finish(),
            Some(error) => log.fail(&error.to_string()),
        };
        ended.map_err(|error| Fail::failed(format_args!("the log could not be written: {error}")))?;
    }
    Ok(Simulated {
        gpu,
        options: *options,
        kernels: done,
        checks,
        error,
        seconds: started.elapsed().as_secs_f64(),
    })
}
