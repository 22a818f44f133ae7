//! The list that goes with processed kernels.

use std::fmt::Write;

use crate::list::{Command, KernelList};
use crate::trace::TraceFormat;

/// Text of `kernelslist.g` for the raw `lists`, each with its file name, kernels renamed to `format`.
///
/// The launches of several CUDA contexts run at the same time, but nothing in the lists says how they
/// interleave. They are put one after the other, in order of the lists' names, so that the result depends
/// on nothing else. Copies after the last kernel are left out: they cannot change any result, and Accel-Sim
/// fails on a list that ends with one.
pub fn processed_list(lists: &[(String, KernelList)], format: TraceFormat) -> String {
    let mut ordered: Vec<_> = lists.iter().collect();
    ordered.sort_by(|a, b| a.0.cmp(&b.0));
    let commands: Vec<&Command> = ordered.iter().flat_map(|(_, list)| &list.commands).collect();
    let end = commands
        .iter()
        .rposition(|command| matches!(command, Command::Kernel(_)))
        .map_or(0, |last| last + 1);
    let mut text = String::new();
    for command in commands.into_iter().take(end) {
        // Writing to a string cannot fail.
        let written = match command {
            Command::MemcpyHtoD { address, bytes } => writeln!(text, "MemcpyHtoD,0x{address:016x},{bytes}"),
            Command::Kernel(file) => writeln!(text, "{}", processed_name(file, format)),
        };
        debug_assert!(written.is_ok());
    }
    text
}

/// Name of the processed file of a raw one; a name that is not raw stays.
pub(crate) fn processed_name(file: &str, format: TraceFormat) -> String {
    match TraceFormat::of_name(file) {
        Some(raw) if raw.is_raw() => format.rename(file),
        _ => file.to_owned(),
    }
}
