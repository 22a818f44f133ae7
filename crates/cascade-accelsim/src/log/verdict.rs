//! Whether a run succeeded, from its log and how its process ended.

use serde::Serialize;

use super::failure::FailureKind;
use super::{Ending, LogSummary};

/// What to tell the user about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The results are those of the whole run.
    pub succeeded: bool,
    /// Why it failed, or a remark on a run that succeeded.
    pub message: Option<String>,
}

/// Judges a run. `exit_code` and `signal` are the process's; a shell reports signal N as code 128 + N.
/// `expected_kernels` is the number of kernels in the list.
///
/// The exit code alone decides nothing: the simulator exits with 0 on an unsupported binary version and
/// aborts (134) in clean-up after complete results.
#[must_use]
pub fn explain(
    summary: &LogSummary,
    exit_code: Option<i32>,
    signal: Option<i32>,
    expected_kernels: Option<usize>,
) -> Verdict {
    let finished = summary.kernels_finished;
    let expected = expected_kernels.unwrap_or(summary.headers_loaded.max(summary.kernels_launched));
    let all =
        finished >= expected && summary.blocks_cut == 0 && (finished > 0 || expected_kernels == Some(0));
    let of = format!("{finished} of {expected} kernels finished");
    let process = process_words(exit_code, signal);
    let failed = |message: String| Verdict {
        succeeded: false,
        message: Some(message),
    };
    let passed = |message: Option<String>| Verdict {
        succeeded: true,
        message,
    };
    match &summary.ending {
        Ending::Failed(failure) => {
            let kernel = failure
                .kernel
                .as_ref()
                .map_or_else(String::new, |name| format!(" in kernel {name}"));
            if failure.results_complete && all
                || expected_kernels.is_some() && all && only_after_results(failure.kind)
            {
                return passed(Some(format!(
                    "All {finished} kernels finished; the simulator then failed (line {}), which does not touch the \
                     results: {}",
                    failure.line, failure.what_it_means
                )));
            }
            let first = failure.excerpt.lines().next().unwrap_or_default();
            failed(format!(
                "{} {} ({of}; log line {}{kernel}: {first})",
                failure.what_it_means, failure.what_to_do, failure.line
            ))
        }
        Ending::NoSimulator => failed(format!(
            "{}The log has no simulator output: the application ran without Accel-Sim (its library was not loaded), or \
             the simulator did not start.",
            process.map_or_else(String::new, |process| process + " ")
        )),
        Ending::MaxCycleReached => failed(format!(
            "The run stopped at the configured maximum (-gpgpu_max_cycle, _max_insn or _max_cta), so its last kernel \
             is partial; {of} at most. Raise or remove the limit."
        )),
        Ending::Complete if all => match process {
            None => passed(None),
            Some(process) => passed(Some(format!("All {finished} kernels finished. {process}"))),
        },
        Ending::Complete => failed(format!(
            "The simulator ended as if all was done but {of}: kernels were dropped from the list or were not readable."
        )),
        Ending::CutOff if expected_kernels.is_some() && all => passed(Some(format!(
            "All {finished} kernels finished; the log lacks the simulator's exit line.{}",
            process.map_or_else(String::new, |process| format!(" {process}"))
        ))),
        Ending::CutOff => {
            let process = process.unwrap_or_else(|| "The log stops without a reason.".to_owned());
            failed(format!("{process} {of}."))
        }
    }
}

/// Failures that say nothing against statistics printed before them.
fn only_after_results(kind: FailureKind) -> bool {
    use FailureKind as K;
    matches!(
        kind,
        K::CleanUp | K::Assertion | K::Exception | K::SegmentationFault | K::Aborted | K::OutOfMemory
    )
}

/// How a process ended, in plain words; none where it exited with 0 or nothing is known.
fn process_words(exit_code: Option<i32>, signal: Option<i32>) -> Option<String> {
    let signal = signal.or(exit_code
        .filter(|code| (129..=192).contains(code))
        .map(|code| code - 128));
    let code = exit_code.unwrap_or_else(|| signal.map_or(0, |signal| 128 + signal));
    Some(match (signal, code) {
        (Some(9), _) => format!(
            "The simulator was killed (exit code {code}), most often because the machine or the sim's memory limit ran \
             out of memory. Give it more memory, run fewer sims at once, or split the kernel list."
        ),
        (Some(11), _) => format!(
            "The simulator crashed with a segmentation fault (exit code {code}): often a very large or cut trace, or \
             lack of memory."
        ),
        (Some(6), _) => format!("The simulator aborted (exit code {code})."),
        (Some(8), _) => format!("The simulator divided by zero (exit code {code})."),
        (Some(15), _) => format!("The simulator was told to stop (exit code {code})."),
        (Some(24 | 14), _) => format!("The simulator ran out of its time limit (exit code {code})."),
        (Some(signal), _) => format!("The simulator was ended by signal {signal} (exit code {code})."),
        (None, 0) => return None,
        (None, 124) => "The simulator ran out of its time limit (exit code 124).".to_owned(),
        (None, 126 | 127) => {
            format!("The simulator could not be started (exit code {code}): check its path.")
        }
        (None, code) => format!("The simulator ended with exit code {code}."),
    })
}
