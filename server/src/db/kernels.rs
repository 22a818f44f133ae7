//! Statistics of simulated kernels.

use cascade_api::{KernelStat, RunId, SimId, StatValue};
use indexmap::IndexMap;

use super::text::{count, int};
use super::{Db, DbError, DbResult, Tx};

/// Compression of a kernel's statistics: the quickest level, which still makes them five times smaller.
const LEVEL: i32 = 1;
/// Largest statistics of one kernel, unpacked: 64 MiB.
const MAX_STATS_BYTES: usize = 64 << 20;

/// A kernel that just finished, its statistics packed for storing.
#[derive(Clone, Debug)]
pub struct NewKernel {
    /// The kernel with its statistics.
    pub stat: KernelStat,
    packed: Vec<u8>,
}

impl NewKernel {
    /// Packs a kernel's statistics. This takes a while; do it outside the write.
    pub fn pack(stat: KernelStat) -> std::io::Result<Self> {
        let packed = zstd::bulk::compress(&serde_json::to_vec(&stat.stats)?, LEVEL)?;
        Ok(Self { stat, packed })
    }
}

fn unpack(packed: &[u8]) -> DbResult<IndexMap<String, StatValue>> {
    let unreadable = |e: &dyn std::fmt::Display| DbError::Column {
        column: "kernel_stats.stats",
        value: e.to_string(),
    };
    let json = zstd::bulk::decompress(packed, MAX_STATS_BYTES).map_err(|e| unreadable(&e))?;
    serde_json::from_slice(&json).map_err(|e| unreadable(&e))
}

#[derive(sqlx::FromRow)]
struct KernelRow {
    sim_id: String,
    kernel_index: i64,
    kernel_name: String,
    kernel_launch_uid: Option<i64>,
    gpu_sim_cycle: Option<i64>,
    gpu_sim_insn: Option<i64>,
    gpu_ipc: Option<f64>,
    sim_time_ns: Option<f64>,
}

impl KernelRow {
    fn read(self, stats: IndexMap<String, StatValue>) -> KernelStat {
        KernelStat {
            sim_id: self.sim_id.into(),
            kernel_index: count(self.kernel_index),
            kernel_name: self.kernel_name,
            kernel_launch_uid: self.kernel_launch_uid.map(count),
            gpu_sim_cycle: self.gpu_sim_cycle.map(count),
            gpu_sim_insn: self.gpu_sim_insn.map(count),
            gpu_ipc: self.gpu_ipc,
            sim_time_ns: self.sim_time_ns,
            stats,
        }
    }
}

#[derive(sqlx::FromRow)]
struct FullRow {
    #[sqlx(flatten)]
    kernel: KernelRow,
    stats: Option<Vec<u8>>,
}

/// A finished kernel as a timeline shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTime {
    /// Position in the sim.
    pub index: u64,
    /// Number of the launch in the trace, where the log gave it.
    pub uid: Option<u64>,
    /// Name as recorded.
    pub name: String,
    /// Simulated time, ns.
    pub ns: Option<f64>,
}

/// The kernels of a run that fit a condition, by GPU, replica and kernel. Sims are put in order first: they are few, and
/// comparing their GPUs' names for every kernel would take longer than reading the kernels.
macro_rules! ranked_kernels {
    ($condition:literal) => {
        concat!(
            "WITH ranked AS (
                 SELECT id, ROW_NUMBER() OVER (ORDER BY gpu_config COLLATE gpu_name, replica, number) AS place
                 FROM sims WHERE run_id = ?
             )
             SELECT kernels.* FROM ranked JOIN kernels ON kernels.sim_id = ranked.id ",
            $condition,
            " ORDER BY ranked.place, kernels.kernel_index"
        )
    };
}

impl Db {
    /// Every kernel that a run's sims finished, `stats` left empty, by GPU, replica and kernel.
    pub async fn kernels_of_run(&self, id: &RunId) -> DbResult<Vec<KernelStat>> {
        let rows: Vec<KernelRow> = sqlx::query_as(ranked_kernels!(""))
            .bind(id.as_str())
            .fetch_all(&self.readers)
            .await?;
        Ok(rows.into_iter().map(|row| row.read(IndexMap::new())).collect())
    }

    /// The kernels of a run's sims with an index of `from` up to, but not including, `to`: `stats` left empty, by
    /// GPU, replica and kernel.
    pub async fn kernels_between(&self, id: &RunId, from: u64, to: u64) -> DbResult<Vec<KernelStat>> {
        let rows: Vec<KernelRow> = sqlx::query_as(ranked_kernels!(
            "WHERE kernels.kernel_index >= ? AND kernels.kernel_index < ?"
        ))
        .bind(id.as_str())
        .bind(int(from))
        .bind(int(to))
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(|row| row.read(IndexMap::new())).collect())
    }

    /// Up to `limit` kernels of a sim from `start` on, `stats` left empty.
    pub async fn kernels_of_sim(&self, id: &SimId, start: u64, limit: u32) -> DbResult<Vec<KernelStat>> {
        let rows: Vec<KernelRow> = sqlx::query_as(
            "SELECT * FROM kernels WHERE sim_id = ? AND kernel_index >= ? ORDER BY kernel_index LIMIT ?",
        )
        .bind(id.as_str())
        .bind(int(start))
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(|row| row.read(IndexMap::new())).collect())
    }

    /// Up to `limit` kernels of a sim from `start` on, as a timeline shows them.
    pub async fn kernel_times(&self, id: &SimId, start: u64, limit: u32) -> DbResult<Vec<KernelTime>> {
        let rows: Vec<(i64, Option<i64>, String, Option<f64>)> = sqlx::query_as(
            "SELECT kernel_index, kernel_launch_uid, kernel_name, sim_time_ns FROM kernels
             WHERE sim_id = ? AND kernel_index >= ? ORDER BY kernel_index LIMIT ?",
        )
        .bind(id.as_str())
        .bind(int(start))
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        let read = |(index, uid, name, ns): (i64, Option<i64>, String, Option<f64>)| KernelTime {
            index: count(index),
            uid: uid.map(count),
            name,
            ns,
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Up to `limit` kernels of a sim from `start` on, with their `stats`.
    pub async fn kernels_full(&self, id: &SimId, start: u64, limit: u32) -> DbResult<Vec<KernelStat>> {
        let rows: Vec<FullRow> = sqlx::query_as(
            "SELECT kernels.*, kernel_stats.stats FROM kernels
             LEFT JOIN kernel_stats USING (sim_id, kernel_index)
             WHERE sim_id = ? AND kernel_index >= ? ORDER BY kernel_index LIMIT ?",
        )
        .bind(id.as_str())
        .bind(int(start))
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        rows.into_iter()
            .map(|row| {
                let stats = row.stats.as_deref().map(unpack).transpose()?;
                Ok(row.kernel.read(stats.unwrap_or_default()))
            })
            .collect()
    }
}

impl Tx {
    /// Stores a finished kernel; one that is stored already stays as it is.
    pub async fn kernel_insert(&mut self, kernel: &NewKernel) -> DbResult<()> {
        let stat = &kernel.stat;
        let done = sqlx::query("INSERT OR IGNORE INTO kernels VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(stat.sim_id.as_str())
            .bind(int(stat.kernel_index))
            .bind(&stat.kernel_name)
            .bind(stat.kernel_launch_uid.map(int))
            .bind(stat.gpu_sim_cycle.map(int))
            .bind(stat.gpu_sim_insn.map(int))
            .bind(stat.gpu_ipc)
            .bind(stat.sim_time_ns)
            .execute(&mut *self.0)
            .await?;
        if done.rows_affected() > 0 {
            sqlx::query("INSERT INTO kernel_stats (sim_id, kernel_index, stats) VALUES (?, ?, ?)")
                .bind(stat.sim_id.as_str())
                .bind(int(stat.kernel_index))
                .bind(&kernel.packed)
                .execute(&mut *self.0)
                .await?;
        }
        Ok(())
    }
}
