//! Temporary files that vanish unless they are renamed into place.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use std::time::SystemTime;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, linkat, openat, renameat, renameat_with, unlinkat};

use crate::error::{Result, io};

/// Mode of new objects (the umask applies).
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// The folder of temporary files: on the same filesystem as the objects, outside every bucket.
#[derive(Debug)]
pub(crate) struct TempDir {
    dir: Arc<OwnedFd>,
    next: AtomicU64,
}

impl TempDir {
    /// Takes over a folder, which must be empty.
    pub(crate) fn new(dir: OwnedFd) -> Self {
        // Names go on from the clock, so that none of an earlier run comes again.
        let start = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |t| u64::try_from(t.as_nanos()).unwrap_or(0));
        Self {
            dir: Arc::new(dir),
            next: AtomicU64::new(start),
        }
    }

    /// Makes a new, empty file.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn create(&self) -> Result<TempFile> {
        let name = format!("{:016x}", self.next.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd =
            openat(&*self.dir, name.as_str(), flags, FILE_MODE).map_err(io("making a temporary file"))?;
        Ok(TempFile {
            dir: Arc::clone(&self.dir),
            name,
            file: File::from(fd),
            keep: false,
        })
    }

    /// Gives the file `name` in `from` a second name here.
    ///
    /// # Errors
    /// The system's; some filesystems have no second names.
    pub(crate) fn link(&self, from: &OwnedFd, name: &str) -> Result<TempFile> {
        let temp = format!("{:016x}", self.next.fetch_add(1, Ordering::Relaxed));
        let what = "linking a multipart upload";
        linkat(from, name, &*self.dir, temp.as_str(), AtFlags::empty()).map_err(io(what))?;
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&*self.dir, temp.as_str(), flags, Mode::empty()).map_err(io(what))?;
        Ok(TempFile {
            dir: Arc::clone(&self.dir),
            name: temp,
            file: File::from(fd),
            keep: false,
        })
    }
}

/// A temporary file. It is removed when dropped, unless it was renamed.
#[derive(Debug)]
pub(crate) struct TempFile {
    dir: Arc<OwnedFd>,
    name: String,
    file: File,
    keep: bool,
}

impl TempFile {
    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Its name, unlike that of any other.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Renames it to `name` in `to`, in place of what is there unless `new_only`.
    ///
    /// # Errors
    /// The system's (`EEXIST` where `new_only` and something is there, `EISDIR` for a folder), with the file.
    pub(crate) fn rename(
        mut self,
        to: &OwnedFd,
        name: &str,
        new_only: bool,
    ) -> std::result::Result<(), (Self, rustix::io::Errno)> {
        let renamed = if new_only {
            renameat_with(&*self.dir, self.name.as_str(), to, name, RenameFlags::NOREPLACE)
        } else {
            renameat(&*self.dir, self.name.as_str(), to, name)
        };
        match renamed {
            Ok(()) => {
                self.keep = true;
                Ok(())
            }
            Err(errno) => Err((self, errno)),
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = unlinkat(&*self.dir, self.name.as_str(), AtFlags::empty())
        {
            tracing::warn!(name = self.name, %error, "a temporary file could not be removed");
        }
    }
}
