//! Sims as processes on this machine, each in a process group of its own.
//!
//! A process is written down in `work/sims/<sim>.pid` with the moment it started, so that a server
//! that comes back after a crash finds it again and never mistakes another process for it. Sims outlive
//! the server on purpose: a simulation of hours must not die with a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cascade_api::SimId;
use tokio::sync::mpsc;

use super::process::{self, Identity, STOP_GRACE};
use crate::runs::Service;

use super::{LaunchError, LaunchSpec, Launcher, SimExit};

/// The variable that names a process's sim.
const SIM_ID: &str = "CASCADE_SIM_ID";
/// How often a process that is not our child is looked at.
const ADOPTED_POLL: Duration = Duration::from_millis(500);
/// Lines of a simulator's output that its error quotes.
const QUOTED_LINES: usize = 5;

/// What the local launcher needs from the settings.
#[derive(Clone, Debug)]
pub struct LocalSettings {
    /// `CASCADE_SIM_CMD`; without it, `<worker> worker`.
    pub command: Option<String>,
    /// The program that has the built-in worker: our own executable.
    pub worker: PathBuf,
    /// Where simulators reach the server, `CASCADE_MAIN_URL` to them.
    pub main_url: String,
    /// `auto`, `accel-sim` or `cascade` for the built-in worker, `CASCADE_ENGINE` to it.
    pub engine: String,
    /// Handed on as `CASCADE_ACCELSIM_DIR`.
    pub accelsim_dir: PathBuf,
    /// The user's own GPUs, handed on as `CASCADE_GPUS_DIR`.
    pub gpus_dir: PathBuf,
    /// Handed on as `CASCADE_CACHE_DIR`.
    pub cache_dir: Option<PathBuf>,
    /// Holds each sim's `.out` and `.pid`: `work/sims`.
    pub sims_dir: PathBuf,
    /// Simulators that may run at the same time.
    pub slots: usize,
}

impl LocalSettings {
    /// The settings of a server's own launcher.
    ///
    /// # Errors
    /// When our own program or the data directory cannot be found.
    pub fn of(service: &Service) -> std::io::Result<Self> {
        let settings = &service.settings;
        Ok(Self {
            command: settings.sim_cmd.clone(),
            worker: std::env::current_exe()?,
            main_url: service.urls.main.clone(),
            engine: settings.engine.to_string(),
            accelsim_dir: settings.accelsim_dir.clone(),
            gpus_dir: std::path::absolute(settings.gpus_dir())?,
            cache_dir: match &settings.cache_dir {
                Some(dir) => Some(std::path::absolute(dir)?),
                None => None,
            },
            sims_dir: std::path::absolute(settings.work_dir())?.join("sims"),
            slots: settings.max_local_sims,
        })
    }
}

/// Starts, watches and stops local simulators.
#[derive(Clone)]
pub struct Local {
    inner: Arc<Inner>,
}

struct Inner {
    settings: LocalSettings,
    running: Mutex<BTreeMap<SimId, Identity>>,
    exits: mpsc::Sender<SimExit>,
}

/// What a watcher waits for.
enum Watched {
    Child(tokio::process::Child),
    Adopted,
}

impl Local {
    /// A launcher that tells `exits` of each process that ended.
    ///
    /// # Errors
    /// When the folder for the sims' output cannot be made.
    pub fn new(settings: LocalSettings, exits: mpsc::Sender<SimExit>) -> std::io::Result<Self> {
        std::fs::create_dir_all(&settings.sims_dir)?;
        Ok(Self {
            inner: Arc::new(Inner {
                settings,
                running: Mutex::default(),
                exits,
            }),
        })
    }

    fn argv(&self, replay: Option<&Path>) -> Result<Vec<String>, LaunchError> {
        let settings = &self.inner.settings;
        let worker = || vec![settings.worker.display().to_string(), "worker".to_owned()];
        if let Some(log) = replay {
            // `CASCADE_SIM_CMD` simulates; only our own worker is known to play logs back.
            let replay = ["--replay".to_owned(), log.display().to_string()];
            return Ok([worker(), replay.to_vec()].concat());
        }
        let Some(command) = &settings.command else {
            return Ok(worker());
        };
        let argv = shlex::split(command).ok_or(LaunchError::Quotes)?;
        if argv.is_empty() {
            return Err(LaunchError::NoCommand);
        }
        Ok(argv)
    }

    fn start(&self, spec: &LaunchSpec) -> Result<String, LaunchError> {
        let settings = &self.inner.settings;
        let argv = self.argv(spec.replay.as_deref())?;
        let (program, args) = argv.split_first().ok_or(LaunchError::NoCommand)?;
        let start_error = |source| LaunchError::Start {
            program: program.clone(),
            source,
        };
        let output = self.inner.file(&spec.sim_id, "out");
        let out = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&output)
            .map_err(|source| LaunchError::Output { path: output, source })?;
        let err = out.try_clone().map_err(start_error)?;
        let mut command = process::command(program);
        command
            .args(args)
            .env(SIM_ID, spec.sim_id.as_str())
            .env("CASCADE_MAIN_URL", &settings.main_url)
            .env("CASCADE_TOKEN", &spec.token)
            .env("CASCADE_GPU_CONFIG", spec.gpu_config.as_str())
            .env("CASCADE_TRACE_DIR", &spec.trace_dir)
            .env("CASCADE_ACCELSIM_DIR", &settings.accelsim_dir)
            .env("CASCADE_GPUS_DIR", &settings.gpus_dir)
            .env("CASCADE_ENGINE", &settings.engine)
            .envs(settings.cache_dir.iter().map(|dir| ("CASCADE_CACHE_DIR", dir)))
            .stdout(Stdio::from(out))
            .stderr(Stdio::from(err));
        // The entry is made under the lock that `launch` checks, so two launches of one sim cannot meet.
        let mut running = self.inner.lock();
        if running.contains_key(&spec.sim_id) {
            return Err(LaunchError::Twice);
        }
        let mut child = command.spawn().map_err(start_error)?;
        let Some(identity) = child.id().and_then(Identity::of) else {
            let killed = child.start_kill();
            tracing::error!(sim = %spec.sim_id, ?killed, "no /proc to know a process by");
            return Err(start_error(std::io::Error::other(
                "this system has no /proc to know a process by",
            )));
        };
        running.insert(spec.sim_id.clone(), identity.clone());
        drop(running);
        if let Err(error) = process::step_back(identity.pid) {
            tracing::warn!(sim = %spec.sim_id, %error, "the sim keeps the app's priority");
        }
        if let Err(error) = self.inner.write_down(&spec.sim_id, &identity) {
            tracing::warn!(sim = %spec.sim_id, %error, "cannot write the sim's process id down");
        }
        let reference = identity.pid.to_string();
        self.watch(spec.sim_id.clone(), identity, Watched::Child(child));
        Ok(reference)
    }

    /// Waits for the process to end, clears up after it and reports it.
    fn watch(&self, sim_id: SimId, identity: Identity, watched: Watched) {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            let how = match watched {
                Watched::Child(mut child) => match child.wait().await {
                    Ok(status) => process::how_ended(status),
                    Err(error) => format!("could not be waited for ({error})"),
                },
                Watched::Adopted => {
                    while identity.is_alive() {
                        tokio::time::sleep(ADOPTED_POLL).await;
                    }
                    String::from("ended (its exit code is unknown, the server was restarted)")
                }
            };
            // What the simulator started and left behind ends with it.
            process::stop_group(identity.pid, STOP_GRACE).await;
            let output = process::last_lines(&inner.file(&sim_id, "out"), QUOTED_LINES);
            inner.forget(&sim_id);
            let exit = SimExit { sim_id, how, output };
            if inner.exits.send(exit).await.is_err() {
                tracing::debug!("a sim's process ended during shutdown");
            }
        });
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SimId, Identity>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, sim: &SimId, extension: &str) -> PathBuf {
        self.settings.sims_dir.join(format!("{sim}.{extension}"))
    }

    /// Writes to a temporary name first: a half-written record would lose the process.
    fn write_down(&self, sim: &SimId, identity: &Identity) -> std::io::Result<()> {
        let temporary = self.file(sim, "pid.tmp");
        std::fs::write(&temporary, serde_json::to_vec(identity)?)?;
        std::fs::rename(temporary, self.file(sim, "pid"))
    }

    fn forget(&self, sim: &SimId) {
        self.lock().remove(sim);
        remove_record(&self.file(sim, "pid"));
    }
}

fn remove_record(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "cannot remove the record of a process");
    }
}

fn read_record(path: &Path) -> Option<Identity> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

#[async_trait::async_trait]
impl Launcher for Local {
    fn free_slots(&self) -> usize {
        self.inner.settings.slots.saturating_sub(self.inner.lock().len())
    }

    async fn launch(&self, spec: &LaunchSpec) -> Result<String, LaunchError> {
        self.start(spec)
    }

    async fn stop(&self, sim: &SimId, _reference: &str) {
        let running = self.inner.lock().get(sim).cloned();
        let record = self.inner.file(sim, "pid");
        if let Some(identity) = running {
            process::stop_group(identity.pid, STOP_GRACE).await;
        } else if let Some(identity) = read_record(&record) {
            // One that a server before this started for a sim that has finished since; nobody watches it.
            if identity.is_alive() {
                process::stop_group(identity.pid, STOP_GRACE).await;
            }
            remove_record(&record);
        }
        // What it started in a group of its own, as the worker starts Accel-Sim, outlives it if it was killed.
        let name = sim.clone();
        let left = tokio::task::spawn_blocking(move || process::find_by_env(SIM_ID, name.as_str())).await;
        if let Ok(Some(left)) = left {
            tracing::warn!(%sim, pid = left.pid, "stopping what its simulator left behind");
            process::stop_group(left.pid, STOP_GRACE).await;
        }
    }

    async fn adopt(&self, sim: &SimId, _reference: Option<&str>) -> Option<String> {
        let identity = read_record(&self.inner.file(sim, "pid"))
            .filter(Identity::is_alive)
            .or_else(|| process::find_by_env(SIM_ID, sim.as_str()))?;
        if self.inner.lock().insert(sim.clone(), identity.clone()).is_none() {
            if let Err(error) = self.inner.write_down(sim, &identity) {
                tracing::warn!(%sim, %error, "cannot write the sim's process id down");
            }
            self.watch(sim.clone(), identity.clone(), Watched::Adopted);
        }
        Some(identity.pid.to_string())
    }

    fn output(&self, sim: &SimId) -> Vec<String> {
        process::last_lines(&self.inner.file(sim, "out"), QUOTED_LINES)
    }

    fn known(&self) -> BTreeSet<SimId> {
        let mut sims: BTreeSet<SimId> = self.inner.lock().keys().cloned().collect();
        let entries = std::fs::read_dir(&self.inner.settings.sims_dir);
        for name in entries
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        {
            sims.extend(name.strip_suffix(".pid").map(SimId::from));
        }
        sims
    }
}
