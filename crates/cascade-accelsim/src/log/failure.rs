//! The one table of texts that name a failure, with what they mean and what to do.
//!
//! Texts and causes: accel-sim-framework and gpgpu-sim_distribution sources and their issue lists.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Serialize;

/// Lines kept of a failure.
pub(super) const MAX_EXCERPT_LINES: usize = 6;
/// Bytes kept of each of these lines.
pub(super) const MAX_EXCERPT_BYTES: usize = 400;

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No instruction was committed for a long time.
    Deadlock,
    /// The simulator has no opcode map for the trace's SM version.
    UnsupportedBinaryVersion,
    /// A list, trace or config could not be opened.
    CannotOpenFile,
    /// An opcode is missing in the simulator's map.
    UndefinedInstruction,
    /// The trace's architecture is not the config's.
    WrongArchitecture,
    /// A unit's latency is below its initiation interval.
    LatencyBelowInitiation,
    /// The number of memory partitions does not suit the address hash.
    MemoryPartitions,
    /// A kernel needs more than one SM has.
    KernelTooLarge,
    /// The config has an option the simulator does not know.
    UnknownOption,
    /// A value of the config cannot be read.
    BadOptionValue,
    /// The simulator failed while cleaning up after the last kernel.
    CleanUp,
    /// The trace cannot be read.
    UnreadableTrace,
    /// A program or library is missing.
    MissingProgram,
    /// The system ended the process for lack of memory.
    OutOfMemory,
    /// Segmentation fault.
    SegmentationFault,
    /// Division by zero.
    ArithmeticError,
    /// Some other assertion.
    Assertion,
    /// Some other uncaught exception.
    Exception,
    /// Some other error text of the simulator.
    SimulatorError,
    /// The process aborted and nothing says why.
    Aborted,
}

/// A failure as a log names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Which row of the table.
    pub kind: FailureKind,
    /// 1-based line of the first sign of failure.
    pub line: u64,
    /// The lines themselves, shortened.
    pub excerpt: String,
    /// The kernel that was running, by name.
    pub kernel: Option<String>,
    /// Plain words.
    pub what_it_means: &'static str,
    /// Plain words.
    pub what_to_do: &'static str,
    /// Every kernel launched had finished and its statistics are in the log.
    pub results_complete: bool,
}

/// Where in a line the text must stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Anywhere: the error stream is often glued to other text.
    Anywhere,
    /// The line is this text.
    Alone,
}

/// How much a row decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Weight {
    /// The run goes on.
    Warning,
    /// The run fails, but a line that says why may follow.
    Generic,
    /// The run fails for this reason.
    Specific,
}

/// One row: text in the log, kind, plain words, advice.
pub(super) struct Row {
    pub(super) text: &'static str,
    at: Where,
    pub(super) weight: Weight,
    pub(super) kind: FailureKind,
    pub(super) means: &'static str,
    pub(super) advice: &'static str,
}

const fn row(
    text: &'static str,
    weight: Weight,
    kind: FailureKind,
    means: &'static str,
    advice: &'static str,
) -> Row {
    Row {
        text,
        at: Where::Anywhere,
        weight,
        kind,
        means,
        advice,
    }
}

const NEWER_SIMULATOR: &str = "Use a simulator whose list of binary versions holds this one, or trace again for an \
     older architecture. The simulator exits with 0 here, so its exit code says nothing.";
const OPTIONS_DIFFER: &str = "Use a config of the same release as the simulator, or remove the option.";
const OUT_OF_MEMORY: &str = "Give the sim more memory, run fewer sims at once, or split the kernel list: memory grows \
     with the number of kernels and the size of the largest one.";
const TRACE_AGAIN: &str = "Run the post-processor again, check that the files are complete and that the tracer's \
     version suits the simulator's.";

/// First row that matches wins, so specific rows stand before general ones.
pub(super) const TABLE: &[Row] = {
    use FailureKind as K;
    use Weight::{Generic, Specific, Warning};
    &[
        row(
            "EXIT in replay region",
            Warning,
            K::Deadlock,
            "A thread exits inside a region that is replayed; this has come before deadlocks.",
            "If the run then hangs, post-process the trace with a newer post-processor.",
        ),
        row(
            "deadlock detected",
            Specific,
            K::Deadlock,
            "The simulated GPU made no progress for 100,000 cycles (the core and cycle numbers in that line are not \
             reliable).",
            "Post-process the trace with a newer post-processor (split-K and barrier kernels), check the config, or \
             leave this kernel out of the list. Kernels that finished are kept.",
        ),
        row(
            "DEADLOCK  shader cores",
            Specific,
            K::Deadlock,
            "The simulated GPU made no progress for 100,000 cycles.",
            "Post-process the trace with a newer post-processor, check the config, or leave this kernel out of the \
             list. Kernels that finished are kept.",
        ),
        row(
            "unsupported binary version",
            Specific,
            K::UnsupportedBinaryVersion,
            "The simulator is older than the architecture the trace was taken for.",
            NEWER_SIMULATOR,
        ),
        row(
            "Cannot open config file",
            Specific,
            K::CannotOpenFile,
            "A config file does not exist or is not readable.",
            "Check the paths given with -config and -inter_config_file (the latter is relative to the working \
             directory); a directory is not a config.",
        ),
        row(
            "Unable to open file",
            Specific,
            K::CannotOpenFile,
            "The kernel list or a kernel's trace does not exist.",
            "Check the path, that the trace was post-processed (kernelslist.g), and that all its files arrived.",
        ),
        row(
            "undefined instruction",
            Specific,
            K::UndefinedInstruction,
            "The trace holds an instruction that the simulator's opcode map lacks.",
            "Use a newer simulator for this architecture, or report the opcode in the excerpt.",
        ),
        row(
            "spec_id <",
            Specific,
            K::WrongArchitecture,
            "The trace's instructions need a unit that the config's trace.config does not define: trace and config \
             are of different architectures.",
            "Simulate the trace on a config of its own architecture.",
        ),
        row(
            "dst->empty()",
            Specific,
            K::LatencyBelowInitiation,
            "In trace.config a unit's latency is smaller than its initiation interval.",
            "Raise the latency in -trace_opcode_latency_initiation_* to at least the second number.",
        ),
        row(
            "memory_partition_indexing error",
            Specific,
            K::MemoryPartitions,
            "The address hash (IPOLY) works with 16, 32 or 64 memory channels only.",
            "Set -gpgpu_n_mem to a number the hash accepts, or another -gpgpu_memory_partition_indexing.",
        ),
        row(
            "!gap",
            Specific,
            K::MemoryPartitions,
            "The number of memory channels is not a power of two, which the address mapping needs.",
            "Set -gpgpu_n_mem to a power of two, or use a simulator that maps other numbers.",
        ),
        row(
            "Kernel requires more resources than shader has",
            Specific,
            K::KernelTooLarge,
            "One block of the kernel needs more shared memory, registers or threads than an SM of the config has.",
            "Simulate on the GPU the kernel was built for, or raise -gpgpu_shmem_size, -gpgpu_shader_registers or \
             -gpgpu_shader_core_pipeline.",
        ),
        row(
            "Unknown Option:",
            Specific,
            K::UnknownOption,
            "The config has an option that this simulator does not know: it is newer, or a name is misspelt.",
            OPTIONS_DIFFER,
        ),
        row(
            "Cannot parse value",
            Specific,
            K::BadOptionValue,
            "A value in the config cannot be read.",
            "Correct the option named in the excerpt.",
        ),
        row(
            "Missing option",
            Specific,
            K::BadOptionValue,
            "An option in the config has no value.",
            "Give the option named in the excerpt a value.",
        ),
        row(
            "accel_sim_framework::cleanup",
            Specific,
            K::CleanUp,
            "The simulator failed while cleaning up, usually because the kernel list ends with a memcpy line.",
            "If every kernel has finished, the results are complete. Strip memcpy lines after the last kernel.",
        ),
        row(
            "Assertion `k' failed",
            Specific,
            K::CleanUp,
            "The simulator failed while cleaning up, usually because the kernel list ends with a memcpy line.",
            "If every kernel has finished, the results are complete. Strip memcpy lines after the last kernel.",
        ),
        row(
            "vector::_M_range_check",
            Specific,
            K::UnreadableTrace,
            "The simulator read a trace line with fewer fields than it expects.",
            TRACE_AGAIN,
        ),
        row(
            "Unsupported file type",
            Specific,
            K::UnreadableTrace,
            "The simulator does not know this trace file's suffix.",
            "Use .traceg or .traceg.xz files, or a simulator that reads .tracez.",
        ),
        row(
            "what():  stoi",
            Specific,
            K::UnreadableTrace,
            "The simulator met text where the trace should have a number.",
            TRACE_AGAIN,
        ),
        row(
            "xz: not found",
            Specific,
            K::MissingProgram,
            "The simulator calls `xz` to read compressed traces and it is not on the PATH.",
            "Install xz-utils on the machine that simulates.",
        ),
        row(
            "xz: command not found",
            Specific,
            K::MissingProgram,
            "The simulator calls `xz` to read compressed traces and it is not on the PATH.",
            "Install xz-utils on the machine that simulates.",
        ),
        row(
            "error while loading shared libraries",
            Specific,
            K::MissingProgram,
            "The simulator could not start because a library is missing.",
            "Source the simulator's setup_environment, or install the library in the excerpt.",
        ),
        row(
            "std::bad_alloc",
            Specific,
            K::OutOfMemory,
            "The simulator could not get more memory.",
            OUT_OF_MEMORY,
        ),
        row(
            "oom-kill",
            Specific,
            K::OutOfMemory,
            "The system ran out of memory and ended the simulator.",
            OUT_OF_MEMORY,
        ),
        row(
            "oom_kill",
            Specific,
            K::OutOfMemory,
            "The system ran out of memory and ended the simulator.",
            OUT_OF_MEMORY,
        ),
        row(
            " Killed  ",
            Specific,
            K::OutOfMemory,
            "The system ended the simulator, most often for lack of memory.",
            OUT_OF_MEMORY,
        ),
        Row {
            text: "Killed",
            at: Where::Alone,
            weight: Specific,
            kind: K::OutOfMemory,
            means: "The system ended the simulator, most often for lack of memory.",
            advice: OUT_OF_MEMORY,
        },
        row(
            "GPGPU-Sim uArch: ERROR **",
            Generic,
            K::SimulatorError,
            "The simulator reports an error of its own.",
            "See the excerpt.",
        ),
        row(
            "GPGPU-Sim ** ERROR:",
            Generic,
            K::SimulatorError,
            "The simulator reports an error of its own.",
            "See the excerpt.",
        ),
        row(
            "Segmentation fault",
            Generic,
            K::SegmentationFault,
            "The simulator crashed (segmentation fault): often a very large or cut trace, or lack of memory.",
            "Check the trace's version and files and the memory given. Kernels that finished are kept.",
        ),
        row(
            "Floating point exception",
            Generic,
            K::ArithmeticError,
            "The simulator divided by zero; old versions do when a kernel takes less than a second.",
            "Use a newer simulator.",
        ),
        row(
            "terminate called",
            Generic,
            K::Exception,
            "The simulator stopped on an exception it does not handle.",
            "See the excerpt; most often a trace that it cannot read.",
        ),
        row(
            "Assertion `",
            Generic,
            K::Assertion,
            "A check inside the simulator failed.",
            "See the excerpt; check that trace, config and simulator belong together.",
        ),
        row(
            " Aborted  ",
            Generic,
            K::Aborted,
            "The simulator aborted.",
            "See the lines before it.",
        ),
        row(
            "Aborted (core dumped)",
            Generic,
            K::Aborted,
            "The simulator aborted.",
            "See the lines before it.",
        ),
        row(
            "Cascade engine: ERROR:",
            Generic,
            K::SimulatorError,
            "The embedded engine could not simulate a kernel.",
            "Do what the line in the excerpt says. Kernels before it are kept.",
        ),
    ]
};

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(TABLE.iter().map(|row| row.text))
        .ok()
});

/// The first row of the table whose text the line has.
pub(super) fn find(line: &[u8]) -> Option<&'static Row> {
    let finder = FINDER.as_ref()?;
    finder
        .find_iter(line)
        .map(|found| found.pattern().as_usize())
        .filter(|&index| {
            TABLE
                .get(index)
                .is_some_and(|row| row.at == Where::Anywhere || line.trim_ascii() == row.text.as_bytes())
        })
        .min()
        .and_then(|index| TABLE.get(index))
}

/// A line as text, cut to [`MAX_EXCERPT_BYTES`].
pub(super) fn excerpt(line: &[u8]) -> String {
    let line = line.trim_ascii();
    let cut = line.get(..MAX_EXCERPT_BYTES).unwrap_or(line);
    let mut text = String::from_utf8_lossy(cut).into_owned();
    if cut.len() < line.len() {
        text.push('…');
    }
    text
}
