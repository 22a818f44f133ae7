//! Builds what the browser loads: `frontend` as WASM with its JavaScript glue, the style sheet, static files.
//!
//! cargo-leptos does the same but does not build on our rustc; see the design decisions in ARCHITECTURE.md.
//!
//! ```text
//! target/site/
//!   pkg/cascade.js  pkg/cascade.wasm  pkg/cascade.css  pkg/snippets/…   (+ .br and .gz in release)
//!   pkg/explorer.js  pkg/explorer.wasm  pkg/explorer-worker.js           the explorer's engine and its web worker
//!   pkg/version.txt      a hash of all of them: pages ask for `cascade.js?v=<hash>`
//!   docs/…               the documents, by `crate::docs`
//!   favicon.svg …        what lies in public/
//! ```

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::docs;

/// A module for the browser.
struct Module {
    /// The crate.
    package: &'static str,
    /// Base name of its files.
    name: &'static str,
    /// How `wasm-opt` goes about it.
    level: &'static str,
    /// Most bytes of the module in a release, packed by brotli; where none is set, the build only says how many.
    most: Option<u64>,
}

/// The pages, small, under the name that Leptos and the server expect; and the explorer's engine, fast.
const MODULES: [Module; 2] = [
    Module {
        package: "frontend",
        name: "cascade",
        level: "-Oz",
        most: None,
    },
    Module {
        package: "cascade-explorer",
        name: "explorer",
        level: "-O3",
        most: Some(320_000),
    },
];
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
    let pkg = site.join("pkg");
    let folder = compile(options, &target)?;
    if site.exists() {
        fs::remove_dir_all(&site).with_context(|| format!("cannot clear {}", site.display()))?;
    }
    copy_folder(&options.root.join("public"), &site)?;
    fs::create_dir_all(&pkg).with_context(|| format!("cannot make {}", pkg.display()))?;
    for module in MODULES {
        bind(&folder, &module, &pkg)?;
        if options.release {
            optimise(
                &options.root,
                &pkg.join(format!("{}.wasm", module.name)),
                module.level,
            )?;
        }
    }
    let (source, worker) = WORKER;
    fs::copy(options.root.join(source), pkg.join(worker)).with_context(|| format!("cannot copy {source}"))?;
    let css = bundle_css(&options.root.join("style/main.css"), 0)?;
    write(&pkg.join(format!("{NAME}.css")), css.as_bytes())?;
    write(&pkg.join(VERSION_FILE), version(&pkg)?.as_bytes())?;
    docs::build(&options.root, &site)?;
    if options.release {
        compress_folder(&site)?;
        for module in MODULES {
            within(&module, &pkg)?;
        }
    }
    Ok(site)
}

/// Refuses a release module that browsers would load too long.
fn within(module: &Module, pkg: &Path) -> Result<()> {
    let file = pkg.join(format!("{}.wasm.br", module.name));
    let length = fs::metadata(&file)
        .with_context(|| format!("cannot read {}", file.display()))?
        .len();
    crate::sh::say(format!("{}.wasm: {length} bytes packed", module.name));
    if let Some(most) = module.most {
        ensure!(
            length <= most,
            "{}.wasm is {length} bytes packed by brotli; at most {most} are allowed",
            module.name
        );
    }
    Ok(())
}

/// Compiles the modules and returns the folder of the `.wasm` files.
fn compile(options: &SiteOptions, target: &Path) -> Result<PathBuf> {
    const TRIPLE: &str = "wasm32-unknown-unknown";
    let profile = if options.release {
        "wasm-release"
    } else {
        "wasm-dev"
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(&options.root)
        .args(["build", "--lib", "--target", TRIPLE, "--profile", profile])
        .args(MODULES.iter().flat_map(|module| ["--package", module.package]))
        .status()
        .context("cannot start cargo")?;
    ensure!(
        status.success(),
        "building the browser's modules for {TRIPLE} failed ({status})"
    );
    Ok(target.join(TRIPLE).join(profile))
}

/// Writes the JavaScript glue and the WASM that fits it.
fn bind(folder: &Path, module: &Module, pkg: &Path) -> Result<()> {
    let wasm = folder.join(format!("{}.wasm", module.package.replace('-', "_")));
    let name = module.name;
    Bindgen::new()
        .input_path(&wasm)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .generate(pkg)
        .with_context(|| format!("wasm-bindgen failed on {}", wasm.display()))?;
    fs::rename(
        pkg.join(format!("{name}_bg.wasm")),
        pkg.join(format!("{name}.wasm")),
    )
    .context("wasm-bindgen wrote no module")?;
    Ok(())
}

/// Makes the module smaller with `wasm-opt` from npm's `binaryen`.
fn optimise(root: &Path, wasm: &Path, level: &str) -> Result<()> {
    let tool = root.join("node_modules/.bin/wasm-opt");
    if !tool.exists() {
        bail!(
            "a release build of the pages needs wasm-opt: run `npm ci` in {}",
            root.display()
        );
    }
    // The features that rustc's wasm32 target uses today; without them it would refuse the module.
    let status = Command::new(&tool)
        .args([
            level,
            "--enable-bulk-memory",
            "--enable-nontrapping-float-to-int",
            "--enable-sign-ext",
        ])
        .args([
            "--enable-mutable-globals",
            "--enable-reference-types",
            "--enable-multivalue",
        ])
        .arg(wasm)
        .arg("-o")
        .arg(wasm)
        .status()
        .with_context(|| format!("cannot start {}", tool.display()))?;
    ensure!(status.success(), "wasm-opt failed ({status})");
    Ok(())
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
    for file in files_below(site)? {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut brotli = Vec::new();
        brotli::CompressorWriter::new(&mut brotli, 1 << 16, BROTLI.0, BROTLI.1).write_all(&bytes)?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&bytes)?;
        for (ending, packed) in [("br", brotli), ("gz", gzip.finish()?)] {
            if packed.len() < bytes.len() {
                let mut name = file.clone().into_os_string();
                name.push(format!(".{ending}"));
                write(Path::new(&name), &packed)?;
            }
        }
    }
    Ok(())
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
