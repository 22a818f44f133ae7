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

/// Runs the main job once, on a synthetic trace and the embedded engine.
pub(crate) fn demo(args: &DemoArgs) -> Result<()> {
    let started = Instant::now();
    let (cascade, site) = build(false)?;
    say(format!("built in {:.0} s", started.elapsed().as_secs_f64()));
    let data = args.data_dir.clone().unwrap_or_else(|| target_dir().join("demo"));
    if data.exists() {
        std::fs::remove_dir_all(&data).with_context(|| format!("emptying {}", data.display()))?;
    }
    let trace = data.join("trace");
    let app = App::start(&cascade, &site, &data.join("app"), args.port, args.s3_port)?;
    let cli = |rest: &[&str]| app.cli(&cascade, rest);

    say("a small trace like one prefill and one decode step of OPT-125m, synthesised for sm_90");
    let mut synth = cli(&[
        "trace",
        "synth",
        "--model-like",
        "opt-125m",
        "--steps",
        "2",
        "--timeline",
        "--arch",
        "sm_90",
        "-o",
    ]);
    run(synth.arg(&trace))?;
    run(cli(&["upload"]).arg(&trace).args(["--run-name", "demo-opt-125m"]))?;
    wait_ready(&cli)?;
    let entries = ["--gpu", "SM90_H100:2", "--gpu", "SM90_H200:1"];
    let created = output(cli(&["runs", "create", "demo-opt-125m", "--json"]).args(entries))?;
    let created: serde_json::Value =
        serde_json::from_str(&created).context("reading what `runs create` printed")?;
    let id = created["id"]
        .as_str()
        .context("`runs create` printed no id")?
        .to_owned();
    let page = format!("{}/token?next=/runs/{id}#token={TOKEN}", app.url);
    say(format!("watch it live: {page}"));
    run(&mut cli(&["runs", "watch", &id]))?;
    run(&mut cli(&["runs", "kernels", &id]))?;
    say(format!(
        "the whole demo took {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    print_line(&format!("Open the run: {page}"));
    if args.once {
        return Ok(());
    }
    print_line("The app stays up; Ctrl+C stops it.");
    app.wait()
}

fn wait_ready(cli: &dyn Fn(&[&str]) -> Command) -> Result<()> {
    let deadline = Instant::now() + READY_LIMIT;
    loop {
        // The trace is unknown until the app has looked; that is no error worth showing.
        let shown = cli(&["trace", "info", "demo-opt-125m", "--json"]).output()?;
        let trace: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
        match trace["state"].as_str() {
            Some("ready") => return Ok(()),
            Some("failed") => bail!("the demo's trace failed: {}", trace["error"]),
            _ if Instant::now() > deadline => bail!("the demo's trace was not ready after {READY_LIMIT:?}"),
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
