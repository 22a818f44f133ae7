//! Banner lines and the dump of effective options.

use super::Banner;
use super::stats::{lossy, trim};

/// Options kept of a dump; the largest real one has about 330.
pub(super) const MAX_OPTIONS: usize = 4_096;

/// `-name   value # description`: name and value. The value may be empty or hold blanks.
pub(super) fn option_line(line: &[u8]) -> Option<(String, String)> {
    let name_end = line
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(name_end)?;
    // Trace headers (`-kernel name = x`) look alike but for the equals sign; they never come before a value.
    if !name.starts_with(b"-") || !name.get(1)?.is_ascii_alphabetic() {
        return None;
    }
    let end = memchr::memmem::find(rest, b" # ").or_else(|| rest.strip_suffix(b" #").map(<[u8]>::len));
    Some((lossy(name), lossy(trim(rest.get(..end.unwrap_or(rest.len()))))))
}

/// `NAME [build B]` or `*** NAME Simulator Version V  [build B] ***`, and what is glued behind the first form.
pub(super) fn banner(line: &[u8]) -> Option<(Banner, &[u8])> {
    let at = memchr::memmem::find(line, b"[build ")?;
    let (before, after) = (trim(line.get(..at)), line.get(at + b"[build ".len()..)?);
    let end = memchr::memchr(b']', after)?;
    let (build, rest) = (lossy(after.get(..end)?), trim(after.get(end + 1..)));
    let starred = before.strip_prefix(b"***").map(<[u8]>::trim_ascii);
    let title = String::from_utf8_lossy(starred.unwrap_or(before)).into_owned();
    let (name, version) = match title.split_once(" Simulator Version ") {
        Some((name, version)) => (name.to_owned(), Some(version.trim().to_owned())),
        None => (title, None),
    };
    // Names are short; anything else is some other line that happens to hold the brackets.
    if name.is_empty() || name.len() > 64 {
        return None;
    }
    let commit = build.split_once("commit-").map(|(_, rest)| {
        rest.chars()
            .take_while(char::is_ascii_hexdigit)
            .collect::<String>()
    });
    let commit = commit.filter(|commit| commit.len() >= 6);
    Some((
        Banner {
            name,
            version,
            build,
            commit,
        },
        if starred.is_some() { &[] } else { rest },
    ))
}
