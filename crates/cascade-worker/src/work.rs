//! One sim from its first heartbeat to its last.

use cascade_accelsim::log::{Verdict, explain};
use cascade_api::{Heartbeat, ReportedState};
use cascade_client::{Client, Error, Retry};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::beat::{Beats, heed, running};
use crate::engine::{End, Ready};
use crate::job::Job;
use crate::outputs::upload;
use crate::pump::{Pump, QUEUE};
use crate::rundir::RunDir;
use crate::stop::{Stop, Why};
use crate::timing;

/// Exit code of a sim whose binary, config or trace is missing.
const SETUP_FAILED: i32 = 2;
/// Longest `error` that is sent.
const MAX_ERROR_CHARS: usize = 2_000;

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The results are complete.
    Succeeded,
    /// The sim failed, for this reason.
    Failed {
        /// Exit code that was reported.
        exit_code: Option<i32>,
        /// The reason that was reported.
        error: String,
    },
    /// The app had no use for the sim any more.
    Cancelled,
}

/// Runs one sim.
///
/// # Errors
/// Only when the app cannot be told: it refused a call or stayed away too long.
pub async fn run(job: Job, client: Client) -> Result<Outcome, Error> {
    let client = client.with_retry(Retry::SIMULATOR);
    let stop = Stop::default();
    let engine = job.engine();
    heed(client.heartbeat(&job.sim, &running(engine)).await?, &stop);
    if stop.is_set() {
        return Ok(Outcome::Cancelled);
    }
    let signals = tokio::spawn(watch_signals(stop.clone()));
    let beats = Beats::start(&client, job.sim.clone(), engine, stop.clone());
    let last = simulate(&job, &client, &stop).await;
    beats.end().await;
    signals.abort();
    let last = match (stop.why(), last) {
        (Some(Why::Cancelled | Why::Ended(_)), _) => return Ok(Outcome::Cancelled),
        (Some(Why::Refused(error)), _) => {
            failed(None, format!("the app did not take the sim's output: {error}"))
        }
        (Some(Why::Signal(name)), _) => failed(None, format!("the worker was ended by {name}")),
        (Some(Why::Silent(s)), _) => failed(
            None,
            format!("the simulator printed nothing for {s} s and was stopped"),
        ),
        (None, last) => last,
    };
    // Whoever ends this process gives it a few seconds.
    let patience = if stop.is_set() {
        Retry::PERSON
    } else {
        Retry::SIMULATOR
    };
    client.with_retry(patience).heartbeat(&job.sim, &last).await?;
    Ok(match last.error {
        Some(error) => Outcome::Failed {
            exit_code: last.exit_code,
            error,
        },
        None => Outcome::Succeeded,
    })
}

/// Everything between the first and the last heartbeat; gives the last.
async fn simulate(job: &Job, client: &Client, stop: &Stop) -> Heartbeat {
    let setup = |error: String| failed(Some(SETUP_FAILED), error);
    let mut run = match RunDir::fresh(&job.scratch, &job.sim) {
        Ok(run) => run,
        Err(error) => {
            return setup(format!(
                "the run directory under {}: {error}",
                job.scratch.display()
            ));
        }
    };
    let ready = match Ready::prepare(job, &run) {
        Ok(ready) => ready,
        Err(error) => return setup(error.to_string()),
    };
    let marked = run.mark();
    let pump = Pump::new(client.clone(), job.sim.clone(), stop.clone(), &run.log()).await;
    let mut pump = match marked.and(pump) {
        Ok(pump) => pump,
        Err(error) => return setup(format!("{}: {error}", run.path().display())),
    };
    if timing::Files::of(&job.trace_dir).is_ok() {
        pump.keep_kernels();
    }
    let (out, output) = mpsc::channel(QUEUE);
    let (end, ()) = tokio::join!(ready.run(out, stop), pump.run(output, job.silence));
    if stop.is_set() {
        return Heartbeat::running();
    }
    let verdict = judge(&end, &pump.summary());
    if let Some(message) = verdict.message.as_ref().filter(|_| verdict.succeeded) {
        pump.note(message).await;
    }
    if verdict.succeeded {
        timing::send(client, job, &mut pump, stop).await;
    }
    upload(client, &job.sim, &run, &mut pump, stop).await;
    pump.flush().await;
    match verdict {
        Verdict { succeeded: true, .. } => Heartbeat {
            state: ReportedState::Succeeded,
            exit_code: end.exit_code.or(Some(0)),
            error: None,
            engine: None,
        },
        Verdict { message, .. } => failed(
            end.exit_code,
            message.unwrap_or_else(|| "the simulator failed".to_owned()),
        ),
    }
}

/// An engine that can say itself what went wrong is believed; the others are judged by their log.
fn judge(end: &End, log: &cascade_accelsim::log::LogSummary) -> Verdict {
    match &end.error {
        Some(error) => Verdict {
            succeeded: false,
            message: Some(error.clone()),
        },
        None => explain(log, end.exit_code, end.signal, end.kernels),
    }
}

fn failed(exit_code: Option<i32>, error: String) -> Heartbeat {
    let error = match error.char_indices().nth(MAX_ERROR_CHARS) {
        Some((end, _)) => format!("{}…", error.get(..end).unwrap_or_default()),
        None => error,
    };
    Heartbeat {
        state: ReportedState::Failed,
        exit_code,
        error: Some(error),
        engine: None,
    }
}

/// Turns SIGTERM and SIGINT into a request to stop.
async fn watch_signals(stop: Stop) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return tracing::warn!("signals cannot be watched");
    };
    tokio::select! {
        _ = terminate.recv() => stop.because(Why::Signal("SIGTERM")),
        _ = interrupt.recv() => stop.because(Why::Signal("SIGINT")),
    }
}
