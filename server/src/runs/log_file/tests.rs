//! Log files over crashes.

use std::io::Write;

use cascade_api::limits::{LOG_TAIL_LINE_BYTES, LOG_TAIL_LINES};
use cascade_api::{Engine, Timestamp};

use super::{LogBook, new_tail, one_line};
use crate::db::SimRecord;

const BLOCK: [&str; 3] = [
    "kernel_name = k",
    "gpu_sim_cycle = 42",
    "gpgpu_silicon_slowdown = 7x",
];

fn sim() -> SimRecord {
    SimRecord::pending(
        "sim-1".into(),
        "run-1".into(),
        "G".into(),
        0,
        4,
        Engine::Cascade,
        Timestamp::default(),
    )
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn a_log_read_again_goes_on_in_the_middle_of_a_block() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = sim();
    let before = LogBook::new(dir.path().to_owned());
    let grown = before
        .take(&sim)
        .unwrap()
        .append(&lines(&BLOCK[..2]), true)
        .unwrap();
    assert_eq!(grown.blocks.len(), 0);
    sim.log_bytes = grown.bytes;
    // Bytes of a chunk that was never acknowledged.
    let mut file = std::fs::File::options()
        .append(true)
        .open(before.path(&"sim-1".into()))
        .unwrap();
    file.write_all(b"kernel_name = lost\n").unwrap();

    let after = LogBook::new(dir.path().to_owned());
    let grown = after
        .take(&sim)
        .unwrap()
        .append(&lines(&BLOCK[2..]), true)
        .unwrap();
    let cycles: Vec<_> = grown
        .blocks
        .iter()
        .map(|b| (b.names.clone(), b.gpu_sim_cycle))
        .collect();
    assert_eq!(cycles, [(lines(&["k"]), Some(42))]);
    let text = std::fs::read_to_string(after.path(&"sim-1".into())).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), BLOCK);
}

#[test]
fn kernels_that_were_stored_are_not_found_again_and_others_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = sim();
    let book = LogBook::new(dir.path().to_owned());
    let grown = book
        .take(&sim)
        .unwrap()
        .append(&lines(&[BLOCK, BLOCK].concat()), true)
        .unwrap();
    assert_eq!(grown.blocks.len(), 2);
    sim.log_bytes = grown.bytes;
    for (stored, found) in [(0, 2), (1, 1), (2, 0)] {
        sim.summary.kernels_done = stored;
        let grown = book.take(&sim).unwrap().append(&[], true).unwrap();
        assert_eq!(grown.blocks.len(), found);
    }
}

#[test]
fn a_finished_log_closes_its_block_and_is_not_parsed_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let book = LogBook::new(dir.path().to_owned());
    let log = book
        .take(&sim())
        .unwrap()
        .append(&lines(&BLOCK[..2]), true)
        .unwrap()
        .log
        .unwrap();
    let grown = log.finish().unwrap();
    assert_eq!((grown.blocks.len(), grown.log.is_none()), (1, true));
    let mut sim = sim();
    sim.log_bytes = grown.bytes;
    let late = book.take(&sim).unwrap().append(&lines(&BLOCK), false).unwrap();
    assert_eq!(late.blocks.len(), 0);
}

#[test]
fn a_line_stays_one_line() {
    assert_eq!(one_line("plain".into()), "plain");
    assert_eq!(one_line("ends\r\n".into()), "ends");
    assert_eq!(one_line("a\nb".into()), "a\u{2424}b");
}

#[test]
fn the_tail_holds_the_last_lines_cut_to_their_limit() {
    let old: Vec<String> = (0..LOG_TAIL_LINES).map(|i| i.to_string()).collect();
    let tail = new_tail(&old, &["x".repeat(LOG_TAIL_LINE_BYTES + 1)]);
    assert_eq!((tail.len(), tail[0].as_str()), (LOG_TAIL_LINES, "1"));
    assert!(tail[LOG_TAIL_LINES - 1].ends_with("x…"));
}
