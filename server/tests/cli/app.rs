//! A server of the binary's own, on free ports.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{Ran, cascade, ran};

const TOKEN: &str = "a-token-for-tests";

/// A running `cascade serve`; ended when it goes out of scope.
pub(crate) struct App {
    child: Child,
    sim_cmd: Option<String>,
    samples: bool,
    pub(crate) url: String,
    pub(crate) dir: tempfile::TempDir,
}

impl App {
    /// Starts the app; without `sim_cmd` it runs its own worker.
    pub(crate) fn start(sim_cmd: Option<&str>) -> Self {
        Self::start_with(sim_cmd, false)
    }

    /// Starts the app with the bundled samples; `CASCADE_SIM_CMD` is no simulator.
    pub(crate) fn with_samples() -> Self {
        Self::start_with(Some("false"), true)
    }

    fn start_with(sim_cmd: Option<&str>, samples: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sim_cmd = sim_cmd.map(str::to_owned);
        let (child, url) = serve(dir.path(), sim_cmd.as_deref(), samples, "0");
        Self {
            child,
            sim_cmd,
            samples,
            url,
            dir,
        }
    }

    /// Kills the app without warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts a killed app again, on its data and at its address.
    pub(crate) fn start_again(&mut self) {
        let port = self.url.rsplit(':').next().unwrap().to_owned();
        (self.child, _) = serve(self.dir.path(), self.sim_cmd.as_deref(), self.samples, &port);
    }

    /// Runs a command against this app.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = cascade(args);
        command.env("CASCADE_URL", &self.url).env("CASCADE_TOKEN", TOKEN);
        ran(command.output().unwrap())
    }

    /// Runs with `--json`; must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let ran = self.run(&[&["--json"], args].concat());
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Waits until a trace is ready.
    pub(crate) fn ready(&self, trace: &str) -> serde_json::Value {
        let started = Instant::now();
        loop {
            let info = self.run(&["--json", "trace", "info", trace]);
            let info: serde_json::Value = serde_json::from_str(&info.stdout).unwrap_or_default();
            match info["state"].as_str() {
                Some("ready") => return info,
                Some("failed") => panic!("{}", info["error"]),
                _ if started.elapsed() > Duration::from_secs(60) => panic!("{trace} is not ready: {info}"),
                _ => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // Killed rather than asked: nothing here depends on how it ends.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn serve(dir: &Path, sim_cmd: Option<&str>, samples: bool, port: &str) -> (Child, String) {
    let mut command = cascade(&["serve", "--host", "127.0.0.1", "--port", port, "--s3-port", "0"]);
    command
        .env("CASCADE_DATA_DIR", dir.join("data"))
        .env("CASCADE_TOKEN", TOKEN)
        .env("CASCADE_SAMPLES", samples.to_string());
    command
        .env("TMPDIR", dir)
        .env("CASCADE_ACCELSIM_DIR", dir.join("none"));
    if let Some(sim_cmd) = sim_cmd {
        command.env("CASCADE_SIM_CMD", sim_cmd);
    }
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(dir.join("app.log"))
        .unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    // All that it announces: the app must not write to a pipe that is closed.
    let mut url = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        url = url.or(line.strip_prefix("app: ").map(str::to_owned));
        if line.starts_with("data: ") {
            break;
        }
    }
    let url = url.unwrap();
    (child, url)
}
