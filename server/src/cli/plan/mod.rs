//! `cascade plan`: what simulating a trace would take.

mod coverage;
mod report;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use cascade_worker::simulate::{Plan, Reuse};

use super::fail::Fail;
use super::out::{Out, note};
use super::reuse::ReuseArgs;
use super::simulate::source;
use super::{Result, progress};

/// Which trace, and how its kernels are grouped.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A trace's folder, its `traces` folder, a kernel list, or one kernel's trace
    trace: PathBuf,
    #[command(flatten)]
    reuse: ReuseArgs,
    /// Launches of the timeline that kernels of the trace stand for [default: kernel_mapping.json beside the
    /// trace]
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// The timeline of the real run [default: corrected_timeline.json beside the trace]
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Write the plan to this file, as JSON
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// Kernels read at once [default: all cores]
    #[arg(long, short = 'j', value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Where raw traces are post-processed [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let threads = args
        .jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, usize::from);
    let found = source::find(&args.trace, args.scratch.as_deref(), threads)?;
    let cache = args.reuse.cache.open();
    let reuse = Reuse {
        dedup: args.reuse.dedup.into(),
        verify: args.reuse.verify_dedup,
        cache: cache.as_ref(),
    };
    let bar = progress::count(found.kernels.list.kernels().count() as u64);
    let plan = Plan::new(&found.kernels, reuse, threads, &|| false, &mut || bar.inc(1));
    bar.finish_and_clear();
    let plan = plan.map_err(Fail::usage)?;
    plan.notes.iter().for_each(note);
    let coverage = coverage::of(&plan, &args.trace, args.mapping, args.timeline)?;
    let json = report::json(&plan, &args.trace, reuse.verify, coverage.as_ref());
    if let Some(path) = &args.output {
        let file = File::create(path).map_err(Fail::file(path))?;
        let mut file = BufWriter::new(file);
        let written = serde_json::to_writer_pretty(&mut file, &json).map_err(std::io::Error::from);
        let written = written.and_then(|()| writeln!(file)).and_then(|()| file.flush());
        written.map_err(Fail::file(path))?;
    }
    if out.is_json() {
        out.json(&json)
    } else {
        report::print(&plan, coverage.as_ref(), out)
    }
}
