//! Whole servers with small simulators: launching, ending, stopping, silence and restarts.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod restart;
mod sims;
mod traces;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cascade_api::{RunCreate, RunDetail, RunEntry, SimState, SimSummary, TraceState, TraceSummary};
use cascade_server::config::{Maybe, Secret, ServeArgs, Switch};
use cascade_server::runs::Service;
use cascade_server::serve::{Running, start};

/// Longest time that anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A data directory and what its server is started with.
struct Place {
    dir: tempfile::TempDir,
    sim_cmd: Option<String>,
    postprocess_cmd: Option<String>,
    timeout_s: f64,
    /// Port of the app; 0 takes a free one.
    port: u16,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            sim_cmd: None,
            postprocess_cmd: None,
            timeout_s: 30.0,
            port: 0,
        }
    }

    /// Sims run `sim.py` in this mode.
    fn with_sims(mode: &str) -> Self {
        let mut place = Self::new();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs/sim.py");
        let folder = place.notes();
        std::fs::create_dir_all(&folder).unwrap();
        place.sim_cmd = Some(format!(
            "python3 '{}' {mode} '{}'",
            script.display(),
            folder.display()
        ));
        place
    }

    /// Where simulators leave notes.
    fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn trace(&self, id: &str) -> PathBuf {
        self.dir.path().join("data/s3/cascade/accelsim-traces").join(id)
    }

    /// A trace that is ready as it lies there.
    fn put_ready_trace(&self) {
        put(&self.trace("t"), "traces/kernelslist.g", "kernel-1.traceg\n");
        let files = r#"{"trace_gpu_arch": "sm_86", "files": [{"key": "traces/kernelslist.g", "bytes": 16}]}"#;
        put(&self.trace("t"), "metadata.json", files);
    }

    async fn start(&self) -> Running {
        let args = ServeArgs {
            host: Some(Maybe(Some([127, 0, 0, 1].into()))),
            port: Some(Maybe(Some(self.port))),
            s3_port: Some(Maybe(Some(0))),
            token: Some(Maybe(Some(Secret::new("the-servers-own-token")))),
            data_dir: Some(Maybe(Some(self.dir.path().join("data")))),
            sim_cmd: Some(Maybe(self.sim_cmd.clone())),
            postprocess_cmd: Some(Maybe(self.postprocess_cmd.clone())),
            samples: Some(Maybe(Some(Switch::Off))),
            heartbeat_timeout_s: Some(Maybe(Some(self.timeout_s))),
            ..ServeArgs::default()
        };
        start(args.resolve().unwrap()).await.unwrap()
    }
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Asks again and again until there is an answer.
async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let answer = tokio::time::timeout(PATIENCE, asking).await;
    answer.unwrap_or_else(|_| panic!("it never happened: {what}"))
}

async fn trace_in(service: &Service, id: &str, state: TraceState) -> TraceSummary {
    until(&format!("trace {id} is {state}"), || async {
        let trace = service.db.trace_get(&id.into()).await.unwrap();
        trace.filter(|trace| trace.state == state)
    })
    .await
}

/// Starts a run of `count` sims on the ready trace.
async fn run(service: &Service, count: u32) -> RunDetail {
    trace_in(service, "t", TraceState::Ready).await;
    let entries = vec![RunEntry {
        gpu_config: "SM86_RTX3070".into(),
        count,
    }];
    let ask = RunCreate {
        trace_id: "t".into(),
        entries,
        replay: false,
    };
    service.run_create(ask).await.unwrap()
}

/// Waits until every sim of the run is in `state`.
async fn sims_in(service: &Service, run: &RunDetail, state: SimState) -> Vec<SimSummary> {
    until(&format!("all sims are {state}"), || async {
        let sims = service.run(&run.summary.id).await.unwrap().sims;
        sims.iter().all(|sim| sim.state == state).then_some(sims)
    })
    .await
}

/// The process that a sim's handle names.
fn pid(sim: &SimSummary) -> u32 {
    sim.launcher_ref.as_ref().unwrap().parse().unwrap()
}

/// Whether a process runs, other than as a zombie.
fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn signal(pid: u32, signal: &str) {
    let status = std::process::Command::new("kill")
        .args(["-s", signal, &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}
