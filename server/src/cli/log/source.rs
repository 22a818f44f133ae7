//! Opens a log, packed with gzip or not, and says what a file is that cannot be one.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::cli::Result;
use crate::cli::fail::Fail;

/// Bytes at a file's start that tell what it is.
const HEAD: u64 = 8 << 10;
/// The start of a gzip file (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b];
/// Files that are packed otherwise: their first bytes, their name, and the command that prints what is in them.
const PACKED: [(&[u8], &str, &str); 4] = [
    (b"\xfd7zXZ\0", "an xz file", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "zstd -dc"),
    (b"BZh", "a bzip2 file", "bzip2 -dc"),
    (b"PK\x03\x04", "a zip archive", "unzip -p"),
];

/// The text of the log at `file`; `-` is standard input.
pub(crate) fn open(file: &Path) -> Result<Box<dyn Read>> {
    let source: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).map_err(Fail::file(file))?)
    };
    let (mut head, mut source) = peek(source).map_err(Fail::file(file))?;
    if head.starts_with(GZIP) {
        (head, source) = peek(MultiGzDecoder::new(source)).map_err(Fail::file(file))?;
    }
    match problem(&head, file) {
        Some(problem) => Err(Fail::usage(format_args!("{}: {problem}", file.display()))),
        None => Ok(source),
    }
}

/// The start of `source`, and `source` with its start put back.
fn peek(mut source: impl Read + 'static) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(source))))
}

/// Why a file that starts with `head` is no log.
fn problem(head: &[u8], file: &Path) -> Option<String> {
    if head.is_empty() {
        return Some("the file is empty: nothing was written to it, or it was not copied whole".to_owned());
    }
    if let Some((_, what, unpack)) = PACKED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        let name = file.display();
        return Some(format!(
            "this is {what}: unpack it, or run {unpack} {name} | cascade log show -"
        ));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some("this is UTF-16 text: convert it with iconv -f UTF-16 -t UTF-8".to_owned());
    }
    // Text has tabs, line ends and terminal colours; of random bytes every tenth is another control character.
    let odd = |byte: &&u8| byte.is_ascii_control() && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x1b);
    (head.iter().filter(odd).count() * 20 > head.len())
        .then(|| "this is binary data (or UTF-16), not the text that a simulator prints".to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{open, problem};

    const LOG: &[u8] = b"\x1b[32mgpu_sim_cycle = 5\x1b[0m\tok\r\n";

    #[test]
    fn a_packed_log_reads_like_a_plain_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(LOG).unwrap();
        for bytes in [LOG.to_vec(), packed.finish().unwrap()] {
            let file = dir.path().join("log");
            std::fs::write(&file, bytes).unwrap();
            let mut text = Vec::new();
            open(&file).unwrap().read_to_end(&mut text).unwrap();
            assert_eq!(text, LOG);
        }
    }

    #[test]
    fn what_is_no_log_is_named() {
        let said = |head: &[u8]| problem(head, "sim.log".as_ref()).unwrap_or_default();
        assert_eq!(said(LOG), "");
        assert!(said(b"").contains("empty"));
        assert!(said(b"\xfd7zXZ\0\0").contains("xz -dc sim.log | cascade log show -"));
        assert!(said(b"\xff\xfeg\0").contains("UTF-16"));
        let all: Vec<u8> = (0..=255).collect();
        assert!(said(&all).contains("binary"));
    }
}
