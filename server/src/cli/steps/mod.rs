//! `cascade simulate` and `cascade compare`: whole-request time from files, without a server.

mod compare;
mod show;
mod simulate;

use std::io::Read;
use std::path::Path;

use cascade_steps::Timeline;
use cascade_steps::timeline::MAX_TIMELINE_BYTES;
use serde::Serialize;

use super::Result;
use super::fail::Fail;

pub(crate) use compare::{Args as CompareArgs, run as compare};
pub(crate) use show::digest;
pub(crate) use simulate::{Args as SimulateArgs, run as simulate};

/// Reads a timeline.
pub(crate) fn timeline(path: &Path) -> Result<Timeline> {
    let json = read(path, MAX_TIMELINE_BYTES)?;
    Timeline::parse(&path.display().to_string(), &json).map_err(Fail::usage)
}

/// Reads a whole JSON file of at most `limit` bytes, packed with gzip or not; `-` is standard input.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let mut json = Vec::new();
    let source = super::log::open(path)?;
    source
        .take(limit as u64 + 1)
        .read_to_end(&mut json)
        .map_err(Fail::file(path))?;
    if json.len() > limit {
        let (path, mib) = (path.display(), limit >> 20);
        return Err(Fail::usage(format_args!("{path}: over the limit of {mib} MiB")));
    }
    Ok(json)
}

/// Writes a value as JSON so that the file appears when it is whole; `-` is standard output.
fn write(path: &Path, value: &impl Serialize, out: &mut super::out::Out) -> Result {
    if path == Path::new("-") {
        return out.json(value);
    }
    let json = serde_json::to_vec(value).map_err(Fail::failed)?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let part = tempfile::Builder::new()
        .prefix(".cascade-")
        .suffix(".part")
        .tempfile_in(dir.unwrap_or(Path::new(".")))
        .map_err(Fail::file(path))?;
    std::fs::write(part.path(), json).map_err(Fail::file(path))?;
    part.persist(path)
        .map_err(|error| Fail::file(path)(error.error))?;
    super::out::note(format_args!("wrote {}", path.display()));
    Ok(())
}
