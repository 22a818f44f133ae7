//! Cuts an engine's output into lines and the lines into chunks, in bounded memory.

use memchr::memchr;

/// Most lines of a chunk.
pub(crate) const CHUNK_LINES: usize = 200;
/// Bytes at which a chunk is sent although it has fewer lines. As JSON, where a control character takes six
/// bytes, this stays below the app's limit for a body.
const CHUNK_BYTES: usize = 4 << 20;
/// Longest line; a longer one goes on in the next. The app's parser looks at no more of a line either.
const LINE_BYTES: usize = 1 << 20;

/// Lines waiting to be sent and the start of the next one.
#[derive(Debug, Default)]
pub(crate) struct Chunker {
    open: Vec<u8>,
    lines: Vec<String>,
    bytes: usize,
}

impl Chunker {
    /// Takes bytes until a chunk is full and gives back the rest.
    pub(crate) fn push<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let Some(first) = bytes.first()
            && !self.is_full()
        {
            if *first == b'\n' {
                self.close();
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            if self.open.len() >= LINE_BYTES {
                self.close();
            }
            let room = bytes.len().min(LINE_BYTES - self.open.len());
            let end = memchr(b'\n', bytes.get(..room).unwrap_or_default()).unwrap_or(room);
            let (head, tail) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
            self.open.extend_from_slice(head);
            bytes = tail;
        }
        bytes
    }

    /// Whether a chunk should be sent now.
    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= CHUNK_LINES || self.bytes >= CHUNK_BYTES
    }

    /// Whether there is a whole line to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The whole lines so far.
    pub(crate) fn take(&mut self) -> Vec<String> {
        self.bytes = 0;
        std::mem::take(&mut self.lines)
    }

    /// Ends the line that the output stopped in.
    pub(crate) fn finish(&mut self) {
        if !self.open.is_empty() {
            self.close();
        }
    }

    fn close(&mut self) {
        self.lines.push(String::from_utf8_lossy(&self.open).into_owned());
        self.bytes += self.open.len();
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, CHUNK_LINES, Chunker, LINE_BYTES};

    /// The chunks of an output that arrives in pieces of `size`.
    fn chunks(output: &[u8], size: usize) -> Vec<Vec<String>> {
        let mut chunker = Chunker::default();
        let mut chunks = Vec::new();
        for mut piece in output.chunks(size) {
            loop {
                piece = chunker.push(piece);
                if !chunker.is_full() {
                    break;
                }
                chunks.push(chunker.take());
            }
        }
        chunker.finish();
        if !chunker.is_empty() {
            chunks.push(chunker.take());
        }
        chunks
    }

    #[test]
    fn lines_come_whole_whatever_the_pieces() {
        let output = b"one\n\nthree \xff\r\nfour\nlast without newline";
        for size in 1..output.len() + 1 {
            let lines = chunks(output, size).concat();
            assert_eq!(
                lines,
                ["one", "", "three \u{fffd}\r", "four", "last without newline"],
                "{size}"
            );
        }
    }

    #[test]
    fn a_chunk_has_at_most_200_lines() {
        let output: String = (0..501).map(|i| format!("{i}\n")).collect();
        let sizes: Vec<_> = chunks(output.as_bytes(), 64 << 10).iter().map(Vec::len).collect();
        assert_eq!(sizes, [CHUNK_LINES, CHUNK_LINES, 101]);
    }

    #[test]
    fn a_long_line_is_split_and_no_byte_is_lost() {
        for (len, pieces) in [(LINE_BYTES, 1), (LINE_BYTES + 1, 2), (10 << 20, 10)] {
            let mut output = vec![b'x'; len];
            output.extend_from_slice(b"\nnext\n");
            for size in [LINE_BYTES, 100_000, output.len()] {
                let chunks = chunks(&output, size);
                assert!(
                    chunks
                        .iter()
                        .all(|c| c.iter().map(String::len).sum::<usize>() <= CHUNK_BYTES + LINE_BYTES)
                );
                let lines = chunks.concat();
                let (last, long) = lines.split_last().unwrap();
                assert_eq!(last, "next");
                assert_eq!(long.iter().map(String::len).sum::<usize>(), len);
                assert_eq!(long.len(), pieces, "{len} in pieces of {size}");
            }
        }
    }
}
