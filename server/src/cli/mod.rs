//! The command line: what `cascade` can be asked to do.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 a run or a
//! simulation failed, 2 wrong usage or input, 3 the server cannot be reached.

mod bench;
mod completions;
mod engine;
mod fail;
mod gpus;
mod kernels;
mod log;
mod numbers;
mod out;
mod plan;
mod progress;
mod remote;
mod results;
mod reuse;
mod runs;
mod scenario;
mod simulate;
mod steps;
mod table;
mod trace;
mod upload;
mod watch;
mod worker;

use std::process::ExitCode;

use cascade_server::config::ServeArgs;
use clap::{Parser, Subcommand};

use fail::Fail;
use out::Out;

/// What a command returns.
type Result<T = (), E = Fail> = std::result::Result<T, E>;

/// Trace an LLM workload once, simulate it on many GPUs at once.
#[derive(Debug, Parser)]
#[command(
    name = "cascade",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 done · 1 a run or a simulation failed · 2 wrong usage or input · 3 the server cannot \
                  be reached.\nResults go to standard output, notes and errors to standard error."
)]
struct Cli {
    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the app: the API, the pages, the S3 endpoint and the sims
    Serve {
        #[command(flatten)]
        settings: Box<ServeArgs>,
        /// Print the settings in force, secrets masked, and exit
        #[arg(long)]
        print_config: bool,
    },
    /// Be one sim: run an engine and report to the app (the app starts this)
    Worker(worker::Args),
    /// Simulate a trace here and now, without a server
    SimulateTrace(simulate::Args),
    /// Put simulated kernel times into a measured timeline: steps, requests, errors
    Simulate(steps::SimulateArgs),
    /// Compare a simulated timeline with the measured one
    Compare(steps::CompareArgs),
    /// Say which kernels of a trace a simulation would run, and which share a result
    Plan(plan::Args),
    /// Run request mixes: what users of an inference server would see
    #[command(subcommand)]
    Scenario(scenario::Command),
    /// Read an Accel-Sim log
    #[command(subcommand)]
    Log(log::Command),
    /// Upload a trace's folder to the app's bucket
    Upload(upload::Args),
    /// List, show, watch, create and cancel runs
    #[command(subcommand)]
    Runs(runs::Command),
    /// Download a run's results as one JSON file
    Results(results::Args),
    /// Look at, make and post-process traces
    #[command(subcommand)]
    Trace(trace::Command),
    /// The GPUs that Cascade's engine knows, and every value's source
    Gpus(gpus::Args),
    /// Check Cascade's engine on a GPU: kernels with known answers, and laws that must hold
    BenchEngine(bench::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Out::new(cli.json);
    let result = match cli.command {
        Command::Serve {
            settings,
            print_config: false,
        } => serve(*settings),
        Command::Serve { settings, .. } => print_config(*settings, &mut out),
        Command::Worker(args) => worker::run(args),
        Command::SimulateTrace(args) => simulate::run(args, &mut out),
        Command::Simulate(args) => steps::simulate(args, &mut out),
        Command::Compare(args) => steps::compare(args, &mut out),
        Command::Plan(args) => plan::run(args, &mut out),
        Command::Scenario(command) => scenario::run(command, &mut out),
        Command::Log(command) => log::run(command, &mut out),
        Command::Upload(args) => upload::run(args, &mut out),
        Command::Runs(command) => runs::run(command, &mut out),
        Command::Results(args) => results::run(args, &mut out),
        Command::Trace(command) => trace::run(command, &mut out),
        Command::Gpus(args) => gpus::run(args, &mut out),
        Command::BenchEngine(args) => bench::run(args, &mut out),
        Command::Completions(args) => completions::run(&args, &mut out),
    };
    match result.and_then(|()| out.finish()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fail) => {
            // What was printed so far stands, also when the command failed after it.
            if let (Some(message), Ok(()) | Err(_)) = (fail.message(), out.finish()) {
                out::note(format_args!("cascade: {message}"));
            }
            fail.exit_code()
        }
    }
}

/// Runs the app until it is told to stop.
fn serve(args: ServeArgs) -> Result {
    let settings = args.resolve().map_err(Fail::usage)?;
    block_on(async {
        let served = cascade_server::serve::serve(settings).await;
        served.map_err(|error| Fail::failed(format_args!("{error:#}")))
    })
}

/// Prints what [`serve`] would run with.
fn print_config(args: ServeArgs, out: &mut Out) -> Result {
    let settings = args.resolve().map_err(Fail::usage)?;
    out.line(settings.to_string().trim_end())
}

/// Runs an async command to its end.
fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime
        .map_err(|error| Fail::failed(format!("cannot start: {error}")))?
        .block_on(future)
}
