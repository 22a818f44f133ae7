//! Step timelines that sims send: stored as they came.

use std::path::PathBuf;

use cascade_api::{SimId, StepTimelineUpload};

use super::Service;
use super::files::write_durably;
use crate::clock;
use crate::error::Error;

impl Service {
    /// Stores a sim's step timeline in place of an earlier one.
    pub async fn timeline_put(&self, id: &SimId, upload: StepTimelineUpload) -> Result<(), Error> {
        let (service, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            let (turn, _) = service.sim_turn(&id).await?;
            let (incoming, path) = (service.settings.incoming_dir(), service.timeline_path(&id));
            let write = move || {
                let json = serde_json::to_vec(&upload)?;
                write_durably(&incoming, &path, &json)?;
                Ok(json.len() as u64)
            };
            let bytes = tokio::task::spawn_blocking(write)
                .await?
                .map_err(Error::io("cannot store a step timeline"))?;
            let mut tx = service.db.write().await?;
            tx.timeline_put(&id, bytes, clock::now()).await?;
            tx.commit().await?;
            drop(turn);
            Ok(())
        })
        .await?
    }

    /// Where a sim's step timeline lies.
    pub(super) fn timeline_path(&self, sim: &SimId) -> PathBuf {
        self.settings.steps_dir().join(format!("{sim}.json"))
    }
}
