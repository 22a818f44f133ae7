//! L2 from kernel to kernel, whatever the threads, shared results and kept ones.

use std::fmt::Write as _;
use std::path::Path;

use cascade_engine::report::Origin;
use cascade_engine::{KernelEstimate, L2Start, Level, Options};

use super::trace;
use crate::simulate::{Cache, Dedup, GpuDirs, Kernels, Reuse, Step, find_gpu, simulate};

/// A kernel of eight warps that each read 4 KiB from `base`.
fn reader(name: &str, base: u64) -> String {
    let mut text = format!(
        "-kernel name = {name}\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (256,1,1)\n-shmem = 0\n-nregs = 8\n\
         -binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n\
         -nvbit version = 1.5\n-accelsim tracer version = 5\n#traces format = x\n\n#BEGIN_TB\n\nthread block = 0,0,0\n"
    );
    for warp in 0..8 {
        write!(text, "\nwarp = {warp}\ninsts = 9\n").unwrap();
        for i in 0..8 {
            let at = base + warp * 4096 + i * 512;
            writeln!(
                text,
                "{:04x} ffffffff 1 R4 LDG.E.128 1 R2 16 1 {at:#x} 16",
                i * 16
            )
            .unwrap();
        }
        writeln!(text, "0080 ffffffff 0 EXIT 0 0 0").unwrap();
    }
    text + "\n#END_TB\n"
}

/// One warp that waits at a barrier for another that never comes.
fn stuck() -> String {
    super::kernel("stuck", 80, 1).replace(
        "0000 ffffffff 1 R1 IADD3 2 R2 R3 0 1",
        "0000 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 1 64",
    )
}

const A: u64 = 0x7f00_0000_0000;
const B: u64 = 0x7f00_1000_0000;

/// Reads A, A, B, A, B, B.
fn launches(dir: &Path) -> Kernels {
    let texts = [A, A, B, A, B, B].map(|base| reader("r", base));
    trace(dir, &texts)
}

type Ran = Vec<(KernelEstimate, Origin)>;

fn run(kernels: &Kernels, options: Options, reuse: Reuse<'_>, threads: usize) -> Ran {
    let gpu = find_gpu("SM80_A100", &GpuDirs::default()).unwrap().model;
    let mut ran = Vec::new();
    let mut on = |step: Step<'_>| {
        if let Step::Finished { estimate, origin, .. } = step {
            ran.push((estimate.clone(), origin));
        }
        Ok(())
    };
    simulate(kernels, &gpu, &options, reuse, threads, &|| false, &mut on).unwrap();
    ran
}

fn labels(ran: &Ran) -> Vec<String> {
    ran.iter().map(|(_, origin)| origin.to_string()).collect()
}

fn estimates(ran: &Ran) -> Vec<KernelEstimate> {
    ran.iter().map(|(estimate, _)| estimate.clone()).collect()
}

#[test]
fn equal_kernels_share_a_result_only_when_they_find_the_same_in_l2() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = launches(dir.path());
    let warm = run(&kernels, Options::default(), Reuse::default(), 1);
    assert_eq!(
        labels(&warm),
        ["exact", "exact", "dedup:1", "dedup:2", "dedup:2", "dedup:2"]
    );
    let starts: Vec<_> = warm
        .iter()
        .map(|(it, _)| it.cycle_stats.as_ref().unwrap().l2_hits > 0)
        .collect();
    assert_eq!(starts, [false, true, false, true, true, true]);
    assert_eq!(warm[1].0.l2_start(), L2Start::Warm);
    assert!(warm[1].0.cycles < warm[0].0.cycles);
    assert_eq!((warm[0].0.dram_bytes, warm[1].0.dram_bytes), (8 * 4096, 0));

    // What each finds does not depend on what was shared, on threads or on what an earlier run kept.
    let off = Reuse {
        dedup: Dedup::Off,
        ..Reuse::default()
    };
    let alone = estimates(&run(&kernels, Options::default(), off, 3));
    for ((shared, _), own) in warm.iter().zip(&alone) {
        let off = (shared.cycles as f64 / own.cycles as f64 - 1.0).abs();
        assert!(
            off < 0.02,
            "only the place in memory differs: {} and {}",
            shared.cycles,
            own.cycles
        );
    }
    for threads in [2, 5] {
        let again = run(&kernels, Options::default(), Reuse::default(), threads);
        assert_eq!(
            (labels(&again), estimates(&again)),
            (labels(&warm), estimates(&warm))
        );
        let again = run(&kernels, Options::default(), off, threads);
        assert_eq!(estimates(&again), alone);
    }
}

#[test]
fn kept_results_stand_for_the_whole_history_of_l2() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = launches(dir.path());
    let cache = Cache::new(&dir.path().join("kept"));
    let reuse = |dedup| Reuse {
        dedup,
        cache: Some(&cache),
        ..Reuse::default()
    };
    let first = run(&kernels, Options::default(), reuse(Dedup::Content), 2);
    let second = run(&kernels, Options::default(), reuse(Dedup::Content), 2);
    assert!(second.iter().all(|(_, origin)| origin.cached));
    assert_eq!(
        (labels(&second), estimates(&second)),
        (labels(&first), estimates(&first))
    );

    // Another kernel in front: what follows has another history and is simulated from what really is in L2.
    let other = tempfile::tempdir().unwrap();
    let mut texts = vec![reader("r", B)];
    texts.extend([A, A, B].map(|base| reader("r", base)));
    let changed = trace(other.path(), &texts);
    let with = run(&changed, Options::default(), reuse(Dedup::Off), 2);
    let without = Reuse {
        dedup: Dedup::Off,
        ..Reuse::default()
    };
    let without = run(&changed, Options::default(), without, 1);
    assert_eq!(estimates(&with), estimates(&without));
    assert_eq!(with[3].0.dram_bytes, 0, "the first kernel left it there");

    // One kernel more at the end: only that one is simulated, after the others were looked at again.
    let texts = [A, A, B, A, B, B, A + (1 << 30)].map(|base| reader("r", base));
    let longer = trace(other.path(), &texts);
    let ran = run(&longer, Options::default(), reuse(Dedup::Off), 2);
    let cached: Vec<_> = ran.iter().map(|(_, origin)| origin.cached).collect();
    assert_eq!(cached[..2], [true, true]);
    assert!(!cached[6]);
    assert!(ran[6].0.cycle_stats.as_ref().unwrap().l2_warm_sectors > 0);
}

#[test]
fn with_a_cold_l2_kernels_know_nothing_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = launches(dir.path());
    let cold = Options {
        cold: true,
        ..Options::default()
    };
    let ran = run(&kernels, cold, Reuse::default(), 3);
    assert_eq!(
        labels(&ran),
        ["exact", "dedup:1", "dedup:1", "dedup:1", "dedup:1", "dedup:1"]
    );
    assert!(
        ran.iter()
            .all(|(it, _)| it.l2_start() == L2Start::Cold && it.dram_bytes == 8 * 4096)
    );
}

#[test]
fn a_kernel_that_cannot_go_on_is_bounded_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = trace(dir.path(), &[reader("r", A), stuck(), reader("r", A)]);
    let ran = run(&kernels, Options::default(), Reuse::default(), 2);
    let (bounded, _) = &ran[1];
    assert_eq!(bounded.level, Level::L0);
    let why = bounded.fallback.as_ref().unwrap();
    assert!(why.contains("deadlocked") && why.contains("barrier"), "{why}");
    assert_eq!((ran[2].0.level, ran[2].0.dram_bytes), (Level::L1, 0));
}
