//! Real logs, where the shared data folder is at hand.

use super::*;
use crate::testdata;

fn log(name: &str) -> Option<(Vec<LogEvent>, LogSummary)> {
    let mut events = Vec::new();
    let file = std::fs::File::open(testdata::shared("accelsim-logs")?.join(name)).expect(name);
    let summary = read_log(file, |event| events.push(event)).expect(name);
    Some((events, summary))
}

#[test]
fn finished_logs_have_their_kernels_and_totals() {
    for (name, kernels, cycles, mode) in [
        ("benchmark_1_stream_clean.log", 4, 1_901.0, Mode::Trace),
        ("benchmark_1_stream_tip.log", 4, 1_915.0, Mode::Trace),
        ("benchmark_1_stream_tip_serialized.log", 4, 2_855.0, Mode::Trace),
        (
            "inference_half_35_1500_2560_0_0_tip.log",
            10,
            938_109.0,
            Mode::Trace,
        ),
        ("l2_lat_4stream_clean.log", 4, 704.0, Mode::Trace),
        ("l2_lat_4stream_tip.log", 4, 704.0, Mode::Trace),
        (
            "good/vectoradd-a100-v5__SM86_RTX3070.log",
            1,
            6_980.0,
            Mode::Trace,
        ),
        (
            "good/gemmtile-v5-b86__SM86_RTX3070.log",
            1,
            199_803.0,
            Mode::Trace,
        ),
        ("ptx-mode/backprop-rodinia-2.0-ft.o11", 2, 16_025.0, Mode::Ptx),
        ("ptx-mode/bfs-rodinia-2.0-ft.o12", 16, 119_548.0, Mode::Ptx),
        ("ptx-mode/hotspot-rodinia-2.0-ft.o13", 7, 61_078.0, Mode::Ptx),
        ("ptx-mode/nn-rodinia-2.0-ft.o17", 4, 28_190.0, Mode::Ptx),
    ] {
        let Some((events, summary)) = log(name) else {
            return;
        };
        assert_eq!(summary.kernels_finished, kernels, "{name}");
        assert_eq!(summary.kernels_launched, kernels, "{name}");
        assert_eq!(summary.totals.gpu_tot_sim_cycle, Some(cycles), "{name}");
        assert_eq!(
            (&summary.ending, summary.mode),
            (&Ending::Complete, mode),
            "{name}"
        );
        let blocks = blocks(&events);
        assert!(
            blocks
                .iter()
                .all(|block| block.complete && block.dropped_keys == 0),
            "{name}"
        );
        let sum: u64 = blocks.iter().filter_map(|block| block.gpu_sim_cycle).sum();
        assert_eq!(sum as f64, cycles, "{name}: blocks add up");
        println!(
            "{name}: {:?} keys",
            blocks.iter().map(|b| b.stats.len()).collect::<Vec<_>>()
        );
        assert!(
            explain(&summary, Some(0), None, Some(kernels)).succeeded,
            "{name}"
        );
    }
}

#[test]
fn failures_are_named() {
    use FailureKind as K;
    for (name, kernels, kind, complete) in [
        ("failures/complete-then-cleanup-assert.log", 4, K::CleanUp, true),
        ("failures/deadlock.log", 0, K::Deadlock, false),
        ("failures/ipoly-assert.log", 0, K::MemoryPartitions, false),
        ("failures/parse-range-check.log", 0, K::UnreadableTrace, false),
        ("failures/unknown-option.log", 0, K::UnknownOption, false),
        (
            "failures/unsupported-binary-version-exit-0.log",
            0,
            K::UnsupportedBinaryVersion,
            false,
        ),
        (
            "failures/wrong-architecture-spec-id-assert.log",
            0,
            K::WrongArchitecture,
            false,
        ),
        ("crashed/phase2-with-output.log", 2, K::SegmentationFault, false),
    ] {
        let Some((_, summary)) = log(name) else { return };
        assert_eq!(summary.kernels_finished, kernels, "{name}");
        let Ending::Failed(failure) = &summary.ending else {
            panic!("{name}: {:?}", summary.ending)
        };
        assert_eq!(
            (failure.kind, failure.results_complete),
            (kind, complete),
            "{name}: {failure:?}"
        );
        let verdict = explain(&summary, Some(0), None, None);
        println!("{name}: {verdict:?}");
        assert_eq!(verdict.succeeded, complete, "{name}");
    }
}

#[test]
fn logs_without_a_simulator_say_so() {
    for name in [
        "backprop-rodinia-2.0-ft.o1",
        "bfs-rodinia-2.0-ft.o2",
        "nn-rodinia-2.0-ft.o7",
    ] {
        let Some((events, summary)) = log(&format!("no-simulator/{name}")) else {
            return;
        };
        assert_eq!(
            (events.len(), &summary.ending),
            (0, &Ending::NoSimulator),
            "{name}"
        );
        assert!(!explain(&summary, Some(0), None, Some(1)).succeeded);
    }
}

#[test]
fn cumulative_counters_never_fall() {
    for name in [
        "inference_half_35_1500_2560_0_0_tip.log",
        "ptx-mode/bfs-rodinia-2.0-ft.o12",
    ] {
        let Some((events, _)) = log(name) else { return };
        let blocks = blocks(&events);
        let mut checked = 0;
        for pair in blocks.windows(2) {
            for (key, now) in pair[1].stats.iter().filter(|(key, _)| is_cumulative(key)) {
                let before = pair[0].stats.get(key).and_then(StatValue::number).unwrap_or(0.0);
                assert!(
                    now.number().is_some_and(|now| now >= before),
                    "{name} {key}: {before} then {now:?}"
                );
                checked += 1;
            }
        }
        assert!(checked > 500 * blocks.len(), "{name}: {checked}");
    }
}

#[test]
fn concurrent_blocks_name_the_kernel_that_finished() {
    let Some((events, summary)) = log("benchmark_1_stream_tip.log") else {
        return;
    };
    let blocks = blocks(&events);
    let finished: Vec<_> = blocks
        .iter()
        .filter_map(|block| block.finished_uid.zip(block.own_cycles))
        .collect();
    assert_eq!(
        finished,
        [(3, (0, 749)), (1, (0, 757)), (2, (758, 1255)), (4, (1256, 1914))]
    );
    assert_eq!(
        blocks.iter().map(|block| block.names.len()).collect::<Vec<_>>(),
        [2, 0, 1, 1]
    );
    assert!(summary.cycles_since_last_block && blocks[1].finished_name.as_deref() == Some("_Z5saxpyifPfS_"));
}
