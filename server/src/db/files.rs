//! Output files of sims; their bytes lie beside the database.

use cascade_api::{RunFile, RunId, SimFile, SimId, Timestamp};

use super::text::{count, int};
use super::{Db, DbResult, Tx};

#[derive(sqlx::FromRow)]
struct FileRow {
    name: String,
    bytes: i64,
    content_type: String,
    created_at: i64,
}

impl FileRow {
    fn read(self) -> SimFile {
        SimFile {
            name: self.name,
            size: count(self.bytes),
            content_type: self.content_type,
            created_at: Timestamp::from_micros(self.created_at),
        }
    }
}

#[derive(sqlx::FromRow)]
struct RunFileRow {
    #[sqlx(flatten)]
    file: FileRow,
    sim_id: String,
    gpu_config: String,
    replica: i64,
}

impl Db {
    /// A sim's files by name.
    pub async fn files_of_sim(&self, id: &SimId) -> DbResult<Vec<SimFile>> {
        let rows: Vec<FileRow> = sqlx::query_as("SELECT * FROM files WHERE sim_id = ? ORDER BY name")
            .bind(id.as_str())
            .fetch_all(&self.readers)
            .await?;
        Ok(rows.into_iter().map(FileRow::read).collect())
    }

    /// The files of a run's sims by GPU, replica and name.
    pub async fn files_of_run(&self, id: &RunId) -> DbResult<Vec<RunFile>> {
        let rows: Vec<RunFileRow> = sqlx::query_as(
            "SELECT files.*, sims.gpu_config, sims.replica FROM sims JOIN files ON files.sim_id = sims.id
             WHERE sims.run_id = ? ORDER BY sims.gpu_config COLLATE gpu_name, sims.replica, sims.number, files.name",
        )
        .bind(id.as_str())
        .fetch_all(&self.readers)
        .await?;
        let read = |row: RunFileRow| RunFile {
            file: row.file.read(),
            sim_id: row.sim_id.into(),
            gpu_config: row.gpu_config.into(),
            replica: u32::try_from(row.replica).unwrap_or(0),
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// One file of a sim.
    pub async fn file_get(&self, id: &SimId, name: &str) -> DbResult<Option<SimFile>> {
        let row: Option<FileRow> = sqlx::query_as("SELECT * FROM files WHERE sim_id = ? AND name = ?")
            .bind(id.as_str())
            .bind(name)
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.map(FileRow::read))
    }
}

impl Tx {
    /// Bytes of a sim's files, `except` left out.
    pub async fn files_bytes(&mut self, id: &SimId, except: &str) -> DbResult<u64> {
        let sum: Option<i64> =
            sqlx::query_scalar("SELECT SUM(bytes) FROM files WHERE sim_id = ? AND name <> ?")
                .bind(id.as_str())
                .bind(except)
                .fetch_one(&mut *self.0)
                .await?;
        Ok(count(sum.unwrap_or(0)))
    }

    /// Says that a file is complete, in place of an older one with its name.
    pub async fn file_put(&mut self, id: &SimId, file: &SimFile) -> DbResult<()> {
        sqlx::query("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)")
            .bind(id.as_str())
            .bind(&file.name)
            .bind(int(file.size))
            .bind(&file.content_type)
            .bind(file.created_at.as_micros())
            .execute(&mut *self.0)
            .await?;
        Ok(())
    }
}
