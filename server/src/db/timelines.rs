//! Which sims sent a step timeline; the timelines lie beside the database.

use cascade_api::{GpuName, RunId, SimId, Timestamp};

use super::text::int;
use super::{Db, DbResult, Tx};

impl Db {
    /// The sims of a run that sent a step timeline, by GPU and replica.
    pub async fn timelines_of_run(&self, id: &RunId) -> DbResult<Vec<(SimId, GpuName, u32)>> {
        let rows: Vec<(String, String, u32)> = sqlx::query_as(
            "SELECT sims.id, sims.gpu_config, sims.replica
             FROM sims JOIN step_timelines ON step_timelines.sim_id = sims.id
             WHERE sims.run_id = ? ORDER BY sims.gpu_config COLLATE gpu_name, sims.replica, sims.number",
        )
        .bind(id.as_str())
        .fetch_all(&self.readers)
        .await?;
        let read = |(sim, gpu, replica): (String, String, u32)| (sim.into(), gpu.into(), replica);
        Ok(rows.into_iter().map(read).collect())
    }
}

impl Tx {
    /// Says that a sim's step timeline is complete, in place of an older one.
    pub async fn timeline_put(&mut self, id: &SimId, bytes: u64, now: Timestamp) -> DbResult<()> {
        sqlx::query("INSERT OR REPLACE INTO step_timelines VALUES (?, ?, ?)")
            .bind(id.as_str())
            .bind(now.as_micros())
            .bind(int(bytes))
            .execute(&mut *self.0)
            .await?;
        Ok(())
    }
}
