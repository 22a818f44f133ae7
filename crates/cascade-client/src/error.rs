//! What can go wrong between us and a server, in words that say what to check.

use std::path::PathBuf;

use cascade_api::ErrorBody;

/// A call that did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server's address is not a URL.
    #[error("{url:?} is not a server address: {reason}; write it like http://127.0.0.1:8000")]
    Address {
        /// What was given.
        url: String,
        /// Why it does not serve.
        reason: String,
    },
    /// A token that no request can carry.
    #[error(
        "the token must be printable ASCII without spaces and line breaks inside: check --token or CASCADE_TOKEN"
    )]
    Token,
    /// No answer came.
    #[error(
        "no answer from {url} after {}: {reason}; check that the server runs there and the address is right",
        times(*.tries, "try", "tries")
    )]
    Unreachable {
        /// The address that was called.
        url: String,
        /// How often it was called.
        tries: u32,
        /// The last failure, down to the operating system's words.
        reason: String,
    },
    /// The server understood and said no (400 to 499).
    #[error("{url} answered {status}: {detail}{}", hint(*.status))]
    Refused {
        /// The address that was called.
        url: String,
        /// HTTP status.
        status: u16,
        /// The server's sentence.
        detail: String,
    },
    /// The server failed (500 and above) every time.
    #[error("{url} answered {status} {}: {detail}; the server's log says more", times(*.tries, "time", "times"))]
    Failed {
        /// The address that was called.
        url: String,
        /// HTTP status.
        status: u16,
        /// How often it was called.
        tries: u32,
        /// The server's sentence.
        detail: String,
    },
    /// The answer is not what this route sends.
    #[error("{url} sent something unexpected: {reason}; check that this is a Cascade server of this version")]
    Answer {
        /// The address that was called.
        url: String,
        /// What does not fit.
        reason: String,
    },
    /// A local file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder cannot be uploaded as it is.
    #[error("{}: {reason}", path.display())]
    Folder {
        /// The folder or the file in it.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The answer could not be handed on.
    #[error("could not write the answer: {0}")]
    Write(#[source] std::io::Error),
}

impl Error {
    /// Whether the server could not be reached at all.
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// The HTTP status, where there was an answer.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::Failed { status, .. } => Some(*status),
            _ => None,
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

fn times(number: u32, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

const fn hint(status: u16) -> &'static str {
    match status {
        401 => " (check the token: --token or CASCADE_TOKEN)",
        403 => {
            " (check the access key and token, and this machine's clock: signatures hold for a short time)"
        }
        _ => "",
    }
}

/// A transport error with its causes: reqwest's own text leaves out "connection refused".
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(inner) = cause {
        // Only the innermost cause is the operating system's or the peer's own word.
        text = inner.to_string();
        cause = inner.source();
    }
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    if text.is_empty() { error.to_string() } else { text }
}

/// The server's sentence out of an error body, or the start of whatever it sent instead.
pub(crate) fn detail(body: &[u8]) -> String {
    const SHOWN: usize = 300;
    if let Ok(body) = serde_json::from_slice::<ErrorBody>(body) {
        return body.to_string();
    }
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None if text.is_empty() => "no reason given".to_owned(),
        None => text.to_owned(),
    }
}
