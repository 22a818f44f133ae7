//! Accel-Sim's place taken by shell scripts.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use cascade_api::{Engine, ReportedState};
use cascade_worker::{EngineChoice, Outcome, run};

use super::app::{App, Call, Fault};
use super::{Bench, gunzip, log};

const BINARY: &str = "accel-sim/gpu-simulator/bin/release/accel-sim.out";
const SIM_CONFIG: &str = "accel-sim/gpu-simulator/gpgpu-sim/configs/tested-cfgs/SM80_A100/gpgpusim.config";
const TRACE_CONFIG: &str = "accel-sim/gpu-simulator/configs/tested-cfgs/SM80_A100/trace.config";
const LIST: &str = "trace/traces/kernelslist.g";

/// A checkout of Accel-Sim whose binary is `script`, and a trace of `kernels` kernels.
fn bench(script: &str, kernels: usize) -> Bench {
    let bench = Bench::new();
    let binary = bench.write(BINARY, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write(SIM_CONFIG, "-gpgpu_n_clusters 1\n");
    bench.write(TRACE_CONFIG, "-trace_opcode_latency_initiation_int 2,2\n");
    bench.write(
        "accel-sim/gpu-simulator/gpgpu-sim/configs/tested-cfgs/SM80_A100/config_islip.icnt",
        "topology = fly;\n",
    );
    bench.write(
        LIST,
        (1..=kernels)
            .map(|i| format!("kernel-{i}.traceg\n"))
            .collect::<String>(),
    );
    bench.write("recorded.log", log(kernels));
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn accel_sim_runs_in_a_fresh_directory_and_its_files_come_along() {
    let bench = bench(
        r#"
        echo "args $*"
        echo "error stream" >&2
        test -z "$CASCADE_TOKEN" || echo "the token leaked"
        ls
        cat "$(dirname "$0")/../../../../recorded.log"
        echo 1,2 > kernel-stats.csv
        echo changed >> gpgpusim.config
        head -c 2000000 /dev/zero | tr '\0' 'x' > gpgpu_inst_stats.txt
        head -c 1500000 /dev/zero > binary.bin
        echo bad > "bad name.txt"
        head -c 70000000 /dev/zero > huge.bin
        ln -s kernel-stats.csv link.csv
        mkdir sub && echo x > sub/file.txt
        "#,
        2,
    );
    let app = App::start(|_| Fault::None).await;
    let job = bench.job(EngineChoice::Auto);
    assert_eq!(job.engine(), Engine::AccelSim);
    let list = job.list();
    assert_eq!(run(job, app.client()).await.unwrap(), Outcome::Succeeded);

    let lines = app.lines();
    let args = format!(
        "args -trace {} -config ./gpgpusim.config -config ./trace.config",
        list.display()
    );
    assert_eq!(&lines[..2], [args.as_str(), "error stream"]);
    assert_eq!(
        &lines[2..6],
        [
            "accelsim.log",
            "config_islip.icnt",
            "gpgpusim.config",
            "trace.config"
        ]
    );
    let notes: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("cascade worker: "))
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("bad name.txt") && notes[0].contains("128 letters"));
    assert!(notes[1].contains("huge.bin") && notes[1].contains("64 MiB"));
    assert_eq!(
        app.file_names(),
        [
            "binary.bin",
            "gpgpu_inst_stats.txt.gz",
            "gpgpusim.config",
            "kernel-stats.csv",
            "accelsim.log.gz"
        ]
    );
    let kept = app.kept.lock().unwrap();
    assert_eq!(gunzip(&kept.files["gpgpu_inst_stats.txt.gz"]).len(), 2_000_000);
    assert_eq!(kept.files["binary.bin"].len(), 1_500_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_code_0_alone_is_no_success() {
    let bench = bench(
        "echo 'Accel-Sim [build accelsim-commit-1]'; echo 'unsupported binary version: 90'; exit 0",
        2,
    );
    let app = App::start(|_| Fault::None).await;
    let Outcome::Failed { exit_code, error } = run(bench.job(EngineChoice::AccelSim), app.client())
        .await
        .unwrap()
    else {
        panic!("no kernel finished");
    };
    assert_eq!(exit_code, Some(0));
    assert!(
        error.contains("binary version") || error.contains("opcode map"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_complete_results_is_a_success_with_a_remark() {
    let bench = bench(
        r#"
        cat "$(dirname "$0")/../../../../recorded.log"
        echo 'accel-sim.out: stream_manager.cc:1: void f(): Assertion `0 == 1` failed.'
        kill -ABRT $$
        "#,
        2,
    );
    let app = App::start(|_| Fault::None).await;
    assert_eq!(
        run(bench.job(EngineChoice::AccelSim), app.client())
            .await
            .unwrap(),
        Outcome::Succeeded
    );
    assert_eq!(app.last_beat().exit_code, Some(134));
    assert!(
        app.lines()
            .last()
            .unwrap()
            .starts_with("cascade worker: All 2 kernels finished")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_named_with_exit_code_2() {
    for missing in [BINARY, SIM_CONFIG, TRACE_CONFIG, LIST] {
        let bench = bench("true", 1);
        std::fs::remove_file(bench.dir.path().join(missing)).unwrap();
        let app = App::start(|_| Fault::None).await;
        let Outcome::Failed { exit_code, error } = run(bench.job(EngineChoice::AccelSim), app.client())
            .await
            .unwrap()
        else {
            panic!("{missing} was missing");
        };
        assert_eq!(exit_code, Some(2));
        assert!(error.contains(missing), "{error}");
        assert!(app.file_names().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_whole_process_group_and_uploads_nothing() {
    // The child of the script would go on for a minute; both ignore nothing but the second needs SIGKILL.
    let bench = bench(
        "echo started; (trap '' TERM; sleep 60; echo late > \"$0.late\") & echo $! > child.pid; sleep 60",
        1,
    );
    let app = App::start(|_| Fault::None).await;
    app.kept.lock().unwrap().cancel_at = Some(1);
    let job = bench.job(EngineChoice::AccelSim);
    let pid_file = job
        .scratch
        .join("cascade-worker")
        .join(job.sim.as_str())
        .join("child.pid");
    let started = Instant::now();
    assert_eq!(run(job, app.client()).await.unwrap(), Outcome::Cancelled);
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(app.lines(), ["started"]);
    let pid = std::fs::read_to_string(pid_file).unwrap();
    // A killed process is seen until the kernel has torn it down, which on a busy machine takes a while; one
    // that was not killed would sleep for a minute.
    let gone_by = Instant::now() + Duration::from_secs(10);
    loop {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            break;
        }
        assert!(Instant::now() < gone_by, "still there: {state}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let kept = app.kept.lock().unwrap();
    assert!(kept.calls.iter().all(|call| !matches!(call, Call::File(_))));
    assert!(
        kept.calls
            .iter()
            .all(|call| !matches!(call, Call::Beat(beat) if beat.state != ReportedState::Running))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_can_end_a_simulator() {
    let bench = bench("echo started; sleep 60", 1);
    let app = App::start(|_| Fault::None).await;
    let mut job = bench.job(EngineChoice::AccelSim);
    job.silence = Some(Duration::from_secs(1));
    let Outcome::Failed { error, .. } = run(job, app.client()).await.unwrap() else {
        panic!()
    };
    assert!(error.contains("printed nothing for 1 s"), "{error}");
}
