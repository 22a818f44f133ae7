//! Tokens: words between blanks, `#` comments to the end of the line (also inside quotes), and `"…"`, which
//! joins words over lines with single blanks. After the option parser of gpgpu-sim.

/// Bytes read of one file.
pub const MAX_CONFIG_BYTES: usize = 1024 * 1024;
/// How deep `-config` may nest.
pub const MAX_DEPTH: usize = 8;
/// Files read in all.
pub const MAX_CONFIG_FILES: usize = 64;
/// Options kept in all.
pub const MAX_SETTINGS: usize = 16_384;

/// A file's name for messages and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// As it shall stand in messages.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a [u8],
}

/// A word and the line where it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: u32,
    pub(super) quoted: bool,
    /// A quote that the file never closes.
    pub(super) open: bool,
}

impl Token {
    /// `-name`: a dash and a letter, so that `-1` is a value.
    pub(super) fn is_name(&self) -> bool {
        let mut bytes = self.text.bytes();
        !self.quoted
            && bytes.next() == Some(b'-')
            && bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
    }
}

/// The tokens of a text.
pub(super) fn tokens(text: &[u8]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open = false;
    for (line, bytes) in (1_u32..).zip(text.split(|&byte| byte == b'\n')) {
        let code = bytes.split(|&byte| byte == b'#').next().unwrap_or_default();
        for word in String::from_utf8_lossy(code).split_ascii_whitespace() {
            let (word, starts) = match word.strip_prefix('"') {
                Some(rest) if !open => (rest, true),
                _ => (word, false),
            };
            let (word, ends) = match word.strip_suffix('"') {
                Some(rest) if open || starts => (rest, true),
                _ => (word, false),
            };
            match tokens.last_mut().filter(|_| open) {
                Some(last) => {
                    if !last.text.is_empty() && !word.is_empty() {
                        last.text.push(' ');
                    }
                    last.text.push_str(word);
                    last.open = !ends;
                }
                None => tokens.push(Token {
                    text: word.to_owned(),
                    line,
                    quoted: starts,
                    open: starts && !ends,
                }),
            }
            open = (open || starts) && !ends;
        }
    }
    tokens
}
