//! Folders below a bucket, opened one part at a time so that no symbolic link is ever followed.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, fsync, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::error::{Result, StoreError, io};
use crate::key::Key;

/// Mode of new folders (the umask applies).
const DIR_MODE: Mode = Mode::from_raw_mode(0o777);
const DIR_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens the folder `name` in `dir`.
///
/// # Errors
/// The system's: `ENOTDIR` for a file or a symbolic link.
pub(crate) fn open_dir(dir: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    openat(dir, name, DIR_FLAGS, Mode::empty())
}

/// Opens a second handle of a folder.
///
/// # Errors
/// The system's.
pub(crate) fn reopen(dir: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    openat(dir, ".", DIR_FLAGS, Mode::empty())
}

/// Opens a plain file for reading; `None` where there is none by that name (or a folder, or a link).
///
/// # Errors
/// Other failures of the system.
pub(crate) fn open_file(dir: &OwnedFd, name: &str) -> Result<Option<File>> {
    // NONBLOCK: a FIFO someone put there must not hang the server.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => {
            let file = File::from(fd);
            let meta = file.metadata().map_err(io("reading an object"))?;
            Ok(meta.is_file().then_some(file))
        }
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::NAMETOOLONG) => Ok(None),
        Err(e) => Err(io("opening an object")(e)),
    }
}

/// Opens the folder a key lies in; `None` where it does not exist.
///
/// # Errors
/// Failures of the system.
pub(crate) fn find(bucket: &OwnedFd, key: &Key<'_>) -> Result<Option<OwnedFd>> {
    let mut dir = reopen(bucket).map_err(io("opening a bucket"))?;
    for part in &key.dirs {
        dir = match open_dir(&dir, part) {
            Ok(next) => next,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(e) => return Err(io("opening a folder")(e)),
        };
    }
    Ok(Some(dir))
}

/// Opens the folder a key lies in and makes what is missing, durably.
///
/// # Errors
/// [`StoreError::Clash`] where an object stands in the way, [`StoreError::Symlink`] for a link.
pub(crate) fn make(bucket: &OwnedFd, key: &Key<'_>) -> Result<OwnedFd> {
    let mut dir = reopen(bucket).map_err(io("opening a bucket"))?;
    for (depth, part) in key.dirs.iter().enumerate() {
        let mut tries = 0;
        dir = loop {
            match open_dir(&dir, part) {
                Ok(next) => break next,
                // A delete may take an empty folder away between the two calls: try again.
                Err(Errno::NOENT) if tries < 8 => {
                    tries += 1;
                    match mkdirat(&dir, *part, DIR_MODE) {
                        Ok(()) => fsync(&dir).map_err(io("syncing a folder"))?,
                        Err(Errno::EXIST) => {}
                        Err(e) => return Err(io("making a folder")(e)),
                    }
                }
                Err(Errno::NOTDIR | Errno::LOOP) => return Err(in_the_way(&dir, part, key, depth)),
                Err(e) => return Err(io("opening a folder")(e)),
            }
        };
    }
    Ok(dir)
}

fn in_the_way(dir: &OwnedFd, part: &str, key: &Key<'_>, depth: usize) -> StoreError {
    let stat = rustix::fs::statat(dir, part, AtFlags::SYMLINK_NOFOLLOW);
    if stat.is_ok_and(|s| rustix::fs::FileType::from_raw_mode(s.st_mode).is_symlink()) {
        return StoreError::Symlink(key.raw.to_owned());
    }
    let at = key
        .dirs
        .iter()
        .take(depth + 1)
        .copied()
        .collect::<Vec<_>>()
        .join("/");
    StoreError::Clash {
        key: key.raw.to_owned(),
        at,
        is: "an object",
    }
}

/// Removes the folders a key lay in, innermost first, as far as they are empty and `keep` does not hold.
pub(crate) fn prune(bucket: &OwnedFd, key: &Key<'_>, keep: impl Fn(&OwnedFd, &str) -> bool) {
    for depth in (1..=key.dirs.len()).rev() {
        let parts = key.dirs.iter().take(depth).copied();
        let marker = parts.clone().map(|p| format!("{p}/")).collect::<String>();
        let Ok(as_key) = Key::parse(&marker) else { return };
        let Ok(Some(dir)) = find(bucket, &as_key) else {
            return;
        };
        if keep(&dir, &marker) {
            return;
        }
        let parent = Key {
            raw: as_key.raw,
            dirs: parts.clone().take(depth - 1).collect(),
            name: None,
        };
        let Ok(Some(parent)) = find(bucket, &parent) else {
            return;
        };
        let Some(name) = key.dirs.get(depth - 1) else {
            return;
        };
        // Fails where it is not empty, which is what ends the climb.
        if unlinkat(&parent, *name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
    }
}
