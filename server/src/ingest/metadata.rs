//! `metadata.json`: what the profiler says about a trace.

use std::io::{self, Read};
use std::path::Path;

use serde_json::{Map, Value};

/// Largest `metadata.json`: 32 MiB, room for a list of 200,000 files.
pub(super) const MAX_METADATA_BYTES: u64 = 32 << 20;
/// Name of the file within the trace's folder.
pub(super) const METADATA_FILE: &str = "metadata.json";

/// Why a `metadata.json` cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum MetadataError {
    /// It cannot be read.
    #[error("{METADATA_FILE} cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is larger than the limit.
    #[error("{METADATA_FILE} is larger than {MAX_METADATA_BYTES} bytes; upload without a `files` list")]
    TooLarge,
    /// It is not JSON.
    #[error("{METADATA_FILE}:{line}:{column}: not valid JSON: {what}; mend the file and upload it again")]
    Json {
        /// Line counted from 1.
        line: usize,
        /// Column counted from 1; 0 at a line's start.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// It is JSON, but not an object.
    #[error("{METADATA_FILE} holds {0}, not an object such as {{\"model\": \"facebook/opt-125m\"}}")]
    NotAnObject(&'static str),
    /// An entry of its `files` list names no file or no size.
    #[error("{METADATA_FILE}: files[{index}] needs a text `key` and a whole number `bytes`")]
    FileEntry {
        /// Position in the list.
        index: usize,
    },
}

impl From<serde_json::Error> for MetadataError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        // The place comes first here, as in every other message about a file.
        let what = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(what, _)| what);
        Self::Json {
            line: error.line(),
            column: error.column(),
            what: what.to_owned(),
        }
    }
}

/// A file that the uploader promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// Path within the trace's folder.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// A usable `metadata.json`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Metadata {
    /// The whole object.
    pub object: Map<String, Value>,
    /// The `files` list; `None` when there is none.
    pub files: Option<Vec<Listed>>,
}

impl Metadata {
    /// Reads the file. `homes` are the beginnings that a key may carry before the path within the trace,
    /// such as `accelsim-traces/demo/`.
    ///
    /// # Errors
    /// When it cannot be read, is too large, is no JSON object or lists a file without name or size.
    pub(super) fn read(path: &Path, homes: &[String]) -> Result<Self, MetadataError> {
        let file = std::fs::File::open(path)?;
        let mut text = Vec::new();
        file.take(MAX_METADATA_BYTES + 1).read_to_end(&mut text)?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_METADATA_BYTES {
            return Err(MetadataError::TooLarge);
        }
        Self::parse(&text, homes)
    }

    fn parse(text: &[u8], homes: &[String]) -> Result<Self, MetadataError> {
        // Some editors put a byte order mark first, which JSON does not allow.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let object = match serde_json::from_slice(text)? {
            Value::Object(object) => object,
            other => return Err(MetadataError::NotAnObject(kind(&other))),
        };
        let files = match object.get("files") {
            Some(Value::Array(entries)) => Some(listed(entries, homes)?),
            _ => None,
        };
        Ok(Self { object, files })
    }

    /// A text field.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.object.get(key).and_then(Value::as_str)
    }

    /// Whether the profiler said that it failed.
    pub(super) fn failed(&self) -> bool {
        self.text("status") == Some("failed")
    }
}

/// The `files` list without what a scan never sees or cannot hold to its size: dotfiles and
/// `metadata.json` itself.
fn listed(entries: &[Value], homes: &[String]) -> Result<Vec<Listed>, MetadataError> {
    let mut files = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let key = entry.get("key").and_then(Value::as_str);
        let bytes = entry.get("bytes").and_then(Value::as_u64);
        let (Some(key), Some(bytes)) = (key, bytes) else {
            return Err(MetadataError::FileEntry { index });
        };
        let path = homes
            .iter()
            .find_map(|home| key.strip_prefix(home.as_str()))
            .unwrap_or(key);
        let path = path.trim_start_matches("./").trim_start_matches('/');
        if path != METADATA_FILE && !path.split('/').any(|part| part.starts_with('.')) {
            files.push(Listed {
                path: path.to_owned(),
                bytes,
            });
        }
    }
    Ok(files)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Metadata, MetadataError> {
        Metadata::parse(text.as_bytes(), &["accelsim-traces/demo/".to_owned()])
    }

    #[test]
    fn keys_may_be_whole_or_relative() {
        let metadata = parse(
            r#"{"status": "ok", "files": [
                {"key": "accelsim-traces/demo/traces/kernelslist.g", "bytes": 16},
                {"key": "traces/kernel-1.traceg", "bytes": 0, "etag": "x"},
                {"key": "./notes", "bytes": 3},
                {"key": "accelsim-traces/demo/.DS_Store", "bytes": 9},
                {"key": "accelsim-traces/demo/metadata.json", "bytes": 1}]}"#,
        )
        .unwrap();
        let files = metadata.files.as_ref().unwrap();
        let files: Vec<_> = files.iter().map(|f| (f.path.as_str(), f.bytes)).collect();
        assert_eq!(
            files,
            [
                ("traces/kernelslist.g", 16),
                ("traces/kernel-1.traceg", 0),
                ("notes", 3)
            ]
        );
        assert!(!metadata.failed());
    }

    #[test]
    fn only_a_list_counts_as_a_list_of_files() {
        for text in [r"{}", r#"{"files": null}"#, r#"{"files": "many"}"#, "\u{feff}{}"] {
            assert_eq!(parse(text).unwrap().files, None, "{text}");
        }
        assert_eq!(parse(r#"{"files": []}"#).unwrap().files, Some(Vec::new()));
        assert!(parse(r#"{"status": "failed"}"#).unwrap().failed());
    }

    #[test]
    fn errors_name_the_place() {
        let rows = [
            ("{\"model\": 1,\n  oops}", "metadata.json:2:3: "),
            ("", "metadata.json:1:0: "),
            ("[1, 2]", "metadata.json holds a list, not an object"),
            (
                r#"{"files": [{"key": "a", "bytes": 1}, {"key": "b"}]}"#,
                "metadata.json: files[1] needs",
            ),
            (
                r#"{"files": [{"key": "a", "bytes": -1}]}"#,
                "metadata.json: files[0] needs",
            ),
        ];
        for (text, start) in rows {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(start), "{text}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).is_err(), "nesting has a limit");
    }

    #[test]
    fn a_file_over_the_limit_is_refused_unread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(METADATA_FILE);
        std::fs::File::create(&path)
            .unwrap()
            .set_len(MAX_METADATA_BYTES + 1)
            .unwrap();
        assert!(matches!(Metadata::read(&path, &[]), Err(MetadataError::TooLarge)));
    }
}
