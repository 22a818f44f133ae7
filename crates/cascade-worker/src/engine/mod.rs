//! The engines that a worker can run. Each prints to one channel of bytes and says how it ended.

mod child;
mod embedded;
mod replay;

use bytes::Bytes;
use cascade_api::Engine;
use tokio::sync::mpsc::Sender;

use crate::job::{EngineChoice, Job};
use crate::rundir::RunDir;
use crate::stop::Stop;

/// An engine that is ready to start: all it needs was found.
pub(crate) enum Ready {
    /// A child process.
    Child(child::Child),
    /// Cascade's own engine.
    Embedded(Box<embedded::Embedded>),
    /// A recorded log.
    Replay(replay::Playback),
}

/// Something an engine needs is missing or unfit. The text names it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SetupError(pub(crate) String);

/// How an engine ended.
#[derive(Debug, Default)]
pub(crate) struct End {
    /// Exit code of its process.
    pub(crate) exit_code: Option<i32>,
    /// Signal that ended its process.
    pub(crate) signal: Option<i32>,
    /// What the engine itself says went wrong, where it can.
    pub(crate) error: Option<String>,
    /// Kernels that it was given, where that is known.
    pub(crate) kernels: Option<usize>,
}

impl Ready {
    /// Finds everything that the job's engine needs and fills the run directory.
    ///
    /// # Errors
    /// Names the path that is missing.
    pub(crate) fn prepare(job: &Job, run: &RunDir) -> Result<Self, SetupError> {
        match (&job.engine, job.engine()) {
            (EngineChoice::Replay(replay), _) => replay::Playback::prepare(replay, run).map(Self::Replay),
            (_, Engine::AccelSim) => child::Child::prepare(job, run).map(Self::Child),
            _ => embedded::Embedded::prepare(job, run).map(|engine| Self::Embedded(Box::new(engine))),
        }
    }

    /// Runs to the end, or until `stop`.
    pub(crate) async fn run(self, out: Sender<Bytes>, stop: &Stop) -> End {
        match self {
            Self::Child(child) => child.run(out, stop).await,
            Self::Embedded(engine) => engine.run(out, stop).await,
            Self::Replay(playback) => playback.run(out, stop).await,
        }
    }
}
