//! The rule, row by row, on real folders.

use std::path::Path;
use std::time::Duration;

use super::*;

const CHANGED: Duration = Duration::ZERO;
const NOW: Duration = SETTLED;
const LATER: Duration = BARE_QUIET;
const MUCH_LATER: Duration = MISSING_QUIET;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

fn names(root: &Path, list: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(root.join(list)).map_err(|e| e.to_string())?;
    Ok(text
        .lines()
        .filter(|l| l.starts_with("kernel"))
        .map(str::to_owned)
        .collect())
}

fn judge(root: &Path, record: Option<&Record>, quiet: Duration) -> Verdict {
    judge_for(root, record, quiet, false)
}

fn judge_for(root: &Path, record: Option<&Record>, quiet: Duration, stand_ins: bool) -> Verdict {
    let tree = Tree::walk(root).unwrap();
    let metadata = tree
        .has("metadata.json")
        .then(|| Metadata::read(&root.join("metadata.json"), &[]).unwrap());
    let list = |path: &str| names(root, path);
    Look {
        tree: &tree,
        metadata: metadata.as_ref(),
        record,
        quiet,
        stand_ins,
        list: &list,
    }
    .verdict()
}

#[track_caller]
fn expect(files: &[(&str, &str)], quiet: Duration, verdict: Verdict) {
    let dir = folder(files);
    assert_eq!(judge(dir.path(), None, quiet), verdict, "{files:?}");
}

fn wait(what: &str) -> Verdict {
    Verdict::Wait(what.into())
}

const NESTED: Verdict = Verdict::Processed { flat: false };
const RAW: Verdict = Verdict::Raw { flat: false };

#[test]
fn a_list_of_files_decides_at_once() {
    let metadata = r#"{"status": "ok", "files": [{"key": "traces/kernelslist.g", "bytes": 15},
        {"key": "traces/kernel-1.traceg", "bytes": 3}]}"#;
    let list = ("traces/kernelslist.g", "kernel-1.traceg");
    let kernel = ("traces/kernel-1.traceg", "abc");
    expect(&[("metadata.json", metadata), list, kernel], CHANGED, NESTED);
    let to_come = "1 of 2 listed files: traces/kernel-1.traceg";
    expect(&[("metadata.json", metadata), list], MUCH_LATER, wait(to_come));
    expect(
        &[
            ("metadata.json", metadata),
            list,
            ("traces/kernel-1.traceg", "ab"),
        ],
        MUCH_LATER,
        wait(to_come),
    );
}

#[test]
fn only_a_simulator_that_replays_may_do_without_kernels() {
    let list = ("traces/kernelslist.g", "kernel-1.traceg\n");
    let listed = r#"{"files": [{"key": "traces/kernelslist.g", "bytes": 16}]}"#;
    let dir = folder(&[("metadata.json", listed), list]);
    assert_eq!(judge_for(dir.path(), None, CHANGED, true), NESTED);
    let error = "the kernel files are missing: traces/kernelslist.g names 1 and none is there: kernel-1.traceg; \
                 upload them beside it";
    assert_eq!(judge(dir.path(), None, CHANGED), Verdict::Failed(error.into()));
    std::fs::write(dir.path().join("traces/kernel-1.traceg"), "x").unwrap();
    assert_eq!(judge(dir.path(), None, CHANGED), NESTED, "it came later");

    let dir = folder(&[("metadata.json", "{}"), list]);
    assert_eq!(judge_for(dir.path(), None, CHANGED, true), wait(STILL));
    assert_eq!(judge_for(dir.path(), None, NOW, true), NESTED);
    let names = wait("files that traces/kernelslist.g names: kernel-1.traceg");
    assert_eq!(judge(dir.path(), None, NOW), names);
    assert_eq!(judge(dir.path(), None, MUCH_LATER), Verdict::Failed(error.into()));
}

#[test]
fn a_list_without_a_kernel_fails() {
    let files = [("metadata.json", "{}"), ("traces/kernelslist.g", "garbage\n")];
    expect(&files, NOW, wait("a kernel in traces/kernelslist.g"));
    let error = "traces/kernelslist.g names no kernel, so there is nothing to simulate";
    expect(&files, MUCH_LATER, Verdict::Failed(error.into()));
}

#[test]
fn what_another_upload_left_is_no_part_of_a_listed_one() {
    let raw = r#"{"files": [{"key": "traces/kernelslist", "bytes": 14},
        {"key": "traces/kernel-1.trace", "bytes": 1}]}"#;
    let files = [
        ("metadata.json", raw),
        ("traces/kernelslist", "kernel-1.trace"),
        ("traces/kernel-1.trace", "x"),
        ("traces/kernelslist.g", "kernel-7.traceg"),
        ("traces/kernel-7.traceg", "x"),
        ("traces/kernelslist_ctx_0x1", ""),
    ];
    expect(&files[..5], CHANGED, RAW);
    let error = |path: &str| {
        Verdict::Failed(format!(
            "{path} was left by another upload under this name: metadata.json does not list it; delete it, upload \
             again with --replace, or use another name"
        ))
    };
    expect(&files, CHANGED, error("traces/kernelslist_ctx_0x1"));
    let no_list = r#"{"files": [{"key": "traces/kernel-1.trace", "bytes": 1}]}"#;
    let files = [("metadata.json", no_list), files[2], files[3], files[4]];
    expect(&files, CHANGED, error("traces/kernelslist.g"));

    // Our own list counts as long as the raw list that it was made from is part of the upload.
    let dir = folder(&[
        ("metadata.json", raw),
        ("traces/kernelslist", "kernel-1.trace"),
        ("traces/kernel-1.trace", "x"),
        ("traces/kernelslist.g", "kernel-1.tracez"),
        ("traces/kernel-1.tracez", "x"),
    ]);
    let tree = Tree::walk(dir.path()).unwrap();
    let record = Record {
        processed: true,
        source: hex::encode(tree.source_mark(TRACES)),
        list: tree.file_mark("traces/kernelslist.g").map(hex::encode),
        ..Record::default()
    };
    assert_eq!(judge(dir.path(), Some(&record), CHANGED), NESTED);
    std::fs::write(dir.path().join("metadata.json"), no_list).unwrap();
    assert_eq!(
        judge(dir.path(), Some(&record), CHANGED),
        error("traces/kernelslist")
    );
}

#[test]
fn a_streaming_upload_waits_for_its_statistics_and_for_quiet() {
    let metadata = ("metadata.json", r#"{"model": "m"}"#);
    let list = ("traces/kernelslist_ctx_0x1", "kernel-1-ctx_0x1.trace.xz");
    let other = ("traces/kernelslist_ctx_0x2", "kernel-1-ctx_0x2.trace.xz");
    let stats = ("traces/stats_ctx_0x1", "");
    let kernel = ("traces/kernel-1-ctx_0x1.trace.xz", "x");
    let no_list = "a kernel list: traces/kernelslist.g, traces/kernelslist or traces/kernelslist_ctx_*";
    expect(&[metadata, kernel], MUCH_LATER, wait(no_list));
    let no_stats = "traces/stats_ctx_0x1 for traces/kernelslist_ctx_0x1";
    expect(&[metadata, kernel, list], MUCH_LATER, wait(no_stats));
    expect(&[metadata, kernel, list, stats], CHANGED, wait(STILL));
    expect(&[metadata, kernel, list, stats], NOW, RAW);
    let no_stats = "traces/stats_ctx_0x2 for traces/kernelslist_ctx_0x2";
    expect(
        &[metadata, kernel, list, stats, other],
        MUCH_LATER,
        wait(no_stats),
    );
    // The older naming.
    let old = [
        ("traces/kernelslist", "kernel-1.trace"),
        ("traces/kernel-1.trace", "x"),
    ];
    let no_stats = "traces/stats.csv for traces/kernelslist";
    expect(&[metadata, old[0], old[1]], MUCH_LATER, wait(no_stats));
    expect(&[metadata, old[0], old[1], ("traces/stats.csv", "")], NOW, RAW);
}

#[test]
fn a_failed_profiler_fails_the_trace_straight_away() {
    let files = r#"{"status": "failed", "files": [{"key": "traces/never-came", "bytes": 1}]}"#;
    let error = "profiler reported status 'failed' in metadata.json";
    expect(
        &[("metadata.json", files)],
        CHANGED,
        Verdict::Failed(error.into()),
    );
}

#[test]
fn a_copied_folder_without_metadata_is_complete_after_a_while() {
    let list = ("traces/kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
    let kernels = [("traces/kernel-1.traceg", "x"), ("traces/kernel-2.traceg", "x")];
    expect(&[list, kernels[0], kernels[1]], NOW, wait(STILL));
    expect(&[list, kernels[0], kernels[1]], LATER, NESTED);
    let one = "metadata.json, or files that traces/kernelslist.g names: kernel-2.traceg";
    expect(&[list, kernels[0]], MUCH_LATER, wait(one));
    let two = "metadata.json, or files that traces/kernelslist.g names: kernel-1.traceg, kernel-2.traceg";
    expect(&[list], MUCH_LATER, wait(two));
    let raw = [("traces/kernelslist", "kernel-1.trace"), ("traces/stats.csv", "")];
    expect(&raw, MUCH_LATER, wait("metadata.json"));
    expect(&[raw[0], raw[1], ("traces/kernel-1.trace", "x")], LATER, RAW);
}

#[test]
fn files_beside_the_traces_folder_are_the_trace() {
    let files = [
        ("kernelslist.g", "kernel-1.traceg"),
        ("kernel-1.traceg", "x"),
        ("metadata.json", "{}"),
    ];
    expect(&files, NOW, Verdict::Processed { flat: true });
    let raw = [
        ("kernelslist", "kernel-1.trace"),
        ("kernel-1.trace", "x"),
        ("stats.csv", ""),
    ];
    expect(&raw, LATER, Verdict::Raw { flat: true });
}

#[test]
fn a_flat_trace_that_was_processed_here_has_its_list_in_traces() {
    let dir = folder(&[
        ("metadata.json", "{}"),
        ("kernelslist", "kernel-1.trace"),
        ("kernel-1.trace", "x"),
        ("stats.csv", ""),
        ("traces/kernelslist", "kernel-1.trace"),
        ("traces/kernelslist.g", "kernel-1.traceg"),
        ("traces/kernel-1.traceg", "x"),
    ]);
    let tree = Tree::walk(dir.path()).unwrap();
    let record = Record {
        flat: true,
        processed: true,
        source: hex::encode(tree.source_mark("")),
        list: tree.file_mark("traces/kernelslist.g").map(hex::encode),
        process: None,
    };
    let verdict = judge(dir.path(), Some(&record), NOW);
    assert_eq!(verdict, Verdict::Processed { flat: true });
}

#[test]
fn some_missing_kernels_fail_the_trace_with_their_names() {
    let list = "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\nkernel-4.traceg\nkernel-5.traceg\n";
    let files = [
        ("metadata.json", "{}"),
        ("traces/kernelslist.g", list),
        ("traces/kernel-2.traceg", "x"),
    ];
    let names =
        "files that traces/kernelslist.g names: kernel-1.traceg, kernel-3.traceg, kernel-4.traceg and 1 more";
    expect(&files, NOW, wait(names));
    let error = "traces/kernelslist.g lists files that are not there: kernel-1.traceg, kernel-3.traceg, \
                 kernel-4.traceg and 1 more; upload them beside it";
    expect(&files, MUCH_LATER, Verdict::Failed(error.into()));
    let listed = r#"{"files": [{"key": "traces/kernelslist.g", "bytes": 80}]}"#;
    expect(
        &[("metadata.json", listed), files[1], files[2]],
        CHANGED,
        Verdict::Failed(error.into()),
    );
}

#[test]
fn a_complete_upload_without_a_kernel_list_fails() {
    let dir = folder(&[("metadata.json", r#"{"files": []}"#)]);
    let Verdict::Failed(error) = judge(dir.path(), None, CHANGED) else {
        panic!("not failed")
    };
    assert!(error.contains("has no kernel list"), "{error}");
}

#[test]
fn our_own_list_counts_until_the_raw_files_change() {
    let dir = folder(&[
        ("metadata.json", "{}"),
        ("traces/kernelslist", "kernel-1.trace"),
        ("traces/kernel-1.trace", "x"),
        ("traces/stats.csv", ""),
    ]);
    let root = dir.path();
    let tree = Tree::walk(root).unwrap();
    let mut record = Record {
        processed: true,
        source: hex::encode(tree.source_mark(TRACES)),
        ..Record::default()
    };
    for (name, text) in [("kernelslist.g", "kernel-1.traceg"), ("kernel-1.traceg", "x")] {
        std::fs::write(root.join("traces").join(name), text).unwrap();
    }
    assert_eq!(
        judge(root, Some(&record), NOW),
        RAW,
        "the post-processor was killed before its end"
    );
    let list = Tree::walk(root)
        .unwrap()
        .file_mark("traces/kernelslist.g")
        .unwrap();
    record.list = Some(hex::encode(list));
    assert_eq!(judge(root, Some(&record), NOW), NESTED);

    std::fs::write(root.join("traces/kernel-1.trace"), "a new upload").unwrap();
    assert_eq!(judge(root, Some(&record), NOW), RAW);
    std::fs::remove_file(root.join("traces/kernel-1.trace")).unwrap();
    assert_eq!(
        judge(root, Some(&record), NOW),
        NESTED,
        "raw files may be deleted to save space"
    );
    std::fs::write(root.join("traces/kernelslist.g"), "kernel-1.traceg\n").unwrap();
    assert_eq!(
        judge(root, Some(&record), NOW),
        NESTED,
        "an uploaded list stands for itself"
    );
}
