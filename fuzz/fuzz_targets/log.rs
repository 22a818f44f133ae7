//! Any bytes, cut at any two places, give the same events and summary, and no block is larger than its bound.

#![no_main]

use cascade_accelsim::log::{LogEvent, MAX_KEYS_PER_BLOCK, Parser, explain};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u16, &[u8])| {
    let (first, second, log) = input;
    let read = |cuts: &[usize]| {
        let (mut parser, mut events, mut from) = (Parser::new(), Vec::new(), 0);
        for &cut in cuts.iter().chain([&log.len()]) {
            parser.push(&log[from..cut], &mut |event| events.push(event));
            from = cut;
        }
        let summary = parser.finish(&mut |event| events.push(event));
        (events, summary)
    };
    let whole = read(&[]);
    let mut cuts = [
        usize::from(first).min(log.len()),
        usize::from(second).min(log.len()),
    ];
    cuts.sort_unstable();
    assert_eq!(whole, read(&cuts));
    for event in &whole.0 {
        if let LogEvent::Kernel(block) = event {
            assert!(block.stats.len() <= MAX_KEYS_PER_BLOCK);
        }
    }
    let _verdict = explain(&whole.1, Some(i32::from(first)), None, Some(usize::from(second)));
});
