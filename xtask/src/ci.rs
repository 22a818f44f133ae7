//! `ci`: everything the build machine checks, cheapest first.

use std::time::Instant;

use anyhow::Result;

use crate::sh::{cargo, cmd, root, run, say};
use crate::{purity, test, tidy, tools};

/// The version of cargo-deny that is installed where the machine has none.
const CARGO_DENY: &str = "0.20.2";

/// Runs every check.
pub(crate) fn ci() -> Result<()> {
    let started = Instant::now();
    tools::wasm_target()?;
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    tidy::tidy()?;
    run(cargo(&["metadata", "--locked", "--format-version", "1"]).stdout(std::process::Stdio::null()))?;
    lint()?;
    purity::purity()?;
    let deny = tools::cargo_tool("cargo-deny", CARGO_DENY)?;
    // Advisories need a database that is fetched from the network; licences, bans and sources do not.
    run(&mut cmd(
        deny,
        &["--log-level", "error", "check", "licenses", "bans", "sources"],
    ))?;
    test::test(&test::TestArgs::default())?;
    say(format!(
        "everything passed in {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// Clippy for the server's side and for the browser's; never both in one call, since `app` may only have one
/// of its features on.
fn lint() -> Result<()> {
    let native = ["clippy", "--workspace", "--exclude", "frontend", "--all-targets"];
    run(cargo(&native).args(["--features", "cascade-accelsim/fs", "--", "-D", "warnings"]))?;
    let wasm = [
        "clippy",
        "-p",
        "frontend",
        "-p",
        "app",
        "--target",
        "wasm32-unknown-unknown",
    ];
    run(cargo(&wasm)
        .args([
            "--features",
            "app/hydrate",
            "--profile",
            "wasm-dev",
            "--",
            "-D",
            "warnings",
        ])
        .env("CLIPPY_CONF_DIR", root().join("xtask/clippy-wasm")))
}
