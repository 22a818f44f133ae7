//! The fresh directory in which an engine runs, and what it wrote there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cascade_api::SimId;

/// Name of the whole log in a run directory.
pub(crate) const LOG_NAME: &str = "accelsim.log";
/// Most files of a run directory that are looked at.
const MAX_FILES: usize = 10_000;

/// A run directory and what it held before the engine started.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
    before: BTreeMap<OsString, Stamp>,
}

/// Enough of a file's metadata to see that it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    len: u64,
    modified: (i64, i64),
}

impl RunDir {
    /// An empty directory for a sim; what an earlier try left is removed.
    pub(crate) fn fresh(scratch: &Path, sim: &SimId) -> io::Result<Self> {
        let name = sim.as_str();
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        {
            return Err(io::Error::other(format!(
                "CASCADE_SIM_ID {name:?} is no sim's id, such as sim-6b4c91e71437"
            )));
        }
        let path = scratch.join("cascade-worker").join(name);
        match std::fs::remove_dir_all(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        std::fs::create_dir_all(&path)?;
        Ok(Self {
            path,
            before: BTreeMap::new(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join(LOG_NAME)
    }

    /// Where a file is prepared for upload: beside the directory, so that it is not taken for output.
    pub(crate) fn packed(&self) -> PathBuf {
        self.path.with_extension("upload")
    }

    /// Copies every regular file of `from`, except those named in `except`.
    pub(crate) fn copy_files(&self, from: &Path, except: &[&str]) -> io::Result<()> {
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            let skipped = except.iter().any(|name| entry.file_name() == **name);
            if !skipped && entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), self.path.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    /// Remembers what is there now.
    pub(crate) fn mark(&mut self) -> io::Result<()> {
        self.before = self.files()?;
        Ok(())
    }

    /// The regular files that were created or changed since [`RunDir::mark`], by name, without the log.
    pub(crate) fn written(&self) -> io::Result<Vec<(OsString, u64)>> {
        let now = self.files()?;
        let written = now
            .into_iter()
            .filter(|(name, stamp)| self.before.get(name) != Some(stamp));
        Ok(written.map(|(name, stamp)| (name, stamp.len)).collect())
    }

    fn files(&self) -> io::Result<BTreeMap<OsString, Stamp>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            // `metadata` of an entry does not follow symbolic links.
            let meta = entry.metadata()?;
            if !meta.is_file() || name == *LOG_NAME {
                continue;
            }
            if files.len() == MAX_FILES {
                tracing::warn!("more than {MAX_FILES} files in the run directory; the rest is not looked at");
                break;
            }
            let stamp = Stamp {
                inode: meta.ino(),
                len: meta.len(),
                modified: (meta.mtime(), meta.mtime_nsec()),
            };
            files.insert(name, stamp);
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::RunDir;

    #[test]
    fn only_files_that_the_engine_wrote_are_found() {
        let scratch = tempfile::tempdir().unwrap();
        let configs = tempfile::tempdir().unwrap();
        for name in ["gpgpusim.config", "config_ampere_islip.icnt", "skip.me"] {
            std::fs::write(configs.path().join(name), name).unwrap();
        }
        let mut run = RunDir::fresh(scratch.path(), &"sim-0".into()).unwrap();
        run.copy_files(configs.path(), &["skip.me"]).unwrap();
        run.mark().unwrap();
        assert_eq!(run.written().unwrap(), []);

        std::fs::write(run.path().join("z.txt"), "z").unwrap();
        std::fs::write(run.path().join("a.csv"), "aa").unwrap();
        std::fs::write(run.path().join("gpgpusim.config"), "changed").unwrap();
        std::fs::write(run.log(), "log").unwrap();
        std::fs::create_dir(run.path().join("sub")).unwrap();
        std::os::unix::fs::symlink("a.csv", run.path().join("link")).unwrap();
        let names: Vec<_> = run
            .written()
            .unwrap()
            .into_iter()
            .map(|(name, len)| (name.into_string().unwrap(), len))
            .collect();
        assert_eq!(
            names,
            [
                ("a.csv".into(), 2),
                ("gpgpusim.config".into(), 7),
                ("z.txt".into(), 1)
            ]
        );

        let again = RunDir::fresh(scratch.path(), &"sim-0".into()).unwrap();
        assert!(!again.log().exists());
        assert!(RunDir::fresh(scratch.path(), &"../x".into()).is_err());
    }
}
