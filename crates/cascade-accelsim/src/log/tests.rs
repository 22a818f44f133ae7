//! Behaviour of the log parser.

mod failures;
mod golden;
mod irregular;
mod pieces;

use super::*;

/// Reads a text at once.
pub(super) fn read(text: &[u8]) -> (Vec<LogEvent>, LogSummary) {
    let mut events = Vec::new();
    let mut parser = Parser::new();
    parser.push(text, &mut |event| events.push(event));
    let summary = parser.finish(&mut |event| events.push(event));
    (events, summary)
}

/// The kernel blocks among events.
pub(super) fn blocks(events: &[LogEvent]) -> Vec<&KernelBlock> {
    events
        .iter()
        .filter_map(|event| {
            if let LogEvent::Kernel(block) = event {
                Some(&**block)
            } else {
                None
            }
        })
        .collect()
}
