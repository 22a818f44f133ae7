//! Decides when simulators start and stop: in order of creation, a few launches at once, as many
//! simulators as there are slots.
//!
//! After a restart, simulators that still run are taken over. A sim that was taken up but has no
//! process, in the moment when a server was killed, is launched again: its state says that nothing of it
//! ever reported, so there is nothing to double. A process that had been started by then is found by
//! its environment, so no sim ever gets two.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cascade_api::{RunId, SimId, SimState, Timestamp};
use tokio::sync::{OnceCell, broadcast, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{LaunchSpec, Launcher, SimExit};
use crate::clock;
use crate::db::SimLaunch;
use crate::error::Error;
use crate::runs::{Service, SimEnded};
use crate::samples;

/// Launches under way at the same time.
pub const LAUNCHES_AT_ONCE: usize = 8;
/// How often the database is asked for waiting sims without being told of one.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// Time that sims and simulators are given to end by themselves.
#[derive(Clone, Copy, Debug)]
pub struct Graces {
    /// From a simulator's end to its sim's failure. Its last heartbeat came before its end; only a command
    /// that handed the work over to another process can still be heard of.
    pub report: Duration,
    /// From a simulator's last report to being stopped.
    pub exit: Duration,
}

impl Default for Graces {
    fn default() -> Self {
        Self {
            report: Duration::from_secs(6),
            exit: Duration::from_secs(10),
        }
    }
}

/// Launches, watches and stops simulators until `stop`. Local simulators go on running after that; the
/// next server takes them over.
pub async fn run(
    service: Service,
    launcher: Arc<dyn Launcher>,
    mut exits: mpsc::Receiver<SimExit>,
    graces: Graces,
    stop: CancellationToken,
) {
    let mut ended = service.sims_ended();
    let dispatch = Arc::new(Dispatch {
        service,
        launcher,
        graces,
        prepared: Mutex::default(),
    });
    let mut launches = JoinSet::new();
    dispatch.take_over(&mut launches).await;
    let mut ticks = tokio::time::interval(LOOK_INTERVAL);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => {}
            () = dispatch.service.launch_wanted.notified() => {}
            Some(_) = launches.join_next() => {}
            Some(exit) = exits.recv() => {
                let dispatch = Arc::clone(&dispatch);
                tokio::spawn(async move { dispatch.exited(exit).await });
            }
            end = ended.recv() => {
                dispatch.ended(end);
                continue;
            }
        }
        if let Err(error) = dispatch.launch_waiting(&mut launches).await {
            tracing::warn!(error = error.chain(), "cannot launch waiting sims; trying again");
        }
    }
    // What is being started gets its handle stored.
    while launches.join_next().await.is_some() {}
}

type Prepared = Arc<OnceCell<Result<(), String>>>;

struct Dispatch {
    service: Service,
    launcher: Arc<dyn Launcher>,
    graces: Graces,
    /// Runs whose first simulator is being launched.
    prepared: Mutex<BTreeMap<RunId, Prepared>>,
}

impl Dispatch {
    /// Moves waiting sims to `launching` while there is room, and starts launching them.
    async fn launch_waiting(self: &Arc<Self>, launches: &mut JoinSet<()>) -> Result<(), Error> {
        let slots = self.launcher.free_slots().saturating_sub(launches.len());
        let room = slots.min(LAUNCHES_AT_ONCE.saturating_sub(launches.len()));
        if room == 0 {
            return Ok(());
        }
        for sim in self.service.sims_pending().await?.into_iter().take(room) {
            if self.service.sim_launching(&sim.sim_id).await? {
                let this = Arc::clone(self);
                launches.spawn(async move { this.launch(sim).await });
            }
        }
        Ok(())
    }

    async fn launch(&self, sim: SimLaunch) {
        let id = sim.sim_id.clone();
        let stored = match self.start(sim).await {
            Ok(reference) => match self.service.sim_launched(&id, reference.clone()).await {
                // Cancelled while it was starting.
                Ok(false) => {
                    self.launcher.stop(&id, &reference).await;
                    Ok(())
                }
                Ok(true) => Ok(()),
                Err(error) => Err(error),
            },
            Err(error) => {
                tracing::warn!(sim = %id, %error, "cannot launch");
                self.service.sim_launch_failed(&id, error).await.map(drop)
            }
        };
        if let Err(error) = stored {
            // The monitor ends the sim if nothing is heard of it.
            tracing::error!(sim = %id, error = error.chain(), "cannot store how a launch went");
        }
    }

    async fn start(&self, sim: SimLaunch) -> Result<String, String> {
        self.prepare(&sim.run_id).await?;
        let traces = std::path::absolute(self.service.settings.traces_dir())
            .map_err(|e| format!("launch: the data directory has no absolute path: {e}"))?;
        let trace_dir = traces.join(sim.trace_id.as_str());
        let trace = self.service.db.trace_get(&sim.trace_id).await;
        let trace = trace.map_err(|e| format!("launch: the trace cannot be read: {e}"))?;
        // A sample has no instructions: all that can be done with it is to play back what was recorded.
        let replay = trace.is_some_and(|trace| trace.sample);
        let spec = LaunchSpec {
            token: self.service.scoped_token(&sim.sim_id).expose().to_owned(),
            replay: replay.then(|| trace_dir.join(samples::log_name(&sim.gpu_config))),
            trace_dir,
            sim_id: sim.sim_id,
            run_id: sim.run_id,
            gpu_config: sim.gpu_config,
        };
        let launched = self.launcher.launch(&spec).await;
        launched.map_err(|error| format!("launch: {error}"))
    }

    /// Has the launcher prepare a run once, however many of its sims are launched at the same time.
    async fn prepare(&self, run: &RunId) -> Result<(), String> {
        let cell = {
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            // Preparing again is harmless, so runs that nobody waits for are forgotten.
            prepared.retain(|id, cell| id == run || Arc::strong_count(cell) > 1);
            Arc::clone(prepared.entry(run.clone()).or_default())
        };
        let prepare = async || {
            let done = self.launcher.prepare(run).await;
            done.map_err(|error| format!("launcher prepare: {error}"))
        };
        cell.get_or_init(prepare).await.clone()
    }

    /// A simulator ended. If it reported a result, its sim has finished; if not, the sim fails, unless
    /// something else still speaks for it.
    async fn exited(&self, exit: SimExit) {
        self.service.launch_wanted.notify_one();
        let text = with_output(
            format!("the simulator {} without reporting a result", exit.how),
            &exit.output,
        );
        self.fail_if_silent(&exit.sim_id, text).await;
    }

    async fn fail_if_silent(&self, id: &SimId, text: String) {
        let since = clock::now();
        tokio::time::sleep(self.graces.report).await;
        let failed = async {
            if self.heard_since(id, since).await? {
                return Ok(false);
            }
            self.service.sim_failed(id, text).await
        };
        match failed.await {
            Ok(true) => tracing::warn!(sim = %id, "failed: its simulator ended without a result"),
            Ok(false) => {}
            Err(error) => tracing::error!(sim = %id, error = error.chain(), "cannot store that a sim failed"),
        }
    }

    async fn heard_since(&self, id: &SimId, since: Timestamp) -> Result<bool, Error> {
        let sim = self.service.db.sim_get(id).await?;
        Ok(sim.is_some_and(|s| s.summary.last_heartbeat_at.is_some_and(|at| at > since)))
    }

    /// A sim finished: its simulator is stopped, at once if the sim was cancelled, else after the time it
    /// takes to exit by itself.
    fn ended(self: &Arc<Self>, end: Result<SimEnded, broadcast::error::RecvError>) {
        let this = Arc::clone(self);
        match end {
            Ok(SimEnded {
                sim_id,
                launcher_ref: Some(reference),
                state,
            }) => {
                tokio::spawn(async move {
                    if state != SimState::Cancelled {
                        tokio::time::sleep(this.graces.exit).await;
                    }
                    this.launcher.stop(&sim_id, &reference).await;
                });
            }
            // It never started, or `launch` stops it.
            Ok(SimEnded {
                launcher_ref: None, ..
            }) => {}
            Err(error) => {
                tracing::warn!(%error, "missed ends of sims; stopping whatever should not run");
                tokio::spawn(async move {
                    // What is launched from now on is not among these.
                    let known = this.launcher.known();
                    match this.service.sims_with_launcher().await {
                        Ok(sims) => this.stop_others(known, &sims),
                        Err(error) => tracing::error!(%error, "cannot list the sims that run"),
                    }
                });
            }
        }
    }

    /// After a start: finds the simulators of sims that were launched before.
    async fn take_over(self: &Arc<Self>, launches: &mut JoinSet<()>) {
        let known = self.launcher.known();
        let sims = match self.service.sims_with_launcher().await {
            Ok(sims) => sims,
            Err(error) => {
                tracing::error!(%error, "cannot list the sims that ran before the start");
                return;
            }
        };
        self.stop_others(known, &sims);
        for (id, state, reference) in sims {
            match self.launcher.adopt(&id, reference.as_deref()).await {
                Some(found) => {
                    tracing::info!(sim = %id, reference = %found, "found its simulator again");
                    if reference.as_ref() != Some(&found)
                        && let Err(error) = self.service.sim_launched(&id, found).await
                    {
                        tracing::error!(sim = %id, error = error.chain(), "cannot store a sim's handle");
                    }
                }
                None => {
                    let this = Arc::clone(self);
                    let again = state == SimState::Launching && reference.is_none();
                    launches.spawn(async move {
                        match again {
                            true => this.launch_again(&id).await,
                            false => this.ended_while_away(&id).await,
                        }
                    });
                }
            }
        }
    }

    /// Stops the simulators of `known` sims that are not among those that should run.
    fn stop_others(&self, mut known: BTreeSet<SimId>, running: &[(SimId, SimState, Option<String>)]) {
        for (sim, ..) in running {
            known.remove(sim);
        }
        for sim in known {
            let launcher = Arc::clone(&self.launcher);
            tokio::spawn(async move { launcher.stop(&sim, "").await });
        }
    }

    async fn launch_again(&self, id: &SimId) {
        let found = async {
            let Some(sim) = self.service.db.sim_get(id).await? else {
                return Ok(None);
            };
            let run = self.service.db.run_get(&sim.summary.run_id).await?;
            Ok::<_, Error>(run.map(|(run, _)| SimLaunch {
                sim_id: id.clone(),
                run_id: run.id,
                trace_id: run.trace_id,
                gpu_config: sim.summary.gpu_config,
                engine: sim.summary.engine,
            }))
        };
        match found.await {
            Ok(Some(sim)) => self.launch(sim).await,
            Ok(None) => tracing::error!(sim = %id, "a sim without a run"),
            Err(error) => tracing::error!(sim = %id, error = error.chain(), "cannot read a sim"),
        }
    }

    async fn ended_while_away(&self, id: &SimId) {
        let text = "the simulator's process ended while the server was away, without reporting a result";
        let text = with_output(text.to_owned(), &self.launcher.output(id));
        self.fail_if_silent(id, text).await;
    }
}

fn with_output(text: String, lines: &[String]) -> String {
    match lines {
        [] => format!("{text}; it printed nothing"),
        lines => format!("{text}; its last lines:\n{}", lines.join("\n")),
    }
}
