//! The one flag that tells every part of a worker to stop, with the reason.

use std::sync::{Arc, OnceLock};

use cascade_api::SimState;
use tokio_util::sync::CancellationToken;

/// Why a worker stops before its engine is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The app said so: the sim was cancelled.
    Cancelled,
    /// The app has already ended this sim, for example because it was silent for too long.
    Ended(SimState),
    /// The app refuses our calls, so nothing we do can arrive.
    Refused(String),
    /// Someone asked this process to end.
    Signal(&'static str),
    /// The engine printed nothing for so many seconds.
    Silent(u64),
}

/// Shared by the tasks of one worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    token: CancellationToken,
    why: Arc<OnceLock<Why>>,
}

impl Stop {
    /// Asks everyone to stop. The first reason counts.
    pub(crate) fn because(&self, why: Why) {
        self.why.get_or_init(|| why);
        self.token.cancel();
    }

    pub(crate) fn why(&self) -> Option<&Why> {
        self.why.get()
    }

    pub(crate) fn is_set(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until someone asks.
    pub(crate) async fn wait(&self) {
        self.token.cancelled().await;
    }
}
