//! Traces and the kernels that were launched on the original GPU.

use cascade_api::{KernelLaunch, Timestamp, TraceDetail, TraceId, TraceState, TraceSummary};
use serde_json::{Map, Value};

use super::text::{count, from_json, int, to_json, word};
use super::{Db, DbResult, Tx};
use crate::clock;

/// Architecture of a trace for which neither `metadata.json` nor a kernel names one.
const DEFAULT_ARCH: &str = "sm_90";

/// What a scan of a trace's files found.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceUpdate {
    /// The trace.
    pub id: TraceId,
    /// `metadata.json`, once it is there and readable.
    pub metadata: Option<Map<String, Value>>,
    /// The architecture in its kernels' headers, for a `metadata.json` that names none.
    pub binary_arch: Option<String>,
    /// Kernels seen so far.
    pub kernel_count: u64,
    /// Bytes of every file.
    pub bytes: u64,
    /// Whether it carries real kernel timings.
    pub has_real_timing: bool,
    /// Whether it carries `corrected_timeline.json` and `kernel_mapping.json`.
    pub has_step_timeline: bool,
}

#[derive(sqlx::FromRow)]
struct TraceRow {
    id: String,
    state: String,
    error: Option<String>,
    waiting_for: Option<String>,
    created_at: i64,
    updated_at: i64,
    model: Option<String>,
    layers: String,
    source_gpu: Option<String>,
    trace_gpu_arch: String,
    suggested_sim_config: Option<String>,
    real_gpu_config: Option<String>,
    sample_sim_configs: String,
    sample_set: Option<String>,
    kernel_count: i64,
    bytes: i64,
    has_real_timing: bool,
    has_step_timeline: bool,
    sample: bool,
    synthetic: bool,
}

impl TraceRow {
    fn read(self) -> DbResult<TraceSummary> {
        Ok(TraceSummary {
            id: self.id.into(),
            state: word("traces.state", &self.state)?,
            error: self.error,
            waiting_for: self.waiting_for,
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            model: self.model,
            layers: from_json("traces.layers", &self.layers)?,
            source_gpu: self.source_gpu,
            trace_gpu_arch: self.trace_gpu_arch,
            suggested_sim_config: self.suggested_sim_config.map(Into::into),
            real_gpu_config: self.real_gpu_config.map(Into::into),
            sample_sim_configs: from_json("traces.sample_sim_configs", &self.sample_sim_configs)?,
            sample_set: self.sample_set,
            kernel_count: count(self.kernel_count),
            bytes: count(self.bytes),
            has_real_timing: self.has_real_timing,
            has_step_timeline: self.has_step_timeline,
            sample: self.sample,
            synthetic: self.synthetic,
        })
    }
}

#[derive(sqlx::FromRow)]
struct KernelRow {
    kernel_id: i64,
    name: String,
    grid: String,
    block: String,
    instructions: Option<i64>,
}

impl Db {
    /// Every trace, newest first.
    pub async fn traces_list(&self) -> DbResult<Vec<TraceSummary>> {
        let rows: Vec<TraceRow> = sqlx::query_as("SELECT * FROM traces ORDER BY created_at DESC, rowid DESC")
            .fetch_all(&self.readers)
            .await?;
        rows.into_iter().map(TraceRow::read).collect()
    }

    /// One trace.
    pub async fn trace_get(&self, id: &TraceId) -> DbResult<Option<TraceSummary>> {
        let row: Option<TraceRow> = sqlx::query_as("SELECT * FROM traces WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.readers)
            .await?;
        row.map(TraceRow::read).transpose()
    }

    /// One trace's `metadata.json`, if the trace exists and the file has arrived.
    pub async fn trace_metadata(&self, id: &TraceId) -> DbResult<Option<Map<String, Value>>> {
        let text: Option<Option<String>> = sqlx::query_scalar("SELECT metadata FROM traces WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.readers)
            .await?;
        text.flatten()
            .map(|text| from_json("traces.metadata", &text))
            .transpose()
    }

    /// One trace with its metadata and kernels.
    pub async fn trace_detail(&self, id: &TraceId) -> DbResult<Option<TraceDetail>> {
        let Some(summary) = self.trace_get(id).await? else {
            return Ok(None);
        };
        let metadata = self.trace_metadata(id).await?;
        let rows: Vec<KernelRow> = sqlx::query_as(
            "SELECT kernel_id, name, grid, block, instructions FROM trace_kernels WHERE trace_id = ?
             ORDER BY kernel_id, position",
        )
        .bind(id.as_str())
        .fetch_all(&self.readers)
        .await?;
        let read = |row: KernelRow| {
            Ok(KernelLaunch {
                kernel_id: count(row.kernel_id),
                name: row.name,
                grid: from_json("trace_kernels.grid", &row.grid)?,
                block: from_json("trace_kernels.block", &row.block)?,
                instructions: row.instructions.map(count),
            })
        };
        let kernels = rows.into_iter().map(read).collect::<DbResult<_>>()?;
        let warnings: String = sqlx::query_scalar("SELECT warnings FROM traces WHERE id = ?")
            .bind(id.as_str())
            .fetch_one(&self.readers)
            .await?;
        Ok(Some(TraceDetail {
            summary,
            metadata,
            kernels,
            warnings: from_json("traces.warnings", &warnings)?,
        }))
    }

    /// Stores what a scan found: a new trace starts as `uploading`, a known one keeps its state. Answers
    /// the trace, and whether anything changed.
    pub async fn trace_upsert(&self, update: &TraceUpdate) -> DbResult<(TraceSummary, bool)> {
        let mut tx = self.write().await?;
        let old: Option<TraceRow> = sqlx::query_as("SELECT * FROM traces WHERE id = ?")
            .bind(update.id.as_str())
            .fetch_optional(&mut *tx.0)
            .await?;
        let old = old.map(TraceRow::read).transpose()?;
        let old_metadata: Option<Option<String>> =
            sqlx::query_scalar("SELECT metadata FROM traces WHERE id = ?")
                .bind(update.id.as_str())
                .fetch_optional(&mut *tx.0)
                .await?;
        let metadata = update
            .metadata
            .as_ref()
            .map(|m| to_json("traces.metadata", m))
            .transpose()?;
        let mut trace = summary(update, old.as_ref());
        let changed = old.as_ref() != Some(&trace) || old_metadata.flatten() != metadata;
        if changed {
            trace.updated_at = clock::now();
            tx.trace_put(&trace, metadata).await?;
            tx.commit().await?;
        }
        Ok((trace, changed))
    }

    /// Says what an uploading trace waits for; no news to a trace in another state.
    pub async fn trace_waiting_set(&self, id: &TraceId, waiting_for: &str) -> DbResult<()> {
        let mut tx = self.write().await?;
        sqlx::query("UPDATE traces SET waiting_for = ?, updated_at = ? WHERE id = ? AND state = ?")
            .bind(waiting_for)
            .bind(clock::now().as_micros())
            .bind(id.as_str())
            .bind(TraceState::Uploading.as_str())
            .execute(&mut *tx.0)
            .await?;
        tx.commit().await
    }

    /// Moves a trace to `state`; `error` is kept with `failed`. Answers false when there is no such trace.
    pub async fn trace_state_set(
        &self,
        id: &TraceId,
        state: TraceState,
        error: Option<&str>,
    ) -> DbResult<bool> {
        let mut tx = self.write().await?;
        let done = sqlx::query(
            "UPDATE traces SET state = ?, error = ?, waiting_for = NULL, updated_at = ? WHERE id = ?",
        )
        .bind(state.as_str())
        .bind(error)
        .bind(clock::now().as_micros())
        .bind(id.as_str())
        .execute(&mut *tx.0)
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// Stores a trace's kernel launches in place of those it had.
    pub async fn trace_kernels_replace(
        &self,
        id: &TraceId,
        kernels: &[KernelLaunch],
        warnings: &[String],
    ) -> DbResult<()> {
        let mut tx = self.write().await?;
        sqlx::query("UPDATE traces SET warnings = ? WHERE id = ?")
            .bind(to_json("traces.warnings", &warnings)?)
            .bind(id.as_str())
            .execute(&mut *tx.0)
            .await?;
        sqlx::query("DELETE FROM trace_kernels WHERE trace_id = ?")
            .bind(id.as_str())
            .execute(&mut *tx.0)
            .await?;
        tx.trace_kernels_insert(id, kernels).await?;
        tx.commit().await
    }
}

impl Tx {
    /// Stores a bundled trace, which is ready from the start, with its kernel launches.
    pub async fn trace_seed(&mut self, update: &TraceUpdate, kernels: &[KernelLaunch]) -> DbResult<()> {
        let metadata = update.metadata.as_ref();
        let metadata = metadata.map(|m| to_json("traces.metadata", m)).transpose()?;
        let trace = TraceSummary {
            state: TraceState::Ready,
            sample: true,
            ..summary(update, None)
        };
        self.trace_put(&trace, metadata).await?;
        self.trace_kernels_insert(&update.id, kernels).await
    }

    async fn trace_kernels_insert(&mut self, id: &TraceId, kernels: &[KernelLaunch]) -> DbResult<()> {
        for (position, kernel) in (0_i64..).zip(kernels) {
            sqlx::query("INSERT INTO trace_kernels VALUES (?, ?, ?, ?, ?, ?, ?)")
                .bind(id.as_str())
                .bind(position)
                .bind(int(kernel.kernel_id))
                .bind(&kernel.name)
                .bind(to_json("trace_kernels.grid", &kernel.grid)?)
                .bind(to_json("trace_kernels.block", &kernel.block)?)
                .bind(kernel.instructions.map(int))
                .execute(&mut *self.0)
                .await?;
        }
        Ok(())
    }

    async fn trace_put(&mut self, trace: &TraceSummary, metadata: Option<String>) -> DbResult<()> {
        sqlx::query(
            "INSERT INTO traces (id, state, error, created_at, updated_at, model, layers, source_gpu,
                 trace_gpu_arch, suggested_sim_config, real_gpu_config, sample_sim_configs, sample_set,
                 kernel_count, bytes, has_real_timing, has_step_timeline, sample, synthetic, metadata)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
             ON CONFLICT (id) DO UPDATE SET updated_at = ?5, model = ?6, layers = ?7, source_gpu = ?8,
                 trace_gpu_arch = ?9, suggested_sim_config = ?10, real_gpu_config = ?11,
                 sample_sim_configs = ?12, sample_set = ?13, kernel_count = ?14, bytes = ?15,
                 has_real_timing = ?16, has_step_timeline = ?17, sample = ?18, synthetic = ?19, metadata = ?20",
        )
        .bind(trace.id.as_str())
        .bind(trace.state.as_str())
        .bind(&trace.error)
        .bind(trace.created_at.as_micros())
        .bind(trace.updated_at.as_micros())
        .bind(&trace.model)
        .bind(to_json("traces.layers", &trace.layers)?)
        .bind(&trace.source_gpu)
        .bind(&trace.trace_gpu_arch)
        .bind(trace.suggested_sim_config.as_ref().map(|g| g.as_str()))
        .bind(trace.real_gpu_config.as_ref().map(|g| g.as_str()))
        .bind(to_json("traces.sample_sim_configs", &trace.sample_sim_configs)?)
        .bind(&trace.sample_set)
        .bind(int(trace.kernel_count))
        .bind(int(trace.bytes))
        .bind(trace.has_real_timing)
        .bind(trace.has_step_timeline)
        .bind(trace.sample)
        .bind(trace.synthetic)
        .bind(metadata)
        .execute(&mut *self.0)
        .await?;
        Ok(())
    }
}

/// The trace as `update` makes it, its facts read from `metadata.json`.
fn summary(update: &TraceUpdate, old: Option<&TraceSummary>) -> TraceSummary {
    let now = clock::now();
    let get = |key: &str| update.metadata.as_ref().and_then(|m| m.get(key));
    let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);
    let flag = |key: &str| get(key).and_then(Value::as_bool).unwrap_or(false);
    let list = |key: &str| -> Vec<String> {
        let items = get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    TraceSummary {
        id: update.id.clone(),
        state: old.map_or(TraceState::Uploading, |t| t.state),
        error: old.and_then(|t| t.error.clone()),
        waiting_for: old.and_then(|t| t.waiting_for.clone()),
        created_at: old.map_or(now, |t| t.created_at),
        updated_at: old.map_or(now, |t| t.updated_at),
        model: text("model"),
        layers: list("layers"),
        source_gpu: text("gpu"),
        trace_gpu_arch: text("trace_gpu_arch")
            .or_else(|| update.binary_arch.clone())
            .unwrap_or_else(|| DEFAULT_ARCH.into()),
        suggested_sim_config: text("suggested_sim_config").map(Into::into),
        real_gpu_config: text("real_gpu_config").map(Into::into),
        sample_sim_configs: list("sample_sim_configs").into_iter().map(Into::into).collect(),
        sample_set: text("sample_set"),
        kernel_count: update.kernel_count,
        bytes: update.bytes,
        has_real_timing: update.has_real_timing,
        has_step_timeline: update.has_step_timeline,
        // A bundled trace has no instructions to simulate; only the server's own seeding makes one.
        sample: old.is_some_and(|t| t.sample),
        synthetic: flag("synthetic"),
    }
}
