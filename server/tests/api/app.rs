//! A server for one test, and what tests do with it.

use cascade_api::{KernelLaunch, TraceState};
use cascade_server::config::{ServeArgs, Settings};
use cascade_server::db::TraceUpdate;
use cascade_server::serve::{self, Running};
use clap::Parser;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "test-token";

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
}

/// A running server, its data directory and a client.
pub(crate) struct TestApp {
    pub(crate) running: Running,
    pub(crate) dir: TempDir,
    pub(crate) client: reqwest::Client,
}

fn settings(dir: &TempDir, flags: &[&str]) -> Settings {
    let (data, site) = (dir.path().join("data"), dir.path().join("site"));
    let (data, site) = (data.to_str().unwrap(), site.to_str().unwrap());
    // Most tests start from nothing.
    let samples = (!flags.contains(&"--samples")).then_some(["--samples", "false"]);
    let argv = [
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--s3-port",
        "0",
        "--data-dir",
        data,
    ]
    .into_iter()
    .chain(["--accelsim-dir", "no-checkout", "--site-dir", site])
    .chain(samples.into_iter().flatten())
    .chain(flags.iter().copied());
    Cli::parse_from(argv).serve.resolve().unwrap()
}

impl TestApp {
    /// A server with a token and nothing in it. Nothing launches sims: tests report for them.
    pub(crate) async fn start() -> Self {
        Self::with(&["--token", TOKEN]).await
    }

    /// A server with flags of its own.
    pub(crate) async fn with(flags: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::within(dir, flags).await
    }

    /// Where traces lie.
    pub(crate) fn traces_dir(&self) -> std::path::PathBuf {
        settings(&self.dir, &["--token", TOKEN]).traces_dir()
    }

    async fn within(dir: TempDir, flags: &[&str]) -> Self {
        let running = serve::start_listeners(settings(&dir, flags)).await.unwrap();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { running, dir, client }
    }

    /// Stops the server and starts another on the same data.
    pub(crate) async fn restart(self) -> Self {
        self.restart_with(&["--token", TOKEN]).await
    }

    /// The same with flags of its own.
    pub(crate) async fn restart_with(self, flags: &[&str]) -> Self {
        self.running.stop().await;
        Self::within(self.dir, flags).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.app)
    }

    /// A request without a token.
    pub(crate) fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    /// A request of the owner.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).bearer_auth(TOKEN)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(&body).send().await.unwrap()
    }

    /// A trace as ingest leaves it.
    pub(crate) async fn trace(&self, id: &str, state: TraceState, metadata: Value) {
        let db = &self.running.service.db;
        let update = TraceUpdate {
            id: id.into(),
            metadata: metadata.as_object().cloned(),
            binary_arch: None,
            kernel_count: 2,
            bytes: 1_000,
            has_real_timing: metadata.get("real_timing").is_some(),
            has_step_timeline: false,
        };
        db.trace_upsert(&update).await.unwrap();
        let kernel = KernelLaunch {
            kernel_id: 1,
            name: "_Z4copyPf".into(),
            grid: (4, 2, 1),
            block: (128, 1, 1),
            instructions: Some(640),
        };
        db.trace_kernels_replace(&id.into(), &[kernel], &[])
            .await
            .unwrap();
        let error = (state == TraceState::Failed).then_some("profiler reported status 'failed'");
        db.trace_state_set(&id.into(), state, error).await.unwrap();
    }

    /// A ready sm_90 trace `demo`.
    pub(crate) async fn ready(&self) {
        self.trace(
            "demo",
            TraceState::Ready,
            json!({"trace_gpu_arch": "sm_90", "gpu": "NVIDIA H100"}),
        )
        .await;
    }

    /// A run of `demo`; answers its id and its sims' ids.
    pub(crate) async fn run(&self, entries: &[(&str, u32)]) -> (String, Vec<String>) {
        let entries: Vec<Value> = entries
            .iter()
            .map(|(gpu, count)| json!({"gpu_config": gpu, "count": count}))
            .collect();
        let answer = self
            .post("/api/runs", json!({"trace_id": "demo", "entries": entries}))
            .await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        let run: Value = answer.json().await.unwrap();
        let sims = run["sims"].as_array().unwrap().iter();
        (text(&run["id"]), sims.map(|sim| text(&sim["id"])).collect())
    }

    /// A run of one sim that was launched and says that it runs.
    pub(crate) async fn running_sim(&self) -> (String, String) {
        self.ready().await;
        let (run, mut sims) = self.run(&[("SM90_H100", 1)]).await;
        let sim = sims.pop().unwrap();
        self.launch(&sim).await;
        self.heartbeat(&sim, "running").await;
        (run, sim)
    }

    pub(crate) async fn launch(&self, sim: &str) {
        let service = &self.running.service;
        assert!(service.sim_launching(&sim.into()).await.unwrap());
        assert!(service.sim_launched(&sim.into(), "4711".into()).await.unwrap());
    }

    pub(crate) async fn heartbeat(&self, sim: &str, state: &str) -> Value {
        let answer = self
            .post(
                &format!("/api/sims/{sim}/heartbeat"),
                json!({"state": state, "exit_code": 0}),
            )
            .await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.json().await.unwrap()
    }

    pub(crate) async fn log(&self, sim: &str, seq: u64, lines: &[String]) {
        let answer = self
            .post(
                &format!("/api/sims/{sim}/logs"),
                json!({"seq": seq, "lines": lines}),
            )
            .await;
        assert_eq!(
            answer.status(),
            StatusCode::NO_CONTENT,
            "{}",
            answer.text().await.unwrap()
        );
    }

    pub(crate) async fn sim(&self, run: &str) -> Value {
        self.get(&format!("/api/runs/{run}")).await["sims"][0].clone()
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The lines of one kernel's statistics, as Accel-Sim prints them.
pub(crate) fn kernel(uid: u64) -> Vec<String> {
    let cycles = 1_000 * uid;
    [
        format!("launching kernel name: _Z4copyPf uid: {uid}"),
        format!("Destroy streams for kernel {uid}: size 0"),
        "kernel_name = _Z4copyPf ".into(),
        format!("kernel_launch_uid = {uid} "),
        format!("gpu_sim_cycle = {cycles}"),
        "gpu_sim_insn = 640".into(),
        "gpu_ipc =     0.6400".into(),
        format!("gpu_tot_sim_cycle = {}", 500 * uid * (uid + 1)),
        format!("gpu_tot_sim_insn = {}", 640 * uid),
        "gpu_tot_ipc =     0.5000".into(),
        "gpgpu_simulation_rate = 10516 (inst/sec)".into(),
        "gpgpu_silicon_slowdown = 1253510x".into(),
    ]
    .into()
}

/// A body with ids and times replaced, so that it can be compared.
pub(crate) fn stable(mut value: Value) -> Value {
    fn go(value: &mut Value, seen: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let time = text.len() >= 20 && text.ends_with('Z') && text.get(10..11) == Some("T");
                if time {
                    *text = "[time]".into();
                } else if let Some((kind, _)) = text.split_once('-').filter(|(kind, hex)| {
                    (*kind == "run" || *kind == "sim")
                        && hex.len() == 12
                        && hex.bytes().all(|b| b.is_ascii_hexdigit())
                }) {
                    let known = seen.iter().position(|id| id == text);
                    let number = known.unwrap_or(seen.len());
                    if known.is_none() {
                        seen.push(text.clone());
                    }
                    *text = format!("[{kind} {number}]");
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| go(item, seen)),
            Value::Object(fields) => fields.values_mut().for_each(|field| go(field, seen)),
            _ => {}
        }
    }
    go(&mut value, &mut Vec::new());
    value
}
