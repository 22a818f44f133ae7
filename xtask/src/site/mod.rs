//! Builds what the browser loads: `frontend` as WASM with its JavaScript glue, the style sheet, static files.
//!
//! cargo-leptos does the same but does not build on our rustc; see the design decisions in ARCHITECTURE.md.
//!
//! ```text
//! target/site/
//!   pkg/version.txt      a hash of all built files; they lie in a folder of that name, so that caches never mix
//!                        two builds and the files may import each other by relative addresses
//!   pkg/<hash>/
//!     cascade.js  cascade.wasm  cascade.css  snippets/…   (+ .br and .gz in release)
//!     __wasm_split.js  *.wasm              the pages, each loaded when it is first shown
//!     explorer.js  explorer.wasm  explorer-worker.js      the explorer's engine and its web worker
//!   docs/…               the documents, by `crate::docs`
//!   favicon.svg …        what lies in public/
//! ```

mod modules;

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::docs;
use modules::MODULES;

/// Base name of the style sheet.
const NAME: &str = "cascade";
/// The explorer's worker: its source and its name in `pkg/`.
const WORKER: (&str, &str) = ("frontend/worker.js", "explorer-worker.js");
/// File in `pkg/` that holds the hash of the built files.
const VERSION_FILE: &str = "version.txt";
/// Most style sheets that may import each other in a chain; more means a cycle.
const MAX_IMPORT_DEPTH: usize = 4;
/// Quality and window of the brotli files: the strongest there is, since they are made once.
const BROTLI: (u32, u32) = (11, 22);

/// How to build the site.
#[derive(Clone, Debug)]
pub(crate) struct SiteOptions {
    /// The workspace's root.
    pub(crate) root: PathBuf,
    /// Small and fast files (`wasm-release`, `wasm-opt`, precompressed), or quick to build ones (`wasm-dev`).
    pub(crate) release: bool,
}

/// Builds the site and returns its folder.
///
/// # Errors
/// When cargo, wasm-bindgen or wasm-opt fails, or a file cannot be read or written.
pub(crate) fn build_site(options: &SiteOptions) -> Result<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| options.root.join("target"), PathBuf::from);
    let site = target.join("site");
    let built = site.join("pkg/new");
    let folder = modules::compile(options, &target)?;
    if site.exists() {
        fs::remove_dir_all(&site).with_context(|| format!("cannot clear {}", site.display()))?;
    }
    copy_folder(&options.root.join("public"), &site)?;
    fs::create_dir_all(&built).with_context(|| format!("cannot make {}", built.display()))?;
    for module in &MODULES {
        module.write(options, &folder, &built)?;
    }
    let (source, worker) = WORKER;
    fs::copy(options.root.join(source), built.join(worker))
        .with_context(|| format!("cannot copy {source}"))?;
    let css = bundle_css(&options.root.join("style/main.css"), 0)?;
    write(&built.join(format!("{NAME}.css")), css.as_bytes())?;
    let version = version(&built)?;
    let pkg = site.join("pkg").join(&version);
    fs::rename(&built, &pkg).with_context(|| format!("cannot name {}", pkg.display()))?;
    write(&site.join("pkg").join(VERSION_FILE), version.as_bytes())?;
    docs::build(&options.root, &site)?;
    if options.release {
        compress_folder(&site)?;
        for module in &MODULES {
            module.within_budget(&pkg)?;
        }
    }
    Ok(site)
}

/// A style sheet with its `@import "…";` lines replaced by the files they name.
pub(crate) fn bundle_css(file: &Path, depth: usize) -> Result<String> {
    ensure!(
        depth < MAX_IMPORT_DEPTH,
        "{}: style sheets import each other in a circle",
        file.display()
    );
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let import = line
            .strip_prefix("@import \"")
            .and_then(|rest| rest.strip_suffix("\";"));
        match import {
            Some(part) => out.push_str(&bundle_css(&folder.join(part), depth + 1)?),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Ok(out)
}

/// A hash of every built file, by name: changes whenever any of them does (FNV-1a, 64 bits: no secrecy needed).
pub(crate) fn version(pkg: &Path) -> Result<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files_below(pkg)? {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(pkg)?.to_string_lossy().into_owned();
        for byte in name.bytes().chain(bytes) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

/// Writes a `.br` and a `.gz` beside every file that gets smaller by it.
fn compress_folder(site: &Path) -> Result<()> {
    each(&files_below(site)?, |file| {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut brotli = Vec::new();
        brotli::CompressorWriter::new(&mut brotli, 1 << 16, BROTLI.0, BROTLI.1).write_all(&bytes)?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&bytes)?;
        for (ending, packed) in [("br", brotli), ("gz", gzip.finish()?)] {
            if packed.len() < bytes.len() {
                let mut name = file.as_os_str().to_owned();
                name.push(format!(".{ending}"));
                write(Path::new(&name), &packed)?;
            }
        }
        Ok(())
    })
}

/// Does the same with each file, on all cores.
fn each(files: &[PathBuf], work: impl Fn(&Path) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        let worker = || -> Result<()> {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(file)?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let done = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            worker.join().unwrap_or_else(|_| bail!("a worker panicked"))
        };
        workers.into_iter().try_for_each(done)
    })
}

/// Every file below `folder`, sorted by path.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Copies a folder with everything in it.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let target = to.join(file.strip_prefix(from)?);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::copy(&file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// Writes a file and names it when that fails.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_style_sheets_are_put_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("parts")).unwrap();
        fs::write(folder.path().join("parts/a.css"), "a{}\n").unwrap();
        fs::write(folder.path().join("main.css"), "@import \"parts/a.css\";\nb{}\n").unwrap();
        assert_eq!(
            bundle_css(&folder.path().join("main.css"), 0).unwrap(),
            "a{}\n\nb{}\n"
        );

        fs::write(folder.path().join("loop.css"), "@import \"loop.css\";\n").unwrap();
        let error = bundle_css(&folder.path().join("loop.css"), 0).unwrap_err();
        assert!(error.to_string().contains("circle"), "{error}");
    }

    #[test]
    fn the_version_changes_with_any_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "1").unwrap();
        let before = version(folder.path()).unwrap();
        assert_eq!(version(folder.path()).unwrap(), before);
        fs::write(folder.path().join("a"), "2").unwrap();
        assert_ne!(version(folder.path()).unwrap(), before);
    }
}
