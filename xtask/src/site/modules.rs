//! The modules for the browser: compiled, split by page, bound to JavaScript, made small, and held to a budget.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;

use super::{SiteOptions, each, write};

/// What loads the parts of a split module, beside it.
const LOADER: &str = "__wasm_split.js";
/// Which page needs which parts; the server names them in the page's head.
const MANIFEST: &str = "__wasm_split.json";
const TRIPLE: &str = "wasm32-unknown-unknown";

/// A module for the browser.
pub(super) struct Module {
    /// The crate.
    package: &'static str,
    /// Base name of its files.
    name: &'static str,
    /// How `wasm-opt` goes about it.
    level: &'static str,
    /// Most bytes of a release, packed by brotli.
    most: u64,
    /// Its lazy parts, which become files of their own, and the most bytes that it takes together with each.
    parts: &'static [(&'static str, u64)],
}

/// The pages, small, under the name that Leptos and the server expect; and the explorer's engine, fast.
pub(super) const MODULES: [Module; 2] = [
    Module {
        package: "frontend",
        name: "cascade",
        level: "-Oz",
        most: 200_000,
        parts: &[
            // A run's page until it reacts, and what it shows further down.
            ("results", 500_000),
            ("detail", 670_000),
            ("lists", 650_000),
            ("comparing", 530_000),
            ("exploring", 565_000),
        ],
    },
    Module {
        package: "cascade-explorer",
        name: "explorer",
        level: "-O3",
        most: 320_000,
        parts: &[],
    },
];

/// Compiles the modules and returns the folder of the `.wasm` files.
pub(super) fn compile(options: &SiteOptions, target: &Path) -> Result<PathBuf> {
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

impl Module {
    /// Writes the module of `folder`, its parts and its JavaScript to `pkg`.
    pub(super) fn write(&self, options: &SiteOptions, folder: &Path, pkg: &Path) -> Result<()> {
        let compiled = folder.join(format!("{}.wasm", self.package.replace('-', "_")));
        let (input, mut files) = if self.parts.is_empty() {
            (compiled, Vec::new())
        } else {
            self.split(&compiled, pkg)?
        };
        self.bind(&input, pkg)?;
        files.push(pkg.join(format!("{}.wasm", self.name)));
        if options.release {
            each(&files, |file| optimise(&options.root, file, self.level))?;
        }
        Ok(())
    }

    /// Cuts the module into what every page needs and what one page needs; returns the first and the others.
    fn split(&self, compiled: &Path, pkg: &Path) -> Result<(PathBuf, Vec<PathBuf>)> {
        let bytes = fs::read(compiled).with_context(|| format!("cannot read {}", compiled.display()))?;
        let shared = compiled.with_extension("shared.wasm");
        let loader = format!("./{LOADER}");
        let main_module = format!("./{}.js", self.name);
        let mut options = wasm_split_cli_support::Options::new(&bytes);
        options.output_dir = pkg;
        options.main_out_path = &shared;
        options.link_name = &loader;
        options.main_module = &main_module;
        let parts = wasm_split_cli_support::transform(options)
            .map_err(|error| anyhow!("cannot split {}: {error:#}", compiled.display()))?;
        let manifest = serde_json::to_vec(&parts.prefetch_map.into_iter().collect::<BTreeMap<_, _>>())?;
        write(&pkg.join(MANIFEST), &manifest)?;
        Ok((shared, parts.split_modules))
    }

    /// Writes the JavaScript glue and the WASM that fits it.
    fn bind(&self, wasm: &Path, pkg: &Path) -> Result<()> {
        let name = self.name;
        Bindgen::new()
            .input_path(wasm)
            .out_name(name)
            .web(true)?
            .typescript(false)
            .omit_default_module_path(true)
            // The parts reach the shared module by the linker's names.
            .keep_lld_exports(!self.parts.is_empty())
            .demangle(self.parts.is_empty())
            .generate(pkg)
            .with_context(|| format!("wasm-bindgen failed on {}", wasm.display()))?;
        fs::rename(
            pkg.join(format!("{name}_bg.wasm")),
            pkg.join(format!("{name}.wasm")),
        )
        .context("wasm-bindgen wrote no module")?;
        Ok(())
    }

    /// Refuses a release that browsers would load too long.
    pub(super) fn within_budget(&self, pkg: &Path) -> Result<()> {
        let packed = |file: &Path| {
            let mut name = file.to_owned().into_os_string();
            name.push(".br");
            fs::metadata(&name).map_or(0, |facts| facts.len())
        };
        let within = |what: &str, bytes: u64, most: u64| {
            crate::sh::say(format!("{what}: {bytes} bytes packed, of {most}"));
            ensure!(
                bytes <= most,
                "{what} takes {bytes} bytes packed by brotli; at most {most} are allowed"
            );
            Ok(())
        };
        let name = format!("{}.wasm", self.name);
        let bytes = packed(&pkg.join(&name));
        within(&name, bytes, self.most)?;
        if self.parts.is_empty() {
            return Ok(());
        }
        let manifest = fs::read(pkg.join(MANIFEST)).context("cannot read the list of parts")?;
        let files: BTreeMap<String, Vec<String>> = serde_json::from_slice(&manifest)?;
        ensure!(
            files.keys().map(String::as_str).collect::<BTreeSet<_>>()
                == self.parts.iter().map(|(part, _)| *part).collect(),
            "{name} has the parts {:?}; each needs its limit in {}",
            files.keys(),
            file!()
        );
        for (part, most) in self.parts {
            let sizes = files.get(*part).into_iter().flatten();
            let size: u64 = sizes.map(|file| packed(&pkg.join(format!("{file}.wasm")))).sum();
            within(&format!("{name} with {part}"), bytes + size, *most)?;
        }
        Ok(())
    }
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
