//! Results and identities that outlive a run, in a folder that many processes may share.
//!
//! Three kinds of entries: `traces/` has for the bytes of a trace file what it holds (header and identity), so
//! that an unchanged file is neither unpacked nor parsed again; `files/` has the same for a file at rest, known
//! by its inode, size and times, so that it is not even read; `results/` has for a content key and
//! everything else that the engine computes with its result; `warmth/` has for a history of L2 what a kernel
//! found there. An entry is one file: a line with its kind, key
//! and checksum, then JSON. It is written under another name and renamed, so readers see all of it or none;
//! what does not match its line is ignored and written again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cascade_accelsim::trace::KernelHeader;
use cascade_accelsim::trace::identity::{Identity, Key};
use cascade_engine::report::SIMULATOR;
use cascade_engine::{GpuModel, KernelEstimate, Options};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes that a cache may hold; beyond them the oldest entries go. Small files count as a disk block.
pub const MAX_CACHE_BYTES: u64 = 256 << 20;
/// What is left after the oldest entries went, so that this is rare.
const TRIMMED_BYTES: u64 = MAX_CACHE_BYTES / 4 * 3;
/// Largest entry that is read or written; a result has about 2 KB, and a name may be long.
const MAX_ENTRY_BYTES: u64 = 1 << 20;
/// Room for an entry, so that reading it takes one call.
const USUAL_ENTRY_BYTES: usize = 8 << 10;
/// Bytes that the smallest file takes on usual file systems.
const DISK_BLOCK_BYTES: u64 = 4096;
/// A file that changed less long ago may change again without another time stamp, so only its bytes tell.
const AT_REST: Duration = Duration::from_secs(2);
/// A temporary file as old as this was left behind by a process that died.
const STALE: Duration = Duration::from_secs(3600);
/// First word of every entry; the number changes with the layout.
const MAGIC: &str = "cascade-cache-1";
/// Version of this build's results: the engine's, and a fingerprint of its sources.
pub const ENGINE_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("CASCADE_SOURCES"));

/// A folder with kept results.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    version: String,
    /// Remarks for whoever reads the log.
    notes: Mutex<Vec<String>>,
    /// Kinds of trouble that were told once.
    told: Mutex<BTreeSet<io::ErrorKind>>,
    wrote: AtomicBool,
}

/// What a trace file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) header: KernelHeader,
    pub(super) identity: Identity,
    /// Digest of the lines of L2 that it touches.
    pub(super) touches: Key,
}

/// What results depend on besides the trace.
#[derive(Clone, Debug)]
pub(super) struct Setup(String);

impl Setup {
    fn key(&self, content: Key) -> Key {
        Key::of(format!("{} {content}", self.0).as_bytes())
    }
}

/// Numbers temporary files: one count for the process, whose id is in their names too.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

impl Cache {
    /// The cache in `dir`, which is made when the first entry is written.
    pub fn new(dir: &Path) -> Self {
        Self::with_version(dir, ENGINE_VERSION)
    }

    /// A cache of another build's results.
    pub(super) fn with_version(dir: &Path, version: &str) -> Self {
        Self {
            dir: dir.to_owned(),
            version: version.to_owned(),
            notes: Mutex::default(),
            told: Mutex::default(),
            wrote: AtomicBool::new(false),
        }
    }

    /// What the trace file with these bytes holds.
    pub(super) fn seen(&self, raw: Key) -> Option<Seen> {
        self.load("traces", self.trace_key(raw))
    }

    /// Keeps what a trace file holds.
    pub(super) fn remember(&self, raw: Key, seen: &Seen) {
        self.store("traces", self.trace_key(raw), seen);
    }

    /// What the file at rest with this key holds.
    pub(super) fn seen_at_rest(&self, at_rest: Key) -> Option<Seen> {
        self.load("files", at_rest)
    }

    /// Keeps what a file at rest holds.
    pub(super) fn remember_at_rest(&self, at_rest: Key, seen: &Seen) {
        self.store("files", at_rest, seen);
    }

    /// A key of a file that has not changed for [`AT_REST`]: its device, inode, size and times. The kernel sets
    /// the time of the last change (ctime) at every write, and nobody else can.
    pub(super) fn at_rest(&self, meta: &fs::Metadata) -> Option<Key> {
        let time = |seconds: i64, nanos: i64| {
            let (seconds, nanos) = (u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
        };
        let changed = time(meta.ctime(), meta.ctime_nsec())?.max(meta.modified().ok()?);
        if SystemTime::now().duration_since(changed).ok()? < AT_REST {
            return None;
        }
        let [device, inode, size] = [meta.dev(), meta.ino(), meta.size()];
        let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
        let file = format!("{} {device} {inode} {size} {times:?}", self.version);
        Some(Key::of(file.as_bytes()))
    }

    fn trace_key(&self, raw: Key) -> Key {
        Key::of(format!("{} {raw}", self.version).as_bytes())
    }

    /// Everything but the trace that a result depends on, once for a run. The options are written as `Debug`
    /// does, so that a new one cannot be forgotten here; threads change no bit.
    pub(super) fn setup(&self, gpu: &GpuModel, options: &Options) -> Setup {
        let options = Options {
            parallel: false,
            ..*options
        };
        Setup(format!(
            "{SIMULATOR} {} {options:?} {} {}",
            self.version,
            gpu.facts_hash(),
            gpu.status.as_str()
        ))
    }

    /// What a kernel found in L2 after this history of touches.
    pub(super) fn warmth(&self, history: Key) -> Option<Key> {
        self.load("warmth", self.trace_key(history))
    }

    /// Keeps what a kernel found in L2.
    pub(super) fn keep_warmth(&self, history: Key, warmth: Key) {
        self.store("warmth", self.trace_key(history), &warmth);
    }

    /// The result of a kernel with this content.
    pub(super) fn result(&self, content: Key, setup: &Setup) -> Option<KernelEstimate> {
        self.load("results", setup.key(content))
    }

    /// Keeps a result.
    pub(super) fn keep(&self, content: Key, setup: &Setup, result: &KernelEstimate) {
        self.store("results", setup.key(content), result);
    }

    fn path(&self, kind: &str, key: Key) -> PathBuf {
        let name = key.to_string();
        let (folder, name) = name.split_at_checked(2).unwrap_or(("", &name));
        self.dir.join(kind).join(folder).join(name)
    }

    fn load<T: DeserializeOwned>(&self, kind: &str, key: Key) -> Option<T> {
        let path = self.path(kind, key);
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::with_capacity(USUAL_ENTRY_BYTES);
            File::open(&path)?
                .take(MAX_ENTRY_BYTES + 1)
                .read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = match read() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.trouble(&path, &error);
                return None;
            }
        };
        let value = parse(&bytes, kind, key);
        if value.is_none() {
            self.note(format!(
                "{}: this is no whole entry of Cascade's cache; it is ignored and written again",
                path.display()
            ));
            // What is left in its way is told when the entry is written.
            drop(fs::remove_file(&path));
        }
        value
    }

    fn store<T: Serialize>(&self, kind: &str, key: Key, value: &T) {
        let path = self.path(kind, key);
        // Equal keys mean equal values, and damaged entries were removed when they were read.
        if path.exists() {
            return;
        }
        if let Err(error) = self.write(&path, kind, key, value) {
            self.trouble(&path, &error);
        }
    }

    fn write<T: Serialize>(&self, path: &Path, kind: &str, key: Key, value: &T) -> io::Result<()> {
        let body = serde_json::to_vec(value)?;
        if body.len() as u64 > MAX_ENTRY_BYTES / 2 {
            return Ok(());
        }
        let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(&temporary)?;
        let written = writeln!(file, "{}", first_line(kind, key, &body))
            .and_then(|()| file.write_all(&body))
            .and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            // The first error is the one worth telling.
            drop(fs::remove_file(&temporary));
        }
        self.wrote.store(true, Ordering::Relaxed);
        written
    }

    /// Removes the oldest entries beyond [`MAX_CACHE_BYTES`], if this process has added any.
    pub fn trim(&self) {
        if self.wrote.swap(false, Ordering::Relaxed)
            && let Err(error) = trim(&self.dir, MAX_CACHE_BYTES, TRIMMED_BYTES)
        {
            self.trouble(&self.dir, &error);
        }
    }

    /// The remarks since the last call.
    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, text: String) {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    /// A cache that cannot be used stops nothing, and one remark of a kind is enough.
    fn trouble(&self, path: &Path, error: &io::Error) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(error.kind()) {
            self.note(format!(
                "{}: {error}; results are not kept or found there",
                path.display()
            ));
        }
    }
}

fn first_line(kind: &str, key: Key, body: &[u8]) -> String {
    format!("{MAGIC} {kind} {key} {}", Key::of(body))
}

/// The value of an entry; `None` when it is damaged or not ours.
fn parse<T: DeserializeOwned>(bytes: &[u8], kind: &str, key: Key) -> Option<T> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (line, body) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    if line != first_line(kind, key, body).as_bytes() {
        return None;
    }
    serde_json::from_slice(body).ok()
}

/// Removes the oldest files below `dir` when they are more than `limit` bytes, until `left` bytes are left.
fn trim(dir: &Path, limit: u64, left: u64) -> io::Result<()> {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    let mut folders = vec![dir.to_owned()];
    let now = SystemTime::now();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // Another process may be doing the same: what is gone is gone.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                folders.push(entry.path());
                continue;
            }
            let written = meta.modified()?;
            let path = entry.path();
            let age = now.duration_since(written).unwrap_or_default();
            if path.extension().is_some_and(|extension| extension == "tmp") {
                if age > STALE {
                    drop(fs::remove_file(&path));
                }
                continue;
            }
            files.push((written, meta.len().next_multiple_of(DISK_BLOCK_BYTES), path));
        }
    }
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    if total <= limit {
        return Ok(());
    }
    files.sort();
    for (_, bytes, path) in files {
        if total <= left {
            break;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => total -= bytes,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
