//! Installs what the other commands need and the machine lacks.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::sh::{cmd, has, output, root, run, say, target_dir};

/// The toolchain's own parts: the wasm target.
pub(crate) fn wasm_target() -> Result<()> {
    let installed = output(cmd("rustup", &["target", "list", "--installed"]).stderr(Stdio::null()))?;
    if !installed
        .lines()
        .any(|line| line.trim() == "wasm32-unknown-unknown")
    {
        run(&mut cmd("rustup", &["target", "add", "wasm32-unknown-unknown"]))?;
    }
    Ok(())
}

/// Debian packages, installed with `apt-get` when one of the `programs` is missing.
pub(crate) fn debian(programs: &[&str], packages: &[&str]) -> Result<()> {
    if programs.iter().all(|program| has(program)) {
        return Ok(());
    }
    if !has("apt-get") {
        bail!(
            "{} is missing: install {}",
            programs.join(" or "),
            packages.join(", ")
        );
    }
    let sudo = !is_root()? && has("sudo");
    let apt = |args: &[&str]| {
        let mut command = if sudo {
            Command::new("sudo")
        } else {
            Command::new("apt-get")
        };
        if sudo {
            command.arg("apt-get");
        }
        command
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null());
        command
    };
    run(&mut apt(&["update", "-qq"]))?;
    let mut args = vec!["install", "-y", "-qq", "--no-install-recommends"];
    args.extend_from_slice(packages);
    run(&mut apt(&args))
}

fn is_root() -> Result<bool> {
    Ok(output(&mut cmd("id", &["-u"]))?.trim() == "0")
}

/// npm packages of a folder, installed when its lock file is newer than what is there.
pub(crate) fn npm(folder: &str) -> Result<()> {
    debian(&["npm"], &["nodejs", "npm"])?;
    let folder = root().join(folder);
    let lock = folder.join("package-lock.json");
    let stamp = folder.join("node_modules/.package-lock.json");
    let newer = |a: &PathBuf, b: &PathBuf| -> Option<bool> {
        Some(a.metadata().ok()?.modified().ok()? > b.metadata().ok()?.modified().ok()?)
    };
    if !stamp.is_file() || newer(&lock, &stamp).unwrap_or(true) {
        run(cmd("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&folder))?;
    }
    Ok(())
}

/// A Python environment with the packages of `end2end/requirements.txt`; returns its interpreter.
pub(crate) fn python() -> Result<PathBuf> {
    let venv = target_dir().join("venv");
    let wanted = root().join("end2end/requirements.txt");
    let stamp = venv.join("requirements.txt");
    let text = std::fs::read_to_string(&wanted).with_context(|| format!("reading {}", wanted.display()))?;
    let python = venv.join("bin/python");
    if std::fs::read_to_string(&stamp).is_ok_and(|have| have == text) && python.is_file() {
        return Ok(python);
    }
    say("installing the S3 and HTTP clients that the tests use");
    let made = cmd("python3", &["-m", "venv"]).arg(&venv).status();
    if !made.is_ok_and(|status| status.success()) {
        debian(&["/nonexistent"], &["python3", "python3-venv"])?;
        run(cmd("python3", &["-m", "venv"]).arg(&venv))?;
    }
    run(cmd(
        &python,
        &["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"],
    )
    .arg(&wanted))?;
    std::fs::write(&stamp, text)?;
    Ok(python)
}

/// Debian's Chromium, for the browser tests.
pub(crate) fn chromium() -> Result<()> {
    debian(&["chromium"], &["chromium", "fonts-dejavu-core"])
}

/// A program from crates.io, installed under the target folder unless the machine has it.
pub(crate) fn cargo_tool(program: &str, version: &str) -> Result<PathBuf> {
    let tools = target_dir().join("tools");
    let path = tools.join("bin").join(program);
    if has(program) {
        return Ok(program.into());
    }
    if !path.is_file() {
        let spec = format!("{program}@{version}");
        run(crate::sh::cargo(&["install", "--locked", "--quiet", "--root"])
            .arg(&tools)
            .arg(&spec)
            .env("CARGO_TARGET_DIR", target_dir().join("tools-build")))?;
    }
    Ok(path)
}
