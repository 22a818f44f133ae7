//! The worker against a stand-in for the app: nothing is lost, doubled or out of order, whatever fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod app;
mod child;
mod embedded;
mod timing;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::{App, Call, Fault};
use cascade_api::{Engine, ReportedState};
use cascade_worker::{EngineChoice, Job, Outcome, Replay, run};

/// A log of `kernels` kernels in Accel-Sim's words.
fn log(kernels: usize) -> String {
    let mut text = String::from("        *** Accel-Sim Simulator Version 1.2.0 [build 1] ***\n");
    for uid in 1..=kernels {
        text += &format!("launching kernel name: k{uid} uid: {uid}\n");
        text += &format!("kernel_name = k{uid} \nkernel_launch_uid = {uid} \n");
        text += "gpu_sim_cycle = 100\ngpu_sim_insn = 320\ngpu_ipc = 3.2\n";
        text += &format!("gpu_tot_sim_cycle = {}\n", uid * 100);
        for i in 0..150 {
            text += &format!("some_counter[{i}] = {uid}\n");
        }
        text += "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 1 sec (1 sec)\n";
    }
    text + "GPGPU-Sim: *** exit detected ***\n"
}

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn job(&self, engine: EngineChoice) -> Job {
        Job {
            sim: "sim-6b4c91e71437".into(),
            gpu: "SM80_A100".to_owned(),
            trace_dir: self.dir.path().join("trace"),
            accelsim_dir: Some(self.dir.path().join("accel-sim")),
            gpus_dir: None,
            engine,
            scratch: self.dir.path().join("scratch"),
            threads: 2,
            options: cascade_engine::Options::default(),
            dedup: cascade_worker::simulate::Dedup::Content,
            verify_dedup: 0,
            cache_dir: None,
            propagate: None,
            silence: None,
        }
    }

    fn replay(&self, log: &Path, outputs: Option<PathBuf>) -> Job {
        self.job(EngineChoice::Replay(Replay {
            log: log.to_owned(),
            delay: Duration::ZERO,
            outputs,
        }))
    }
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes)
        .read_to_end(&mut text)
        .unwrap();
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_log_arrives_whole_and_in_order() {
    let bench = Bench::new();
    let text = log(20);
    let path = bench.write("recorded.log", &text);
    bench.write("outputs/kernel-stats.csv", "a,b\n");
    bench.write("outputs/exit-status.txt", "0\n");
    bench.write("outputs/run.log", "not output");
    bench.write("outputs/setup.log", "not output");
    let app = App::start(|_| Fault::None).await;
    let job = bench.replay(&path, Some(bench.dir.path().join("outputs")));
    assert_eq!(run(job, app.client()).await.unwrap(), Outcome::Succeeded);

    assert_eq!(app.lines(), text.lines().collect::<Vec<_>>());
    assert_eq!(
        app.file_names(),
        ["exit-status.txt", "kernel-stats.csv", "accelsim.log.gz"]
    );
    let last = app.last_beat();
    assert_eq!(
        (last.state, last.exit_code, last.error),
        (ReportedState::Succeeded, Some(0), None)
    );
    let kept = app.kept.lock().unwrap();
    assert!(matches!(&kept.calls[0], Call::Beat(beat) if beat.engine == Some(Engine::Replay)));
    assert!(kept.chunks.values().all(|lines| lines.len() <= 200));
    assert_eq!(
        kept.chunks.keys().copied().collect::<Vec<_>>(),
        (0..kept.chunks.len() as u64).collect::<Vec<_>>()
    );
    assert_eq!(gunzip(&kept.files["accelsim.log.gz"]), text.as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_lose_and_double_nothing() {
    let bench = Bench::new();
    let text = log(12);
    let path = bench.write("recorded.log", &text);
    bench.write("outputs/a.csv", "a");
    let app = App::start(|n| match n % 4 {
        1 => Fault::Refuse,
        2 if n % 8 == 2 => Fault::Drop,
        2 => Fault::LateError,
        _ => Fault::None,
    })
    .await;
    let job = bench.replay(&path, Some(bench.dir.path().join("outputs")));
    assert_eq!(run(job, app.client()).await.unwrap(), Outcome::Succeeded);
    assert_eq!(app.lines(), text.lines().collect::<Vec<_>>());
    assert_eq!(app.last_beat().state, ReportedState::Succeeded);
    let kept = app.kept.lock().unwrap();
    let last_chunk = kept.calls.iter().rposition(|call| matches!(call, Call::Chunk(_)));
    let first_file = kept.calls.iter().position(|call| matches!(call, Call::File(_)));
    assert!(last_chunk < first_file, "the whole log comes before the files");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_bytes_and_long_lines_arrive() {
    let bench = Bench::new();
    let mut bytes = log(1).into_bytes();
    bytes.extend_from_slice(b"before \xff\xfe after \x00 end\n");
    bytes.extend(std::iter::repeat_n(b'y', 3 << 20));
    let path = bench.write("recorded.log", &bytes);
    let app = App::start(|_| Fault::None).await;
    run(bench.replay(&path, None), app.client()).await.unwrap();
    let lines = app.lines();
    assert!(lines.contains(&"before \u{fffd}\u{fffd} after \0 end".to_owned()));
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("yyy"))
            .map(String::len)
            .sum::<usize>(),
        3 << 20
    );
    assert_eq!(gunzip(&app.kept.lock().unwrap().files["accelsim.log.gz"]), bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sim_that_is_cancelled_at_once_does_nothing() {
    let bench = Bench::new();
    let path = bench.write("recorded.log", log(1));
    let app = App::start(|_| Fault::None).await;
    app.kept.lock().unwrap().cancel_at = Some(0);
    assert_eq!(
        run(bench.replay(&path, None), app.client()).await.unwrap(),
        Outcome::Cancelled
    );
    assert_eq!(app.kept.lock().unwrap().calls.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sim_that_is_cancelled_while_it_uploads_stops_uploading() {
    let bench = Bench::new();
    let path = bench.write("recorded.log", log(1));
    bench.write("outputs/a.csv", "a");
    let app = App::start(|_| Fault::None).await;
    {
        let mut kept = app.kept.lock().unwrap();
        kept.cancel_at = Some(1);
        kept.mute_files = true;
    }
    let job = bench.replay(&path, Some(bench.dir.path().join("outputs")));
    let ran = tokio::time::timeout(Duration::from_secs(20), run(job, app.client())).await;
    assert_eq!(ran.unwrap().unwrap(), Outcome::Cancelled);
    assert_eq!(app.file_names(), ["a.csv"], "neither again nor the next");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_recording_fails_in_plain_words() {
    let bench = Bench::new();
    let path = bench.write("cut.log", log(3).split_once("kernel_name = k3").unwrap().0);
    let app = App::start(|_| Fault::None).await;
    let Outcome::Failed { error, .. } = run(bench.replay(&path, None), app.client()).await.unwrap() else {
        panic!("a log that is cut off is no success");
    };
    assert!(error.contains("2 of 3 kernels"), "{error}");
    assert_eq!(app.last_beat().error, Some(error));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_log_is_named() {
    let bench = Bench::new();
    let app = App::start(|_| Fault::None).await;
    let job = bench.replay(&bench.dir.path().join("nowhere.log"), None);
    let Outcome::Failed { exit_code, error } = run(job, app.client()).await.unwrap() else {
        panic!()
    };
    assert_eq!(exit_code, Some(2));
    assert!(error.contains("nowhere.log"), "{error}");
}
