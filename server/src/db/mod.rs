//! The database: everything that must survive a restart, except what lies in plain files beside it.
//!
//! One connection writes and a few read, so a writer never finds the database locked. Rows are private to
//! this folder; what leaves it are types of `cascade-api` and a few records of our own. Functions are named
//! noun first (`trace_get`, `sims_pending`); those of [`Tx`] belong to a transaction that the caller commits.

mod files;
mod kernels;
mod runs;
mod scenarios;
mod sims;
mod text;
mod timelines;
mod traces;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cascade_api::GpuName;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

pub use kernels::{KernelTime, NewKernel};
pub use runs::NewRun;
pub use sims::{LaunchedSim, SimLaunch, SimRecord};
pub use traces::TraceUpdate;

/// File of the database within the data directory.
pub const DATABASE_FILE: &str = "cascade.db";
/// File whose lock says that a server uses the data directory.
const LOCK_FILE: &str = "cascade.lock";
/// Connections that only read. Reads are short, so a few serve many requests.
const READERS: u32 = 4;

/// Why the database could not answer.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// Another server holds the data directory.
    #[error("{} is in use by another cascade server; stop it or set CASCADE_DATA_DIR", .0.display())]
    InUse(PathBuf),
    /// The data directory cannot be used.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The schema could not be brought up to date.
    #[error("cannot bring the database up to date")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// SQLite failed.
    #[error("the database failed")]
    Sql(#[from] sqlx::Error),
    /// A column holds what no version of this program wrote.
    #[error("column {column} holds an unreadable value {value:?}")]
    Column {
        /// Table and column.
        column: &'static str,
        /// The start of the value.
        value: String,
    },
}

/// A result of the database.
pub type DbResult<T> = Result<T, DbError>;

/// A handle on the database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    writer: SqlitePool,
    readers: SqlitePool,
    /// Held, never read: the lock goes with the last handle.
    _lock: Arc<File>,
}

/// A write that is done when it is committed, and undone when it is dropped.
#[derive(Debug)]
pub struct Tx(sqlx::Transaction<'static, sqlx::Sqlite>);

impl Db {
    /// Opens the database in `dir`, makes it if need be and brings its schema up to date.
    pub async fn open(dir: &Path) -> DbResult<Self> {
        let lock = lock(dir)?;
        let options = SqliteConnectOptions::new()
            .filename(dir.join(DATABASE_FILE))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .collation("gpu_name", GpuName::compare);
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options.clone())
            .await?;
        sqlx::migrate!("../migrations").run(&writer).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options.read_only(true))
            .await?;
        Ok(Self {
            writer,
            readers,
            _lock: Arc::new(lock),
        })
    }

    /// Starts a write. It takes the write lock at once, so it never has to be tried again.
    pub async fn write(&self) -> DbResult<Tx> {
        Ok(Tx(self.writer.begin_with("BEGIN IMMEDIATE").await?))
    }

    /// Ends every connection, once what runs on them is done.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

impl Tx {
    /// Makes the write last.
    pub async fn commit(self) -> DbResult<()> {
        Ok(self.0.commit().await?)
    }
}

fn lock(dir: &Path) -> DbResult<File> {
    let open = |path: PathBuf, source| DbError::Open { path, source };
    std::fs::create_dir_all(dir).map_err(|e| open(dir.to_owned(), e))?;
    let path = dir.join(LOCK_FILE);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|e| open(path.clone(), e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DbError::InUse(dir.to_owned())),
        Err(TryLockError::Error(e)) => Err(open(path, e)),
    }
}

#[cfg(test)]
mod tests;
