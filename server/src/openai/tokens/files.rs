//! Where tokenizers lie, and reading their files within a limit.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{BadFile, TOKENIZER};

/// Largest file of a tokenizer: 64 MiB. The largest that are known have 35 MB.
const MAX_BYTES: u64 = 64 << 20;
/// The vocabulary of a byte-level tokenizer.
pub(super) const VOCAB: &str = "vocab.json";

/// Folders in which a trace's tokenizer may lie, the trace's own first: `tokenizer` within the trace or the trace
/// itself, then `<org>/<model>` within `home`, then the same as Hugging Face's cache lays it out.
pub(in crate::openai) fn folders(trace: &Path, home: &Path, model: Option<&str>) -> Vec<PathBuf> {
    let mut folders = vec![trace.join("tokenizer"), trace.to_owned()];
    // The name is whatever the trace says: it must not lead elsewhere.
    let plain = |part: &str| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        !part.is_empty() && !part.starts_with('.') && part.bytes().all(allowed)
    };
    let parts: Vec<&str> = model.unwrap_or_default().split('/').collect();
    if parts.len() <= 2 && parts.iter().all(|part| plain(part)) {
        folders.push(home.join(parts.join("/")));
        folders.extend(cached(&home.join(format!("models--{}", parts.join("--")))));
    }
    folders
}

/// The snapshot that Hugging Face's cache has of a model's main branch.
fn cached(repository: &Path) -> Option<PathBuf> {
    let revision = std::fs::read_to_string(repository.join("refs/main")).ok()?;
    let revision = revision.trim();
    let plain = !revision.is_empty() && revision.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then(|| repository.join("snapshots").join(revision))
}

/// The first folder with a tokenizer.
pub(super) fn first(folders: &[PathBuf]) -> Option<&Path> {
    let has = |folder: &&PathBuf| [TOKENIZER, VOCAB].iter().any(|file| folder.join(file).is_file());
    folders.iter().find(has).map(PathBuf::as_path)
}

/// A text file; `None` where there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, BadFile> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(BadFile::new(path, error)),
    };
    let mut text = String::new();
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| BadFile::new(path, error))?;
    if text.len() as u64 > MAX_BYTES {
        let problem = format!("it is larger than {} MiB, the most that is read", MAX_BYTES >> 20);
        return Err(BadFile::new(path, problem));
    }
    Ok(Some(text))
}

/// A JSON object; `None` where there is no file.
pub(super) fn read_json(path: &Path) -> Result<Option<Map<String, Value>>, BadFile> {
    let Some(text) = read_text(path)? else {
        return Ok(None);
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| BadFile::new(path, error))
}
