//! Sims: their state, progress and place in the log.

use cascade_api::{Engine, GpuName, RunId, SimId, SimMetrics, SimState, SimSummary, Timestamp, TraceId};

use super::text::{count, from_json, int, micros, time, to_json, word};
use super::{Db, DbResult, Tx};

/// A sim with what the server keeps about it beyond its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SimRecord {
    /// What the API shows.
    pub summary: SimSummary,
    /// When it came into its state.
    pub state_since: Timestamp,
    /// When the launcher took it up.
    pub launched_at: Option<Timestamp>,
    /// Number of the log chunk that is due.
    pub next_seq: u64,
    /// Bytes of its log file that are acknowledged.
    pub log_bytes: u64,
}

/// A sim that waits for the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimLaunch {
    /// The sim.
    pub sim_id: SimId,
    /// Its run.
    pub run_id: RunId,
    /// The trace to simulate.
    pub trace_id: TraceId,
    /// The GPU to simulate.
    pub gpu_config: GpuName,
    /// The engine the server expects to run.
    pub engine: Engine,
}

/// A sim that was launched and has not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedSim {
    /// The sim.
    pub sim_id: SimId,
    /// `launching`, `running` or `lost`.
    pub state: SimState,
    /// The last sign of life: its last heartbeat, else its launch.
    pub silent_since: Timestamp,
}

#[derive(sqlx::FromRow)]
struct SimRow {
    id: String,
    run_id: String,
    gpu_config: String,
    replica: i64,
    engine: String,
    state: String,
    state_since: i64,
    error: Option<String>,
    launcher_ref: Option<String>,
    created_at: i64,
    launched_at: Option<i64>,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    last_heartbeat_at: Option<i64>,
    exit_code: Option<i32>,
    kernels_done: i64,
    kernels_total: i64,
    current_kernel: Option<String>,
    latest: String,
    log_tail: String,
    next_seq: i64,
    log_bytes: i64,
}

impl SimRow {
    fn read(self) -> DbResult<SimRecord> {
        let summary = SimSummary {
            id: self.id.into(),
            run_id: self.run_id.into(),
            gpu_config: self.gpu_config.into(),
            replica: u32::try_from(self.replica).unwrap_or(0),
            engine: word("sims.engine", &self.engine)?,
            state: word("sims.state", &self.state)?,
            error: self.error,
            launcher_ref: self.launcher_ref,
            created_at: Timestamp::from_micros(self.created_at),
            started_at: time(self.started_at),
            finished_at: time(self.finished_at),
            last_heartbeat_at: time(self.last_heartbeat_at),
            exit_code: self.exit_code,
            kernels_done: count(self.kernels_done),
            kernels_total: count(self.kernels_total),
            current_kernel: self.current_kernel,
            latest: from_json("sims.latest", &self.latest)?,
            log_tail: from_json("sims.log_tail", &self.log_tail)?,
        };
        Ok(SimRecord {
            summary,
            state_since: Timestamp::from_micros(self.state_since),
            launched_at: time(self.launched_at),
            next_seq: count(self.next_seq),
            log_bytes: count(self.log_bytes),
        })
    }
}

impl SimRecord {
    /// A sim as a new run starts it.
    pub fn pending(
        id: SimId,
        run_id: RunId,
        gpu: GpuName,
        replica: u32,
        total: u64,
        engine: Engine,
        now: Timestamp,
    ) -> Self {
        Self {
            summary: SimSummary {
                id,
                run_id,
                gpu_config: gpu,
                replica,
                engine,
                state: SimState::Pending,
                error: None,
                launcher_ref: None,
                created_at: now,
                started_at: None,
                finished_at: None,
                last_heartbeat_at: None,
                exit_code: None,
                kernels_done: 0,
                kernels_total: total,
                current_kernel: None,
                latest: SimMetrics::default(),
                log_tail: Vec::new(),
            },
            state_since: now,
            launched_at: None,
            next_seq: 0,
            log_bytes: 0,
        }
    }

    pub(super) async fn of_run(read: &mut sqlx::SqliteConnection, id: &RunId) -> DbResult<Vec<Self>> {
        let rows: Vec<SimRow> = sqlx::query_as(
            "SELECT * FROM sims WHERE run_id = ? ORDER BY gpu_config COLLATE gpu_name, replica, number",
        )
        .bind(id.as_str())
        .fetch_all(read)
        .await?;
        rows.into_iter().map(SimRow::read).collect()
    }
}

impl Db {
    /// One sim.
    pub async fn sim_get(&self, id: &SimId) -> DbResult<Option<SimRecord>> {
        let row: Option<SimRow> = sqlx::query_as("SELECT * FROM sims WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.readers)
            .await?;
        row.map(SimRow::read).transpose()
    }

    /// The run a sim belongs to.
    pub async fn sim_run(&self, id: &SimId) -> DbResult<Option<RunId>> {
        let run: Option<String> = sqlx::query_scalar("SELECT run_id FROM sims WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.readers)
            .await?;
        Ok(run.map(Into::into))
    }

    /// Sims that wait for the launcher, first come first.
    pub async fn sims_pending(&self) -> DbResult<Vec<SimLaunch>> {
        let rows: Vec<(String, String, String, String, String)> = sqlx::query_as(
            "SELECT sims.id, sims.run_id, runs.trace_id, sims.gpu_config, sims.engine
             FROM sims JOIN runs ON runs.id = sims.run_id WHERE sims.state = 'pending' ORDER BY sims.number",
        )
        .fetch_all(&self.readers)
        .await?;
        rows.into_iter()
            .map(|(sim, run, trace, gpu, engine)| {
                Ok(SimLaunch {
                    sim_id: sim.into(),
                    run_id: run.into(),
                    trace_id: trace.into(),
                    gpu_config: gpu.into(),
                    engine: word("sims.engine", &engine)?,
                })
            })
            .collect()
    }

    /// Sims that were launched and have not finished, each with its last sign of life.
    pub async fn sims_launched(&self) -> DbResult<Vec<LaunchedSim>> {
        let rows: Vec<(String, String, i64)> = sqlx::query_as(
            "SELECT id, state, COALESCE(last_heartbeat_at, launched_at, state_since) FROM sims
             WHERE state IN ('launching', 'running', 'lost') ORDER BY number",
        )
        .fetch_all(&self.readers)
        .await?;
        rows.into_iter()
            .map(|(sim, state, silent_since)| {
                Ok(LaunchedSim {
                    sim_id: sim.into(),
                    state: word("sims.state", &state)?,
                    silent_since: Timestamp::from_micros(silent_since),
                })
            })
            .collect()
    }

    /// Sims that the launcher has taken up and that have not finished, with the launcher's handle.
    pub async fn sims_with_launcher(&self) -> DbResult<Vec<(SimId, SimState, Option<String>)>> {
        let rows: Vec<(String, String, Option<String>)> = sqlx::query_as(
            "SELECT id, state, launcher_ref FROM sims WHERE state IN ('launching', 'running', 'lost')
             ORDER BY number",
        )
        .fetch_all(&self.readers)
        .await?;
        rows.into_iter()
            .map(|(sim, state, handle)| Ok((sim.into(), word("sims.state", &state)?, handle)))
            .collect()
    }

    /// Sims of any run and state on a GPU.
    pub async fn sims_on(&self, gpu: &GpuName) -> DbResult<u64> {
        let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sims WHERE gpu_config = ?")
            .bind(gpu.as_str())
            .fetch_one(&self.readers)
            .await?;
        Ok(count(rows))
    }

    /// How many sims are in each state.
    pub async fn sims_by_state(&self) -> DbResult<Vec<(SimState, u64)>> {
        let rows: Vec<(String, i64)> = sqlx::query_as("SELECT state, COUNT(*) FROM sims GROUP BY state")
            .fetch_all(&self.readers)
            .await?;
        rows.into_iter()
            .map(|(state, n)| Ok((word("sims.state", &state)?, count(n))))
            .collect()
    }

    /// The chunk with the lowest number that was kept for a sim.
    pub async fn early_chunk_first(&self, id: &SimId) -> DbResult<Option<(u64, Vec<String>)>> {
        let row: Option<(i64, String)> =
            sqlx::query_as("SELECT seq, lines FROM early_chunks WHERE sim_id = ? ORDER BY seq LIMIT 1")
                .bind(id.as_str())
                .fetch_optional(&self.readers)
                .await?;
        row.map(|(seq, lines)| Ok((count(seq), from_json("early_chunks.lines", &lines)?)))
            .transpose()
    }

    /// The lines of every chunk that was kept for a sim, in the order of their numbers.
    pub async fn early_chunks_list(&self, id: &SimId) -> DbResult<Vec<Vec<String>>> {
        let chunks: Vec<String> =
            sqlx::query_scalar("SELECT lines FROM early_chunks WHERE sim_id = ? ORDER BY seq")
                .bind(id.as_str())
                .fetch_all(&self.readers)
                .await?;
        chunks
            .iter()
            .map(|lines| from_json("early_chunks.lines", lines))
            .collect()
    }

    /// How many chunks are kept for a sim, and their bytes.
    pub async fn early_chunks_size(&self, id: &SimId) -> DbResult<(u64, u64)> {
        let (chunks, bytes): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), COALESCE(SUM(OCTET_LENGTH(lines)), 0) FROM early_chunks WHERE sim_id = ?",
        )
        .bind(id.as_str())
        .fetch_one(&self.readers)
        .await?;
        Ok((count(chunks), count(bytes)))
    }
}

impl Tx {
    pub(super) async fn sim_insert(&mut self, sim: &SimRecord) -> DbResult<()> {
        let s = &sim.summary;
        sqlx::query(
            "INSERT INTO sims (id, run_id, gpu_config, replica, engine, state, state_since, created_at,
                 kernels_total, latest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(s.id.as_str())
        .bind(s.run_id.as_str())
        .bind(s.gpu_config.as_str())
        .bind(i64::from(s.replica))
        .bind(s.engine.as_str())
        .bind(s.state.as_str())
        .bind(sim.state_since.as_micros())
        .bind(s.created_at.as_micros())
        .bind(int(s.kernels_total))
        .bind(to_json("sims.latest", &s.latest)?)
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }

    /// Writes back a sim that was read with [`Db::sim_get`] and changed during its run's turn.
    pub async fn sim_put(&mut self, sim: &SimRecord) -> DbResult<()> {
        let s = &sim.summary;
        sqlx::query(
            "UPDATE sims SET engine = ?, state = ?, state_since = ?, error = ?, launcher_ref = ?,
                 launched_at = ?, started_at = ?, finished_at = ?, last_heartbeat_at = ?, exit_code = ?,
                 kernels_done = ?, current_kernel = ?, latest = ?, log_tail = ?, next_seq = ?, log_bytes = ?
             WHERE id = ?",
        )
        .bind(s.engine.as_str())
        .bind(s.state.as_str())
        .bind(sim.state_since.as_micros())
        .bind(&s.error)
        .bind(&s.launcher_ref)
        .bind(micros(sim.launched_at))
        .bind(micros(s.started_at))
        .bind(micros(s.finished_at))
        .bind(micros(s.last_heartbeat_at))
        .bind(s.exit_code)
        .bind(int(s.kernels_done))
        .bind(&s.current_kernel)
        .bind(to_json("sims.latest", &s.latest)?)
        .bind(to_json("sims.log_tail", &s.log_tail)?)
        .bind(int(sim.next_seq))
        .bind(int(sim.log_bytes))
        .bind(s.id.as_str())
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }

    /// Keeps a log chunk that came before the one that is due; a number that was kept already is ignored.
    pub async fn early_chunk_keep(&mut self, id: &SimId, seq: u64, lines: &[String]) -> DbResult<()> {
        sqlx::query("INSERT OR IGNORE INTO early_chunks VALUES (?, ?, ?)")
            .bind(id.as_str())
            .bind(int(seq))
            .bind(to_json("early_chunks.lines", &lines)?)
            .execute(&mut *self.0)
            .await?;
        Ok(())
    }

    /// Forgets a kept chunk.
    pub async fn early_chunk_drop(&mut self, id: &SimId, seq: u64) -> DbResult<()> {
        sqlx::query("DELETE FROM early_chunks WHERE sim_id = ? AND seq = ?")
            .bind(id.as_str())
            .bind(int(seq))
            .execute(&mut *self.0)
            .await?;
        Ok(())
    }
}
