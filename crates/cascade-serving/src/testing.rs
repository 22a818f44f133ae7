//! What several test modules use.

use std::path::PathBuf;

/// A folder of the recorded data, or None with a message that the test is skipped.
pub(crate) fn shared_data(folder: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's own variable, as in the other crates"
    )]
    let root = std::env::var("CASCADE_SHARED_DATA").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no {}; set CASCADE_SHARED_DATA", path.display());
    None
}
