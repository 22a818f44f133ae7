//! Proves that the pure crates stay pure: they compile for WebAssembly and pull in nothing that does IO.

use anyhow::{Result, bail};

use crate::sh::{cargo, output, run, say};

/// Crates without IO, clock, randomness or async of their own.
const PURE: &[&str] = &[
    "cascade-api",
    "cascade-accelsim",
    "cascade-engine",
    "cascade-steps",
    "cascade-scene",
    "cascade-samples",
    "cascade-serving",
    "cascade-scenario",
    "cascade-explorer",
    "cascade-serving-checks",
];

/// Crates that must not appear under a pure one.
const FORBIDDEN: &[&str] = &[
    "tokio",
    "axum",
    "sqlx",
    "leptos",
    "web-sys",
    "hyper",
    "reqwest",
    "rand",
    "getrandom",
];

/// Checks every pure crate.
pub(crate) fn purity() -> Result<()> {
    for name in PURE {
        let tree = output(&mut cargo(&[
            "tree", "-p", name, "-e", "normal", "--prefix", "none", "--format", "{p}",
        ]))?;
        for line in tree.lines() {
            let dependency = line.split(' ').next().unwrap_or_default();
            if FORBIDDEN.contains(&dependency) {
                bail!("{name} is a pure crate but depends on {dependency}: see ARCHITECTURE.md, invariant 1");
            }
        }
    }
    say("pure crates depend on nothing that does IO");
    let mut check = cargo(&[
        "check",
        "--quiet",
        "--target",
        "wasm32-unknown-unknown",
        "--no-default-features",
    ]);
    for name in PURE {
        check.args(["-p", name]);
    }
    run(&mut check)
}
