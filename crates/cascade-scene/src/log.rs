//! The end of a sim's log, kept while the page is open.

use std::collections::VecDeque;

/// Most lines a page keeps; the whole log is a download.
pub const MAX_LINES: usize = 2_000;

/// Stands between lines where others may be missing.
pub const GAP: &str = "⋯ lines before this point were not received; the full log has them ⋯";

/// The last [`MAX_LINES`] lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTail {
    lines: VecDeque<String>,
}

impl LogTail {
    /// Starts from the lines that a sim's summary carries.
    pub fn new(tail: &[String]) -> Self {
        let mut log = Self::default();
        log.push(tail.to_vec());
        log
    }

    /// Appends lines and drops the oldest past the limit.
    pub fn push(&mut self, lines: Vec<String>) {
        self.lines.extend(lines);
        let over = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..over);
    }

    /// Goes on after a break from the `tail` of a new snapshot: repeated lines are dropped, and where the two do
    /// not meet, a line says so.
    pub fn resume(&mut self, tail: &[String]) {
        let meets = |n: &usize| {
            let start = self.lines.len().checked_sub(*n);
            start.is_some_and(|start| self.lines.range(start..).eq(tail.iter().take(*n)))
        };
        let overlap = (1..=tail.len()).rev().find(meets).unwrap_or(0);
        if overlap == 0 && !self.is_empty() && !tail.is_empty() {
            self.push(vec![GAP.to_owned()]);
        }
        self.push(tail.iter().skip(overlap).cloned().collect());
    }

    /// The lines as one text.
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.lines.iter().map(|line| line.len() + 1).sum());
        for line in &self.lines {
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    /// How many lines are kept.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is nothing to show yet.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{GAP, LogTail, MAX_LINES};

    fn lines(range: std::ops::Range<u32>) -> Vec<String> {
        range.map(|n| n.to_string()).collect()
    }

    #[test]
    fn a_new_snapshot_repeats_no_line_and_hides_no_gap() {
        let mut log = LogTail::new(&lines(0..5));
        log.resume(&lines(3..8));
        assert_eq!(log, LogTail::new(&lines(0..8)));
        log.resume(&lines(0..0));
        assert_eq!(log.len(), 8);
        log.resume(&lines(20..22));
        assert_eq!(log.text().lines().skip(8).collect::<Vec<_>>(), [GAP, "20", "21"]);
    }

    #[test]
    fn only_the_newest_lines_stay() {
        let mut log = LogTail::new(&["first".into()]);
        log.push((1..=MAX_LINES).map(|n| n.to_string()).collect());
        assert_eq!(log.len(), MAX_LINES);
        assert!(log.text().starts_with("1\n2\n"));
        assert!(log.text().ends_with(&format!("{MAX_LINES}\n")));
    }
}
