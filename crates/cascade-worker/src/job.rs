//! What one simulator is to do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cascade_api::{Engine, SimId};
use cascade_engine::Options;
use cascade_steps::Propagate;

use crate::simulate::{Dedup, GpuDirs};

/// One sim's work, as the contract's environment variables and the worker's own options give it.
#[derive(Clone, Debug)]
pub struct Job {
    /// `CASCADE_SIM_ID`.
    pub sim: SimId,
    /// `CASCADE_GPU_CONFIG`.
    pub gpu: String,
    /// `CASCADE_TRACE_DIR`; the processed trace is in its `traces` folder.
    pub trace_dir: PathBuf,
    /// `CASCADE_ACCELSIM_DIR`.
    pub accelsim_dir: Option<PathBuf>,
    /// `CASCADE_GPUS_DIR`: the user's own GPUs.
    pub gpus_dir: Option<PathBuf>,
    /// Which engine to run.
    pub engine: EngineChoice,
    /// Folder for run directories: `<scratch>/cascade-worker/<sim>`.
    pub scratch: PathBuf,
    /// Kernels that Cascade's engine simulates at once.
    pub threads: usize,
    /// How Cascade's engine simulates.
    pub options: Options,
    /// Kernels that share one simulation of Cascade's engine.
    pub dedup: Dedup,
    /// Members of each group that are simulated to compare.
    pub verify_dedup: usize,
    /// Where Cascade's engine keeps results; `None` to keep and look up none.
    pub cache_dir: Option<PathBuf>,
    /// How kernels that were not traced get their times; as the trace's `metadata.json` says where none.
    pub propagate: Option<Propagate>,
    /// Stop the engine when it prints nothing for this long.
    pub silence: Option<Duration>,
}

/// Which engine a worker runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// Accel-Sim where its binary and a config of the GPU exist, otherwise Cascade's own.
    #[default]
    Auto,
    /// Accel-Sim.
    AccelSim,
    /// Cascade's own.
    Cascade,
    /// A recorded log.
    Replay(Replay),
}

/// How a recorded log is played back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The log.
    pub log: PathBuf,
    /// Pause after every 200 lines.
    pub delay: Duration,
    /// Files to copy into the run directory as if the simulator had written them.
    pub outputs: Option<PathBuf>,
}

impl Job {
    /// The kernel list that the simulator runs.
    pub fn list(&self) -> PathBuf {
        self.trace_dir.join("traces").join("kernelslist.g")
    }

    /// The engine that will run, `auto` resolved.
    pub fn engine(&self) -> Engine {
        match &self.engine {
            EngineChoice::AccelSim => Engine::AccelSim,
            EngineChoice::Cascade => Engine::Cascade,
            EngineChoice::Replay(_) => Engine::Replay,
            EngineChoice::Auto => match &self.accelsim_dir {
                Some(dir) if binary(dir).is_file() && config(dir, &self.gpu).is_file() => Engine::AccelSim,
                _ => Engine::Cascade,
            },
        }
    }

    /// Where its GPU may be.
    pub(crate) fn gpu_dirs(&self) -> GpuDirs {
        GpuDirs {
            accelsim: self.accelsim_dir.clone(),
            own: self.gpus_dir.clone(),
        }
    }
}

/// Where a checkout of Accel-Sim has the config of a GPU.
pub(crate) fn config(accelsim_dir: &Path, gpu: &str) -> PathBuf {
    accelsim_dir
        .join("gpu-simulator/gpgpu-sim/configs/tested-cfgs")
        .join(gpu)
        .join("gpgpusim.config")
}

/// Where a checkout of Accel-Sim has its release build.
pub(crate) fn binary(accelsim_dir: &Path) -> PathBuf {
    accelsim_dir.join("gpu-simulator/bin/release/accel-sim.out")
}
