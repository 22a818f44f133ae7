//! `cascade worker`: one sim.

use std::path::PathBuf;
use std::time::Duration;

use cascade_client::Client;
use cascade_worker::{EngineChoice, Job, Outcome, Replay};

use super::engine::EngineArgs;
use super::fail::Fail;
use super::gpus::DirArgs;
use super::reuse::ReuseArgs;
use super::{Result, block_on};

/// The simulator contract's variables, and what this worker runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The engine: Accel-Sim, Cascade's own, or whichever is there
    #[arg(long, env = "CASCADE_ENGINE", value_enum, default_value_t = Choice::Auto)]
    engine: Choice,
    /// Play this recorded log back instead of running an engine
    #[arg(long, value_name = "LOG")]
    replay: Option<PathBuf>,
    /// Pause of a playback after every 200 lines, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.05, value_parser = seconds)]
    delay: f64,
    /// Upload this folder's files as if the simulator had written them
    #[arg(long, value_name = "DIR", requires = "replay")]
    replay_outputs: Option<PathBuf>,
    /// Kernels that Cascade's engine simulates at once [default: all cores]
    #[arg(long, short = 'j', env = "CASCADE_WORKER_THREADS", value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    closely: EngineArgs,
    #[command(flatten)]
    reuse: ReuseArgs,
    /// Times for launches that were not traced: off, identical, interp [default: as metadata.json says, else off]
    #[arg(long, env = "CASCADE_PROPAGATE", value_name = "HOW")]
    propagate: Option<cascade_steps::Propagate>,
    /// Stop a simulator that prints nothing for this many seconds
    #[arg(long, env = "CASCADE_SILENCE_S", value_name = "S", value_parser = seconds)]
    silence: Option<f64>,
    /// This sim's id
    #[arg(long, env = "CASCADE_SIM_ID", value_name = "ID")]
    sim: String,
    /// The app's address
    #[arg(long, env = "CASCADE_MAIN_URL", value_name = "URL")]
    main_url: String,
    /// The token of every request
    #[arg(
        long,
        env = "CASCADE_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    token: String,
    /// The GPU to simulate
    #[arg(long, env = "CASCADE_GPU_CONFIG", value_name = "NAME")]
    gpu: String,
    /// The trace's folder, with traces/kernelslist.g in it
    #[arg(long, env = "CASCADE_TRACE_DIR", value_name = "DIR")]
    trace_dir: PathBuf,
    #[command(flatten)]
    dirs: DirArgs,
    /// What the worker says about itself on standard error, as tracing filters write it
    #[arg(long, env = "CASCADE_LOG", default_value = "info", value_name = "FILTER")]
    log: String,
}

/// Engines by name. The app may name `custom` and `replay` too, which say nothing here.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Choice {
    #[value(aliases = ["custom", "replay"])]
    Auto,
    AccelSim,
    Cascade,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if (0.0..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("must be 0 to 86400 seconds".to_owned())
    }
}

pub(crate) fn run(args: Args) -> Result {
    let filter = tracing_subscriber::EnvFilter::try_new(&args.log)
        .map_err(|error| Fail::usage(format_args!("--log {:?}: {error}", args.log)))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let client = Client::new(&args.main_url, args.token.trim())?;
    let engine = match (args.replay, args.engine) {
        (Some(log), _) => EngineChoice::Replay(Replay {
            log,
            delay: Duration::from_secs_f64(args.delay),
            outputs: args.replay_outputs,
        }),
        (None, Choice::Auto) => EngineChoice::Auto,
        (None, Choice::AccelSim) => EngineChoice::AccelSim,
        (None, Choice::Cascade) => EngineChoice::Cascade,
    };
    let dirs = args.dirs.dirs();
    let job = Job {
        sim: args.sim.into(),
        gpu: args.gpu,
        trace_dir: args.trace_dir,
        accelsim_dir: dirs.accelsim,
        gpus_dir: dirs.own,
        engine,
        scratch: std::env::temp_dir(),
        threads: args
            .jobs
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, usize::from),
        options: args.closely.options(),
        dedup: args.reuse.dedup.into(),
        verify_dedup: args.reuse.verify_dedup,
        cache_dir: args.reuse.cache.given(),
        propagate: args.propagate,
        silence: args.silence.map(Duration::from_secs_f64),
    };
    match block_on(async { Ok(cascade_worker::run(job, client).await?) })? {
        Outcome::Succeeded | Outcome::Cancelled => Ok(()),
        Outcome::Failed {
            exit_code: Some(2),
            error,
        } => Err(Fail::usage(error)),
        Outcome::Failed { error, .. } => Err(Fail::failed(error)),
    }
}
