//! Commands that need no server.

use std::io::Read;
use std::process::Stdio;

use super::{cascade, json, ran, run, shared, text};

#[test]
fn a_synthetic_trace_is_simulated_with_the_counts_it_was_written_with() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("opt");
    let made = json(&[
        "trace",
        "synth",
        "--model-like",
        "opt-125m",
        "--arch",
        "sm_90",
        "-o",
        text(&folder),
    ]);
    assert_eq!(made["synthetic"], true);
    let log = dir.path().join("sim.log");
    let simulated = json(&[
        "simulate-trace",
        text(&folder),
        "--gpu",
        "SM90_H100",
        "--log",
        text(&log),
    ]);
    let gpu = &simulated["gpus"][0];
    assert_eq!(gpu["totals"]["warp_insts"], made["warp_insts"]);
    assert_eq!(gpu["totals"]["thread_insts"], made["thread_insts"]);
    assert_eq!(gpu["totals"]["kernels"], made["kernels"]);
    assert_eq!(
        (&simulated["engine"], &gpu["status"]),
        (&"cascade".into(), &"unvalidated".into())
    );

    // The log says the same as the table.
    let shown = json(&["log", "show", text(&log)]);
    assert_eq!(
        shown["totals"]["gpu_tot_sim_cycle"].as_f64(),
        gpu["totals"]["cycles"].as_f64()
    );
    assert_eq!(
        shown["totals"]["gpu_tot_sim_insn"].as_f64(),
        made["thread_insts"].as_f64()
    );

    // The folder, its `traces`, its list and the order of GPUs all mean the same.
    let both = json(&[
        "simulate-trace",
        text(&folder.join("traces")),
        "--gpu",
        "SM90_H200,SM90_H100",
        "-j",
        "1",
    ]);
    assert_eq!(both["gpus"][1]["kernels"], gpu["kernels"]);
    let again = run(&["trace", "synth", "--model-like", "opt-125m", "-o", text(&folder)]);
    assert_eq!(again.code, 2, "a trace is not overwritten");
}

#[test]
fn kinds_have_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let folder = text(dir.path());
    let made = json(&[
        "trace",
        "synth",
        "--kind",
        "copy:bytes=4096,threads=128",
        "--kind",
        "fma:blocks=2",
        "-o",
        folder,
    ]);
    assert_eq!(made["kernels"], 2);
    let info = json(&["trace", "info", folder]);
    assert_eq!(info[0]["header"]["name"], "synthetic_copy");
    assert_eq!(info[1]["header"]["grid"]["x"], 2);
    let wrong = run(&["trace", "synth", "--kind", "copy:size=1", "-o", folder]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("it has bytes, threads"), "{}", wrong.stderr);
}

#[test]
fn a_real_trace_has_the_instructions_that_are_known() {
    let Some(dir) = shared("traces/vectoradd-a100-v5") else {
        return;
    };
    let simulated = json(&["simulate-trace", text(&dir), "--gpu", "SM80_A100"]);
    assert_eq!(simulated["gpus"][0]["totals"]["warp_insts"], 26_601);
    let one = json(&[
        "simulate-trace",
        text(&dir.join("kernel-1.traceg")),
        "--gpu",
        "SM80_A100",
    ]);
    assert_eq!(one["gpus"][0]["kernels"], simulated["gpus"][0]["kernels"]);
}

#[test]
fn a_raw_trace_is_post_processed() {
    let Some(raw) = shared("traces/raw-vecadd-v3") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    for name in ["kernel-1.trace", "kernelslist", "stats.csv"] {
        std::fs::copy(raw.join(name), dir.path().join(name)).unwrap();
    }
    for format in ["traceg", "traceg.xz", "tracez"] {
        let done = json(&[
            "trace",
            "post-process",
            text(dir.path()),
            "-j",
            "2",
            "--format",
            format,
        ]);
        assert_eq!(done["kernels"][0]["warp_insts"], 71_974, "{format}");
    }
    // On the spot it happens elsewhere; the trace's own architecture has no GPU here.
    let before = std::fs::read_dir(&raw).unwrap().count();
    let refused = run(&["simulate-trace", text(&raw), "--gpu", "SM80_A100"]);
    assert_eq!(
        (
            refused.code,
            refused.stdout.lines().next().unwrap_or("").contains("kernel ")
        ),
        (2, false)
    );
    assert!(
        refused.stderr.contains("sm_61") && refused.stderr.contains("sm_80"),
        "{}",
        refused.stderr
    );
    assert_eq!(std::fs::read_dir(&raw).unwrap().count(), before);
}

#[test]
fn kernels_before_a_missing_one_are_shown() {
    let Some(dir) = shared("traces/bfs-a100-v3") else {
        return;
    };
    let shown = run(&["simulate-trace", text(&dir), "--gpu", "SM80_A100"]);
    assert_eq!(shown.code, 2);
    assert!(shown.stdout.contains("45,316"), "{}", shown.stdout);
    assert!(shown.stderr.contains("kernel-3.traceg"), "{}", shown.stderr);
}

#[test]
fn numbers_say_what_they_leave_out() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = "-kernel name = k\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n\
                  -binary version = 90\n-accelsim tracer version = 5\n#traces format = PC\n\n#BEGIN_TB\n\
                  thread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 ffffffff 1 R1 FROBNICATE.X 0 0 0\n\
                  0010 ffffffff 0 EXIT 0 0 0\n#END_TB\n";
    for name in ["kernel-1.traceg", "kernel-2.traceg"] {
        std::fs::write(dir.path().join(name), kernel).unwrap();
    }
    let list = dir.path().join("kernelslist.g");
    std::fs::write(&list, "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n").unwrap();
    let shown = run(&[
        "simulate-trace",
        text(&list),
        "--gpu",
        "SM90_H100,SM80_A100",
        "--no-cache",
    ]);
    assert_eq!(shown.code, 2, "{}", shown.stderr);
    for words in [
        "kernel 1 was traced in part: 1 of its 2 thread blocks",
        "does not know, 50.0 % of its instructions, timed as integer ones: FROBNICATE.X",
        "those above",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    // A GPU that simulated nothing has no sum, not even 0.
    let sum = shown
        .stdout
        .lines()
        .find(|line| line.contains("those above"))
        .unwrap();
    assert_eq!(
        sum.split_whitespace().rev().take(2).collect::<Vec<_>>(),
        ["-", "-"],
        "{sum}"
    );

    let folder = text(dir.path());
    let missing = run(&["gpus", "SM90_H100", "--gpus-dir", "no-such-folder"]);
    assert!(
        missing.stderr.contains("no-such-folder: no such folder"),
        "{}",
        missing.stderr
    );
    std::fs::write(dir.path().join("SM90_H100.toml"), "").unwrap();
    let shadowed = run(&["gpus", "SM90_H100", "--gpus-dir", folder]);
    assert_eq!(shadowed.code, 0);
    assert!(
        shadowed.stderr.contains("SM90_H100.toml: left out"),
        "{}",
        shadowed.stderr
    );
}

#[test]
fn sampled_numbers_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let folder = text(dir.path());
    run(&[
        "trace",
        "synth",
        "--kind",
        "fma:blocks=4000,threads=32,iterations=16,chains=2",
        "-o",
        folder,
    ]);
    let args = ["simulate-trace", folder, "--gpu", "SM90_H100", "--no-cache"];
    let whole = run(&args);
    assert!(!whole.stdout.contains("sampled"), "{}", whole.stdout);
    let some = run(&[&args[..], &["--sample-sms", "4"]].concat());
    assert!(
        some.stdout
            .contains("1 of 1 kernel sampled, from an empty L2: at least"),
        "{}",
        some.stdout
    );
}

#[test]
fn the_engine_is_checked_and_explains_itself() {
    let found = json(&["bench-engine", "--gpu", "SM80_A100", "--kind", "1,9"]);
    assert_eq!(found["failed"], 0);
    let checks = found["checks"].as_array().unwrap();
    assert!(checks.len() >= 8 && checks.iter().all(|check| check["holds"] == true));
    let wrong = run(&["bench-engine", "--kind", "99"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("kinds 1 to 16"), "{}", wrong.stderr);

    let dir = tempfile::tempdir().unwrap();
    let folder = text(dir.path());
    run(&[
        "trace",
        "synth",
        "--kind",
        "copy:bytes=1048576,threads=256",
        "--arch",
        "sm_90",
        "-o",
        folder,
    ]);
    let args = ["simulate-trace", folder, "--gpu", "SM90_H100"];
    let shown = run(&[&args[..], &["--explain"]].concat());
    for words in ["would help:", "DRAM bandwidth:", "L2 was empty"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let kernel = &json(&args)["gpus"][0]["kernels"][0];
    assert_eq!(
        (&kernel["l2_start"], &kernel["estimate"]["level"]),
        (&"cold".into(), &"L1".into())
    );
    assert!(
        kernel["explanation"]["waits"]
            .as_array()
            .is_some_and(|waits| !waits.is_empty())
    );
    let bounds = &json(&[&args[..], &["--level", "0"]].concat())["gpus"][0]["kernels"][0];
    assert_eq!(bounds["estimate"]["level"], "L0");
}

#[test]
fn wrong_input_is_named_and_ends_with_2() {
    let calls: [(&[&str], &str); 7] = [
        (
            &["simulate-trace", "no-such-folder", "--gpu", "SM80_A100"],
            "no-such-folder",
        ),
        (&["simulate-trace", ".", "--gpu", "SM80_NONE"], "SM80_A100, "),
        (&["simulate-trace", ".", "--gpu", "SM80_A100"], "kernelslist"),
        (&["log", "show", "no-such.log"], "no-such.log"),
        (
            &[
                "upload",
                ".",
                "--meta",
                "files=1",
                "--endpoint",
                "http://127.0.0.1:1",
            ],
            "files",
        ),
        (&["runs", "list", "--url", "ftp://host"], "http://"),
        (&["runs", "create", "t", "--gpu", "SM80_A100:many"], "many"),
    ];
    for (args, words) in calls {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn a_server_that_is_not_there_ends_with_3() {
    let ran = run(&["runs", "show", "run-0", "--url", "http://127.0.0.1:1"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr.contains("http://127.0.0.1:1/api/runs/run-0") && ran.stderr.contains("refused"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_reader_that_closes_early_is_no_failure() {
    let mut child = cascade(&["gpus", "SM90_H100", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn gpus_tell_their_sources_and_shells_their_completions() {
    let gpu = json(&["gpus", "SM90_H100"]);
    let facts = gpu["facts"].as_object().unwrap();
    assert!(facts.len() > 30);
    assert!(
        facts
            .values()
            .all(|fact| !fact["source"].as_str().unwrap().is_empty())
    );
    assert!(json(&["gpus"]).as_array().unwrap().len() >= 7);
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            run(&["completions", shell]).stdout.contains("simulate-trace"),
            "{shell}"
        );
    }
}
