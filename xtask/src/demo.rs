//! `demo` and `serve`: the app, built and running.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::sh::{cargo, cmd, output, print_line, root, run, say, target_dir};
use crate::{site, tools};

/// Options of `cargo xtask demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Leave when the run has finished instead of keeping the app up.
    #[arg(long)]
    once: bool,
    /// Port of the app; 0 takes a free one.
    #[arg(long, default_value_t = 8000)]
    port: u16,
    /// Port of the S3 endpoint; 0 takes a free one.
    #[arg(long, default_value_t = 9000)]
    s3_port: u16,
    /// Where the demo keeps its data; emptied first.
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

/// Options of `cargo xtask serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Build with optimisation.
    #[arg(long)]
    release: bool,
    /// Passed on to `cascade serve`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Options of `cargo xtask site`.
#[derive(Debug, Args)]
pub(crate) struct SiteArgs {
    /// Small and fast files, packed, and held to their budgets.
    #[arg(long)]
    release: bool,
}

/// The demo's token: the app listens on this machine only.
pub(crate) const TOKEN: &str = "demo-token";
/// How long the app may take to start.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long the demo's trace may take from upload to ready.
const READY_LIMIT: Duration = Duration::from_secs(120);

/// Builds the site and the `cascade` binary; returns the binary and the site's folder.
pub(crate) fn build(release: bool) -> Result<(PathBuf, PathBuf)> {
    let site = build_site(release)?;
    Ok((build_server(release)?, site))
}

/// Builds the site with what that needs; returns its folder.
pub(crate) fn build_site(release: bool) -> Result<PathBuf> {
    tools::wasm_target()?;
    if release {
        tools::npm(".")?;
    }
    site::build_site(&site::SiteOptions {
        root: root(),
        release,
    })
}

/// Builds the site alone.
pub(crate) fn site(args: &SiteArgs) -> Result<()> {
    let folder = build_site(args.release)?;
    say(format!("the site is in {}", folder.display()));
    Ok(())
}

/// Builds the `cascade` binary alone.
pub(crate) fn build_server(release: bool) -> Result<PathBuf> {
    let mut args = vec!["build", "-p", "server"];
    if release {
        args.push("--release");
    }
    run(&mut cargo(&args))?;
    let profile = if release { "release" } else { "debug" };
    Ok(target_dir().join(profile).join("cascade"))
}

/// Builds and starts the app.
pub(crate) fn serve(args: &ServeArgs) -> Result<()> {
    let (cascade, site) = build(args.release)?;
    let status = cmd(&cascade, &["serve"])
        .args(&args.rest)
        .env("CASCADE_SITE_DIR", site)
        .status()?;
    if !status.success() {
        bail!("cascade serve ended with {status}");
    }
    Ok(())
}

/// A trace of the demo.
struct DemoTrace {
    /// What it is called in the app.
    name: &'static str,
    /// What it is like, for people.
    says: &'static str,
    /// What `cascade trace synth` makes it of.
    synth: &'static [&'static str],
    /// The GPUs to simulate it on.
    gpus: [&'static str; 2],
}

/// Small kernels, which a faster memory hardly helps, with steps and requests.
const STEPS: DemoTrace = DemoTrace {
    name: "demo-opt-125m",
    says: "a small trace like one prefill and one decode step of OPT-125m, synthesised for sm_90",
    synth: &["--model-like", "opt-125m", "--steps", "2", "--timeline"],
    gpus: ["SM90_H100:2", "SM90_H200:1"],
};
/// A kernel that waits for memory most of its time beside two that do not, so that the GPUs differ.
const LONG_CONTEXT: DemoTrace = DemoTrace {
    name: "demo-long-context",
    says: "kernels like those of a decode step of 32 sequences with 1,024 tokens of context each",
    synth: &[
        "--kind",
        "layer-norm:rows=32,hidden=4096",
        "--kind",
        "gemm:m=64,n=4096,k=1024",
        "--kind",
        "decode:sequences=32,heads=32,context=1024",
    ],
    gpus: ["SM90_H100:1", "SM90_H200:1"],
};

/// Runs the main job twice, on synthetic traces and the embedded engine.
pub(crate) fn demo(args: &DemoArgs) -> Result<()> {
    let started = Instant::now();
    let (cascade, site) = build(false)?;
    say(format!("built in {:.0} s", started.elapsed().as_secs_f64()));
    let data = args.data_dir.clone().unwrap_or_else(|| target_dir().join("demo"));
    if data.exists() {
        std::fs::remove_dir_all(&data).with_context(|| format!("emptying {}", data.display()))?;
    }
    let app = App::start(&cascade, &site, &data.join("app"), args.port, args.s3_port)?;
    let cli = |rest: &[&str]| app.cli(&cascade, rest);
    let page = |path: &str| format!("{}/token?next={path}#token={TOKEN}", app.url);

    let run = run_demo(&STEPS, &data, &cli, &|run| page(&format!("/runs/{run}")))?;
    let long = run_demo(&LONG_CONTEXT, &data, &cli, &|run| page(&format!("/runs/{run}")))?;
    say(format!(
        "the whole demo took {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    let run = page(&format!("/runs/{run}"));
    let compared = page(&format!("/compare%3Fruns%3D{long}"));
    print_line(&format!("Open the first run: {run}"));
    print_line(&format!("Where a faster memory pays: {compared}"));
    if args.once {
        return Ok(());
    }
    print_line("The app stays up; Ctrl+C stops it.");
    app.wait()
}

/// Makes a trace in `data`, uploads it and simulates it; the run's id. `page` is where a run can be watched.
fn run_demo(
    trace: &DemoTrace,
    data: &Path,
    cli: &dyn Fn(&[&str]) -> Command,
    page: &dyn Fn(&str) -> String,
) -> Result<String> {
    say(trace.says);
    let folder = data.join(trace.name);
    let synth = [&["trace", "synth", "--arch", "sm_90"], trace.synth, &["-o"]].concat();
    run(cli(&synth).arg(&folder))?;
    run(cli(&["upload"]).arg(&folder).args(["--run-name", trace.name]))?;
    wait_ready(trace.name, cli)?;
    let gpus = trace.gpus.iter().flat_map(|gpu| ["--gpu", gpu]);
    let created = output(cli(&["runs", "create", trace.name, "--json"]).args(gpus))?;
    let created: serde_json::Value =
        serde_json::from_str(&created).context("reading what `runs create` printed")?;
    let id = created["id"].as_str().context("`runs create` printed no id")?;
    say(format!("watch it live: {}", page(id)));
    run(&mut cli(&["runs", "watch", id]))?;
    run(&mut cli(&["runs", "kernels", id]))?;
    Ok(id.to_owned())
}

fn wait_ready(name: &str, cli: &dyn Fn(&[&str]) -> Command) -> Result<()> {
    let deadline = Instant::now() + READY_LIMIT;
    loop {
        // The trace is unknown until the app has looked; that is no error worth showing.
        let shown = cli(&["trace", "info", name, "--json"]).output()?;
        let trace: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
        match trace["state"].as_str() {
            Some("ready") => return Ok(()),
            Some("failed") => bail!("the demo's trace {name} failed: {}", trace["error"]),
            _ if Instant::now() > deadline => {
                bail!("the demo's trace {name} was not ready after {READY_LIMIT:?}")
            }
            _ => std::thread::sleep(Duration::from_millis(300)),
        }
    }
}

/// A running app that ends with this value.
pub(crate) struct App {
    child: Child,
    /// Where it answers.
    pub(crate) url: String,
    /// Where its S3 endpoint answers.
    pub(crate) s3_url: String,
}

impl App {
    /// Starts `cascade serve` and waits until it says where it listens.
    pub(crate) fn start(cascade: &Path, site: &Path, data: &Path, port: u16, s3_port: u16) -> Result<Self> {
        Self::start_with(cascade, site, data, port, s3_port, &[])
    }

    /// The same with further settings.
    pub(crate) fn start_with(
        cascade: &Path,
        site: &Path,
        data: &Path,
        port: u16,
        s3_port: u16,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        std::fs::create_dir_all(data)?;
        let mut command = Command::new(cascade);
        command
            .args([
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--s3-port",
                &s3_port.to_string(),
            ])
            .env("CASCADE_TOKEN", TOKEN)
            .env("CASCADE_DATA_DIR", data)
            .env("CASCADE_SITE_DIR", site)
            .env("CASCADE_LOG", "warn")
            .envs(settings.iter().copied())
            .current_dir(root())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .with_context(|| format!("could not start {}", cascade.display()))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let (send, lines) = sync_channel::<String>(64);
        // The reader goes on after the start so that the app never blocks on a full pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Err(std::sync::mpsc::TrySendError::Full(line)) = send.try_send(line) {
                    print_line(&line);
                }
            }
        });
        let deadline = Instant::now() + START_LIMIT;
        let (mut url, mut s3_url) = (None, None);
        while url.is_none() || s3_url.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = lines.recv_timeout(left) else {
                // It may have ended already; the error below says all there is to say.
                drop(child.kill());
                bail!("`cascade serve` did not start: see its messages above (is a port taken?)");
            };
            if let Some(address) = line.strip_prefix("app: ") {
                url = Some(address.trim().to_owned());
            } else if let Some(address) = line.strip_prefix("s3: ") {
                s3_url = address.split_whitespace().next().map(str::to_owned);
            }
        }
        Ok(Self {
            child,
            url: url.unwrap_or_default(),
            s3_url: s3_url.unwrap_or_default(),
        })
    }

    /// A `cascade` command that talks to this app.
    pub(crate) fn cli(&self, cascade: &Path, args: &[&str]) -> Command {
        let mut command = cmd(cascade, args);
        command
            .env("CASCADE_URL", &self.url)
            .env("CASCADE_S3_ENDPOINT", &self.s3_url)
            .env("CASCADE_TOKEN", TOKEN);
        command
    }

    fn wait(mut self) -> Result<()> {
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // SIGTERM lets it close its streams and stop its sims; `kill` is for an app that does not listen.
        let pid = self.child.id().to_string();
        drop(Command::new("kill").args(["-TERM", &pid]).status());
        let deadline = Instant::now() + Duration::from_secs(8);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
