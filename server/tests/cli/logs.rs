//! `cascade log show` on logs of real simulations.

use super::{json, run, shared, text};

#[test]
fn real_logs_give_the_totals_that_are_known() {
    let Some(dir) = shared("accelsim-logs") else {
        return;
    };
    let logs = [
        ("benchmark_1_stream_clean.log", 4, 1901.0),
        ("benchmark_1_stream_tip_serialized.log", 4, 2855.0),
        ("inference_half_35_1500_2560_0_0_tip.log", 10, 938_109.0),
        ("l2_lat_4stream_tip.log", 4, 704.0),
        ("good/gemmtile-v5-b86__SM86_RTX3070.log", 1, 199_803.0),
        ("good/vectoradd-a100-v5__SM86_RTX3070.log", 1, 6_980.0),
        ("ptx-mode/bfs-rodinia-2.0-ft.o12", 16, 119_548.0),
    ];
    for (name, kernels, cycles) in logs {
        let shown = json(&["log", "show", text(&dir.join(name))]);
        assert_eq!(shown["kernels"].as_array().unwrap().len(), kernels, "{name}");
        assert_eq!(shown["totals"]["gpu_tot_sim_cycle"], cycles, "{name}");
        assert_eq!(shown["verdict"]["succeeded"], true, "{name}");
    }
}

#[test]
fn failures_are_named_in_plain_words() {
    let Some(dir) = shared("accelsim-logs") else {
        return;
    };
    let logs = [
        ("failures/deadlock.log", 1, "made no progress"),
        (
            "failures/unsupported-binary-version-exit-0.log",
            1,
            "older than the architecture",
        ),
        (
            "failures/wrong-architecture-spec-id-assert.log",
            1,
            "different architectures",
        ),
        (
            "failures/unknown-option.log",
            1,
            "option that this simulator does not know",
        ),
        ("failures/ipoly-assert.log", 1, "memory channels"),
        ("failures/parse-range-check.log", 1, "fewer fields"),
        (
            "failures/complete-then-cleanup-assert.log",
            0,
            "does not touch the results",
        ),
        ("crashed/phase2-with-output.log", 1, "segmentation fault"),
        (
            "no-simulator/backprop-rodinia-2.0-ft.o1",
            1,
            "no simulator output",
        ),
    ];
    for (name, code, words) in logs {
        let shown = run(&["log", "show", text(&dir.join(name))]);
        assert_eq!(shown.code, code, "{name}: {}", shown.stdout);
        assert!(shown.stdout.contains(words), "{name}: {}", shown.stdout);
    }
}

#[test]
fn the_table_is_for_people() {
    let Some(dir) = shared("accelsim-logs/good") else {
        return;
    };
    let shown = run(&[
        "log",
        "show",
        text(&dir.join("vectoradd-a100-v5__SM86_RTX3070.log")),
    ]);
    let table: Vec<_> = shown.stdout.lines().skip(2).collect();
    assert_eq!(
        table,
        [
            "#  kernel                 cycles  instructions    IPC  total cycles",
            "1  _Z9vectorAddPKfS0_Pfi   6,980       801,056  114.8         6,980",
            "1 kernel finished of 1 launched · 6,980 cycles · 801,056 instructions · IPC 114.8 · 160,211 instructions/s \
             simulated",
            "Ended: complete.",
        ]
    );
}
