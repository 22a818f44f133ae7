//! Saved scenarios, and the sims that scenarios rest on.

use cascade_api::{GpuName, RunId, SavedScenario, SimId, Timestamp, TraceId};

use super::text::{count, from_json, to_json};
use super::{Db, DbResult};

#[derive(sqlx::FromRow)]
struct ScenarioRow {
    id: String,
    name: String,
    created_at: i64,
    scenario: String,
    result: String,
}

impl ScenarioRow {
    fn read(self) -> DbResult<SavedScenario> {
        Ok(SavedScenario {
            id: self.id,
            name: self.name,
            created_at: Timestamp::from_micros(self.created_at),
            scenario: from_json("scenarios.scenario", &self.scenario)?,
            result: from_json("scenarios.result", &self.result)?,
        })
    }
}

impl Db {
    /// The newest sim of a trace on a GPU that succeeded and sent step timing; a simulated one before a replay.
    pub async fn base_finished(&self, trace: &TraceId, gpu: &GpuName) -> DbResult<Option<(RunId, SimId)>> {
        self.one_base(
            "SELECT sims.run_id, sims.id FROM sims
             JOIN runs ON runs.id = sims.run_id JOIN step_timelines ON step_timelines.sim_id = sims.id
             WHERE runs.trace_id = ? AND sims.gpu_config = ? AND sims.state = 'succeeded'
             ORDER BY runs.replay, sims.number DESC LIMIT 1",
            trace,
            gpu,
        )
        .await
    }

    /// The one sim that a query finds by trace and GPU, in this order.
    async fn one_base(
        &self,
        query: &'static str,
        trace: &TraceId,
        gpu: &GpuName,
    ) -> DbResult<Option<(RunId, SimId)>> {
        let row: Option<(String, String)> = sqlx::query_as(query)
            .bind(trace.as_str())
            .bind(gpu.as_str())
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.map(|(run, sim)| (run.into(), sim.into())))
    }

    /// For each trace and GPU that has one: what [`Db::base_finished`] finds, newest traces first.
    pub async fn bases(&self) -> DbResult<Vec<(TraceId, GpuName, RunId, SimId)>> {
        let rows: Vec<(String, String, String, String)> = sqlx::query_as(
            "SELECT runs.trace_id, sims.gpu_config, sims.run_id, sims.id FROM sims
             JOIN runs ON runs.id = sims.run_id JOIN step_timelines ON step_timelines.sim_id = sims.id
             JOIN traces ON traces.id = runs.trace_id
             WHERE sims.state = 'succeeded' AND traces.state = 'ready'
             ORDER BY traces.created_at DESC, runs.trace_id, sims.gpu_config COLLATE gpu_name, runs.replay, sims.number DESC",
        )
        .fetch_all(&self.readers)
        .await?;
        let mut bases: Vec<(TraceId, GpuName, RunId, SimId)> = Vec::new();
        for (trace, gpu, run, sim) in rows {
            // The first of each pair is the one to use.
            let before = bases.last();
            if before.is_none_or(|(t, g, ..)| (t.as_str(), g.as_str()) != (trace.as_str(), gpu.as_str())) {
                bases.push((trace.into(), gpu.into(), run.into(), sim.into()));
            }
        }
        Ok(bases)
    }

    /// The newest sim of a trace on a GPU that is under way.
    pub async fn base_active(&self, trace: &TraceId, gpu: &GpuName) -> DbResult<Option<(RunId, SimId)>> {
        self.one_base(
            "SELECT sims.run_id, sims.id FROM sims JOIN runs ON runs.id = sims.run_id
             WHERE runs.trace_id = ? AND sims.gpu_config = ? AND sims.state IN ('pending', 'launching', 'running')
             ORDER BY sims.number DESC LIMIT 1",
            trace,
            gpu,
        )
        .await
    }

    /// The newest sim of a trace on a GPU that succeeded without sending step timing.
    pub async fn base_untimed(&self, trace: &TraceId, gpu: &GpuName) -> DbResult<Option<(RunId, SimId)>> {
        self.one_base(
            "SELECT sims.run_id, sims.id FROM sims
             JOIN runs ON runs.id = sims.run_id LEFT JOIN step_timelines ON step_timelines.sim_id = sims.id
             WHERE runs.trace_id = ? AND sims.gpu_config = ? AND sims.state = 'succeeded'
               AND step_timelines.sim_id IS NULL
             ORDER BY sims.number DESC LIMIT 1",
            trace,
            gpu,
        )
        .await
    }

    /// Whether a sim sent step timing.
    pub async fn timeline_exists(&self, id: &SimId) -> DbResult<bool> {
        let row: Option<i64> = sqlx::query_scalar("SELECT 1 FROM step_timelines WHERE sim_id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.is_some())
    }

    /// How many scenarios are saved.
    pub async fn scenarios_count(&self) -> DbResult<u64> {
        let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM scenarios")
            .fetch_one(&self.readers)
            .await?;
        Ok(count(rows))
    }

    /// Every saved scenario, newest first.
    pub async fn scenarios_list(&self) -> DbResult<Vec<SavedScenario>> {
        let rows: Vec<ScenarioRow> =
            sqlx::query_as("SELECT * FROM scenarios ORDER BY created_at DESC, number DESC")
                .fetch_all(&self.readers)
                .await?;
        rows.into_iter().map(ScenarioRow::read).collect()
    }

    /// One saved scenario.
    pub async fn scenario_get(&self, id: &str) -> DbResult<Option<SavedScenario>> {
        let row: Option<ScenarioRow> = sqlx::query_as("SELECT * FROM scenarios WHERE id = ?")
            .bind(id)
            .fetch_optional(&self.readers)
            .await?;
        row.map(ScenarioRow::read).transpose()
    }

    /// Stores a scenario.
    pub async fn scenario_insert(&self, saved: &SavedScenario) -> DbResult<()> {
        let mut tx = self.write().await?;
        sqlx::query("INSERT INTO scenarios (id, name, created_at, scenario, result) VALUES (?, ?, ?, ?, ?)")
            .bind(&saved.id)
            .bind(&saved.name)
            .bind(saved.created_at.as_micros())
            .bind(to_json("scenarios.scenario", &saved.scenario)?)
            .bind(to_json("scenarios.result", &saved.result)?)
            .execute(&mut *tx.0)
            .await?;
        tx.commit().await
    }

    /// Deletes a saved scenario; false when there is none of this id.
    pub async fn scenario_delete(&self, id: &str) -> DbResult<bool> {
        let mut tx = self.write().await?;
        let done = sqlx::query("DELETE FROM scenarios WHERE id = ?")
            .bind(id)
            .execute(&mut *tx.0)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }
}
