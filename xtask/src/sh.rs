//! Running other programs, loudly.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    // As cargo says it now: a target folder that several clones share may hold a binary built in another.
    let here = std::env::var_os("CARGO_MANIFEST_DIR");
    let here = here.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}

/// Cargo's output folder: `CARGO_TARGET_DIR` or `target`.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A command that starts at the repository's root.
pub(crate) fn cmd(program: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// `cargo` with arguments; the same cargo that runs this.
pub(crate) fn cargo(args: &[&str]) -> Command {
    cmd(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args)
}

/// Prints a line about what happens now.
#[expect(clippy::print_stderr, reason = "xtask talks to the person who runs it")]
pub(crate) fn say(text: impl AsRef<str>) {
    eprintln!("\x1b[1m» {}\x1b[0m", text.as_ref());
}

/// Runs a command to its end and fails when it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    say(&shown);
    let started = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("could not start {shown}"))?;
    if !status.success() {
        bail!("{shown} failed: {status}");
    }
    let seconds = started.elapsed().as_secs_f64();
    if seconds > 5.0 {
        say(format!("… {seconds:.0} s"));
    }
    Ok(())
}

/// Runs a command and returns what it printed on standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let out = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start {shown}"))?;
    if !out.status.success() {
        bail!(
            "{shown} failed: {}\n{}",
            out.status,
            String::from_utf8_lossy(&out.stdout)
        );
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Runs a command, shows its standard output as it comes and returns it too.
pub(crate) fn tee(command: &mut Command) -> Result<(bool, String)> {
    use std::io::{BufRead, BufReader};
    let shown = show(command);
    say(&shown);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {shown}"))?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            print_line(&line);
            text.push_str(&line);
            text.push('\n');
        }
    }
    Ok((child.wait()?.success(), text))
}

/// Prints a line of another program's output.
#[expect(clippy::print_stdout, reason = "xtask passes on what its programs print")]
pub(crate) fn print_line(line: &str) {
    println!("{line}");
}

/// Whether a program can be found.
pub(crate) fn has(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}
