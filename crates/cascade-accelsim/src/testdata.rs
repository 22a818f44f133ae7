//! Where tests find real data: `CASCADE_SHARED_DATA`, or `../shared/data` beside the workspace.

use std::path::PathBuf;

/// A folder of the shared data; prints that the test is skipped where there is none.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests find the shared data folder through the environment"
    )]
    let root = std::env::var("CASCADE_SHARED_DATA").ok().map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no folder {}; set CASCADE_SHARED_DATA", path.display());
    None
}
