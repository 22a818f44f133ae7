//! Order, failures and stopping of the look-ahead, on tiny traces.

mod reuse;
mod sound;
mod warm;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use cascade_engine::Options;

use super::{GpuDirs, Kernels, Reuse, SimulateError, Step, find_gpu, simulate};

/// A trace of one warp with `n` instructions.
fn kernel(name: &str, arch: u32, n: usize) -> String {
    let mut text = format!(
        "-kernel name = {name}\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n\
         -binary version = {arch}\n-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n\
         -nvbit version = 1.5\n-accelsim tracer version = 5\n#traces format = PC mask dest_num [reg_dests] opcode \
         src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n\
         warp = 0\ninsts = {}\n",
        n + 1
    );
    for i in 0..n {
        writeln!(text, "{:04x} ffffffff 1 R1 IADD3 2 R2 R3 0 1", i * 16).unwrap();
    }
    writeln!(text, "{:04x} ffffffff 0 EXIT 0 0 0", n * 16).unwrap();
    text + "\n#END_TB\n"
}

fn trace(dir: &Path, kernels: &[String]) -> Kernels {
    let mut list = String::from("MemcpyHtoD,0x00007f0000000000,1024\n");
    for (i, text) in kernels.iter().enumerate() {
        writeln!(list, "kernel-{}.traceg", i + 1).unwrap();
        std::fs::write(dir.join(format!("kernel-{}.traceg", i + 1)), text).unwrap();
    }
    std::fs::write(dir.join("kernelslist.g"), list).unwrap();
    Kernels::from_list(&dir.join("kernelslist.g")).unwrap()
}

fn steps(kernels: &Kernels, threads: usize) -> (Vec<String>, Result<(), SimulateError>) {
    let gpu = find_gpu("SM80_A100", &GpuDirs::default()).unwrap().model;
    let mut seen = Vec::new();
    let result = simulate(
        kernels,
        &gpu,
        &Options::default(),
        Reuse::default(),
        threads,
        &|| false,
        &mut |step| {
            seen.push(match step {
                Step::Memcpy { bytes, .. } => format!("copy {bytes}"),
                Step::Started { header, uid, .. } => format!("start {uid} {}", header.name),
                Step::Finished { uid, estimate, .. } => {
                    format!("end {uid} {} {}", estimate.name, estimate.warp_insts)
                }
                Step::Checked(_) | Step::Note(_) => panic!("neither was asked for"),
            });
            Ok(())
        },
    );
    (seen, result)
}

#[test]
fn kernels_are_reported_in_list_order_whatever_the_threads() {
    let dir = tempfile::tempdir().unwrap();
    // The first kernels take longest, so later ones are done before them.
    let texts: Vec<_> = (0..20)
        .map(|i| kernel(&format!("k{i}"), 80, (20 - i) * 500))
        .collect();
    let kernels = trace(dir.path(), &texts);
    let (one, result) = steps(&kernels, 1);
    result.unwrap();
    assert_eq!(one.len(), 41);
    assert_eq!(
        &one[..4],
        ["copy 1024", "start 1 k0", "end 1 k0 10001", "start 2 k1"]
    );
    for threads in [2, 7, 64] {
        assert_eq!(steps(&kernels, threads).0, one);
    }
}

#[test]
fn kernels_before_a_bad_one_are_kept_and_the_place_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut bad = kernel("bad", 80, 10);
    bad = bad.replace("0030 ffffffff 1 R1 IADD3", "0030 zzzz 1 R1 IADD3");
    let texts = [kernel("a", 80, 3), kernel("b", 80, 3), bad, kernel("c", 80, 3)];
    let kernels = trace(dir.path(), &texts);
    let (seen, result) = steps(&kernels, 3);
    assert_eq!(seen.iter().filter(|step| step.starts_with("end")).count(), 2);
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("kernel-3.traceg:") && !error.contains(":0:"),
        "{error}"
    );

    std::fs::remove_file(dir.path().join("kernel-2.traceg")).unwrap();
    let (seen, result) = steps(&kernels, 3);
    assert_eq!(seen.last().unwrap(), "end 1 a 4");
    assert!(result.unwrap_err().to_string().contains("kernel-2.traceg"));
}

#[test]
fn another_architecture_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = trace(dir.path(), &[kernel("a", 90, 3)]);
    let error = steps(&kernels, 1).1.unwrap_err().to_string();
    assert!(error.contains("sm_90") && error.contains("sm_80"), "{error}");
}

#[test]
fn a_stop_is_heeded_in_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    let texts: Vec<_> = (0..8).map(|i| kernel(&format!("k{i}"), 80, 10)).collect();
    let kernels = trace(dir.path(), &texts);
    let gpu = find_gpu("SM80_A100", &GpuDirs::default()).unwrap().model;
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::SeqCst) >= 6;
    let result = simulate(
        &kernels,
        &gpu,
        &Options::default(),
        Reuse::default(),
        2,
        &stop,
        &mut |_| Ok(()),
    );
    assert!(matches!(result, Err(SimulateError::Stopped)), "{result:?}");
}

#[test]
fn an_unknown_gpu_lists_those_there_are() {
    let error = find_gpu("SM80_A1000", &GpuDirs::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("SM80_A100,"), "{error}");
}

#[test]
fn files_named_as_shipped_gpus_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let text = |name: &str| format!("base = \"SM80_A100\"\nname = \"{name}\"\n[chip]\nsms = 4\n");
    for name in ["SM80_A100", "SM80_MINE"] {
        std::fs::write(dir.path().join(format!("{name}.toml")), text(name)).unwrap();
    }
    assert_eq!(super::shadowed(dir.path()), [dir.path().join("SM80_A100.toml")]);
    let dirs = GpuDirs {
        own: Some(dir.path().to_owned()),
        ..GpuDirs::default()
    };
    assert_eq!(find_gpu("SM80_A100", &dirs).unwrap().model.chip.sms.value, 108.0);
    assert_eq!(find_gpu("SM80_MINE", &dirs).unwrap().model.chip.sms.value, 4.0);
}
