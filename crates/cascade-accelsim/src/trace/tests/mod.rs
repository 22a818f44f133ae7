//! Tests of the trace readers.

mod goldens;
mod irregular;
#[cfg(feature = "compression")]
mod round_trip;

use std::path::PathBuf;

use crate::testdata::shared;

/// A file or folder of the shared data folder; a message and `None` where it is missing.
pub(crate) fn data(path: &str) -> Option<PathBuf> {
    match path.rsplit_once('/') {
        Some((folder, name)) => shared(folder).map(|folder| folder.join(name)),
        None => shared(path),
    }
}
