//! `cascade runs`: list, show, watch, create and cancel.

use cascade_api::{Engine, GpuName, RunCreate, RunDetail, RunEntry, RunState, SimStepDigest, SimSummary};
use cascade_client::Client;

use super::fail::Fail;
use super::numbers::{four_digits, grouped_f64, shortened};
use super::out::Out;
use super::remote::Remote;
use super::table::Table;
use super::{Result, block_on, kernels, watch};

/// Names that an error suggests at most.
const MOST_NAMES: usize = 3;

/// What to do with runs.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Every run, newest first
    List {
        #[command(flatten)]
        remote: Remote,
    },
    /// One run with its sims
    Show {
        /// The run's id
        run: String,
        #[command(flatten)]
        remote: Remote,
    },
    /// A run's kernels on every GPU, beside the real times where the trace has them
    Kernels {
        /// The run's id
        run: String,
        #[command(flatten)]
        remote: Remote,
    },
    /// What whole steps and requests take, for each sim that built a timeline
    Steps {
        /// The run's id
        run: String,
        #[command(flatten)]
        remote: Remote,
    },
    /// Follow a run until it is finished; exit code 1 unless every sim succeeded
    Watch {
        /// The run's id
        run: String,
        #[command(flatten)]
        remote: Remote,
    },
    /// Simulate a trace on GPUs
    Create {
        /// The trace's id
        trace: String,
        /// A GPU and how many sims run it: SM90_H100 or SM90_H100:2; may be given several times
        #[arg(long = "gpu", value_name = "NAME[:COUNT]", required = true, num_args = 1.., value_parser = entry)]
        gpus: Vec<RunEntry>,
        /// Play back what was recorded for a sample, which has no instructions to simulate
        #[arg(long)]
        replay: bool,
        /// Follow it until it is finished
        #[arg(long)]
        watch: bool,
        #[command(flatten)]
        remote: Remote,
    },
    /// Cancel every sim of a run that has not finished
    Cancel {
        /// The run's id
        run: String,
        #[command(flatten)]
        remote: Remote,
    },
}

fn entry(text: &str) -> Result<RunEntry, String> {
    let (name, count) = text.split_once(':').unwrap_or((text, "1"));
    let count = count
        .parse()
        .map_err(|error| format!("the count {count:?} of {name}: {error}"))?;
    Ok(RunEntry {
        gpu_config: name.into(),
        count,
    })
}

pub(crate) fn run(command: Command, out: &mut Out) -> Result {
    block_on(async {
        match command {
            Command::List { remote } => list(&remote, out).await,
            Command::Show { run, remote } => {
                let client = remote.client()?;
                let run = client.run(&run).await?;
                show(&run, out)?;
                print_notes(&client, &run, out).await
            }
            Command::Kernels { run, remote } => kernels::show(&run, &remote, out).await,
            Command::Steps { run, remote } => steps(&remote.client()?.step_digests(&run).await?, out),
            Command::Watch { run, remote } => watch::follow(&remote.client()?, &run, out).await,
            Command::Create {
                trace,
                gpus,
                replay,
                watch,
                remote,
            } => {
                let client = remote.client()?;
                let create = RunCreate {
                    trace_id: trace.into(),
                    entries: gpus,
                    replay,
                };
                let run = match client.create_run(&create).await {
                    Ok(run) => run,
                    Err(error) => return Err(with_names(error, &client, &create.entries).await),
                };
                if watch {
                    return watch::follow(&client, run.summary.id.as_str(), out).await;
                }
                show(&run, out)
            }
            Command::Cancel { run, remote } => {
                let run = remote.client()?.cancel_run(&run).await?;
                show(&run, out)
            }
        }
    })
}

/// The failure of a run that could not be created, with the names that may have been meant by one that no GPU has.
async fn with_names(error: cascade_client::Error, client: &Client, entries: &[RunEntry]) -> Fail {
    if !matches!(error, cascade_client::Error::Refused { status: 422, .. }) {
        return error.into();
    }
    let Ok(known) = client.gpu_configs().await else {
        return error.into();
    };
    let names: Vec<&str> = known.iter().map(|gpu| gpu.name.as_str()).collect();
    let mut given = entries.iter().map(|entry| entry.gpu_config.as_str());
    match given.find(|name| !names.contains(name)) {
        Some(unknown) => Fail::usage(format_args!("{error}; {}", meant(unknown, &names))),
        None => error.into(),
    }
}

/// What may have been meant by a name that no GPU has.
fn meant(unknown: &str, names: &[&str]) -> String {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let wanted = plain(unknown);
    let exact = names.iter().find(|name| plain(name) == wanted);
    let like = names
        .iter()
        .filter(|name| !wanted.is_empty() && plain(name).contains(&wanted));
    let like: Vec<&str> = exact.map_or_else(|| like.copied().take(MOST_NAMES).collect(), |name| vec![*name]);
    match like.is_empty() {
        true => "the app's page /gpus lists the GPUs there are".to_owned(),
        false => format!("did you mean {}?", like.join(" or ")),
    }
}

fn steps(digests: &[SimStepDigest], out: &mut Out) -> Result {
    if out.is_json() {
        return out.json(digests);
    }
    if digests.is_empty() {
        return out.line(
            "No sim has sent step timing: it comes when a sim has succeeded on a trace with corrected_timeline.json \
             and kernel_mapping.json.",
        );
    }
    for (i, sim) in digests.iter().enumerate() {
        if i > 0 {
            out.line("")?;
        }
        out.line(format_args!(
            "{} #{} · {} · engine {}",
            sim.gpu_config, sim.replica, sim.sim_id, sim.engine
        ))?;
        match (&sim.digest, &sim.problem) {
            (Some(digest), _) => super::steps::digest(digest, out)?,
            (None, problem) => out.line(problem.as_deref().unwrap_or("no digest"))?,
        }
    }
    Ok(())
}

async fn list(remote: &Remote, out: &mut Out) -> Result {
    let runs = remote.client()?.runs().await?;
    if out.is_json() {
        return out.json(&runs);
    }
    let mut table = Table::default()
        .text("run")
        .text("state")
        .text("trace")
        .text("GPUs")
        .text("sims")
        .text("created");
    for run in runs {
        let gpus = run
            .entries
            .iter()
            .map(|entry| format!("{} ×{}", entry.gpu_config, entry.count));
        let sims = run
            .sim_counts
            .iter()
            .map(|(state, count)| format!("{count} {state}"));
        table.row([
            run.id.to_string(),
            run.state.to_string(),
            run.trace_id.to_string(),
            gpus.collect::<Vec<_>>().join(", "),
            sims.collect::<Vec<_>>().join(", "),
            run.created_at.to_string(),
        ]);
    }
    out.table(&table)
}

fn show(run: &RunDetail, out: &mut Out) -> Result {
    if out.is_json() {
        return out.json(run);
    }
    print(run, out)
}

/// A run and its sims as text.
pub(crate) fn print(run: &RunDetail, out: &mut Out) -> Result {
    let summary = &run.summary;
    out.line(format_args!(
        "{} · {} · trace {} · {}",
        summary.id, summary.state, summary.trace_id, summary.created_at
    ))?;
    if summary.replay {
        out.line("Its sims play recorded results back: the numbers are not this trace's.")?;
    }
    if run.trace.synthetic {
        out.line("The trace is synthetic: its kernels were written by Cascade, not captured on a GPU.")?;
    }
    let mut table = Table::default()
        .text("sim")
        .text("GPU")
        .number("replica")
        .text("engine")
        .text("state");
    table = table
        .number("kernels")
        .number("cycles")
        .number("IPC")
        .text("error");
    for sim in &run.sims {
        table.row(row(sim));
    }
    out.table(&table)
}

/// What the figures of our engine's GPUs rest on; nothing where the app does not say.
pub(super) async fn print_notes(client: &Client, run: &RunDetail, out: &mut Out) -> Result {
    let ours = run.sims.iter().filter(|sim| sim.engine == Engine::Cascade);
    // Sims come by GPU.
    let mut gpus: Vec<&GpuName> = ours.map(|sim| &sim.gpu_config).collect();
    gpus.dedup();
    if gpus.is_empty() || out.is_json() {
        return Ok(());
    }
    let known = client.gpu_configs().await.unwrap_or_default();
    gpus.into_iter()
        .try_for_each(|gpu| kernels::notes(&known, gpu, out))
}

fn row(sim: &SimSummary) -> [String; 9] {
    let dash = || "-".to_owned();
    [
        sim.id.to_string(),
        sim.gpu_config.to_string(),
        sim.replica.to_string(),
        sim.engine.to_string(),
        sim.state.to_string(),
        format!("{}/{}", sim.kernels_done, sim.kernels_total),
        sim.latest.gpu_tot_sim_cycle.map_or_else(dash, grouped_f64),
        sim.latest.gpu_tot_ipc.map_or_else(dash, four_digits),
        shortened(sim.error.as_deref().unwrap_or_default(), 160),
    ]
}

/// The failure of a run that is finished but not a success.
pub(crate) fn ended(run: &RunDetail) -> Result {
    match run.summary.state {
        RunState::Succeeded => Ok(()),
        state => Err(Fail::failed(format_args!("{} is {state}", run.summary.id))),
    }
}
