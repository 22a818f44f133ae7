//! Object keys that are safe to use as paths below a bucket's folder.
//!
//! S3 allows nearly any string as a key. Here a key becomes a path, so what could leave the bucket, hide,
//! or not be stored as it was sent is refused with a reason. Everything else (case, unicode, `+`, `%`,
//! spaces) is kept byte for byte.

/// Longest key in bytes of UTF-8 (S3's own limit).
pub(crate) const MAX_KEY_BYTES: usize = 1024;
/// Longest part of a key between two slashes, in bytes (`NAME_MAX` of Linux filesystems).
pub(crate) const MAX_SEGMENT_BYTES: usize = 255;

/// Why a key cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key is empty.
    #[error("the key is empty: name the object, for example traces/run-1/kernel-1.trace")]
    Empty,
    /// The key is longer than [`MAX_KEY_BYTES`].
    #[error("the key has {0} bytes; at most {MAX_KEY_BYTES} are allowed: shorten it")]
    TooLong(usize),
    /// A part between slashes is longer than [`MAX_SEGMENT_BYTES`].
    #[error(
        "a part of the key between slashes has {0} bytes; at most {MAX_SEGMENT_BYTES} are allowed: shorten it"
    )]
    SegmentTooLong(usize),
    /// The key starts with `/` or has `//` in it.
    #[error("the key has an empty part (a leading / or a //): remove the extra slash")]
    EmptySegment,
    /// The key has a `.` or `..` part.
    #[error("the key has a '{0}' part, which would name another folder: send the plain path")]
    DotSegment(&'static str),
    /// The key has a control character, such as NUL or a line break.
    #[error("the key has the control character U+{0:04X}: remove it")]
    Control(u32),
}

/// A checked key, split where it has slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key<'a> {
    /// The key as sent.
    pub raw: &'a str,
    /// The folders it lies in, outermost first.
    pub dirs: Vec<&'a str>,
    /// The file name; `None` for a folder marker (a key that ends in `/`).
    pub name: Option<&'a str>,
}

impl<'a> Key<'a> {
    /// Checks a key.
    ///
    /// # Errors
    /// [`KeyError`] says which rule it breaks.
    pub fn parse(raw: &'a str) -> Result<Self, KeyError> {
        if raw.is_empty() {
            return Err(KeyError::Empty);
        }
        if raw.len() > MAX_KEY_BYTES {
            return Err(KeyError::TooLong(raw.len()));
        }
        if let Some(c) = raw.chars().find(|c| c.is_control()) {
            return Err(KeyError::Control(u32::from(c)));
        }
        let (path, marker) = match raw.strip_suffix('/') {
            Some(path) => (path, true),
            None => (raw, false),
        };
        let mut dirs = Vec::new();
        for segment in path.split('/') {
            match segment {
                "" => return Err(KeyError::EmptySegment),
                "." => return Err(KeyError::DotSegment(".")),
                ".." => return Err(KeyError::DotSegment("..")),
                s if s.len() > MAX_SEGMENT_BYTES => return Err(KeyError::SegmentTooLong(s.len())),
                s => dirs.push(s),
            }
        }
        let name = if marker { None } else { dirs.pop() };
        Ok(Self { raw, dirs, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splits_at_slashes() {
        let key = Key::parse("a/B c/+%é.json").unwrap();
        assert_eq!(key.dirs, ["a", "B c"]);
        assert_eq!(key.name, Some("+%é.json"));
        let marker = Key::parse("a/b/").unwrap();
        assert_eq!(marker.dirs, ["a", "b"]);
        assert_eq!(marker.name, None);
    }

    #[test]
    fn refuses_what_leaves_the_bucket() {
        for (raw, why) in [
            ("", KeyError::Empty),
            ("/", KeyError::EmptySegment),
            ("/etc/passwd", KeyError::EmptySegment),
            ("a//b", KeyError::EmptySegment),
            ("a//", KeyError::EmptySegment),
            ("../x", KeyError::DotSegment("..")),
            ("a/../../x", KeyError::DotSegment("..")),
            ("a/.", KeyError::DotSegment(".")),
            ("a/../", KeyError::DotSegment("..")),
            ("a\0b", KeyError::Control(0)),
            ("a\nb", KeyError::Control(10)),
            ("a\u{7f}", KeyError::Control(127)),
        ] {
            assert_eq!(Key::parse(raw), Err(why), "{raw:?}");
        }
        assert_eq!(Key::parse(&"x".repeat(256)), Err(KeyError::SegmentTooLong(256)));
        assert_eq!(Key::parse(&"x/".repeat(513)), Err(KeyError::TooLong(1026)));
        assert!(Key::parse("...").is_ok());
        assert!(Key::parse(".hidden/..x").is_ok());
    }

    proptest! {
        /// Whatever is accepted joins back to itself and stays below its folder.
        #[test]
        fn accepted_keys_stay_inside(raw in "[a./\\\\%+ é\u{0}]{0,12}") {
            if let Ok(key) = Key::parse(&raw) {
                let mut parts = key.dirs.clone();
                parts.push(key.name.unwrap_or(""));
                prop_assert_eq!(parts.join("/"), raw.clone());
                let path = std::path::Path::new(&raw);
                prop_assert!(path.components().all(|c| matches!(c, std::path::Component::Normal(_))));
            }
        }
    }
}
