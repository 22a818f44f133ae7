//! Which kernels are simulated again, and what the others are given.

use std::path::Path;

use cascade_engine::report::Origin;
use cascade_engine::{GpuModel, KernelEstimate, Options};

use super::{kernel, trace};
use crate::simulate::{Cache, Check, Dedup, GpuDirs, Kernels, Plan, Reuse, Step, find_gpu, simulate};

/// What a run said.
#[derive(Debug, Default)]
struct Run {
    kernels: Vec<(KernelEstimate, Origin)>,
    checks: Vec<Check>,
    notes: Vec<String>,
}

impl Run {
    fn labels(&self) -> Vec<String> {
        let label = |(_, origin): &(KernelEstimate, Origin)| {
            format!("{origin}{}", if origin.cached { " cached" } else { "" })
        };
        self.kernels.iter().map(label).collect()
    }

    fn cycles(&self) -> Vec<u64> {
        self.kernels.iter().map(|(estimate, _)| estimate.cycles).collect()
    }
}

fn run(kernels: &Kernels, gpu: &GpuModel, reuse: Reuse<'_>, threads: usize) -> Run {
    let mut run = Run::default();
    simulate(
        kernels,
        gpu,
        &Options::default(),
        reuse,
        threads,
        &|| false,
        &mut |step| {
            match step {
                Step::Finished { estimate, origin, .. } => run.kernels.push((estimate.clone(), origin)),
                Step::Checked(check) => run.checks.push(check.clone()),
                Step::Note(note) => run.notes.push(note.to_owned()),
                Step::Memcpy { .. } | Step::Started { .. } => {}
            }
            Ok(())
        },
    )
    .unwrap();
    run
}

fn a100() -> GpuModel {
    find_gpu("SM80_A100", &GpuDirs::default()).unwrap().model
}

fn dedup(dedup: Dedup, verify: usize) -> Reuse<'static> {
    Reuse {
        dedup,
        verify,
        cache: None,
    }
}

/// Five launches: 1, 3 and 4 do the same, 3 under another name; 2 and 5 have the header of 1.
fn launches(dir: &Path) -> Kernels {
    let [a, b, c] = [kernel("a", 80, 300), kernel("a", 80, 4000), kernel("b", 80, 300)];
    trace(dir, &[a.clone(), b, c, a, kernel("a", 80, 700)])
}

#[test]
fn kernels_of_equal_content_share_a_result() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = launches(dir.path());
    let off = run(&kernels, &a100(), dedup(Dedup::Off, 0), 2);
    assert_eq!(off.labels(), ["exact"; 5]);
    for threads in [1, 3] {
        let content = run(&kernels, &a100(), dedup(Dedup::Content, 0), threads);
        assert_eq!(
            content.labels(),
            ["exact", "exact", "dedup:1", "dedup:1", "exact"]
        );
        let estimates = |run: &Run| run.kernels.iter().map(|(it, _)| it.clone()).collect::<Vec<_>>();
        assert_eq!(
            estimates(&content),
            estimates(&off),
            "names and numbers of the launch included"
        );
    }
}

#[test]
fn equal_headers_hide_what_a_check_shows() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = launches(dir.path());
    let truth = run(&kernels, &a100(), dedup(Dedup::Off, 0), 1).cycles();
    let header = run(&kernels, &a100(), dedup(Dedup::Header, 0), 2);
    assert_eq!(
        header.labels(),
        ["exact", "dedup:1", "exact", "dedup:1", "dedup:1"]
    );
    assert_eq!(header.cycles()[1], truth[0]);
    assert!(header.checks.is_empty());

    // Three further members of the first group are simulated: 2, 4 and 5.
    let checked = run(&kernels, &a100(), dedup(Dedup::Header, 3), 2);
    assert_eq!(
        checked.cycles(),
        truth,
        "a member that was simulated keeps its own result"
    );
    let [check] = checked.checks.as_slice() else {
        panic!("one group has more than one member: {:?}", checked.checks)
    };
    assert_eq!(
        (
            check.uid,
            check.checked,
            check.worst_uid,
            check.cycles,
            check.worst_cycles
        ),
        (1, 3, 2, truth[0], truth[1])
    );
    assert_eq!(check.difference(), truth[1] - truth[0]);
    assert!(check.relative() > 0.5 && check.relative() < 1.0, "{check}");

    let content = run(&kernels, &a100(), dedup(Dedup::Content, 9), 1);
    assert_eq!(
        content.checks.iter().map(Check::difference).collect::<Vec<_>>(),
        [0]
    );
}

#[test]
fn a_plan_says_what_a_run_does() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = launches(dir.path());
    for by in [Dedup::Off, Dedup::Content, Dedup::Header] {
        let mut done = 0;
        let plan = Plan::new(&kernels, dedup(by, 1), 2, &|| false, &mut || done += 1).unwrap();
        assert_eq!((done, plan.header_groups, plan.mixed_header_groups), (5, 2, 1));
        let run = run(&kernels, &a100(), dedup(by, 1), 1);
        for group in &plan.groups {
            for (n, uid) in group.members.iter().enumerate() {
                let label = match n < group.simulated {
                    true => "exact".to_owned(),
                    false => format!("dedup:{}", group.members[0]),
                };
                assert_eq!(run.labels()[*uid as usize - 1], label, "{by:?}, kernel {uid}");
            }
        }
        let uids: Vec<u64> = (1..=5).collect();
        let simulated = run.kernels.iter().map(|(estimate, _)| estimate.warp_insts);
        if by == Dedup::Content {
            assert_eq!(plan.warp_insts(&uids), simulated.sum::<u64>());
            let groups: Vec<_> = plan.groups.iter().map(|group| group.members.clone()).collect();
            assert_eq!(groups, [vec![1, 3, 4], vec![2], vec![5]]);
        }
    }
}

#[test]
fn only_what_changed_is_simulated_again() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    let kernels = launches(dir.path());
    let with = |cache: &Cache, gpu: &GpuModel| {
        let reuse = Reuse {
            cache: Some(cache),
            ..Reuse::default()
        };
        run(&kernels, gpu, reuse, 2)
    };
    let cache = Cache::new(&kept);
    let first = with(&cache, &a100());
    assert_eq!(first.labels(), ["exact", "exact", "dedup:1", "dedup:1", "exact"]);
    let all = [
        "exact cached",
        "exact cached",
        "dedup:1 cached",
        "dedup:1 cached",
        "exact cached",
    ];
    let second = with(&cache, &a100());
    assert_eq!(
        (second.labels(), &second.notes),
        (all.map(String::from).into(), &Vec::new())
    );
    let estimates = |run: &Run| run.kernels.iter().map(|(it, _)| it.clone()).collect::<Vec<_>>();
    assert_eq!(estimates(&second), estimates(&first), "bit for bit");

    // One value of the GPU.
    let mut faster = a100();
    faster.latency.l1.value += 1.0;
    let other = with(&cache, &faster);
    assert!(
        other.kernels.iter().all(|(_, origin)| !origin.cached),
        "{other:?}"
    );
    assert_eq!(with(&cache, &a100()).labels(), all);

    // The engine's version.
    let newer = Cache::with_version(&kept, "another build");
    let other = with(&newer, &a100());
    assert!(
        other.kernels.iter().all(|(_, origin)| !origin.cached),
        "{other:?}"
    );
    assert_eq!(with(&newer, &a100()).labels(), all);

    // One instruction of one kernel.
    let file = kernels.file(1);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("IADD3", "FFMA", 1)).unwrap();
    let mut expected = all;
    expected[1] = "exact";
    assert_eq!(with(&cache, &a100()).labels(), expected);
    assert_eq!(with(&cache, &a100()).labels(), all);
}

#[test]
fn a_file_at_rest_that_is_rewritten_in_place_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    let kernels = launches(dir.path());
    let labels = || {
        let cache = Cache::new(&kept);
        let reuse = Reuse {
            cache: Some(&cache),
            ..Reuse::default()
        };
        run(&kernels, &a100(), reuse, 1).labels()
    };
    let fresh = labels();
    assert!(
        !kept.join("files").exists(),
        "a file that was just written is known by its bytes only"
    );
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let all = labels();
    assert!(all.iter().all(|label| label.ends_with("cached")), "{all:?}");
    assert!(kept.join("files").exists());
    assert_eq!(labels(), all);

    // Same inode, same size, same time of modification, another instruction.
    let path = kernels.file(1);
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replacen("IADD3", "MUFU0", 1);
    std::fs::write(&path, text).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    let changed = labels();
    assert_eq!((changed[1].as_str(), &changed[0]), ("exact", &all[0]));
    assert_eq!(fresh[1], "exact");
}

#[test]
fn every_kind_of_dedup_finds_what_another_kept() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::new(&dir.path().join("kept"));
    let reuse = |dedup| Reuse {
        dedup,
        verify: 0,
        cache: Some(&cache),
    };
    let kernels = launches(dir.path());
    run(&kernels, &a100(), reuse(Dedup::Content), 2);
    // The same content in another file: it is read to be known, and not simulated.
    let text = std::fs::read_to_string(kernels.file(0)).unwrap();
    let other = tempfile::tempdir().unwrap();
    let renamed = trace(other.path(), &[text.replace("kernel id = 1", "kernel id = 9")]);
    assert_eq!(
        run(&renamed, &a100(), reuse(Dedup::Off), 1).labels(),
        ["exact cached"]
    );
    let headers = run(&kernels, &a100(), reuse(Dedup::Header), 1);
    assert_eq!(headers.labels()[0], "exact cached");
    assert_eq!(headers.labels()[4], "dedup:1 cached");
}
