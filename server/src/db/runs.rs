//! Runs.

use std::collections::BTreeMap;

use cascade_api::{Engine, RunEntry, RunId, RunSummary, SimState, Timestamp, TraceId, run_state, sim_counts};

use super::text::{from_json, to_json, word};
use super::{Db, DbResult, SimRecord, Tx};

/// A run that is about to be stored, with its sims in the order in which they launch.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// The trace it simulates.
    pub trace_id: TraceId,
    /// When it was created.
    pub created_at: Timestamp,
    /// What was asked for.
    pub entries: Vec<RunEntry>,
    /// Whether it is bundled with the app.
    pub sample: bool,
    /// Whether its sims play back recorded results.
    pub replay: bool,
    /// Its sims.
    pub sims: Vec<SimRecord>,
}

#[derive(sqlx::FromRow)]
struct RunRow {
    id: String,
    trace_id: String,
    created_at: i64,
    entries: String,
    sample: bool,
    replay: bool,
    /// Of its trace.
    synthetic: bool,
}

/// Asks for [`RunRow`]s; sqlx takes text that is known when it is compiled.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT runs.*, COALESCE((SELECT synthetic FROM traces WHERE traces.id = trace_id), FALSE) AS synthetic
             FROM runs ",
            $rest
        )
    };
}

impl RunRow {
    fn read(self, sims: &[(SimState, Engine)]) -> DbResult<RunSummary> {
        let states = || sims.iter().map(|(state, _)| *state);
        Ok(RunSummary {
            id: self.id.into(),
            trace_id: self.trace_id.into(),
            created_at: Timestamp::from_micros(self.created_at),
            state: run_state(states()),
            entries: from_json("runs.entries", &self.entries)?,
            sim_counts: sim_counts(states()),
            sample: self.sample,
            replay: self.replay || sims.iter().any(|(_, engine)| *engine == Engine::Replay),
            synthetic: self.synthetic,
        })
    }
}

impl Db {
    /// Every run, newest first.
    pub async fn runs_list(&self) -> DbResult<Vec<RunSummary>> {
        // Both reads see the same moment.
        let mut read = self.readers.begin().await?;
        let rows: Vec<RunRow> = sqlx::query_as(select!("ORDER BY created_at DESC, number DESC"))
            .fetch_all(&mut *read)
            .await?;
        let sims: Vec<(String, String, String)> = sqlx::query_as("SELECT run_id, state, engine FROM sims")
            .fetch_all(&mut *read)
            .await?;
        drop(read);
        let mut by_run: BTreeMap<String, Vec<(SimState, Engine)>> = BTreeMap::new();
        for (run, state, engine) in sims {
            let sim = (word("sims.state", &state)?, word("sims.engine", &engine)?);
            by_run.entry(run).or_default().push(sim);
        }
        rows.into_iter()
            .map(|row| {
                let of_run = by_run.remove(&row.id).unwrap_or_default();
                row.read(&of_run)
            })
            .collect()
    }

    /// One run and its sims, by GPU and then replica.
    pub async fn run_get(&self, id: &RunId) -> DbResult<Option<(RunSummary, Vec<SimRecord>)>> {
        let mut read = self.readers.begin().await?;
        let row: Option<RunRow> = sqlx::query_as(select!("WHERE id = ?"))
            .bind(id.as_str())
            .fetch_optional(&mut *read)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let sims = SimRecord::of_run(&mut read, id).await?;
        let states: Vec<_> = sims.iter().map(|s| (s.summary.state, s.summary.engine)).collect();
        Ok(Some((row.read(&states)?, sims)))
    }
}

impl Tx {
    /// Stores a run and every sim of it.
    pub async fn run_insert(&mut self, run: &NewRun) -> DbResult<()> {
        sqlx::query(
            "INSERT INTO runs (id, trace_id, created_at, entries, sample, replay) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(run.id.as_str())
        .bind(run.trace_id.as_str())
        .bind(run.created_at.as_micros())
        .bind(to_json("runs.entries", &run.entries)?)
        .bind(run.sample)
        .bind(run.replay)
        .execute(&mut *self.0)
        .await?;
        for sim in &run.sims {
            self.sim_insert(sim).await?;
        }
        Ok(())
    }
}
