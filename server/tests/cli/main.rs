//! The `cascade` binary from outside: its output, its exit codes, and a server it runs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod app;
mod logs;
mod main_job;
mod offline;
mod plan;
mod restart;
mod samples;
mod scenario;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The binary, with none of the caller's settings.
fn cascade(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cascade"));
    command.args(args).stdin(Stdio::null());
    for name in [
        "URL",
        "TOKEN",
        "ACCELSIM_DIR",
        "ENGINE",
        "S3_ENDPOINT",
        "S3_BUCKET",
        "S3_PREFIX",
        "SIM_CMD",
        "LOG",
        "COLD_L2",
        "DEDUP",
        "ENGINE_LEVEL",
        "ENGINE_SAMPLE",
        "ENGINE_SAMPLE_SMS",
        "VERIFY_DEDUP",
        "CACHE_DIR",
    ] {
        command.env_remove(format!("CASCADE_{name}"));
    }
    // No test finds what another, or an earlier build, has left.
    command.env("CASCADE_NO_CACHE", "true");
    command
}

/// What a command printed and how it ended.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(args: &[&str]) -> Ran {
    ran(cascade(args).output().unwrap())
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs with `--json`; must succeed.
fn json(args: &[&str]) -> serde_json::Value {
    let ran = run(&[&["--json"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder of the shared data; prints that the test is skipped where there is none.
fn shared(folder: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests find the shared data folder through the environment"
    )]
    let root = std::env::var("CASCADE_SHARED_DATA").ok().map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no folder {}; set CASCADE_SHARED_DATA", path.display());
    None
}
