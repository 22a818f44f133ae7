//! `cascade scenario`: what users of a server would see, with a running app or without one.

mod ask;
mod base;
mod compare;
mod conform;
mod saved;
mod search;
mod show;
mod sweep;

use cascade_api::ScenarioOutcome;
use serde::Serialize;

use super::out::Out;
use super::remote::Remote;
use super::{Result, block_on};
use ask::Args;
use base::Base;

/// What to do with scenarios.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Run a request mix through a scheduler, with step times from a finished sim, a sample, a timeline or a datasheet
    Run(Box<Args>),
    /// Run a scenario with one or two of its inputs varied
    Sweep {
        #[command(flatten)]
        args: Box<Args>,
        /// An input and its values: num_requests=1,8,64 or scheduler.max_num_seqs=16,256; once or twice
        #[arg(long, value_name = "PATH=VALUE,…", required = true, value_parser = sweep::axis)]
        vary: Vec<sweep::Axis>,
    },
    /// Find the highest rate of requests that meets limits on latency
    Rate(Box<search::RateArgs>),
    /// Find the GPUs and settings of which none has more throughput at no more latency
    Pareto(Box<search::ParetoArgs>),
    /// Run a scenario in the app and keep it there, with its result in brief
    Save {
        /// What it is called
        name: String,
        #[command(flatten)]
        args: Box<Args>,
    },
    /// Saved scenarios, newest first
    List(Remote),
    /// What a saved scenario asked, and what it came to
    Show(saved::Chosen),
    /// Saved scenarios side by side, each against the first
    Compare(saved::Chosen),
    /// Delete saved scenarios
    Delete(saved::Chosen),
    /// Replay step traces of vLLM's scheduler and name the first difference of each; exit code 1 if there is any
    Conform(conform::Args),
}

/// A result and what it rests on.
#[derive(Debug, Serialize)]
struct Shown {
    base: String,
    gpu_config: String,
    #[serde(flatten)]
    outcome: ScenarioOutcome,
}

pub(crate) fn run(command: Command, out: &mut Out) -> Result {
    match command {
        Command::Run(args) => {
            let (body, base) = (args.body()?, Base::of(&args)?);
            let shown = block_on(base.run(&body))?;
            if out.is_json() {
                return out.json(&shown);
            }
            show::outcome(&shown, out)
        }
        Command::Sweep { args, vary } => sweep::run(&args, &vary, out),
        Command::Rate(args) => search::rate(&args, out),
        Command::Pareto(args) => search::front(&args, out),
        Command::Save { name, args } => saved::save(&name, &args, out),
        Command::List(remote) => saved::list(&remote, out),
        Command::Show(chosen) => saved::show(&chosen, out),
        Command::Compare(chosen) => saved::compare(&chosen, out),
        Command::Delete(chosen) => saved::delete(&chosen, out),
        Command::Conform(args) => conform::run(&args, out),
    }
}
