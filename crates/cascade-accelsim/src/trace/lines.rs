//! Lines of a buffered reader without a copy where the line lies whole in the buffer.

use std::io::BufRead;

use super::{MAX_LINE_BYTES, TraceErrorKind};

/// Hands out one line at a time, without its line end, blanks at its end or carriage return.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    /// Bytes of the reader's buffer that the last line occupied.
    pending: usize,
    /// A line that spans buffer refills.
    carry: Vec<u8>,
    /// Whether the next call gives the last line again.
    again: bool,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            pending: 0,
            carry: Vec::new(),
            again: false,
            number: 0,
        }
    }

    /// Number of the line handed out last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Makes the next call give the last line again.
    pub(crate) fn unread(&mut self) {
        self.again = true;
    }

    /// The next line, or `None` at the end. The last line may lack its line end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, TraceErrorKind> {
        if self.again {
            self.again = false;
            return Ok(Some(self.last()?));
        }
        self.reader.consume(self.pending);
        self.pending = 0;
        self.carry.clear();
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                if self.carry.is_empty() {
                    return Ok(None);
                }
                break;
            }
            let end = memchr::memchr(b'\n', buffer);
            let taken = end.unwrap_or(buffer.len());
            if self.carry.len() + taken > MAX_LINE_BYTES {
                return Err(TraceErrorKind::LineTooLong);
            }
            if let Some(end) = end
                && self.carry.is_empty()
            {
                self.pending = end + 1;
                break;
            }
            self.carry
                .extend_from_slice(buffer.get(..taken).unwrap_or(buffer));
            let used = taken + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                // An empty carry would read as "in the buffer"; the line end keeps it non-empty.
                self.carry.push(b'\n');
                break;
            }
        }
        self.number += 1;
        Ok(Some(self.last()?))
    }

    fn last(&mut self) -> Result<&[u8], TraceErrorKind> {
        let line = if self.carry.is_empty() {
            let buffer = self.reader.fill_buf()?;
            buffer.get(..self.pending).unwrap_or(buffer)
        } else {
            &self.carry
        };
        Ok(line
            .strip_suffix(b"\n")
            .map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line)))
    }
}
