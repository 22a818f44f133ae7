//! What of a folder is uploaded, and under which names.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Most files of one trace: 1,000,000.
const MAX_FILES: usize = 1_000_000;
/// Deepest folder below the trace's own.
const MAX_DEPTH: usize = 16;

/// A file to upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Where it is.
    pub path: PathBuf,
    /// Its name under the trace, parts joined by `/`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// The files of a trace folder in name order, without `metadata.json`, dotfiles and symbolic links to folders.
///
/// The app expects kernels, lists and statistics under `traces/`; a folder that holds them at its top (as
/// Accel-Sim's own trace collections do) is uploaded as if they were there.
///
/// # Errors
/// [`Error::File`] for what cannot be read, [`Error::Folder`] for a folder without kernels, for names that are
/// not UTF-8, and past a limit.
pub fn folder(dir: &Path) -> Result<Vec<Local>> {
    let mut files = Vec::new();
    walk(dir, "", 0, &mut files)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    if !files.iter().any(|file| file.name.starts_with("traces/")) {
        for file in &mut files {
            if is_trace_file(&file.name) {
                file.name.insert_str(0, "traces/");
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
    }
    if !files.iter().any(|file| file.name.starts_with("traces/")) {
        return Err(Error::Folder {
            path: dir.to_owned(),
            reason: "no kernel traces here: expected a folder `traces` with kernelslist and kernel-* files, or these \
                     files at its top"
                .to_owned(),
        });
    }
    Ok(files)
}

fn is_trace_file(name: &str) -> bool {
    ["kernel-", "kernelslist", "stats_ctx_", "stats.csv"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn walk(dir: &Path, under: &str, depth: usize, files: &mut Vec<Local>) -> Result<()> {
    let refused = |path: &Path, reason: String| Error::Folder {
        path: path.to_owned(),
        reason,
    };
    if depth > MAX_DEPTH {
        return Err(refused(
            dir,
            format!("folders are nested more than {MAX_DEPTH} deep"),
        ));
    }
    for entry in std::fs::read_dir(dir).map_err(Error::file(dir))? {
        let entry = entry.map_err(Error::file(dir))?;
        let path = entry.path();
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(refused(&path, "the name is not UTF-8; rename it".to_owned()));
        };
        if name.starts_with('.') || (under.is_empty() && name == "metadata.json") {
            continue;
        }
        let kind = entry.file_type().map_err(Error::file(&path))?;
        if kind.is_dir() {
            walk(&path, &format!("{under}{name}/"), depth + 1, files)?;
            continue;
        }
        let meta = std::fs::metadata(&path).map_err(Error::file(&path))?;
        if !meta.is_file() {
            continue;
        }
        if files.len() >= MAX_FILES {
            return Err(refused(dir, format!("more than {MAX_FILES} files")));
        }
        files.push(Local {
            path,
            name: format!("{under}{name}"),
            bytes: meta.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::folder;

    fn names(files: &[(&str, &str)]) -> Result<Vec<String>, crate::Error> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Ok(folder(dir.path())?.into_iter().map(|file| file.name).collect())
    }

    #[test]
    fn a_trace_folder_keeps_its_names() {
        let files = [
            ("metadata.json", "{}"),
            ("traces/kernelslist.g", ""),
            ("traces/kernel-1.traceg", "x"),
            ("logs/a.txt", ""),
            (".hidden", ""),
        ];
        assert_eq!(
            names(&files).unwrap(),
            ["logs/a.txt", "traces/kernel-1.traceg", "traces/kernelslist.g"]
        );
    }

    #[test]
    fn kernels_at_the_top_go_under_traces() {
        let files = [
            ("kernelslist.g", ""),
            ("kernel-1.traceg", "x"),
            ("stats.csv", ""),
            ("real_timing.json", "[]"),
        ];
        assert_eq!(
            names(&files).unwrap(),
            [
                "real_timing.json",
                "traces/kernel-1.traceg",
                "traces/kernelslist.g",
                "traces/stats.csv"
            ]
        );
    }

    #[test]
    fn a_folder_without_kernels_is_refused() {
        assert!(
            names(&[("notes.txt", "")])
                .unwrap_err()
                .to_string()
                .contains("no kernel traces here")
        );
    }
}
