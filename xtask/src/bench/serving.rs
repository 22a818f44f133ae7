//! How fast the request layer simulates, whole process and in a browser, and how fast `inference-lab` does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::serving_wasm;
use crate::sh::{cargo, output, print_line, run, target_dir};

/// The version of `inference-lab` to compare with.
const PEER: &str = "1.0.0";
/// Times that each load is run; the median counts.
const RUNS: usize = 5;

/// Options of the request layer's part.
#[derive(Debug, Args)]
pub(crate) struct ServingArgs {
    /// Folder with `AzureLLMInferenceTrace_conv.csv`: also replay it (load AZ).
    #[arg(long)]
    workloads: Option<PathBuf>,
    /// Also install and time `inference-lab` 1.0.0, with the settings in this folder: `llama.toml` and a file
    /// per load, `w1.toml`, `w2.toml`, `w1_100k.toml` and `az.toml`.
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
}

/// Name, requests, and the peer's file.
const LOADS: [(&str, u32, &str); 4] = [
    ("W1", 1000, "w1.toml"),
    ("W2", 1000, "w2.toml"),
    ("W1x100", 100_000, "w1_100k.toml"),
    ("AZ", 19_366, "az.toml"),
];

/// Times every load and prints a table.
pub(crate) fn bench(args: &ServingArgs) -> Result<()> {
    run(&mut cargo(&[
        "build",
        "--release",
        "--quiet",
        "-p",
        "cascade-serving-checks",
        "--example",
        "serving_speed",
    ]))?;
    let ours = target_dir().join("release/examples/serving_speed");
    let peer = args.peers.as_deref().map(Peer::install).transpose()?;
    print_line("load     requests    Cascade ms    requests/s    inference-lab ms    ratio");
    for (name, requests, file) in LOADS {
        if name == "AZ" && args.workloads.is_none() {
            continue;
        }
        let folder = args.workloads.as_deref().unwrap_or(Path::new("."));
        let mut own = Command::new(&ours);
        own.arg(folder).arg(name);
        let mut commands = vec![own];
        commands.extend(peer.as_ref().map(|peer| peer.command(file)));
        let seconds = medians(&mut commands)?;
        let ours = seconds.first().copied().unwrap_or(f64::NAN);
        let mut line = format!(
            "{name:<8} {requests:>8} {:>13.2} {:>13.0}",
            ours * 1e3,
            f64::from(requests) / ours
        );
        if let Some(theirs) = seconds.get(1) {
            line += &format!(" {:>19.2} {:>8.1}", theirs * 1e3, theirs / ours);
        }
        print_line(&line);
    }
    in_javascript()
}

/// Times W1 and W2 of the WASM module in Node and in Chromium.
fn in_javascript() -> Result<()> {
    let printed = output(&mut serving_wasm::command("speed")?)?;
    let places: BTreeMap<String, BTreeMap<String, f64>> =
        serde_json::from_str(printed.trim()).context("the timings of the WASM module")?;
    print_line("WASM             load    Cascade ms    requests/s");
    for (place, loads) in places {
        for (load, ms) in loads {
            print_line(&format!("{place:<16} {load:<4} {ms:>13.2} {:>13.0}", 1e6 / ms));
        }
    }
    Ok(())
}

struct Peer<'a> {
    program: PathBuf,
    configs: &'a Path,
}

impl<'a> Peer<'a> {
    fn install(configs: &'a Path) -> Result<Self> {
        let root = target_dir().join("peers");
        let mut install = cargo(&["install", "inference-lab", "--version", PEER, "--locked"]);
        run(install.arg("--root").arg(&root))?;
        Ok(Self {
            program: root.join("bin/inference-lab"),
            configs,
        })
    }

    fn command(&self, file: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["--hardware", "h100", "-q", "--no-color", "-c"])
            .arg(self.configs.join("llama.toml"))
            .arg("-w")
            .arg(self.configs.join(file));
        command
    }
}

/// Median time of each whole process, in seconds. They take turns, so that a busy machine is busy for all.
fn medians(commands: &mut [Command]) -> Result<Vec<f64>> {
    let mut seconds = vec![Vec::new(); commands.len()];
    for _ in 0..RUNS {
        for (command, seconds) in commands.iter_mut().zip(&mut seconds) {
            command.stdout(Stdio::null());
            let started = Instant::now();
            let status = command.status().context("could not start a program to time")?;
            seconds.push(started.elapsed().as_secs_f64());
            ensure!(status.success(), "{:?} failed: {status}", command.get_program());
        }
    }
    for seconds in &mut seconds {
        seconds.sort_by(f64::total_cmp);
    }
    seconds
        .iter()
        .map(|seconds| seconds.get(RUNS / 2).copied().context("no run"))
        .collect()
}
