//! A sim's log as far as a page has read it: the end first, then what came before on demand, and new lines as they
//! come.

use std::collections::VecDeque;

/// Bytes of a log that a page keeps; the whole log is a download.
pub const MAX_BYTES: usize = 32 << 20;

/// Stands between lines where others are missing.
pub const GAP: &str =
    "⋯ lines are left out here: they came faster than they could be shown; the full log has them ⋯";

/// Lines of a log from some byte on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogText {
    lines: VecDeque<String>,
    bytes: usize,
    /// Place in the log of the first line here; `None` while nothing of it was read.
    from: Option<u64>,
}

impl LogText {
    /// Whether the log has been read, even if there was nothing in it.
    pub fn is_read(&self) -> bool {
        self.from.is_some()
    }

    /// Puts a piece of the log before what is here. `from` is the piece's place in the log. A line that began before
    /// the piece is left out; it comes whole with the piece before.
    pub fn before(&mut self, text: &str, from: u64) {
        let cut = match from {
            0 => 0,
            _ => text.find('\n').map_or(text.len(), |at| at + 1),
        };
        let kept = text.get(cut..).unwrap_or_default();
        for line in kept.lines().rev() {
            self.bytes += line.len() + 1;
            self.lines.push_front(line.to_owned());
        }
        self.from = Some(from + cut as u64);
    }

    /// Appends new lines, after `skipped` that nobody has; the oldest go when there are too many.
    pub fn after(&mut self, lines: Vec<String>, skipped: u64) {
        if skipped > 0 {
            self.push(GAP.to_owned());
        }
        for line in lines {
            self.push(line);
        }
        while self.bytes > MAX_BYTES
            && let Some(line) = self.lines.pop_front()
        {
            self.bytes -= line.len() + 1;
            if let Some(from) = &mut self.from {
                *from += line.len() as u64 + 1;
            }
        }
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
    }

    /// Bytes of the log before the first line here; 0 when it is here from the start or nothing was read.
    pub fn unread(&self) -> u64 {
        self.from.unwrap_or(0)
    }

    /// Whether a page may read more of it.
    pub const fn has_room(&self) -> bool {
        self.bytes < MAX_BYTES
    }

    /// Lines that are here.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is nothing to show yet.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// One line.
    pub fn line(&self, at: usize) -> Option<&str> {
        self.lines.get(at).map(String::as_str)
    }

    /// Lines that hold `words`, in capitals or not.
    pub fn find(&self, words: &str) -> Vec<usize> {
        let words = words.to_ascii_lowercase();
        if words.is_empty() {
            return Vec::new();
        }
        let hits = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| holds(line, &words));
        hits.map(|(at, _)| at).collect()
    }

    /// The lines as one text.
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.bytes);
        for line in &self.lines {
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

/// Whether a line holds words that are in small letters.
fn holds(line: &str, words: &str) -> bool {
    first(line, words, 0).is_some()
}

/// Where words in small letters stand in a line, from `start` on.
fn first(line: &str, words: &str, start: usize) -> Option<usize> {
    let (line, words) = (line.as_bytes(), words.as_bytes());
    let rest = line.get(start..)?;
    let at = rest
        .windows(words.len().max(1))
        .position(|window| window.eq_ignore_ascii_case(words));
    at.map(|at| at + start)
}

/// A line cut at each place that holds `words`: pieces, and whether each is a hit.
pub fn cut<'a>(line: &'a str, words: &str) -> Vec<(&'a str, bool)> {
    let words = words.to_ascii_lowercase();
    let mut pieces = Vec::new();
    let mut start = 0;
    while !words.is_empty()
        && let Some(at) = first(line, &words, start)
    {
        // Letters are compared byte by byte and only ASCII folds, so a hit begins and ends between letters.
        pieces.push((line.get(start..at).unwrap_or_default(), false));
        pieces.push((line.get(at..at + words.len()).unwrap_or_default(), true));
        start = at + words.len();
    }
    pieces.push((line.get(start..).unwrap_or_default(), false));
    pieces.retain(|(piece, _)| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_meet_at_whole_lines() {
        let whole = "first\nsecond\nthird\nfourth\n";
        for at in 0..whole.len() {
            let mut log = LogText::default();
            log.before(&whole[at..], at as u64);
            let unread = log.unread() as usize;
            assert!(unread == 0 || whole[..unread].ends_with('\n'), "{at}: {unread}");
            log.before(&whole[..unread], 0);
            assert_eq!((log.text().as_str(), log.unread()), (whole, 0), "{at}");
        }
    }

    #[test]
    fn the_oldest_lines_go_and_a_gap_is_told() {
        let mut log = LogText::default();
        log.before("old\n", 100);
        assert_eq!(log.unread(), 104, "the piece may begin inside a line");
        log.after(vec!["x".repeat(MAX_BYTES / 2); 3], 7);
        assert_eq!(
            log.len(),
            1,
            "half of the limit and a line break, twice, is too much"
        );
        log.after(vec!["a".into()], 1);
        assert_eq!((log.line(1), log.line(2)), (Some(GAP), Some("a")));
    }

    #[test]
    fn hits_are_found_and_cut_out() {
        let mut log = LogText::default();
        log.after(
            ["gpu_ipc = 1", "nothing", "GPU_IPC of GPU"]
                .map(String::from)
                .to_vec(),
            0,
        );
        assert_eq!(log.find("gpu"), [0, 2]);
        assert_eq!(log.find(""), [0_usize; 0]);
        assert_eq!(
            cut("GPU µ of gpu", "gpu"),
            [("GPU", true), (" µ of ", false), ("gpu", true)]
        );
        assert_eq!(cut("ünter", "n"), [("ü", false), ("n", true), ("ter", false)]);
    }
}
