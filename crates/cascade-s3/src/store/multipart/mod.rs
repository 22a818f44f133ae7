//! Multipart uploads. One lives in `<root>/.multipart/<id>/` until it is completed or aborted, also across
//! restarts of the server:
//!
//! - `upload.json`: what was said when it was started;
//! - `data`: parts at (number - 1) × stride, where the stride is the length of the first large part, so that
//!   completing the usual upload (equal parts, the last one shorter) moves no byte;
//! - `part-<number>.json`: one record a part; `part-<number>-…`: a part that did not fit into `data`.
//!
//! Parts are not synced one by one; completing syncs the whole object before it answers. What was written
//! before the machine last went down is compared with its MD5 first, and a record that it left half written
//! counts as none.

mod complete;
mod part;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::fsync;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use self::complete::Wanted;
pub(crate) use self::part::{PartRecord, Slot};
use super::meta::Extra;
use super::{Store, dirs, open_root};
use crate::error::{Result, StoreError, io};
use crate::upload::digest::Algorithm;

/// Highest part number (S3's own limit).
pub(crate) const MAX_PARTS: i32 = 10_000;
/// Least bytes of every part but the last (S3's own limit).
pub(crate) const MIN_PART_BYTES: u64 = 5 << 20;
/// Most bytes of a part (S3's own limit).
pub(crate) const MAX_PART_BYTES: u64 = 5 << 30;
/// Uploads older than this are removed when the server starts.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Where Linux names the machine's present run.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const INFO: &str = "upload.json";
const DATA: &str = "data";

/// What was said when an upload was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UploadInfo {
    pub(crate) bucket: String,
    pub(crate) key: String,
    pub(crate) extra: Extra,
    /// The checksum its parts carry.
    pub(crate) algorithm: Option<Algorithm>,
    /// The object's checksum is over its bytes, not over the parts' checksums.
    pub(crate) full_object: bool,
    /// When it was started.
    pub(crate) initiated: SystemTime,
}

/// An upload under way.
#[derive(Debug)]
pub(crate) struct OpenUpload {
    pub(crate) id: String,
    pub(crate) info: UploadInfo,
    dir: OwnedFd,
}

/// Where multipart uploads are kept.
#[derive(Debug)]
pub(crate) struct Uploads {
    path: PathBuf,
    dir: OwnedFd,
    claims: Arc<Mutex<Claims>>,
    /// The machine's present run, from boot to going down.
    boot: String,
}

/// Who writes into which upload's `data` right now, by upload id.
#[derive(Debug, Default)]
struct Claims {
    /// Part numbers being written.
    busy: BTreeMap<String, BTreeSet<i32>>,
    /// Uploads being completed: nobody may start to write.
    completing: BTreeSet<String>,
}

impl Uploads {
    /// Opens the folder of uploads and removes those that are too old or were completed.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let path = root.join(".multipart");
        fs::create_dir_all(&path).map_err(io("making the folder of multipart uploads"))?;
        for entry in fs::read_dir(&path).map_err(io("reading the folder of multipart uploads"))? {
            let entry = entry
                .map_err(io("reading the folder of multipart uploads"))?
                .path();
            if is_finished(&entry)
                && let Err(error) = fs::remove_dir_all(&entry)
            {
                tracing::warn!(path = %entry.display(), %error, "an old multipart upload could not be removed");
            }
        }
        let dir = open_root(&path)?;
        Ok(Self {
            path,
            dir,
            claims: Arc::default(),
            // Without it (no Linux) every part is compared.
            boot: fs::read_to_string(BOOT_ID).map_or_else(|_none| String::new(), |id| id.trim().to_owned()),
        })
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        lock(&self.claims)
    }
}

fn lock(claims: &Mutex<Claims>) -> MutexGuard<'_, Claims> {
    claims.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True for an upload that is too old, was never begun, or was completed (its data is a visible object).
fn is_finished(upload: &Path) -> bool {
    let age = fs::metadata(upload.join(INFO))
        .and_then(|m| m.modified())
        .ok()
        .and_then(|t| t.elapsed().ok());
    let completed = fs::metadata(upload.join(DATA)).is_ok_and(|m| m.nlink() > 1);
    completed || !upload.join(INFO).exists() || age.is_some_and(|age| age > MAX_AGE)
}

impl Store {
    /// Starts an upload; gives its id.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn create_upload(&self, info: &UploadInfo) -> Result<String> {
        let random = || RandomState::new().hash_one(0u8);
        let id = format!("{:016x}{:016x}", random(), random());
        fs::create_dir(self.uploads.path.join(&id)).map_err(io("making a multipart upload"))?;
        let dir = dirs::open_dir(&self.uploads.dir, &id).map_err(io("opening a multipart upload"))?;
        self.write_json(&dir, INFO, info)?;
        fsync(&dir)
            .and_then(|()| fsync(&self.uploads.dir))
            .map_err(io("syncing a multipart upload"))?;
        Ok(id)
    }

    /// Opens an upload.
    ///
    /// # Errors
    /// [`StoreError::NoSuchUpload`] where there is none of this id for this bucket and key.
    pub(crate) fn open_upload(&self, bucket: &str, key: &str, id: &str) -> Result<OpenUpload> {
        let missing = || StoreError::NoSuchUpload(id.to_owned());
        if id.len() != 32 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(missing());
        }
        let dir = dirs::open_dir(&self.uploads.dir, id).map_err(|_none| missing())?;
        let info: UploadInfo = read_json(&dir, INFO)?.ok_or_else(missing)?;
        if info.bucket != bucket || info.key != key {
            return Err(missing());
        }
        Ok(OpenUpload {
            id: id.to_owned(),
            info,
            dir,
        })
    }

    /// The uploads under way in a bucket, with their ids, by key and id.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn list_uploads(&self, bucket: &str) -> Result<Vec<(String, UploadInfo)>> {
        let mut uploads = Vec::new();
        for entry in fs::read_dir(&self.uploads.path).map_err(io("reading the multipart uploads"))? {
            let name = entry.map_err(io("reading the multipart uploads"))?.file_name();
            let Some(id) = name.to_str() else { continue };
            let Ok(dir) = dirs::open_dir(&self.uploads.dir, id) else {
                continue;
            };
            if let Some(info) = read_json::<UploadInfo>(&dir, INFO)?.filter(|info| info.bucket == bucket) {
                uploads.push((id.to_owned(), info));
            }
        }
        uploads.sort_by(|(a_id, a), (b_id, b)| (&a.key, a_id).cmp(&(&b.key, b_id)));
        Ok(uploads)
    }

    /// Ends an upload and removes its parts.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn remove_upload(&self, upload: &OpenUpload) -> Result<()> {
        fs::remove_dir_all(self.uploads.path.join(&upload.id)).map_err(io("removing a multipart upload"))
    }

    fn write_json<T: Serialize>(&self, dir: &OwnedFd, name: &str, value: &T) -> Result<()> {
        let file = self.temp()?;
        let what = "writing a multipart upload's record";
        serde_json::to_writer(file.file(), value).map_err(io(what))?;
        file.rename(dir, name, false)
            .map_err(|(_file, error)| io(what)(error))
    }
}

/// Reads a small JSON file; `None` where there is none, or only a part of one.
fn read_json<T: DeserializeOwned>(dir: &OwnedFd, name: &str) -> Result<Option<T>> {
    let Some(mut file) = dirs::open_file(dir, name)? else {
        return Ok(None);
    };
    let mut text = Vec::new();
    file.read_to_end(&mut text)
        .map_err(io("reading a multipart upload's record"))?;
    match serde_json::from_slice(&text) {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            tracing::warn!(name, %error, "a record of a multipart upload is not whole");
            Ok(None)
        }
    }
}
