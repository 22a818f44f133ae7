//! Finds the kernels that a path means, and post-processes raw ones.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use cascade_accelsim::list::kernel_id;
use cascade_accelsim::post::folder::{FolderOptions, PROCESSED_LIST, process_folder};
use cascade_accelsim::trace::{KernelHeader, RawReader, TraceFormat, open, xz_reader};
use cascade_worker::simulate::Kernels;

use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::out::note;

/// Memory for the lines of raw kernels, bytes.
const POST_MEMORY: usize = 512 << 20;

/// Kernels to simulate, and the temporary folder they may be in.
pub(crate) struct Found {
    pub(crate) kernels: Kernels,
    _scratch: Option<Scratch>,
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            note(format_args!("{}: {error}; remove it by hand", self.0.display()));
        }
    }
}

/// Says so when the trace at `path`, a folder or a file in it, was written by Cascade and not recorded.
pub(crate) fn note_synthetic(path: &Path) {
    #[derive(serde::Deserialize)]
    struct Metadata {
        #[serde(default)]
        synthetic: bool,
    }
    let folders = path.ancestors().take(3);
    let read = |folder: &Path| std::fs::read(folder.join("metadata.json")).ok();
    let metadata = folders.filter_map(read).next();
    let metadata = metadata.and_then(|json| serde_json::from_slice::<Metadata>(&json).ok());
    if metadata.is_some_and(|metadata| metadata.synthetic) {
        note("NOTE: the trace is synthetic: its kernels were written by Cascade, not recorded on a GPU");
    }
}

/// The kernels at `path`: a list, one kernel, or a folder with either, perhaps under `traces`.
pub(crate) fn find(path: &Path, scratch: Option<&Path>, threads: usize) -> Result<Found> {
    note_synthetic(path);
    let ready = |kernels| Found {
        kernels,
        _scratch: None,
    };
    let meta = std::fs::metadata(path).map_err(Fail::file(path))?;
    if meta.is_file() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return match TraceFormat::of_name(&name) {
            Some(format) if format.is_raw() => Err(Fail::usage(format_args!(
                "{}: a raw trace must be post-processed with its list: give the folder",
                path.display()
            ))),
            Some(_) => Ok(ready(Kernels::single(path))),
            None if name.ends_with(".g") => Ok(ready(Kernels::from_list(path).map_err(Fail::usage)?)),
            None if name.starts_with("kernelslist") => {
                let dir = path
                    .parent()
                    .filter(|dir| !dir.as_os_str().is_empty())
                    .unwrap_or(Path::new("."));
                post_process(dir, scratch, threads)
            }
            None => Err(Fail::usage(format_args!(
                "{}: neither a kernel list nor a kernel's trace (.traceg, .traceg.xz or .tracez)",
                path.display()
            ))),
        };
    }
    let inner = path.join("traces");
    let dir = if inner.is_dir() { inner } else { path.to_owned() };
    let list = dir.join(PROCESSED_LIST);
    if list.is_file() {
        return Ok(ready(Kernels::from_list(&list).map_err(Fail::usage)?));
    }
    let names = names(&dir)?;
    if names.iter().any(|name| name.starts_with("kernelslist")) {
        return post_process(&dir, scratch, threads);
    }
    let processed = |name: &String| TraceFormat::of_name(name).is_some_and(|format| !format.is_raw());
    let mut files: Vec<String> = names.into_iter().filter(processed).collect();
    if files.is_empty() {
        return Err(Fail::usage(format_args!(
            "{}: no trace here: expected {PROCESSED_LIST}, kernelslist or kernel-* files, here or in `traces`",
            path.display()
        )));
    }
    files.sort_by_key(|name| (kernel_id(name), name.clone()));
    note(format_args!(
        "{}: no {PROCESSED_LIST}; kernels are taken in the order of their numbers",
        dir.display()
    ));
    Ok(ready(Kernels::from_files(&dir, files)))
}

/// Post-processes a raw folder's files elsewhere, so that nothing is written beside them.
fn post_process(dir: &Path, scratch: Option<&Path>, threads: usize) -> Result<Found> {
    let parent = scratch.map_or_else(std::env::temp_dir, Path::to_owned);
    let work = parent.join(format!("cascade-post-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(Fail::file(&work))?;
    let guard = Scratch(work.clone());
    for name in names(dir)? {
        let (from, to) = (dir.join(&name), work.join(&name));
        // A second name for the same bytes where the file system allows it.
        if std::fs::hard_link(&from, &to).is_err() {
            std::fs::copy(&from, &to).map_err(Fail::file(&from))?;
        }
    }
    let options = FolderOptions {
        threads,
        format: TraceFormat::Packed,
        memory_bytes: POST_MEMORY,
        scratch: work.join("runs"),
    };
    let report = process_folder(&work, &options, &|done| {
        note(format_args!("post-processed {}", done.raw))
    });
    for warning in report.map_err(Fail::usage)?.all_warnings() {
        note(warning);
    }
    Ok(Found {
        kernels: Kernels::from_list(&work.join(PROCESSED_LIST)).map_err(Fail::usage)?,
        _scratch: Some(guard),
    })
}

/// The names of a folder's regular files.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(Fail::file(dir))? {
        let entry = entry.map_err(Fail::file(dir))?;
        if let (true, Ok(name)) = (entry.path().is_file(), entry.file_name().into_string()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The kernel files at `path`, raw ones too, in list order.
pub(crate) fn headers(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file()
        && path
            .file_name()
            .is_some_and(|name| TraceFormat::of_name(&name.to_string_lossy()).is_some())
    {
        return Ok(vec![path.to_owned()]);
    }
    let inner = path.join("traces");
    let dir = match path {
        _ if inner.is_dir() => inner,
        path if path.is_dir() => path.to_owned(),
        path => path.parent().map(Path::to_owned).unwrap_or_default(),
    };
    let lists: Vec<PathBuf> = match path.is_file() {
        true => vec![path.to_owned()],
        false => {
            let names = names(&dir)?;
            let processed = names.iter().filter(|name| *name == PROCESSED_LIST);
            let raw = names
                .iter()
                .filter(|name| name.starts_with("kernelslist") && *name != PROCESSED_LIST);
            let chosen: Vec<&String> = processed.collect();
            let chosen = if chosen.is_empty() { raw.collect() } else { chosen };
            chosen.into_iter().map(|name| dir.join(name)).collect()
        }
    };
    let mut files = Vec::new();
    for list in &lists {
        let kernels = Kernels::from_list(list).map_err(Fail::usage)?;
        files.extend(kernels.list.kernels().map(|file| dir.join(file)));
    }
    if lists.is_empty() {
        let mut names = names(&dir)?;
        names.retain(|name| TraceFormat::of_name(name).is_some());
        names.sort_by_key(|name| (kernel_id(name), name.clone()));
        files.extend(names.into_iter().map(|name| dir.join(name)));
    }
    if files.is_empty() {
        return Err(Fail::usage(format_args!(
            "{}: no kernel list and no kernel traces here",
            path.display()
        )));
    }
    Ok(files)
}

/// The header of a kernel's file, raw or processed.
pub(crate) fn header(file: &Path) -> Result<KernelHeader, String> {
    let name = file.to_string_lossy();
    let reader = File::open(file).map_err(|error| format!("{name}: {error}"))?;
    let read = match TraceFormat::of_name(&name) {
        Some(TraceFormat::Raw) => {
            RawReader::open(BufReader::new(reader), &name).map(|raw| raw.header().clone())
        }
        Some(TraceFormat::RawXz) => {
            let text = xz_reader(BufReader::new(reader)).map_err(|error| format!("{name}: {error}"))?;
            RawReader::open(text, &name).map(|raw| raw.header().clone())
        }
        _ => open(reader, &name).map(|source| source.header().clone()),
    };
    read.map_err(|error| error.to_string())
}
