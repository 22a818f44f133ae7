//! What is kept about an object beside its bytes: ETag, checksums, content type, user metadata.
//!
//! It lives in one extended attribute of the object's own file, so that one rename swaps bytes and metadata
//! together and one sync makes both durable. The usual object needs about 60 bytes, which ext4 keeps in the
//! inode: measured here, no extra block and no measurable time. Where a filesystem has no user attributes the
//! same bytes go to `.meta/<bucket>/<hash of key>`, written before the rename.
//!
//! Files may also appear or change by other means. The metadata names the size and modification time it was
//! written for; where they differ from the file's, it is ignored and the file is described from itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use md5::{Digest as _, Md5};
use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::error::{Result, StoreError, io};
use crate::upload::digest::Checksums;

/// Name of the attribute.
const XATTR: &str = "user.cascade";
/// First byte of the encoding.
const VERSION: u8 = 1;
/// Bytes before the JSON part: version, parts, size, mtime, MD5.
const HEAD: usize = 1 + 2 + 8 + 8 + 16;
/// Most bytes of encoded metadata: what ext4 keeps for one file's attributes is 4 KiB; S3 itself allows 2 KiB
/// of user metadata.
pub(crate) const MAX_META_BYTES: usize = 3 * 1024;

/// Headers and checksums that go back to the client as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Extra {
    /// Checksums by algorithm, in base64.
    #[serde(flatten)]
    pub checksums: Checksums,
    /// Checksums are over the parts' checksums, not over the bytes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub composite: bool,
    /// Content-Type, where the client sent one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Content-Encoding (without `aws-chunked`).
    #[serde(rename = "encoding", skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// Content-Disposition.
    #[serde(rename = "disposition", skip_serializing_if = "Option::is_none")]
    pub content_disposition: Option<String>,
    /// Content-Language.
    #[serde(rename = "language", skip_serializing_if = "Option::is_none")]
    pub content_language: Option<String>,
    /// Cache-Control.
    #[serde(rename = "cache", skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<String>,
    /// `x-amz-meta-*`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub user: BTreeMap<String, String>,
}

/// Everything known about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// MD5 of the bytes, or of the parts' MD5s.
    pub md5: [u8; 16],
    /// Number of parts it was uploaded in; 0 for one piece.
    pub parts: u16,
    /// The rest.
    pub extra: Extra,
}

impl Meta {
    /// The ETag, without quotes: `<md5>` or `<md5 of md5s>-<parts>`.
    pub(crate) fn etag(&self) -> String {
        match self.parts {
            0 => hex::encode(self.md5),
            n => format!("{}-{n}", hex::encode(self.md5)),
        }
    }

    /// Time of the last change.
    pub(crate) fn modified(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(self.mtime_ns).unwrap_or(0))
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend(self.parts.to_le_bytes());
        out.extend(self.size.to_le_bytes());
        out.extend(self.mtime_ns.to_le_bytes());
        out.extend(self.md5);
        if self.extra != Extra::default() {
            // Maps of strings always serialise; if not, the object is still whole without its headers.
            out.extend(serde_json::to_vec(&self.extra).unwrap_or_default());
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (parts, rest) = rest.split_first_chunk::<2>()?;
        let (size, rest) = rest.split_first_chunk::<8>()?;
        let (mtime, rest) = rest.split_first_chunk::<8>()?;
        let (md5, rest) = rest.split_first_chunk::<16>()?;
        let extra = if rest.is_empty() {
            Extra::default()
        } else {
            serde_json::from_slice(rest).ok()?
        };
        (*version == VERSION).then_some(Self {
            size: u64::from_le_bytes(*size),
            mtime_ns: i64::from_le_bytes(*mtime),
            md5: *md5,
            parts: u16::from_le_bytes(*parts),
            extra,
        })
    }

    /// What can be said of a file that came by other means. Its ETag is not an MD5 of its bytes (hashing
    /// gigabytes to list a folder would be absurd) but changes whenever the file does; like a multipart
    /// ETag it ends in `-1`, so that clients do not compare it with an MD5.
    fn of_foreign(stat: &fs::Metadata) -> Self {
        let mut md5 = Md5::new();
        let mtime_ns = mtime_ns(stat);
        for part in [stat.len(), stat.ino(), mtime_ns.cast_unsigned()] {
            md5.update(part.to_le_bytes());
        }
        Self {
            size: stat.len(),
            mtime_ns,
            md5: md5.finalize().into(),
            parts: 1,
            extra: Extra::default(),
        }
    }
}

fn mtime_ns(stat: &fs::Metadata) -> i64 {
    stat.mtime()
        .saturating_mul(1_000_000_000)
        .saturating_add(stat.mtime_nsec())
}

/// Where metadata is kept.
#[derive(Debug)]
pub(crate) struct MetaStore {
    /// `None` where the filesystem has user attributes.
    sidecars: Option<PathBuf>,
}

impl MetaStore {
    /// Tries the filesystem of `probe`, an empty temporary file; `root` is the store's folder.
    ///
    /// # Errors
    /// The folder of the sidecar files cannot be made.
    pub(crate) fn open(root: &Path, probe: &File) -> Result<Self> {
        if fsetxattr(probe, XATTR, b"probe", XattrFlags::empty()).is_ok() {
            return Ok(Self { sidecars: None });
        }
        tracing::info!("no user attributes on this filesystem: object metadata is kept in .meta");
        Self::with_sidecars(root)
    }

    /// Keeps metadata in files below `root/.meta`.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(crate) fn with_sidecars(root: &Path) -> Result<Self> {
        let dir = root.join(".meta");
        fs::create_dir_all(&dir).map_err(io("making the metadata folder"))?;
        Ok(Self { sidecars: Some(dir) })
    }

    fn sidecar(&self, bucket: &str, key: &str) -> Option<PathBuf> {
        let hash = hex::encode(Sha256::digest(key.as_bytes()));
        Some(self.sidecars.as_ref()?.join(bucket).join(hash))
    }

    /// Writes the metadata of a file whose bytes are complete; `build` gets its size and time.
    ///
    /// # Errors
    /// [`StoreError::MetadataTooLarge`], or the system's.
    pub(crate) fn write(
        &self,
        file: &File,
        bucket: &str,
        key: &str,
        md5: [u8; 16],
        parts: u16,
        extra: Extra,
    ) -> Result<Meta> {
        let stat = file.metadata().map_err(io("reading a file's size"))?;
        let size = if stat.is_file() { stat.len() } else { 0 };
        let meta = Meta {
            size,
            mtime_ns: mtime_ns(&stat),
            md5,
            parts,
            extra,
        };
        let bytes = meta.encode();
        if bytes.len() > MAX_META_BYTES {
            return Err(StoreError::MetadataTooLarge {
                got: bytes.len().saturating_sub(HEAD),
                limit: MAX_META_BYTES - HEAD,
            });
        }
        match self.sidecar(bucket, key) {
            None => fsetxattr(file, XATTR, &bytes, XattrFlags::empty()).map_err(io("writing metadata"))?,
            Some(path) => write_durably(&path, &bytes).map_err(io("writing metadata"))?,
        }
        Ok(meta)
    }

    /// What is known about a plain file.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn read(&self, file: &File, bucket: &str, key: &str) -> Result<Meta> {
        let stat = file.metadata().map_err(io("reading an object's size"))?;
        let kept = self.read_kept(file, bucket, key);
        let fits = |m: &Meta| m.size == stat.len() && m.mtime_ns == mtime_ns(&stat);
        Ok(kept.filter(fits).unwrap_or_else(|| Meta::of_foreign(&stat)))
    }

    /// The metadata of a folder that was made by a marker object; `None` for other folders.
    pub(crate) fn read_marker(&self, dir: &File, bucket: &str, key: &str) -> Option<Meta> {
        self.read_kept(dir, bucket, key)
    }

    fn read_kept(&self, file: &File, bucket: &str, key: &str) -> Option<Meta> {
        let mut buffer = [0; MAX_META_BYTES];
        match self.sidecar(bucket, key) {
            None => {
                let length = fgetxattr(file, XATTR, &mut buffer).ok()?;
                Meta::decode(buffer.get(..length)?)
            }
            Some(path) => Meta::decode(&fs::read(path).ok()?),
        }
    }

    /// Forgets the metadata of a key; `file` where the file itself stays (a folder).
    pub(crate) fn remove(&self, file: Option<&File>, bucket: &str, key: &str) {
        // What is left over is ignored later, since it does not fit the file.
        match self.sidecar(bucket, key) {
            None => drop(file.map(|file| fremovexattr(file, XATTR))),
            Some(path) => drop(fs::remove_file(path)),
        }
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut temp = path.as_os_str().to_owned();
    temp.push(format!(".{:?}", std::thread::current().id()));
    let mut file = File::create(&temp)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&temp, path)?;
    File::open(dir)?.sync_all()
}
