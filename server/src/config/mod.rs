//! Every setting of the server: read once at start, typed, and documented in `cascade serve --help`.
//!
//! [`ServeArgs`] is what was asked for, by flag or by environment variable (an empty variable counts as
//! unset); [`Settings`] is what holds after defaults and checks. Nobody else reads the environment.

mod args;
mod show;
mod v1;
mod value;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use cascade_api::Engine;

pub use args::ServeArgs;
pub use v1::{V1, V1Mode, V1Policy, V1Scheduler};
pub use value::{EngineChoice, LogFormat, Maybe, Secret, SimBackend, Switch, T0Table};

/// Bucket that profilers upload to.
pub const DEFAULT_BUCKET: &str = "cascade";
/// Key prefix of traces within the bucket.
pub const DEFAULT_PREFIX: &str = "accelsim-traces";
/// Accel-Sim's simulator within a checkout.
const ACCELSIM_BINARY: &str = "gpu-simulator/bin/release/accel-sim.out";

/// Why the settings do not make a server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// No token and no word that none is wanted.
    #[error(
        "CASCADE_TOKEN is not set: set it to a long random text, or CASCADE_NO_AUTH=1 to run without a token"
    )]
    NoToken,
    /// A token that no `Authorization` header could carry.
    #[error("CASCADE_TOKEN must be printable ASCII without spaces inside")]
    BadToken,
    /// Open to the world without a token.
    #[error(
        "CASCADE_NO_AUTH with host {0} would let in anyone who can reach this machine: use --host 127.0.0.1 or set CASCADE_TOKEN"
    )]
    OpenToAll(IpAddr),
    /// Both listeners on one port.
    #[error("the app and the S3 endpoint both want port {0}: change --port or --s3-port")]
    SamePort(u16),
    /// A value out of its range.
    #[error("{name} must be {rule}")]
    Range {
        /// The variable.
        name: &'static str,
        /// What it may be.
        rule: &'static str,
    },
    /// A setting that the policy does not know.
    #[error("CASCADE_V1_SCHEDULER: {0}")]
    Scheduler(cascade_scenario::Refused),
    /// An URL that is none.
    #[error("{name} must start with http:// or https://, not {value:?}")]
    Url {
        /// The variable.
        name: &'static str,
        /// What was given.
        value: String,
    },
}

/// What the server runs with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address to listen on.
    pub host: IpAddr,
    /// Port of the app; 0 takes a free one.
    pub port: u16,
    /// Port of the S3 endpoint; 0 takes a free one.
    pub s3_port: u16,
    /// Where sims run.
    pub sims: SimBackend,
    /// Most sims that run beside the server at once.
    pub max_local_sims: usize,
    /// The shared token; `None` when the check is off.
    pub token: Option<Secret>,
    /// An Accel-Sim checkout; it need not exist.
    pub accelsim_dir: PathBuf,
    /// How long `/v1` waits for step timing.
    pub openai_wait: Duration,
    /// Models' tokenizers: `<org>/<model>/tokenizer.json`.
    pub tokenizers_dir: PathBuf,
    /// How `/v1` times requests.
    pub v1: V1,
    /// The bucket profilers upload to.
    pub s3_bucket: String,
    /// The key prefix of traces.
    pub s3_prefix: String,
    /// Whether S3 requests need no signature.
    pub s3_anonymous: bool,
    /// Whether to run the S3 endpoint.
    pub run_s3: bool,
    /// The S3 endpoint as profilers reach it, if it is not derived.
    pub s3_public_url: Option<String>,
    /// Database, objects, logs and files.
    pub data_dir: PathBuf,
    /// Where sims keep results; `None` when they keep none.
    pub cache_dir: Option<PathBuf>,
    /// The built pages: `pkg/` and static files.
    pub site_dir: PathBuf,
    /// The command each sim runs; `None` for the built-in worker.
    pub sim_cmd: Option<String>,
    /// The engine of the built-in worker.
    pub engine: EngineChoice,
    /// The trace post-processor; `None` for the built-in one.
    pub postprocess_cmd: Option<String>,
    /// Silence after which a sim is lost.
    pub heartbeat_timeout: Duration,
    /// The workspace's name.
    pub workspace: Option<String>,
    /// Measured times of an empty kernel, by GPU, for corrected step times beside the raw ones.
    pub t0_ns: T0Table,
    /// Whether bundled samples are shown.
    pub samples: bool,
    /// The app as sims reach it, if it is not derived from the port.
    pub public_url: Option<String>,
    /// Whether `/metrics` answers without a token.
    pub open_metrics: bool,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// Which log lines are written.
    pub log_filter: String,
}

impl Settings {
    /// The engine a new sim is expected to run, until its first heartbeat says otherwise.
    pub fn expected_engine(&self) -> Engine {
        match (&self.sim_cmd, self.engine) {
            (Some(_), _) => Engine::Custom,
            (None, EngineChoice::AccelSim) => Engine::AccelSim,
            (None, EngineChoice::Cascade) => Engine::Cascade,
            (None, EngineChoice::Auto) if self.has_accelsim() => Engine::AccelSim,
            (None, EngineChoice::Auto) => Engine::Cascade,
        }
    }

    /// Whether a built Accel-Sim lies in its directory.
    pub fn has_accelsim(&self) -> bool {
        self.accelsim_dir.join(ACCELSIM_BINARY).is_file()
    }

    /// The directory of the bucket's objects.
    pub fn bucket_dir(&self) -> PathBuf {
        self.s3_dir().join(&self.s3_bucket)
    }

    /// The directory of all buckets.
    pub fn s3_dir(&self) -> PathBuf {
        self.data_dir.join("s3")
    }

    /// The directory under which each trace has its own.
    pub fn traces_dir(&self) -> PathBuf {
        self.bucket_dir().join(&self.s3_prefix)
    }

    /// Scratch files: output of sims' processes and of post-processing.
    pub fn work_dir(&self) -> PathBuf {
        self.data_dir.join("work")
    }

    /// Sims' logs.
    pub fn logs_dir(&self) -> PathBuf {
        self.data_dir.join("logs")
    }

    /// Sims' output files.
    pub fn files_dir(&self) -> PathBuf {
        self.data_dir.join("files")
    }

    /// Files that are not complete yet; emptied at start.
    pub fn incoming_dir(&self) -> PathBuf {
        self.data_dir.join("incoming")
    }

    /// The user's own GPUs.
    pub fn gpus_dir(&self) -> PathBuf {
        self.data_dir.join("gpus")
    }

    /// Sims' step timelines.
    pub fn steps_dir(&self) -> PathBuf {
        self.data_dir.join("steps")
    }
}

#[cfg(test)]
mod tests;
