//! Output files that sims upload.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use cascade_api::limits::{MAX_FILE_BYTES, MAX_SIM_FILE_BYTES, is_file_name};
use cascade_api::{RunFile, RunId, SimFile, SimId};
use tokio::io::AsyncWriteExt;

use super::Service;
use crate::clock;
use crate::error::Error;

/// A file on its way in. It takes bytes past the limit too, and drops them, so that the sender gets an
/// answer instead of a closed connection.
#[derive(Debug)]
pub struct Upload {
    sim: SimId,
    name: String,
    file: tokio::fs::File,
    temporary: tempfile::TempPath,
    size: u64,
}

impl Upload {
    /// Takes the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        if self.size <= MAX_FILE_BYTES {
            self.file
                .write_all(bytes)
                .await
                .map_err(Error::io("cannot store a file"))?;
        }
        Ok(())
    }

    /// Bytes that came so far.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Service {
    /// Starts to take a file in.
    pub async fn file_start(&self, sim: &SimId, name: &str) -> Result<Upload, Error> {
        if !is_file_name(name) {
            return Err(Error::FileName(name.to_owned()));
        }
        self.sim(sim).await?;
        let incoming = self.settings.incoming_dir();
        let open = move || {
            std::fs::create_dir_all(&incoming)?;
            tempfile::NamedTempFile::new_in(&incoming)
        };
        let opened = tokio::task::spawn_blocking(open).await?;
        let (file, temporary) = opened.map_err(Error::io("cannot store a file"))?.into_parts();
        Ok(Upload {
            sim: sim.clone(),
            name: name.to_owned(),
            file: tokio::fs::File::from_std(file),
            temporary,
            size: 0,
        })
    }

    /// Stores a file that came whole, in place of an earlier one with its name.
    pub async fn file_finish(&self, upload: Upload) -> Result<SimFile, Error> {
        if upload.size > MAX_FILE_BYTES {
            return Err(Error::FileTooBig);
        }
        let service = self.clone();
        tokio::spawn(async move { service.file_store(upload).await }).await?
    }

    async fn file_store(&self, mut upload: Upload) -> Result<SimFile, Error> {
        let failed = || Error::io("cannot store a file");
        upload.file.flush().await.map_err(failed())?;
        upload.file.sync_all().await.map_err(failed())?;
        drop(upload.file);
        let (turn, _) = self.sim_turn(&upload.sim).await?;
        let stored = SimFile {
            content_type: content_type(&upload.name),
            size: upload.size,
            created_at: clock::now(),
            name: upload.name,
        };
        let mut tx = self.db.write().await?;
        let others = tx.files_bytes(&upload.sim, &stored.name).await?;
        if others.saturating_add(stored.size) > MAX_SIM_FILE_BYTES {
            return Err(Error::SimFilesTooBig);
        }
        tx.file_put(&upload.sim, &stored).await?;
        let (temporary, path) = (upload.temporary, self.file_path(&upload.sim, &stored.name));
        let place = move || put_in_place(temporary, &path);
        tokio::task::spawn_blocking(place).await?.map_err(failed())?;
        tx.commit().await?;
        drop(turn);
        Ok(stored)
    }

    /// A sim's files.
    pub async fn sim_files(&self, id: &SimId) -> Result<Vec<SimFile>, Error> {
        self.sim(id).await?;
        Ok(self.db.files_of_sim(id).await?)
    }

    /// The files of a run's sims.
    pub async fn run_files(&self, id: &RunId) -> Result<Vec<RunFile>, Error> {
        self.run_record(id).await?;
        Ok(self.db.files_of_run(id).await?)
    }

    /// One file, open for reading, and its length.
    pub async fn file_open(&self, id: &SimId, name: &str) -> Result<(SimFile, tokio::fs::File), Error> {
        self.sim(id).await?;
        let missing = || Error::NoFile {
            sim: id.clone(),
            name: name.to_owned(),
        };
        let mut stored = self.db.file_get(id, name).await?.ok_or_else(missing)?;
        let failed = || Error::io("cannot read a stored file");
        let file = tokio::fs::File::open(self.file_path(id, name))
            .await
            .map_err(failed())?;
        // A file may have been put again since the row was read.
        stored.size = file.metadata().await.map_err(failed())?.len();
        Ok((stored, file))
    }

    pub(super) fn file_path(&self, sim: &SimId, name: &str) -> PathBuf {
        self.settings.files_dir().join(sim.as_str()).join(name)
    }
}

/// The media type that a name stands for; what is compressed is named by its compression.
pub(super) fn content_type(name: &str) -> String {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("csv") => "text/csv".into(),
        Some("txt" | "log") => "text/plain".into(),
        Some("json") => "application/json".into(),
        Some("gz") => "application/gzip".into(),
        _ => mime_guess::from_path(name).first_or_octet_stream().to_string(),
    }
}

/// Writes a whole file so that a crash leaves the old one or the new one.
pub(crate) fn write_durably(incoming: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(incoming)?;
    let mut file = tempfile::NamedTempFile::new_in(incoming)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    put_in_place(file.into_temp_path(), path)
}

/// Gives a complete file its name, and makes the name last: the directory itself is written out.
pub(super) fn put_in_place(temporary: tempfile::TempPath, path: &Path) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make_dir(dir)?;
    temporary.persist(path).map_err(|e| e.error)?;
    File::open(dir)?.sync_all()
}

/// Makes a directory with those above it, and makes their names last.
pub(super) fn make_dir(dir: &Path) -> std::io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let above = dir.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    make_dir(above)?;
    match std::fs::create_dir(dir) {
        // Another task was quicker.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    File::open(above)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{content_type, make_dir};

    #[test]
    fn a_directory_is_made_with_those_above_it() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("files/sim-1");
        make_dir(&deep).unwrap();
        make_dir(&deep).unwrap();
        assert!(deep.is_dir());
        std::fs::write(deep.join("file"), "").unwrap();
        assert!(make_dir(&deep.join("file/below")).is_err());
    }

    #[test]
    fn a_name_tells_the_media_type() {
        let rows = [
            ("kernel-stats.csv", "text/csv"),
            ("exit-status.txt", "text/plain"),
            ("run.log", "text/plain"),
            ("a.json", "application/json"),
            ("accelsim.log.gz", "application/gzip"),
            ("plot.png", "image/png"),
            ("noend", "application/octet-stream"),
            ("gz", "application/octet-stream"),
        ];
        for (name, expected) in rows {
            assert_eq!(content_type(name), expected, "{name}");
        }
    }
}
