//! A server of the binary's own, on free ports.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{Ran, cascade, ran};

const TOKEN: &str = "a-token-for-tests";

/// A running `cascade serve`; ended when it goes out of scope.
pub(crate) struct App {
    child: Child,
    pub(crate) url: String,
    pub(crate) dir: tempfile::TempDir,
}

impl App {
    /// Starts the app; without `sim_cmd` it runs its own worker.
    pub(crate) fn start(sim_cmd: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = cascade(&["serve", "--host", "127.0.0.1", "--port", "0", "--s3-port", "0"]);
        command
            .env("CASCADE_DATA_DIR", dir.path().join("data"))
            .env("CASCADE_TOKEN", TOKEN);
        command
            .env("TMPDIR", dir.path())
            .env("CASCADE_ACCELSIM_DIR", dir.path().join("none"));
        if let Some(sim_cmd) = sim_cmd {
            command.env("CASCADE_SIM_CMD", sim_cmd);
        }
        let log = std::fs::File::create(dir.path().join("app.log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines
            .find_map(|line| Some(line.unwrap().strip_prefix("app: ")?.to_owned()))
            .unwrap();
        Self { child, url, dir }
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
