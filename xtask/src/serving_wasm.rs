//! The request layer as a bare WASM module, for the browsers that check and time it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::sh::{cargo, cmd, output, root, run, target_dir};
use crate::tools;

const TARGET: &str = "wasm32-unknown-unknown";

/// The program that runs the module in Node and in Chromium; `mode` is `digest` or `speed`.
pub(crate) fn command(mode: &str) -> Result<Command> {
    tools::chromium()?;
    tools::npm("end2end")?;
    let module = build()?;
    let mut command = cmd("node", &["serving_wasm.mjs", mode]);
    command.current_dir(root().join("end2end")).arg(module);
    Ok(command)
}

/// Compares the digest of both with that of `native`, a program that prints its own.
pub(crate) fn digest(native: PathBuf) -> Result<Command> {
    let mut command = command("digest")?;
    command.arg(output(&mut Command::new(native))?.trim());
    Ok(command)
}

/// Builds the module for speed and returns its file.
fn build() -> Result<PathBuf> {
    tools::wasm_target()?;
    run(&mut cargo(&[
        "build",
        "--release",
        "--quiet",
        "--package",
        "cascade-serving-checks",
        "--lib",
        "--target",
        TARGET,
    ]))?;
    Ok(target_dir()
        .join(TARGET)
        .join("release/cascade_serving_checks.wasm"))
}
