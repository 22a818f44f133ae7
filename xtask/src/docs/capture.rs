//! Records `docs/examples.json`: starts an app, uploads a synthetic trace, simulates it, and runs every command that
//! pages show, as it stands there, in a shell.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::examples::{Example, FILE};
use crate::demo::{App, TOKEN};
use crate::sh::{print_line, root, say, target_dir};
use crate::{demo, site};

mod commands;
mod cut;

use commands::Line;

/// How long the trace may take to be ready, and the run to finish.
const PATIENCE: Duration = Duration::from_secs(120);
/// Addresses in the documents: those of an app that was started without a word about ports.
const URLS: [&str; 2] = ["http://127.0.0.1:8000", "http://127.0.0.1:9000"];

/// Records everything and writes it down.
pub(super) fn capture(cascade: Option<&Path>) -> Result<()> {
    let cascade = match cascade {
        Some(cascade) => std::path::absolute(cascade)?,
        None => demo::build_server(false)?,
    };
    let folder = target_dir().join("docs-capture");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder)?;
    // A second app whose simulator never reports: its sim takes what the pages say to it.
    let mut examples = Session::start(&cascade, &folder.join("a"), None)?.record(commands::MAIN)?;
    examples
        .extend(Session::start(&cascade, &folder.join("b"), Some("sleep 600"))?.record(commands::SIMULATOR)?);
    examples.sort_by_key(|example| commands::order(&example.id));
    let values: Vec<Value> = examples.iter().map(Example::value).collect();
    let text = serde_json::to_string_pretty(&values)? + "\n";
    site::write(&root().join(FILE), text.as_bytes())?;
    say(format!("{} examples in {FILE}", examples.len()));
    Ok(())
}

/// A running app, and what commands may refer to.
struct Session {
    app: App,
    folder: PathBuf,
    path: String,
    /// Shell variables that the documents set before: ids of the run and of a sim.
    ids: Vec<(&'static str, String)>,
}

impl Session {
    fn start(cascade: &Path, folder: &Path, sim_cmd: Option<&str>) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let site = target_dir().join("site");
        let settings: Vec<(&str, &str)> = sim_cmd
            .map(|command| ("CASCADE_SIM_CMD", command))
            .into_iter()
            .collect();
        let app = App::start_with(cascade, &site, &folder.join("data"), 0, 0, &settings)?;
        let home = cascade
            .parent()
            .map(|home| home.display().to_string())
            .unwrap_or_default();
        let path = format!(
            "{home}:{}",
            std::env::var_os("PATH").unwrap_or_default().to_string_lossy()
        );
        let mut session = Self {
            app,
            folder: folder.to_owned(),
            path,
            ids: Vec::new(),
        };
        session.prepare(sim_cmd.is_none())?;
        Ok(session)
    }

    /// A trace that is ready and a run on it; a finished one where there is a simulator.
    fn prepare(&mut self, finish: bool) -> Result<()> {
        self.shell(
            "cascade trace synth --model-like opt-125m --steps 2 --timeline --arch sm_90 -o ./demo-trace",
        )?;
        self.shell("cascade upload ./demo-trace --run-name demo")?;
        self.wait("cascade trace info demo --json", |trace| {
            trace["state"] == "ready"
        })?;
        let run = self.json("cascade runs create demo --gpu SM90_H100:2 --gpu SM90_H200 --json")?;
        let id = run["id"].as_str().context("the run has no id")?.to_owned();
        let show = format!("cascade runs show {id} --json");
        let wanted = if finish { "succeeded" } else { "active" };
        let run = self.wait(&show, |run| {
            run["state"] == wanted && run["sims"][0]["state"] != "pending"
        })?;
        let sim = run["sims"][0]["id"]
            .as_str()
            .context("the run has no sim")?
            .to_owned();
        self.ids = vec![("RUN", id), ("SIM", sim)];
        Ok(())
    }

    fn record(&self, lines: &[Line]) -> Result<Vec<Example>> {
        let mut examples = Vec::new();
        for line in lines {
            let output = self.shell(line.command)?;
            print_line(&format!("  {}", line.id));
            ensure!(
                line.empty || !output.trim().is_empty(),
                "`{}` answered nothing",
                line.command
            );
            let (lang, output) = cut::short(&self.neutral(&output));
            examples.push(Example {
                id: line.id.into(),
                operation: line.operation.into(),
                title: line.title.into(),
                command: line.command.into(),
                lang: lang.into(),
                output,
            });
        }
        Ok(examples)
    }

    /// The text with this app's addresses and folders as a reader would have them.
    fn neutral(&self, text: &str) -> String {
        let folder = self.folder.display().to_string();
        let text = text
            .replace(&self.app.url, URLS[0])
            .replace(&self.app.s3_url, URLS[1]);
        text.replace(&format!("{folder}/data"), "/srv/cascade")
            .replace(&folder, ".")
    }

    /// What a command prints. A command of an example may fail on purpose, when it shows an error.
    fn shell(&self, command: &str) -> Result<String> {
        let out = Command::new("bash")
            .args(["-o", "pipefail", "-c", command])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("CASCADE_URL", &self.app.url)
            .env("CASCADE_S3_ENDPOINT", &self.app.s3_url)
            .env("CASCADE_TOKEN", TOKEN)
            .env("CASCADE_CACHE_DIR", self.folder.join("cache"))
            .envs(self.ids.iter().map(|(name, id)| (*name, id.as_str())))
            .output()
            .context("cannot start bash")?;
        let code = out.status.code().unwrap_or(-1);
        // curl's words: 22 for an answer of 400 or more, 28 for the end of its patience with a stream, 23 for a
        // `head` behind it that had enough.
        if !matches!(code, 0 | 22 | 23 | 28) {
            bail!(
                "`{command}` ended with {code}: {}",
                String::from_utf8_lossy(&out.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn json(&self, command: &str) -> Result<Value> {
        let text = self.shell(command)?;
        serde_json::from_str(&text).with_context(|| format!("`{command}` printed no JSON"))
    }

    /// Asks until the answer is as it should be.
    fn wait(&self, command: &str, done: impl Fn(&Value) -> bool) -> Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Until the app has looked at it for the first time, a trace is unknown.
            if let Ok(value) = self.json(command)
                && done(&value)
            {
                return Ok(value);
            }
            ensure!(Instant::now() < deadline, "`{command}` did not come to its end");
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}
