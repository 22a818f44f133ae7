//! Files that are whole or absent, and temporary runs.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::{FILE_BUFFER_BYTES, Result, at};
use crate::post::TempStore;

/// Writes `dir/name` so that it is either absent or whole: temporary name, sync, rename, sync of the folder.
pub(super) fn write_whole<T>(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T>,
) -> Result<T> {
    let temporary = dir.join(format!(".{name}.part"));
    // Whatever lies there is left over from a run that was killed; a link is removed, not followed.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return at(&temporary, Err(error)),
        _ => {}
    }
    let file = at(&temporary, File::create_new(&temporary))?;
    let mut output = BufWriter::with_capacity(FILE_BUFFER_BYTES, file);
    let result = write(&mut output).and_then(|value| {
        let file = at(
            &temporary,
            output.into_inner().map_err(io::IntoInnerError::into_error),
        )?;
        at(&temporary, file.sync_all())?;
        at(&temporary, fs::rename(&temporary, dir.join(name)))?;
        at(dir, File::open(dir).and_then(|folder| folder.sync_all()))?;
        Ok(value)
    });
    if result.is_err() {
        // The error that led here says more than one from cleaning up.
        drop(fs::remove_file(&temporary));
    }
    result
}

/// Temporary runs of one kernel, in a folder of their own.
pub(super) struct FolderStore {
    folder: PathBuf,
}

impl FolderStore {
    /// Starts empty: runs left by a killed process are removed.
    pub(super) fn new(scratch: &Path, raw: &str) -> Result<Self> {
        let store = Self {
            folder: scratch.join(format!("{raw}.runs")),
        };
        store.remove_all()?;
        at(&store.folder, fs::create_dir(&store.folder))?;
        Ok(store)
    }

    fn path(&self, run: u64) -> PathBuf {
        self.folder.join(run.to_string())
    }

    pub(super) fn remove_all(&self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => at(&self.folder, Err(error)),
            _ => Ok(()),
        }
    }
}

impl TempStore for FolderStore {
    fn create(&mut self, run: u64) -> io::Result<Box<dyn Write + '_>> {
        Ok(Box::new(File::create_new(self.path(run))?))
    }

    fn open(&mut self, run: u64) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(self.path(run))?))
    }

    fn remove(&mut self, run: u64) -> io::Result<()> {
        fs::remove_file(self.path(run))
    }
}
