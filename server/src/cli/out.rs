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

    /// One line of text.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result {
        Ok(writeln!(self.stdout, "{text}")?)
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

/// A line for people on standard error.
pub(crate) fn note(text: impl fmt::Display) {
    // Nobody is left to tell when standard error is closed.
    drop(writeln!(io::stderr(), "{text}"));
}

/// Whether a person watches standard error.
pub(crate) fn watched() -> bool {
    io::stderr().is_terminal()
}
