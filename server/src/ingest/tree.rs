//! One look at a trace's files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

/// Most files a trace may have; one file a kernel and a kernel of an LLM's step make 10,000 in practice.
pub(super) const MAX_FILES: usize = 1_000_000;
/// Deepest folder that is looked into.
const MAX_DEPTH: usize = 32;

/// A hash over names, sizes and times: two trees with the same mark have the same files.
pub(super) type Mark = [u8; 32];

/// The files of one trace as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// Each file by its path within the trace, folders separated by `/`.
    files: BTreeMap<String, Facts>,
    /// Bytes of all of them; a file with two names counts once.
    pub bytes: u64,
    /// Whether there are more than [`MAX_FILES`]; the rest was not looked at.
    pub overflow: bool,
}

impl Tree {
    /// Walks a trace's folder. Dotfiles are left out, whatever is not a regular file or folder too:
    /// symbolic links are never followed.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub(super) fn walk(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.folder(root, "", 0)?;
        let mut linked = BTreeSet::new();
        let counted = tree
            .files
            .values()
            .filter(|f| f.links < 2 || linked.insert((f.device, f.inode)));
        tree.bytes = counted.map(|f| f.bytes).sum();
        Ok(tree)
    }

    /// Changes when a file is added, removed, resized or written.
    pub(super) fn mark(&self) -> Mark {
        mark(&self.files.iter().collect::<Vec<_>>())
    }

    /// The same for the files in `folder` that a tracer writes: raw kernels, their lists and statistics.
    /// The post-processor's output does not change it.
    pub(super) fn source_mark(&self, folder: &str) -> Mark {
        let names = self.in_folder(folder).filter(|name| is_source(name));
        let paths = names.map(|name| format!("{folder}{name}"));
        mark(
            &paths
                .filter_map(|path| self.files.get_key_value(&path))
                .collect::<Vec<_>>(),
        )
    }

    /// The mark of one file; `None` if it is not there.
    pub(super) fn file_mark(&self, path: &str) -> Option<Mark> {
        Some(mark(&[self.files.get_key_value(path)?]))
    }

    /// Whether there are no files at all.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// A file's size in bytes; `None` if it is not there.
    pub(super) fn size(&self, path: &str) -> Option<u64> {
        self.files.get(path).map(|facts| facts.bytes)
    }

    /// Names of the files that lie directly in `folder` (`""` or one that ends in `/`).
    pub(super) fn in_folder<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.files
            .range(folder.to_owned()..)
            .map_while(move |(path, _)| path.strip_prefix(folder))
            .filter(|name| !name.contains('/'))
    }

    /// Whether the trace has this file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Raw kernel traces seen, each name once.
    pub(super) fn raw_kernels(&self) -> u64 {
        let names = self.files.keys().map(|path| file_name(path));
        let raw: BTreeSet<&str> = names.filter(|name| is_raw_kernel(name)).collect();
        u64::try_from(raw.len()).unwrap_or(u64::MAX)
    }

    fn folder(&mut self, path: &Path, prefix: &str, depth: usize) -> io::Result<()> {
        let entries = match std::fs::read_dir(path) {
            // Deleted between being listed and being opened.
            Err(error) if error.kind() == io::ErrorKind::NotFound && depth > 0 => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() && depth < MAX_DEPTH {
                self.folder(&entry.path(), &format!("{prefix}{name}/"), depth + 1)?;
            } else if kind.is_file() {
                // The entry's own metadata, never a link's target.
                let metadata = match entry.metadata() {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    metadata => metadata?,
                };
                let facts = Facts {
                    bytes: metadata.len(),
                    seconds: metadata.mtime(),
                    nanos: metadata.mtime_nsec(),
                    device: metadata.dev(),
                    inode: metadata.ino(),
                    links: metadata.nlink(),
                };
                if self.files.len() >= MAX_FILES {
                    self.overflow = true;
                    return Ok(());
                }
                self.files.insert(format!("{prefix}{name}"), facts);
            }
        }
        Ok(())
    }
}

fn mark(files: &[(&String, &Facts)]) -> Mark {
    let mut hash = Sha256::new();
    for (path, facts) in files {
        hash.update(path.as_bytes());
        hash.update([0]);
        for number in [
            facts.bytes,
            facts.inode,
            facts.seconds.cast_unsigned(),
            facts.nanos.cast_unsigned(),
        ] {
            hash.update(number.to_le_bytes());
        }
    }
    hash.finalize().into()
}

/// The part of a path after its last `/`.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a file is a kernel trace as the tracer writes it.
pub(super) fn is_raw_kernel(name: &str) -> bool {
    name.starts_with("kernel-") && (name.ends_with(".trace") || name.ends_with(".trace.xz"))
}

/// Whether a file is a kernel list as the tracer writes it.
pub(super) fn is_raw_list(name: &str) -> bool {
    name == "kernelslist" || (name.starts_with("kernelslist_ctx_") && !name.ends_with(".g"))
}

/// Whether a file holds a tracer's launch statistics.
pub(super) fn is_stats(name: &str) -> bool {
    name == "stats.csv" || name.starts_with("stats_ctx_")
}

fn is_source(name: &str) -> bool {
    is_raw_kernel(name) || is_raw_list(name) || is_stats(name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    bytes: u64,
    seconds: i64,
    nanos: i64,
    device: u64,
    inode: u64,
    links: u64,
}

#[cfg(test)]
mod tests {
    use super::Tree;

    fn write(root: &std::path::Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_walk_counts_what_an_upload_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("t");
        write(&root, "metadata.json", "{}");
        write(&root, "traces/kernel-1.trace", "12345");
        write(&root, "traces/kernel-2-ctx_0x1.trace.xz", "1");
        write(&root, "traces/deep/er/notes", "abc");
        write(&root, "traces/.rclone_temp_put_1", "half an object");
        write(&root, ".hidden/kernel-3.trace", "1");
        write(dir.path(), "outside", "not of this trace");
        std::os::unix::fs::symlink(dir.path().join("outside"), root.join("traces/kernel-4.trace")).unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("up")).unwrap();

        let tree = Tree::walk(&root).unwrap();
        assert_eq!((tree.bytes, tree.raw_kernels(), tree.files.len()), (11, 2, 4));
        assert!(tree.has("traces/deep/er/notes"));
        let direct: Vec<&str> = tree.in_folder("traces/").collect();
        assert_eq!(direct, ["kernel-1.trace", "kernel-2-ctx_0x1.trace.xz"]);
        assert_eq!(tree.in_folder("").collect::<Vec<_>>(), ["metadata.json"]);
        assert_eq!(Tree::walk(&root).unwrap(), tree, "nothing changed");

        // Another name for the same file takes no more disk.
        std::fs::hard_link(root.join("traces/kernel-1.trace"), root.join("kernel-1.trace")).unwrap();
        let linked = Tree::walk(&root).unwrap();
        assert_eq!((linked.bytes, linked.raw_kernels()), (11, 2));
        assert_ne!(linked.mark(), tree.mark());
    }

    #[test]
    fn the_post_processors_output_leaves_the_source_mark_alone() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "traces/kernel-1.trace", "12345");
        write(dir.path(), "traces/kernelslist_ctx_0x1", "kernel-1.trace");
        let before = Tree::walk(dir.path()).unwrap();
        for output in [
            "kernelslist.g",
            "kernelslist_ctx_0x1.g",
            "kernel-1.traceg",
            "kernel-1.tracez",
        ] {
            write(dir.path(), &format!("traces/{output}"), "x");
        }
        let after = Tree::walk(dir.path()).unwrap();
        assert_ne!(after.mark(), before.mark());
        assert_eq!(after.source_mark("traces/"), before.source_mark("traces/"));
        write(dir.path(), "traces/kernel-1.trace", "54321");
        let rewritten = Tree::walk(dir.path()).unwrap();
        assert_ne!(rewritten.source_mark("traces/"), before.source_mark("traces/"));
    }

    #[test]
    fn a_trace_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let error = Tree::walk(&dir.path().join("gone")).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}
