//! Tests of the trace readers.

mod goldens;
mod irregular;
#[cfg(feature = "compression")]
mod round_trip;

use std::path::PathBuf;

/// A file of the shared data folder; a message and `None` where it is missing.
pub(crate) fn data(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CASCADE_SHARED_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is missing", path.display());
    None
}
