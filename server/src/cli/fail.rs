//! Why a command did not do what was asked, and the exit code that says so.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// A command's failure.
#[derive(Debug)]
pub(crate) enum Fail {
    /// A run or a simulation failed: 1. No message where the output has said it all.
    Failed(Option<String>),
    /// Wrong usage or input: 2.
    Usage(String),
    /// The server cannot be reached: 3.
    Unreachable(String),
    /// Whoever read our output has closed it, as `head` does: 0.
    Closed,
}

impl Fail {
    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(Some(message.to_string()))
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Usage(format!("{}: {error}", path.display()))
    }

    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Failed(message) => message.as_deref(),
            Self::Usage(message) | Self::Unreachable(message) => Some(message),
            Self::Closed => None,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Closed => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
        })
    }
}

/// Failures of standard output.
impl From<io::Error> for Fail {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::failed(format_args!("the output could not be written: {error}")),
        }
    }
}

impl From<cascade_client::Error> for Fail {
    fn from(error: cascade_client::Error) -> Self {
        use cascade_client::Error as E;
        match error {
            E::Unreachable { .. } | E::Failed { .. } | E::Answer { .. } => {
                Self::Unreachable(error.to_string())
            }
            E::Write(error) => error.into(),
            other => Self::usage(other),
        }
    }
}
