//! `cascade trace`: look at, make and post-process traces.

mod info;
mod post;
mod synth;

use cascade_accelsim::trace::TraceFormat;

use super::Result;
use super::out::Out;

/// What to do with traces.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The app's traces, newest first
    List(info::ListArgs),
    /// What a trace holds: a folder or file here, or a trace of the app by its id
    Info(info::Args),
    /// Write a synthetic trace with a known instruction stream
    Synth(synth::Args),
    /// Turn raw traces into those that simulators read
    PostProcess(post::Args),
}

pub(crate) fn run(command: Command, out: &mut Out) -> Result {
    match command {
        Command::List(args) => info::list(&args, out),
        Command::Info(args) => info::run(&args, out),
        Command::Synth(args) => synth::run(args, out),
        Command::PostProcess(args) => post::run(args, out),
    }
}

/// A format of processed kernels, as options name it.
fn format(text: &str) -> Result<TraceFormat, String> {
    match text {
        "tracez" => Ok(TraceFormat::Packed),
        "traceg.xz" => Ok(TraceFormat::TextXz),
        "traceg" => Ok(TraceFormat::Text),
        _ => Err("must be tracez, traceg.xz or traceg".to_owned()),
    }
}
