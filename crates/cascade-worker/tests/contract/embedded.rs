//! Cascade's own engine behind the contract.

use cascade_api::{Engine, ReportedState};
use cascade_worker::{EngineChoice, Outcome, run};

use super::Bench;
use super::app::{App, Call, Fault};

/// Two warps that each add and leave.
fn kernel(name: &str) -> String {
    format!(
        "-kernel name = {name}\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n\
         -binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n\
         -nvbit version = 1.5\n-accelsim tracer version = 5\n#traces format = PC mask dest_num [reg_dests] opcode \
         src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n#BEGIN_TB\n\n\
         thread block = 0,0,0\n\nwarp = 0\ninsts = 2\n0000 ffffffff 1 R1 IADD3 2 R2 R3 0 1\n\
         0010 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n"
    )
}

fn bench(kernels: &[&str]) -> Bench {
    let bench = Bench::new();
    let mut list = String::new();
    for (i, text) in kernels.iter().enumerate() {
        bench.write(&format!("trace/traces/kernel-{i}.traceg"), text);
        list += &format!("kernel-{i}.traceg\n");
    }
    bench.write("trace/traces/kernelslist.g", list);
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_simulated_and_says_by_whom() {
    let bench = bench(&[&kernel("first"), &kernel("second")]);
    let app = App::start(|_| Fault::None).await;
    let job = bench.job(EngineChoice::Auto);
    assert_eq!(job.engine(), Engine::Cascade, "there is no Accel-Sim here");
    assert_eq!(run(job, app.client()).await.unwrap(), Outcome::Succeeded);
    assert_eq!(app.file_names(), ["kernel-stats.csv", "accelsim.log.gz"]);
    let lines = app.lines();
    let mut parser = cascade_accelsim::log::Parser::new();
    for line in &lines {
        parser.push_line(line.as_bytes(), &mut |_| {});
    }
    let log = parser.finish(&mut |_| {});
    assert_eq!(
        (log.kernels_finished, log.totals.gpu_tot_sim_insn),
        (2, Some(128.0))
    );
    let kept = app.kept.lock().unwrap();
    assert!(matches!(&kept.calls[0], Call::Beat(beat) if beat.engine == Some(Engine::Cascade)));
    let table = String::from_utf8(kept.files["kernel-stats.csv"].to_vec()).unwrap();
    let columns: Vec<_> = table.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [31, 31, 31], "{table}");
    let origins: Vec<_> = table
        .lines()
        .skip(1)
        .map(|line| line.rsplitn(3, ',').collect::<Vec<_>>()[..2].join(" "))
        .collect();
    assert_eq!(
        origins,
        ["false exact", "false dedup:1"],
        "both kernels do the same: {table}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_cannot_be_read_fails_the_sim_and_keeps_the_others() {
    let bad = kernel("second").replace("0010 ffffffff", "0010 what");
    let bench = bench(&[&kernel("first"), &bad]);
    let app = App::start(|_| Fault::None).await;
    let Outcome::Failed { exit_code, error } =
        run(bench.job(EngineChoice::Cascade), app.client()).await.unwrap()
    else {
        panic!("the second kernel is damaged");
    };
    assert_eq!(exit_code, Some(1));
    assert!(error.contains("kernel-1.traceg:22:"), "{error}");
    assert!(
        app.lines()
            .iter()
            .any(|line| line.starts_with("kernel_name = first"))
    );
    assert_eq!(app.last_beat().state, ReportedState::Failed);
    assert_eq!(app.file_names(), ["kernel-stats.csv", "accelsim.log.gz"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_gpu_is_a_setup_error() {
    let bench = bench(&[&kernel("first")]);
    let app = App::start(|_| Fault::None).await;
    let mut job = bench.job(EngineChoice::Cascade);
    job.gpu = "SM80_NOTHING".to_owned();
    let Outcome::Failed { exit_code, error } = run(job, app.client()).await.unwrap() else {
        panic!()
    };
    assert_eq!(exit_code, Some(2));
    assert!(
        error.contains("SM80_NOTHING") && error.contains("SM80_A100"),
        "{error}"
    );
}
