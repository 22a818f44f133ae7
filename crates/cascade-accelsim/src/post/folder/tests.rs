//! Whole folders on disk: both eras, resuming, refusals.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::post::tests::{raw_kernel, read_all};

fn options(dir: &Path, format: TraceFormat) -> FolderOptions {
    FolderOptions {
        threads: 2,
        format,
        memory_bytes: 400,
        scratch: dir.join("scratch"),
    }
}

/// A folder with a traced run of two kernels in one context.
fn traced() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let list = "MemcpyHtoD,0x0000000502000000,800000\nkernel-1-ctx_0x6.trace\nkernel-4-ctx_0x6.trace\nMemcpyHtoD,0x1,4\n";
    fs::write(dir.path().join("kernelslist_ctx_0x6"), list).unwrap();
    let stats = "kernel-1-ctx_0x6.trace, k, 3, 1, 1, 3, 64, 1, 1, 64, 36,36\nkernel-4-ctx_0x6.trace, k, 3, 1, 1, 3, 64, 1, 1, 64, 9,9\n";
    fs::write(dir.path().join("stats_ctx_0x6"), stats).unwrap();
    for id in ["1", "4"] {
        fs::write(
            dir.path().join(format!("kernel-{id}-ctx_0x6.trace")),
            raw_kernel(36),
        )
        .unwrap();
    }
    dir
}

#[test]
fn a_folder_becomes_processed_files_and_a_list() {
    for format in [TraceFormat::Text, TraceFormat::TextXz, TraceFormat::Packed] {
        let dir = traced();
        let seen = AtomicUsize::new(0);
        let progress = |_: &Done| {
            seen.fetch_add(1, Ordering::Relaxed);
        };
        let report = process_folder(dir.path(), &options(dir.path(), format), &progress).unwrap();
        let list = fs::read_to_string(dir.path().join("kernelslist.g")).unwrap();
        let suffix = format.suffix();
        assert_eq!(
            list,
            format!(
                "MemcpyHtoD,0x0000000502000000,800000\nkernel-1-ctx_0x6{suffix}\nkernel-4-ctx_0x6{suffix}\n"
            )
        );
        let counts: Vec<u64> = report
            .kernels
            .iter()
            .map(|done| done.report.as_ref().unwrap().warp_instrs)
            .collect();
        assert_eq!((counts.as_slice(), seen.into_inner()), ([36, 36].as_slice(), 2));
        let warnings: Vec<&str> = report.all_warnings().collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains("kernel-4-ctx_0x6.trace: 36 instructions, but")
                && warnings[0].contains("say 9")
        );
        let name = format!("kernel-1-ctx_0x6{suffix}");
        let blocks = read_all(fs::File::open(dir.path().join(&name)).unwrap(), &name);
        assert_eq!(
            blocks
                .iter()
                .flat_map(|b| &b.warps)
                .map(|w| w.instrs.len())
                .sum::<usize>(),
            36
        );
        let left: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert!(
            !left.iter().any(|name| name.to_string_lossy().ends_with(".part")),
            "{left:?}"
        );
        assert_eq!(fs::read_dir(dir.path().join("scratch")).unwrap().count(), 0);
    }
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let dir = traced();
    let options = options(dir.path(), TraceFormat::Packed);
    process_folder(dir.path(), &options, &|_| {}).unwrap();
    let whole = fs::read(dir.path().join("kernel-4-ctx_0x6.tracez")).unwrap();
    // As a kill leaves it: no list, one kernel done, one half written, runs lying about.
    fs::remove_file(dir.path().join("kernelslist.g")).unwrap();
    fs::remove_file(dir.path().join("kernel-4-ctx_0x6.tracez")).unwrap();
    fs::write(dir.path().join(".kernel-4-ctx_0x6.tracez.part"), &whole[..20]).unwrap();
    fs::create_dir(options.scratch.join("kernel-4-ctx_0x6.trace.runs")).unwrap();
    fs::write(options.scratch.join("kernel-4-ctx_0x6.trace.runs/0"), "half").unwrap();
    let report = process_folder(dir.path(), &options, &|_| {}).unwrap();
    assert_eq!(
        report
            .kernels
            .iter()
            .map(|done| done.report.is_some())
            .collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(
        fs::read(dir.path().join("kernel-4-ctx_0x6.tracez")).unwrap(),
        whole
    );
    assert!(dir.path().join("kernelslist.g").exists());
    assert_eq!(report.all_warnings().count(), 1);
}

#[test]
fn what_is_missing_or_a_link_is_named() {
    let run = |dir: &Path| {
        process_folder(dir, &options(dir, TraceFormat::Text), &|_| {})
            .unwrap_err()
            .to_string()
    };
    let empty = tempfile::tempdir().unwrap();
    assert!(run(empty.path()).contains("no `kernelslist`"));
    let dir = traced();
    let kernel = dir.path().join("kernel-4-ctx_0x6.trace");
    fs::remove_file(&kernel).unwrap();
    assert!(run(dir.path()).contains("names kernel-4-ctx_0x6.trace, which is missing"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.path().join("kernel-1-ctx_0x6.trace"), &kernel).unwrap();
        assert!(run(dir.path()).contains("links are refused"));
    }
    fs::write(dir.path().join("kernelslist_ctx_0x6"), "kernel-1.zip\n").unwrap();
    assert!(run(dir.path()).contains("only .trace and .trace.xz"));
    fs::write(dir.path().join("kernelslist_ctx_0x6"), "kernel/../x.trace\n").unwrap();
    assert!(run(dir.path()).contains("not a plain file name"));
}

#[test]
fn a_damaged_kernel_leaves_no_list() {
    let dir = traced();
    fs::write(
        dir.path().join("kernel-4-ctx_0x6.trace"),
        "-grid dim = (1,1,1)\n-block dim = (1,1,1)\n#t\nzzz\n",
    )
    .unwrap();
    let error = process_folder(dir.path(), &options(dir.path(), TraceFormat::Packed), &|_| {})
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("1 of 2 kernels failed; the first: kernel-4-ctx_0x6.trace:4: "),
        "{error}"
    );
    assert!(
        !dir.path().join("kernelslist.g").exists() && dir.path().join("kernel-1-ctx_0x6.tracez").exists()
    );
    assert!(!dir.path().join("kernel-4-ctx_0x6.tracez").exists());
}

#[test]
fn the_real_raw_folder_agrees_with_its_statistics() {
    let Some(source) = crate::trace::tests::data("traces/raw-vecadd-v3") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    for name in ["kernelslist", "kernel-1.trace", "stats.csv"] {
        // Written anew, since a copy would keep the data folder's read-only mode.
        fs::write(dir.path().join(name), fs::read(source.join(name)).unwrap()).unwrap();
    }
    let options = FolderOptions {
        memory_bytes: 1 << 20,
        ..options(dir.path(), TraceFormat::Packed)
    };
    let report = process_folder(dir.path(), &options, &|_| {}).unwrap();
    assert_eq!(report.all_warnings().count(), 0);
    let kernel = report.kernels[0].report.as_ref().unwrap();
    assert_eq!((kernel.warp_instrs, kernel.blocks), (71_974, 98));
    assert!(kernel.runs > 1);
    let list = fs::read_to_string(dir.path().join("kernelslist.g")).unwrap();
    assert!(
        list.ends_with("MemcpyHtoD,0x00007f32c56c3600,800000\nkernel-1.tracez\n"),
        "{list}"
    );
}
