//! Starting and stopping simulators. [`Launcher`] says what a place to run them must offer; [`dispatch`]
//! decides when.

pub mod dispatch;
mod local;
pub(crate) mod process;

use std::collections::BTreeSet;
use std::path::PathBuf;

use cascade_api::{GpuName, RunId, SimId};

pub use local::{Local, LocalSettings};

/// One simulator to start.
#[derive(Clone, Debug)]
pub struct LaunchSpec {
    /// The sim it works for.
    pub sim_id: SimId,
    /// The run that the sim belongs to.
    pub run_id: RunId,
    /// The GPU to simulate.
    pub gpu_config: GpuName,
    /// The trace's folder, absolute.
    pub trace_dir: PathBuf,
    /// A recorded log that the built-in worker plays back instead of simulating.
    pub replay: Option<PathBuf>,
    /// A token that is good for this sim's own routes only.
    pub token: String,
}

/// A simulator that ended, whether or not it reported a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimExit {
    /// The sim.
    pub sim_id: SimId,
    /// How it ended, in words: `exited with code 3`.
    pub how: String,
    /// The last lines that it printed.
    pub output: Vec<String>,
}

/// Why a simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The command is empty.
    #[error("CASCADE_SIM_CMD is not set")]
    NoCommand,
    /// The command cannot be split into arguments.
    #[error("CASCADE_SIM_CMD has a quote that is never closed")]
    Quotes,
    /// The program is missing, not executable, or the system has no room for another process.
    #[error("could not start {program}: {source}")]
    Start {
        /// The command's first word.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file for its output cannot be opened.
    #[error("could not write {}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The sim has a simulator already.
    #[error("its simulator is running already")]
    Twice,
}

/// A place where simulators run.
#[async_trait::async_trait]
pub trait Launcher: Send + Sync {
    /// How many more simulators may be started now; the rest stay `pending`.
    fn free_slots(&self) -> usize;

    /// Does what has to be done once before a run's first simulator starts.
    async fn prepare(&self, _run: &RunId) -> Result<(), LaunchError> {
        Ok(())
    }

    /// Starts a simulator and answers the handle to store as the sim's `launcher_ref`.
    async fn launch(&self, spec: &LaunchSpec) -> Result<String, LaunchError>;

    /// Ends a simulator with everything it started, also one that a server before this started. It returns
    /// when that has been told to end, at the latest after twice [`process::STOP_GRACE`]. One that has ended
    /// already is no error.
    async fn stop(&self, sim: &SimId, reference: &str);

    /// After a restart of the server: takes a simulator over that still runs, and answers its handle. It
    /// also finds one whose handle was never stored. Asked again, it answers whether it still runs.
    async fn adopt(&self, sim: &SimId, reference: Option<&str>) -> Option<String>;

    /// The last lines that a sim's simulator printed.
    fn output(&self, sim: &SimId) -> Vec<String>;

    /// Sims that may have a simulator here, also ones of a server before this.
    fn known(&self) -> BTreeSet<SimId>;
}
