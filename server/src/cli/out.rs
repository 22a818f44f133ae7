//! The one place that writes to standard output and standard error.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use serde::Serialize;

use super::Result;
use super::table::Table;

/// Standard output, buffered. It is not locked between writes: other threads may write to it too.
pub(crate) struct Out {
    stdout: BufWriter<Stdout>,
    json: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            stdout: BufWriter::new(io::stdout()),
            json,
        }
    }

    /// Whether results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A line of text, with no character that a terminal would obey.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result {
        Ok(writeln!(self.stdout, "{}", harmless(&text.to_string()))?)
    }

    /// A table of text.
    pub(crate) fn table(&mut self, table: &Table) -> Result {
        Ok(write!(self.stdout, "{table}")?)
    }

    /// A value as JSON, indented.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        serde_json::to_writer_pretty(&mut self.stdout, value).map_err(io::Error::from)?;
        Ok(writeln!(self.stdout)?)
    }

    /// A value as one line of JSON, sent on at once.
    pub(crate) fn json_line<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        serde_json::to_writer(&mut self.stdout, value).map_err(io::Error::from)?;
        writeln!(self.stdout)?;
        self.finish()
    }

    /// Sends on what is buffered.
    pub(crate) fn finish(&mut self) -> Result {
        Ok(self.stdout.flush()?)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// `text` without characters that a terminal obeys instead of showing: names, logs and messages may come from
/// anyone's upload. Line ends and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    let obeyed = |c: char| match c {
        '\n' | '\t' => false,
        // Marks that turn the direction of the text, so that it reads otherwise than it is.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    text.replace(obeyed, "\u{fffd}")
}

/// A line for people on standard error.
pub(crate) fn note(text: impl fmt::Display) {
    // Nobody is left to tell when standard error is closed.
    drop(writeln!(io::stderr(), "{}", harmless(&text.to_string())));
}

/// Whether a person watches standard error.
pub(crate) fn watched() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn a_terminal_obeys_nothing_that_is_printed() {
        assert_eq!(
            harmless("a\u{1b}]0;x\u{7}\r\u{9b}2J\u{202e}b\n\tö"),
            "a\u{fffd}]0;x\u{fffd}\u{fffd}\u{fffd}2J\u{fffd}b\n\tö"
        );
    }
}
