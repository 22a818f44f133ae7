//! The failure table, row by row, and the verdicts.

use super::super::failure::{TABLE, Weight};
use super::*;

/// One finished kernel of a trace-mode log.
const KERNEL: &str = "Header info loaded for kernel command : k-1.traceg\nlaunching kernel name: k uid: 1\n\
    Destroy streams for kernel 1: size 0\nkernel_name = k \nkernel_launch_uid = 1 \ngpu_sim_cycle = 5\n\
    gpgpu_silicon_slowdown = 1x\n";

/// A line as it stands in real logs for each row of the table, in the table's order.
const LINES: &[(&str, FailureKind)] = {
    use FailureKind as K;
    &[
        (
            "WARNING: sid 89 warp 8 pc 0x3410 EXIT in replay region - overriding mask 0x0000fcff -> 0xffffffff",
            K::Deadlock,
        ),
        (
            "GPGPU-Sim uArch: ERROR ** deadlock detected: last writeback core 40 @ gpu_sim_cycle 1 (+ gpu_tot_sim_cycle 4)",
            K::Deadlock,
        ),
        (
            "GPGPU-Sim uArch: DEADLOCK  shader cores no longer committing instructions [core(# threads)]:",
            K::Deadlock,
        ),
        ("unsupported binary version: 90", K::UnsupportedBinaryVersion),
        (
            "GPGPU-Sim ** ERROR: Cannot open config file 'x.config'",
            K::CannotOpenFile,
        ),
        ("Unable to open file: ./traces/kernelslist.g", K::CannotOpenFile),
        (
            "ERROR:  undefined instruction : UTMALDG Opcode: UTMALDG.2D",
            K::UndefinedInstruction,
        ),
        (
            "a.out: shader.cc:1473: void scheduler_unit::cycle(): Assertion `spec_id < m_specialized_unit.size()' failed.",
            K::WrongArchitecture,
        ),
        (
            "a.out: shader.cc:9: void pipelined_simd_unit::cycle(): Assertion `dst->empty()' failed.",
            K::LatencyBelowInitiation,
        ),
        (
            "a.out: hashing.cc:88: unsigned ipoly_hash_function(int): Assertion `\"\\nmemory_partition_indexing error: The\"' failed.",
            K::MemoryPartitions,
        ),
        (
            "a.out: addrdec.cc:100: void init(unsigned): Assertion `!gap' failed.",
            K::MemoryPartitions,
        ),
        (
            "GPGPU-Sim uArch: ERROR ** Kernel requires more resources than shader has.",
            K::KernelTooLarge,
        ),
        ("GPGPU-Sim ** ERROR: Unknown Option: '-gpgpu_x'", K::UnknownOption),
        (
            "GPGPU-Sim ** ERROR: Cannot parse value 'x' for option '-gpgpu_n_mem'.",
            K::BadOptionValue,
        ),
        (
            "GPGPU-Sim ** ERROR: Missing option '-gpgpu_n_mem'",
            K::BadOptionValue,
        ),
        (
            "a.out: accel-sim.cc:144: void accel_sim_framework::cleanup(unsigned int): Assertion `k' failed.",
            K::CleanUp,
        ),
        (
            "a.out: main.cc:150: int main(int, const char **): Assertion `k' failed.",
            K::CleanUp,
        ),
        (
            "  what():  vector::_M_range_check: __n (which is 0) >= this->size() (which is 0)",
            K::UnreadableTrace,
        ),
        ("  what():  Unsupported file type!", K::UnreadableTrace),
        ("  what():  stoi", K::UnreadableTrace),
        ("sh: 1: xz: not found", K::MissingProgram),
        ("sh: xz: command not found", K::MissingProgram),
        (
            "a.out: error while loading shared libraries: libcudart.so.11.0: cannot open shared object file",
            K::MissingProgram,
        ),
        ("  what():  std::bad_alloc", K::OutOfMemory),
        (
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch",
            K::OutOfMemory,
        ),
        (
            "slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch.",
            K::OutOfMemory,
        ),
        (
            "run.sh: line 51:  6741 Killed                  ./accel-sim.out -trace x",
            K::OutOfMemory,
        ),
        ("Killed", K::OutOfMemory),
        ("GPGPU-Sim uArch: ERROR ** something else", K::SimulatorError),
        ("GPGPU-Sim ** ERROR: something else", K::SimulatorError),
        (
            "run.sh: line 51:  6741 Segmentation fault      (core dumped) ./accel-sim.out",
            K::SegmentationFault,
        ),
        (
            "run.sh: line 51:  6741 Floating point exception(core dumped) ./accel-sim.out",
            K::ArithmeticError,
        ),
        (
            "terminate called after throwing an instance of 'std::runtime_error'",
            K::Exception,
        ),
        (
            "a.out: shader.cc:1: void f(): Assertion `m_pending == 0' failed.",
            K::Assertion,
        ),
        (
            "run.sh: line 51:  6741 Aborted                 ./accel-sim.out",
            K::Aborted,
        ),
        ("Aborted (core dumped)", K::Aborted),
        ("Cascade engine: ERROR: kernel `k` cannot run", K::SimulatorError),
    ]
};

#[test]
fn every_row_is_found_by_a_real_line_and_is_in_plain_words() {
    assert_eq!(LINES.len(), TABLE.len());
    for ((line, kind), row) in LINES.iter().zip(TABLE) {
        assert!(line.contains(row.text), "{line}: {}", row.text);
        assert!(row.means.len() > 20 && row.advice.len() > 12, "{line}");
        // Alone, and glued to what the other stream was printing.
        for glued in ["", "thread block = 1,2,3", "gpu_sim_insn = 12"] {
            if *line == "Killed" && !glued.is_empty() {
                continue;
            }
            let (events, summary) = read(format!("{KERNEL}{glued}{line}\n").as_bytes());
            if row.weight == Weight::Warning {
                assert_eq!(
                    (&summary.ending, summary.warnings.len()),
                    (&Ending::CutOff, 1),
                    "{line}"
                );
                continue;
            }
            let Ending::Failed(failure) = &summary.ending else {
                panic!("{glued}{line}: {:?}", summary.ending)
            };
            assert_eq!((failure.kind, failure.line), (*kind, 8), "{glued}{line}");
            assert!(
                events.iter().any(|event| matches!(event, LogEvent::Failure(_))),
                "{line}"
            );
            assert_eq!(failure.results_complete, *kind == FailureKind::CleanUp, "{line}");
        }
    }
}

#[test]
fn a_specific_reason_replaces_a_general_one_and_not_the_other_way() {
    let ending = |text: &str| match read(text.as_bytes()).1.ending {
        Ending::Failed(failure) => (failure.kind, failure.line, failure.excerpt.lines().count()),
        other => panic!("{other:?}"),
    };
    let thrown = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check\n";
    assert_eq!(ending(thrown), (FailureKind::UnreadableTrace, 1, 2));
    let both = "x: Assertion `dst->empty()' failed.\nAborted (core dumped)\nrun: 1 Segmentation fault\n";
    assert_eq!(ending(both), (FailureKind::LatencyBelowInitiation, 1, 3));
    // An excerpt has a bound however long the log goes on.
    assert_eq!(ending(&format!("Killed\n{}", "more text\n".repeat(99))).2, 6);
}

#[test]
fn text_of_the_application_is_no_failure() {
    let (_, summary) = read(b"You have Killed the dragon\nKilled: 3\nAborted attempts: 0\nhistoire\n");
    assert_eq!(summary.ending, Ending::NoSimulator);
}

#[test]
fn the_running_kernel_is_named() {
    let text = format!("{KERNEL}launching kernel name: slow uid: 2\n{}\n", LINES[1].0);
    let Ending::Failed(failure) = read(text.as_bytes()).1.ending else {
        panic!()
    };
    assert_eq!(failure.kernel.as_deref(), Some("slow"));
}

/// Log, exit code, signal, expected kernels; then whether it succeeded and a part of the message.
type Case = (
    String,
    Option<i32>,
    Option<i32>,
    Option<usize>,
    bool,
    &'static str,
);

#[test]
fn verdicts() {
    let exit = "GPGPU-Sim: *** exit detected ***\n";
    let cleanup = LINES[15].0;
    let cases: &[Case] = &[
        (format!("{KERNEL}{exit}"), Some(0), None, Some(1), true, ""),
        (format!("{KERNEL}{exit}"), None, None, None, true, ""),
        (
            format!("{KERNEL}{exit}"),
            Some(0),
            None,
            Some(2),
            false,
            "1 of 2 kernels",
        ),
        (
            format!("{KERNEL}{KERNEL}{exit}"),
            Some(139),
            None,
            Some(2),
            true,
            "segmentation fault",
        ),
        (
            format!("{KERNEL}unsupported binary version: 90\n"),
            Some(0),
            None,
            Some(2),
            false,
            "older than the architecture",
        ),
        (
            format!("{KERNEL}unsupported binary version: 90\n"),
            Some(0),
            None,
            Some(1),
            false,
            "older than the architecture",
        ),
        (
            format!("{KERNEL}{cleanup}\n"),
            Some(134),
            None,
            Some(1),
            true,
            "does not touch the results",
        ),
        (
            format!("{KERNEL}{cleanup}\n"),
            Some(134),
            None,
            Some(2),
            false,
            "1 of 2 kernels",
        ),
        (
            KERNEL.to_owned(),
            Some(137),
            None,
            Some(2),
            false,
            "out of memory",
        ),
        (KERNEL.to_owned(), None, Some(9), Some(2), false, "out of memory"),
        (
            KERNEL.to_owned(),
            Some(139),
            None,
            Some(2),
            false,
            "segmentation fault",
        ),
        (KERNEL.to_owned(), None, Some(15), Some(2), false, "told to stop"),
        (KERNEL.to_owned(), Some(124), None, Some(2), false, "time limit"),
        (
            KERNEL.to_owned(),
            Some(0),
            None,
            Some(1),
            true,
            "lacks the simulator's exit line",
        ),
        (
            KERNEL.to_owned(),
            Some(0),
            None,
            None,
            false,
            "stops without a reason",
        ),
        (
            String::new(),
            Some(127),
            None,
            Some(1),
            false,
            "could not be started",
        ),
        (String::new(), Some(0), None, Some(1), false, "without Accel-Sim"),
        (
            format!(
                "{KERNEL}GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n{exit}"
            ),
            Some(0),
            None,
            Some(1),
            false,
            "configured maximum",
        ),
        (
            format!("{KERNEL}{}\n", LINES[30].0),
            Some(139),
            None,
            Some(1),
            true,
            "does not touch the results",
        ),
        (
            format!("{KERNEL}{}\n", LINES[30].0),
            Some(139),
            None,
            None,
            false,
            "segmentation fault",
        ),
    ];
    for (log, code, signal, expected, succeeded, part) in cases {
        let summary = read(log.as_bytes()).1;
        let verdict = explain(&summary, *code, *signal, *expected);
        let message = verdict.message.clone().unwrap_or_default();
        assert!(
            verdict.succeeded == *succeeded && message.contains(part),
            "{log}{code:?}: {verdict:?}"
        );
        assert_eq!(part.is_empty(), verdict.message.is_none(), "{verdict:?}");
    }
}
