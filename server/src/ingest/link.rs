//! Traces whose files lie beside `traces/` instead of in it.
//!
//! Simulators and post-processors read `traces/`. Moving a user's files would undo the upload, copying
//! them would double the disk, so they get second names (hard links) in `traces/`.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::complete::{LIST, TRACES};
use super::tree::{Tree, is_raw_kernel, is_raw_list, is_stats};

/// Gives the trace's files in `root` second names in `root/traces`, the processed list last. Names that
/// are there already and mean other files are replaced.
///
/// # Errors
/// When the folder or a link cannot be made, such as on a file system without hard links.
pub(super) fn into_traces(root: &Path, tree: &Tree) -> io::Result<()> {
    let traces = root.join(TRACES);
    std::fs::create_dir_all(&traces)?;
    let mut names: Vec<&str> = tree.in_folder("").filter(|name| belongs(name)).collect();
    names.sort_by_key(|name| *name == LIST);
    for name in names {
        link(&root.join(name), &traces, name)?;
    }
    Ok(())
}

fn belongs(name: &str) -> bool {
    let processed = name.starts_with("kernel-")
        && [".traceg", ".traceg.xz", ".tracez"]
            .iter()
            .any(|suffix| name.ends_with(suffix));
    processed || name == LIST || is_raw_kernel(name) || is_raw_list(name) || is_stats(name)
}

fn link(from: &Path, folder: &Path, name: &str) -> io::Result<()> {
    let to = folder.join(name);
    let source = std::fs::symlink_metadata(from)?;
    if let Ok(target) = std::fs::symlink_metadata(&to)
        && (target.dev(), target.ino()) == (source.dev(), source.ino())
    {
        return Ok(());
    }
    // A hidden name first, then a rename: a reader sees the old file or the new one.
    let temporary = folder.join(format!(".{name}.link"));
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => std::fs::hard_link(from, &temporary)?,
    }
    std::fs::rename(temporary, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_second_names_and_follow_a_new_upload() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let files = [
            "kernelslist.g",
            "kernel-1.traceg",
            "kernel-2.trace.xz",
            "stats.csv",
            "metadata.json",
            "gt",
        ];
        for name in files {
            std::fs::write(root.join(name), "first").unwrap();
        }
        into_traces(root, &Tree::walk(root).unwrap()).unwrap();
        let tree = Tree::walk(root).unwrap();
        let linked: Vec<&str> = tree.in_folder(TRACES).collect();
        assert_eq!(
            linked,
            [
                "kernel-1.traceg",
                "kernel-2.trace.xz",
                "kernelslist.g",
                "stats.csv"
            ]
        );
        assert_eq!(tree.bytes, 30, "second names take no disk");

        // An upload renames a new file into place, which leaves the second name with the old one.
        std::fs::write(root.join("new"), "second").unwrap();
        std::fs::rename(root.join("new"), root.join("kernel-1.traceg")).unwrap();
        let tree = Tree::walk(root).unwrap();
        into_traces(root, &tree).unwrap();
        into_traces(root, &tree).unwrap();
        assert_eq!(
            std::fs::read_to_string(root.join("traces/kernel-1.traceg")).unwrap(),
            "second"
        );
        assert_eq!(
            std::fs::read_dir(root.join(TRACES)).unwrap().count(),
            4,
            "nothing left over"
        );
    }
}
