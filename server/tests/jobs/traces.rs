//! Traces from their first file to `ready` or `failed`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cascade_api::{KernelLaunch, TraceState};
use cascade_server::runs::Service;
use tokio::runtime::Runtime;

use super::{Place, alive, put, trace_in, until};

/// A raw trace of one block with one warp of two instructions, as a tracer of version 3 writes it.
const RAW: &str = "-kernel name = _Z1kPf\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n\
    -nregs = 8\n-binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n\
    -local mem base_addr = 0x00007f0100000000\n-nvbit version = 1.5\n-accelsim tracer version = 3\n\n\
    #traces format = threadblock_x threadblock_y threadblock_z warpid_tb PC mask dest_num [reg_dests] opcode \
    src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\
    0 0 0 0 0000 ffffffff 1 R1 MOV 0 0 \n0 0 0 0 0010 ffffffff 0 EXIT 0 0 \n";
const STATS: &str = "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, \
    block_dimY, block_dimZ, #threads, total_insts, total_reported_insts\n\
    kernel-1.trace, _Z1kPf, 1, 1, 1, 1, 32, 1, 1, 32, 2,2\n";

fn put_raw(root: &Path, folder: &str) {
    put(root, &format!("{folder}kernel-1.trace"), RAW);
    put(
        root,
        &format!("{folder}kernelslist"),
        "MemcpyHtoD,0x00007f0000000000,4\nkernel-1.trace\n",
    );
    put(root, &format!("{folder}stats.csv"), STATS);
}

async fn error_of(service: &Service, id: &str) -> String {
    trace_in(service, id, TraceState::Failed).await.error.unwrap()
}

async fn kernels_of(service: &Service, id: &str) -> Vec<KernelLaunch> {
    service
        .db
        .trace_detail(&id.into())
        .await
        .unwrap()
        .unwrap()
        .kernels
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_that_could_not_be_stored_is_stored_later() {
    use sqlx::ConnectOptions;

    let place = Place::new();
    let running = place.start().await;
    let database = place.dir.path().join("data/cascade.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut other = options.connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    put(&place.trace("t"), "traces/kernel-1.trace", RAW);
    // The server finds the file within two seconds and waits five for the database.
    tokio::time::sleep(std::time::Duration::from_secs(8)).await;
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    trace_in(&running.service, "t", TraceState::Uploading).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_raw_upload_is_processed_and_its_later_files_are_noticed() {
    let place = Place::new();
    let root = place.trace("t");
    let running = place.start().await;
    let service = &running.service;
    put(&root, "traces/kernel-1.trace", RAW);
    let trace = trace_in(service, "t", TraceState::Uploading).await;
    let bytes = u64::try_from(RAW.len()).unwrap();
    assert_eq!(
        (trace.kernel_count, trace.bytes, trace.trace_gpu_arch.as_str()),
        (1, bytes, "sm_90")
    );
    until("it says what it waits for", || async {
        let trace = service.db.trace_get(&"t".into()).await.unwrap().unwrap();
        (trace.waiting_for.as_deref() == Some("metadata.json")).then_some(())
    })
    .await;
    put(
        &root,
        "metadata.json",
        r#"{"model": "facebook/opt-125m", "layers": ["a"], "gpu": "A100"}"#,
    );
    put_raw(&root, "traces/");
    let trace = trace_in(service, "t", TraceState::Ready).await;
    assert_eq!(trace.waiting_for, None);
    assert_eq!(
        (trace.kernel_count, trace.model.as_deref()),
        (1, Some("facebook/opt-125m"))
    );
    assert_eq!(
        trace.trace_gpu_arch, "sm_80",
        "from the kernels, since metadata.json is silent"
    );
    let kernels = kernels_of(service, "t").await;
    assert_eq!(
        (kernels[0].name.as_str(), kernels[0].instructions),
        ("_Z1kPf", Some(2))
    );
    assert!(root.join("traces/kernelslist.g").is_file() && root.join("traces/kernel-1.tracez").is_file());

    for file in ["corrected_timeline.json", "kernel_mapping.json"] {
        put(&root, file, "[]");
    }
    put(&root, "real_timing.json", r#"[{"kernel_id": 1, "ns": 1200}]"#);
    put(
        &root,
        "metadata.json",
        r#"{"model": "facebook/opt-350m", "trace_gpu_arch": "sm_86"}"#,
    );
    let trace = until("the later files count", || async {
        let trace = service.db.trace_get(&"t".into()).await.unwrap().unwrap();
        (trace.has_step_timeline && trace.has_real_timing).then_some(trace)
    })
    .await;
    assert_eq!(
        (trace.state, trace.model.as_deref()),
        (TraceState::Ready, Some("facebook/opt-350m"))
    );
    assert_eq!(trace.trace_gpu_arch, "sm_86");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_and_a_new_upload_is_judged_again() {
    let place = Place::with_sims("never-run");
    let running = place.start().await;
    let service = &running.service;
    let stand_in = r#"{"files": [{"key": "accelsim-traces/bad/traces/kernelslist.g", "bytes": 16}]}"#;
    put(&place.trace("bad"), "traces/kernelslist.g", "kernel-1.traceg\n");
    put(
        &place.trace("bad"),
        "metadata.json",
        "{\"status\": \"ok\",\n oops}",
    );
    put(&place.trace("lost"), "metadata.json", r#"{"status": "failed"}"#);
    assert_eq!(
        error_of(service, "bad").await,
        "metadata.json:2:2: not valid JSON: key must be a string; mend the file and upload it again"
    );
    assert_eq!(
        error_of(service, "lost").await,
        "profiler reported status 'failed' in metadata.json"
    );
    put(&place.trace("bad"), "metadata.json", stand_in);
    assert_eq!(trace_in(service, "bad", TraceState::Ready).await.error, None);

    std::fs::remove_dir_all(place.trace("bad")).unwrap();
    assert!(error_of(service, "bad").await.contains("files are gone"));
    put(&place.trace("bad"), "traces/kernelslist.g", "kernel-1.traceg\n");
    trace_in(service, "bad", TraceState::Uploading).await;
    put(&place.trace("bad"), "metadata.json", stand_in);
    trace_in(service, "bad", TraceState::Ready).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_was_cut_off_is_used_with_a_warning() {
    let place = Place::with_sims("never-run");
    let running = place.start().await;
    let root = place.trace("cut");
    let files = [
        ("traces/kernelslist.g", "kernel-1.traceg\nke"),
        ("traces/kernel-1.traceg", "-kernel name = k\n"),
        ("traces/kernel-2.traceg", ""),
        ("traces/kernel-3.traceg", ""),
    ];
    for (path, text) in files {
        put(&root, path, text);
    }
    let listed = files.map(|(path, text)| {
        format!(
            r#"{{"key": "accelsim-traces/cut/{path}", "bytes": {}}}"#,
            text.len()
        )
    });
    put(
        &root,
        "metadata.json",
        &format!(r#"{{"files": [{}]}}"#, listed.join(",")),
    );
    trace_in(&running.service, "cut", TraceState::Ready).await;
    let detail = running.service.trace(&"cut".into()).await.unwrap();
    let expected = [
        "traces/kernelslist.g:2: ignored: `ke` is no command",
        "traces/kernelslist.g leaves 2 of the kernels in traces/ out, such as kernel-2.traceg: they are not simulated",
        "traces/kernel-1.traceg:1: the header has no `-grid dim = …` line; trace the kernel again; a run fails there",
    ];
    assert_eq!(detail.warnings, expected);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_trace_under_the_same_name_takes_the_place_of_the_first() {
    let listed = |more: &str, files: &[(&str, &str)]| {
        let files = files
            .iter()
            .map(|(key, text)| format!(r#"{{"key": "{key}", "bytes": {}}}"#, text.len()));
        let files: Vec<String> = files.collect();
        format!(r#"{{{more}"files": [{}]}}"#, files.join(", "))
    };
    let header = RAW.replace("_Z1kPf", "old").replace("id = 1", "id = 7");
    let old = [
        ("traces/kernelslist.g", "kernel-7.traceg\n"),
        ("traces/kernel-7.traceg", header.as_str()),
    ];
    let place = Place::new();
    let root = place.trace("t");
    for (path, text) in old {
        put(&root, path, text);
    }
    put(&root, "metadata.json", &listed(r#""synthetic": true, "#, &old));
    let running = place.start().await;
    let service = &running.service;
    assert!(trace_in(service, "t", TraceState::Ready).await.synthetic);
    assert_eq!(kernels_of(service, "t").await[0].name, "old");

    put_raw(&root, "traces/");
    let list = std::fs::read_to_string(root.join("traces/kernelslist")).unwrap();
    let new = [
        ("traces/kernelslist", list.as_str()),
        ("traces/kernel-1.trace", RAW),
        ("traces/stats.csv", STATS),
    ];
    put(&root, "metadata.json", &listed("", &new));
    until("the new kernels are there", || async {
        let kernels = kernels_of(service, "t").await;
        (kernels.len() == 1 && kernels[0].name == "_Z1kPf").then_some(())
    })
    .await;
    let trace = trace_in(service, "t", TraceState::Ready).await;
    assert_eq!((trace.kernel_count, trace.synthetic), (1, false));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_beside_traces_are_used_where_they_lie() {
    let place = Place::new();
    put_raw(&place.trace("flat"), "");
    put(&place.trace("flat"), "metadata.json", "{}");
    let running = place.start().await;
    trace_in(&running.service, "flat", TraceState::Ready).await;
    assert!(
        place.trace("flat").join("kernel-1.trace").is_file(),
        "nothing was moved"
    );
    assert!(place.trace("flat").join("traces/kernelslist.g").is_file());
    assert_eq!(kernels_of(&running.service, "flat").await.len(), 1);
    running.stop().await;
}

/// A post-processor that does what `script` says with the traces' folder as `$1`.
fn post_processor(place: &mut Place, script: &str) -> PathBuf {
    let path = place.dir.path().join("post-process.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.postprocess_cmd = Some(format!("sh '{}'", path.display()));
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn an_external_post_processor_is_quoted_when_it_fails() {
    let mut place = Place::new();
    let script = post_processor(
        &mut place,
        "seq 10; echo \"$2 $3\"; echo CUDA out of luck >&2; exit 7",
    );
    put_raw(&place.trace("t"), "traces/");
    put(&place.trace("t"), "metadata.json", "{}");
    let running = place.start().await;
    let service = &running.service;
    let error = error_of(service, "t").await;
    let jobs = std::thread::available_parallelism().unwrap().get().div_ceil(2);
    assert_eq!(
        error,
        format!("post-processing exited 7: 8\n9\n10\n-j {jobs}\nCUDA out of luck")
    );
    assert!(
        place
            .dir
            .path()
            .join("data")
            .join("work/postprocess/t.log")
            .is_file()
    );

    std::fs::write(&script, "exit 0").unwrap();
    put(&place.trace("t"), "notes", "look again");
    until("it was run again", || async {
        let trace = service.db.trace_get(&"t".into()).await.unwrap().unwrap();
        (trace.error.as_deref() == Some("post-processing left no traces/kernelslist.g")).then_some(())
    })
    .await;
    std::fs::write(
        &script,
        "echo kernel-1.traceg > \"$1/kernelslist.g\"; cp \"$1/kernel-1.trace\" \"$1/kernel-1.traceg\"",
    )
    .unwrap();
    put(&place.trace("t"), "notes", "and again");
    trace_in(service, "t", TraceState::Ready).await;
    running.stop().await;
}

#[test]
fn a_restart_runs_an_interrupted_post_processor_again() {
    let mut place = Place::new();
    // It writes its list first, and then hangs: what a killed one leaves behind must not look ready.
    let pids = place.dir.path().join("pids");
    let hang = format!(
        "echo kernel-1.traceg > \"$1/kernelslist.g\"; echo $$ >> '{}'; exec sleep 3600",
        pids.display()
    );
    let script = post_processor(&mut place, &hang);
    put_raw(&place.trace("t"), "traces/");
    put(&place.trace("t"), "metadata.json", "{}");
    let runtime = Runtime::new().unwrap();
    let pid: u32 = runtime.block_on(async {
        let running = place.start().await;
        trace_in(&running.service, "t", TraceState::Processing).await;
        let text = until("it hangs", || async { std::fs::read_to_string(&pids).ok() }).await;
        text.trim().parse().unwrap()
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    assert!(alive(pid));
    std::fs::write(
        &script,
        "echo kernel-1.traceg > \"$1/kernelslist.g\"; cp \"$1/kernel-1.trace\" \"$1/kernel-1.traceg\"",
    )
    .unwrap();
    Runtime::new().unwrap().block_on(async {
        let running = place.start().await;
        trace_in(&running.service, "t", TraceState::Ready).await;
        assert!(place.trace("t").join("traces/kernel-1.traceg").is_file());
        assert!(!alive(pid), "the old one was stopped first");
        running.stop().await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_the_server_stops_its_post_processor() {
    let mut place = Place::new();
    let pids = place.dir.path().join("pids");
    post_processor(&mut place, &format!("echo $$ > '{}'; sleep 3600", pids.display()));
    put_raw(&place.trace("t"), "traces/");
    put(&place.trace("t"), "metadata.json", "{}");
    let running = place.start().await;
    let text = until("it runs", || async {
        std::fs::read_to_string(&pids)
            .ok()
            .filter(|text| text.ends_with('\n'))
    })
    .await;
    running.stop().await;
    assert!(!alive(text.trim().parse().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn real_traces_become_ready_with_the_counts_they_are_known_for() {
    let fallback = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let data = std::env::var_os("CASCADE_SHARED_DATA")
        .map_or_else(fallback, PathBuf::from)
        .join("traces");
    if !data.is_dir() {
        println!("skipped: no real traces at {}", data.display());
        return;
    }
    let place = Place::new();
    for name in [
        "raw-vecadd-v3",
        "vectoradd-a100-v5",
        "ffma-h100-v5",
        "bfs-a100-v3",
    ] {
        for file in std::fs::read_dir(data.join(name)).unwrap().map(Result::unwrap) {
            let to = place.trace(name).join("traces").join(file.file_name());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(file.path(), to).unwrap();
        }
        put(&place.trace(name), "metadata.json", "{}");
    }
    let list = std::fs::metadata(data.join("bfs-a100-v3/kernelslist.g")).unwrap();
    let listed = format!(
        r#"{{"files": [{{"key": "traces/kernelslist.g", "bytes": {}}}]}}"#,
        list.len()
    );
    put(&place.trace("bfs-a100-v3"), "metadata.json", &listed);
    let running = place.start().await;
    let service = &running.service;
    trace_in(service, "raw-vecadd-v3", TraceState::Ready).await;
    assert_eq!(
        kernels_of(service, "raw-vecadd-v3").await[0].instructions,
        Some(71_974)
    );
    let log = std::fs::read_to_string(
        place
            .dir
            .path()
            .join("data")
            .join("work/postprocess/raw-vecadd-v3.log"),
    );
    assert!(
        log.unwrap()
            .contains("71974 warp instructions in 98 thread blocks")
    );
    for (name, arch, grid) in [("vectoradd-a100-v5", "sm_80", 196), ("ffma-h100-v5", "sm_90", 1)] {
        let trace = trace_in(service, name, TraceState::Ready).await;
        let kernels = kernels_of(service, name).await;
        assert_eq!(
            (trace.trace_gpu_arch.as_str(), kernels[0].grid.0),
            (arch, grid),
            "{name}"
        );
        assert_eq!(kernels[0].instructions, None, "nobody counted them");
        let detail = service.trace(&name.into()).await.unwrap();
        assert_eq!(detail.warnings, Vec::<String>::new(), "{name} is as it should be");
    }
    let error = error_of(service, "bfs-a100-v3").await;
    assert!(
        error.contains("lists files that are not there: kernel-10.traceg, "),
        "{error}"
    );
    assert!(error.contains(" and 9 more"), "{error}");
    running.stop().await;
}
