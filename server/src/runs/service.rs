//! The service's parts and how it starts.

use std::ops::Deref;
use std::sync::Arc;

use cascade_api::{Health, SimId, SimState};
use tokio::sync::{Notify, broadcast};

use super::log_file::LogBook;
use crate::auth::Auth;
use crate::config::{Secret, Settings};
use crate::db::{Db, DbResult};
use crate::events::EventHub;
use crate::gpus::GpuCatalogue;

/// Ends that a launcher may be behind before it has to look at the database instead.
const ENDED_BACKLOG: usize = 1_024;

/// Where others reach this server; known once its ports are bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Urls {
    /// The app, as sims reach it.
    pub main: String,
    /// The S3 endpoint, as profilers reach it.
    pub s3: Option<String>,
}

/// A sim reached a terminal state; whatever runs it should stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimEnded {
    /// The sim.
    pub sim_id: SimId,
    /// The launcher's handle, if it had one by then.
    pub launcher_ref: Option<String>,
    /// `succeeded`, `failed` or `cancelled`.
    pub state: SimState,
}

/// A handle on everything the server does; cheap to clone.
#[derive(Clone, Debug)]
pub struct Service(Arc<Inner>);

/// The parts of the service.
#[derive(Debug)]
pub struct Inner {
    /// The database.
    pub db: Db,
    /// The settings in force.
    pub settings: Arc<Settings>,
    /// Where others reach this server.
    pub urls: Urls,
    /// Who may do what.
    pub auth: Auth,
    /// GPUs a run can simulate.
    pub gpus: GpuCatalogue,
    /// Live events.
    pub events: EventHub,
    /// Rung when a sim waits to be launched.
    pub launch_wanted: Notify,
    pub(super) logs: LogBook,
    /// Held while a step timeline, which can be very long, is in memory.
    pub(super) timelines_turn: tokio::sync::Mutex<()>,
    /// What scenarios keep between requests.
    pub(crate) scenarios: crate::scenarios::Shared,
    /// Models' tokenizers that were read.
    pub(crate) tokenizers: crate::openai::Shelf,
    /// Engines that requests of `/v1` share.
    pub(crate) live: crate::live::Engines,
    ended: broadcast::Sender<SimEnded>,
}

impl Deref for Service {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Service {
    /// Opens the data directory and reads the GPU catalogue.
    pub async fn open(settings: Arc<Settings>, urls: Urls) -> DbResult<Self> {
        let db = Db::open(&settings.data_dir).await?;
        // What a crash left half received; nothing else lies there.
        if let Err(error) = std::fs::remove_dir_all(settings.incoming_dir())
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot clear the directory of incoming files");
        }
        let gpus = GpuCatalogue::read(&settings);
        let logs = LogBook::new(settings.logs_dir());
        Ok(Self(Arc::new(Inner {
            db,
            auth: Auth::new(settings.token.clone()),
            logs,
            timelines_turn: tokio::sync::Mutex::default(),
            scenarios: crate::scenarios::Shared::default(),
            tokenizers: crate::openai::Shelf::default(),
            live: crate::live::Engines::default(),
            settings,
            urls,
            gpus,
            events: EventHub::default(),
            launch_wanted: Notify::new(),
            ended: broadcast::channel(ENDED_BACKLOG).0,
        })))
    }

    /// Every sim that reaches a terminal state from now on.
    pub fn sims_ended(&self) -> broadcast::Receiver<SimEnded> {
        self.ended.subscribe()
    }

    /// The token a sim's process gets: good for that sim's own calls alone.
    pub fn scoped_token(&self, sim: &SimId) -> Secret {
        self.auth.sim_token(sim)
    }

    pub(super) fn tell_ended(&self, end: SimEnded) {
        // It fails only when no launcher listens.
        drop(self.ended.send(end));
    }

    /// What `GET /api/health` answers.
    pub fn health(&self) -> Health {
        Health {
            ok: true,
            auth: self.settings.token.is_some(),
            workspace: self.settings.workspace.clone(),
            s3_endpoint: self.urls.s3.clone(),
            s3_bucket: Some(self.settings.s3_bucket.clone()),
            s3_prefix: Some(self.settings.s3_prefix.clone()),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}
