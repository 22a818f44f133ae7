//! The lists beside kernel traces: `kernelslist*` (what is launched, in order) and `stats*` (what each
//! launch counted).

mod stats;

#[cfg(test)]
mod tests;

use std::io::{self, BufRead};

pub use stats::{LaunchStats, Stats};

use crate::trace::error::{place, quote};
use crate::trace::lines::Lines;
use crate::trace::token::{dec, hex, trim};
use crate::trace::{MAX_LINE_BYTES, TraceErrorKind};

/// Most lines of a kernel list or a statistics file.
pub const MAX_LIST_LINES: usize = 1 << 22;

/// A list that cannot be used, with the place.
#[derive(Debug, thiserror::Error)]
#[error("{file}{}: {kind}", place(*.line))]
pub struct ListError {
    /// Name of the file as the caller gave it.
    pub file: String,
    /// Line counted from 1, 0 for none.
    pub line: u64,
    /// What is wrong.
    pub kind: ListErrorKind,
}

/// What is wrong with a list.
#[derive(Debug, thiserror::Error)]
pub enum ListErrorKind {
    /// Reading failed.
    #[error("cannot read on: {0}")]
    Io(#[from] io::Error),
    /// A line longer than the limit.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes; this is not a list of kernels")]
    LineTooLong,
    /// More lines than the limit.
    #[error("more than {MAX_LIST_LINES} lines; split the trace")]
    TooManyLines,
    /// A file name that could point outside the trace's folder.
    #[error(
        "`{0}` is not a plain file name; kernel files lie in the folder of their list, without `/`, `\\` or `..`"
    )]
    UnsafeName(String),
}

impl From<TraceErrorKind> for ListErrorKind {
    fn from(kind: TraceErrorKind) -> Self {
        match kind {
            TraceErrorKind::Io(error) => Self::Io(error),
            _ => Self::LineTooLong,
        }
    }
}

/// Something odd in a list that does not stop its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Line counted from 1.
    pub line: u64,
    /// What is odd, for people.
    pub text: String,
}

/// One line of a kernel list that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `MemcpyHtoD,0x…,bytes`: a copy from the host to `address` on the GPU.
    MemcpyHtoD {
        /// Destination on the GPU.
        address: u64,
        /// Bytes copied.
        bytes: u64,
    },
    /// A kernel launch, by the name of its trace file.
    Kernel(String),
}

/// A parsed `kernelslist`, `kernelslist.g` or `kernelslist_ctx_*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelList {
    /// Commands in launch order.
    pub commands: Vec<Command>,
    /// Lines that were ignored, as Accel-Sim ignores them.
    pub notes: Vec<Note>,
}

impl KernelList {
    /// Reads a list. Blank lines and carriage returns are harmless; unknown lines become notes.
    ///
    /// # Errors
    /// When reading fails, a limit is passed or a kernel's file name is not a plain name.
    pub fn read(reader: impl BufRead, source_name: &str) -> Result<Self, ListError> {
        let mut list = Self::default();
        for_each_line(reader, source_name, |number, line| list.line(number, line))?;
        Ok(list)
    }

    /// The kernels' file names, in launch order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().filter_map(|command| match command {
            Command::Kernel(file) => Some(file.as_str()),
            Command::MemcpyHtoD { .. } => None,
        })
    }

    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), ListErrorKind> {
        if line.starts_with(b"kernel") {
            self.commands.push(Command::Kernel(plain_name(line)?));
        } else if let Some(command) = memcpy(line) {
            self.commands.push(command);
        } else {
            self.notes.push(Note {
                line: number,
                text: format!("ignored: `{}` is no command", quote(line)),
            });
        }
        Ok(())
    }
}

fn memcpy(line: &[u8]) -> Option<Command> {
    let mut fields = line
        .strip_prefix(b"MemcpyHtoD")?
        .split(|byte| *byte == b',')
        .map(trim);
    let rest = fields.next()?;
    let (address, bytes) = (hex(fields.next()?)?, dec(fields.next()?)?);
    (rest.is_empty() && fields.next().is_none()).then_some(Command::MemcpyHtoD { address, bytes })
}

/// Checks that a name from a list is a file name and not a path.
fn plain_name(name: &[u8]) -> Result<String, ListErrorKind> {
    let text = std::str::from_utf8(name).ok().filter(|text| is_plain_name(text));
    text.map(str::to_owned)
        .ok_or_else(|| ListErrorKind::UnsafeName(quote(name)))
}

/// Whether `name` is a plain file name: no separators, no `..`, no control characters, at most 255 bytes.
pub fn is_plain_name(name: &str) -> bool {
    let odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !name.is_empty() && name.len() <= 255 && name != "." && !name.contains("..") && !name.chars().any(odd)
}

/// The launch number in a kernel trace's file name: 2254 for `kernel-2254-ctx_0x1afd03e0.trace.xz`.
pub fn kernel_id(file: &str) -> Option<u64> {
    let rest = file.strip_prefix("kernel-")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// The CUDA context in a file name: `0x1afd03e0` for `kernel-2254-ctx_0x1afd03e0.trace.xz`,
/// `kernelslist_ctx_0x1afd03e0` or `stats_ctx_0x1afd03e0`; `None` in the older naming.
pub fn context(file: &str) -> Option<&str> {
    let (_, rest) = file.split_once("ctx_")?;
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    rest.get(..end).filter(|context| !context.is_empty())
}

/// Calls `f` with the number and trimmed bytes of each line that is not blank.
fn for_each_line(
    reader: impl BufRead,
    source_name: &str,
    mut f: impl FnMut(u64, &[u8]) -> Result<(), ListErrorKind>,
) -> Result<(), ListError> {
    let mut lines = Lines::new(reader);
    let mut walk = || -> Result<(), ListErrorKind> {
        loop {
            let number = lines.number() + 1;
            let Some(line) = lines.next()? else { return Ok(()) };
            if number > MAX_LIST_LINES as u64 {
                return Err(ListErrorKind::TooManyLines);
            }
            let line = trim(line);
            if !line.is_empty() {
                f(number, line)?;
            }
        }
    };
    let result = walk();
    result.map_err(|kind| ListError {
        file: source_name.into(),
        line: lines.number(),
        kind,
    })
}
