//! What this server did with a trace's files, kept in `work/postprocess/<trace>.json` so that a restart
//! or a new upload under the same name can tell our files from uploaded ones.

use std::io;
use std::path::{Path, PathBuf};

use cascade_api::TraceId;
use serde::{Deserialize, Serialize};

use crate::launcher::process::Identity;

/// One trace's record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Whether its files lie beside `traces/` and got second names in it.
    pub flat: bool,
    /// Whether the post-processor was started on it.
    pub processed: bool,
    /// The mark of the raw files that the post-processor read, in hex.
    pub source: String,
    /// The mark of the list that it made, in hex; `None` until it has finished.
    pub list: Option<String>,
    /// The process of an external post-processor, which outlives a server that is killed.
    #[serde(default)]
    pub process: Option<Identity>,
}

impl Record {
    /// The record in `dir`; `None` if there is none that can be read.
    pub(super) fn read(dir: &Path, id: &TraceId) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path(dir, id)).ok()?).ok()
    }

    /// Stores the record in place of an older one.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn write(&self, dir: &Path, id: &TraceId) -> io::Result<()> {
        std::fs::create_dir_all(dir)?;
        let temporary = dir.join(format!("{id}.json.tmp"));
        std::fs::write(&temporary, serde_json::to_vec(self)?)?;
        std::fs::rename(temporary, path(dir, id))
    }
}

fn path(dir: &Path, id: &TraceId) -> PathBuf {
    dir.join(format!("{id}.json"))
}
