//! Which file format a kernel trace has, told from its name or its first bytes.

/// A file format of kernel traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceFormat {
    /// `.trace`: raw text of the tracer.
    Raw,
    /// `.trace.xz`: raw text, compressed.
    RawXz,
    /// `.traceg`: processed text.
    Text,
    /// `.traceg.xz`: processed text, compressed.
    TextXz,
    /// `.tracez`: processed, in zstd frames with an index.
    Packed,
}

/// First bytes of an xz file.
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";

impl TraceFormat {
    const SUFFIXES: [(&'static str, Self); 5] = [
        (".traceg.xz", Self::TextXz),
        (".trace.xz", Self::RawXz),
        (".traceg", Self::Text),
        (".tracez", Self::Packed),
        (".trace", Self::Raw),
    ];

    /// The format that a file name's suffix names.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::SUFFIXES
            .iter()
            .find_map(|(suffix, format)| name.ends_with(suffix).then_some(*format))
    }

    /// The suffix, with its dot.
    pub fn suffix(self) -> &'static str {
        Self::SUFFIXES
            .iter()
            .find_map(|(suffix, format)| (*format == self).then_some(*suffix))
            .unwrap_or_default()
    }

    /// Whether the post-processor has to run first.
    pub fn is_raw(self) -> bool {
        matches!(self, Self::Raw | Self::RawXz)
    }

    /// `name` with its suffix replaced by that of this format.
    pub fn rename(self, name: &str) -> String {
        let stem = Self::of_name(name)
            .and_then(|format| name.strip_suffix(format.suffix()))
            .unwrap_or(name);
        format!("{stem}{}", self.suffix())
    }

    /// The format of a processed trace: xz has a magic; a packed file is known by its name or by a NUL
    /// after its header, which text never holds.
    pub(crate) fn of_content(name: &str, start: &[u8]) -> Self {
        if start.starts_with(XZ_MAGIC) {
            Self::TextXz
        } else if Self::of_name(name) == Some(Self::Packed) || start.contains(&0) {
            Self::Packed
        } else {
            Self::Text
        }
    }
}
