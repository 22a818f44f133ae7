//! `test`: every test there is, and one line that counts them.

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::sh::{cargo, cmd, print_line, root, run, say, target_dir, tee};
use crate::{demo, serving_wasm, tools};

/// Options of `cargo xtask test`.
#[derive(Debug, Args, Default)]
pub(crate) struct TestArgs {
    /// Only the Rust tests: no browser, no Python clients.
    #[arg(long)]
    rust_only: bool,
}

/// What one suite counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// Runs every suite, then fails if one failed.
pub(crate) fn test(args: &TestArgs) -> Result<()> {
    let started = Instant::now();
    let mut total = Counts::default();
    let mut broken = Vec::new();
    let mut suite = |name: &str, command: &mut std::process::Command| -> Result<()> {
        let begun = Instant::now();
        let (ok, text) = tee(command)?;
        let counts = count(&text);
        say(format!(
            "{name}: {} passed, {} failed, {} skipped in {:.0} s",
            counts.passed,
            counts.failed,
            counts.skipped,
            begun.elapsed().as_secs_f64()
        ));
        total.passed += counts.passed;
        total.failed += counts.failed;
        total.skipped += counts.skipped;
        if !ok || counts.failed > 0 || counts.passed == 0 {
            broken.push(name.to_owned());
        }
        Ok(())
    };

    // The pages as they are shipped, so that their sizes and speeds are what users get.
    let site = demo::build_site(true)?;
    // Building the tests also builds the binary and the examples that the other suites use, with one set of
    // features: a separate `cargo build` would compile every dependency a second time.
    let tests = [
        "test",
        "--workspace",
        "--exclude",
        "frontend",
        "--features",
        "cascade-accelsim/fs",
    ];
    run(cargo(&tests).arg("--no-run"))?;
    let debug = target_dir().join("debug");
    let (cascade, s3) = (debug.join("cascade"), debug.join("examples/serve"));
    suite("rust", cargo(&tests).arg("--no-fail-fast"))?;
    if !args.rust_only {
        let python = tools::python()?;
        let scripts = root().join("end2end");
        let mut clients = cmd(
            &python,
            &["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"],
        );
        clients
            .arg(scripts.join("clients"))
            .env("CASCADE_BIN", &cascade)
            .env("CASCADE_SITE_DIR", &site)
            .env("CASCADE_S3_SERVE", s3);
        suite("clients", &mut clients)?;
        let native = debug.join("examples/serving_digest");
        suite("WASM", &mut serving_wasm::digest(native)?)?;
        tools::chromium()?;
        tools::npm("end2end")?;
        run(cmd("npx", &["tsc", "--project", "."]).current_dir(&scripts))?;
        let mut browser = cmd("npx", &["playwright", "test"]);
        browser
            .current_dir(&scripts)
            .env("CASCADE_BIN", &cascade)
            .env("CASCADE_SITE_DIR", &site);
        suite("browser", &mut browser)?;
    }
    say(format!(
        "all suites took {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    if !broken.is_empty() {
        print_line(&format!(
            "{} passed, {} failed, {} skipped",
            total.passed,
            total.failed.max(1),
            total.skipped
        ));
        bail!("failed: {}", broken.join(", "));
    }
    print_line(&format!(
        "{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    ));
    Ok(())
}

/// Adds up the closing lines of cargo's test runner, Playwright and our own scripts.
fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines().map(|line| line.trim_matches([' ', '=', '\t'])) {
        let cargo_line = line.starts_with("test result:");
        let words: Vec<&str> = line
            .trim_start_matches("test result:")
            .split([' ', ';', ',', '.'])
            .collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let counts_line = cargo_line || words.first().is_some_and(|word| word.parse::<u64>().is_ok());
        if !counts_line {
            continue;
        }
        for pair in words.windows(2) {
            let (Some(Ok(number)), Some(what)) = (pair.first().map(|w| w.parse::<u64>()), pair.get(1)) else {
                continue;
            };
            match *what {
                "passed" => counts.passed += number,
                "failed" => counts.failed += number,
                "ignored" | "skipped" => counts.skipped += number,
                _ => {}
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn every_runner_is_understood() {
        let text = "test result: ok. 10 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.04s\n\
                    7 passed, 0 failed, 1 skipped\n  12 passed (3.4s)\n  1 failed\nrunning 3 tests\n";
        let counts = count(text);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (29, 2, 3));
    }
}
