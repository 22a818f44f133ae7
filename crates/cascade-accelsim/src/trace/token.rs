//! Blank-separated tokens of a line and the numbers in them, at the level of bytes.

/// The tokens of one line, left to right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'a> {
    rest: &'a [u8],
}

/// Blanks, tabs, carriage returns and whatever else is no printing character.
fn is_blank(byte: u8) -> bool {
    byte <= b' '
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        let mut tokens = Self { rest: line };
        tokens.skip_blanks();
        tokens
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while let [first, rest @ ..] = self.rest
            && is_blank(*first)
        {
            self.rest = rest;
        }
    }

    /// What is left of the line, starting at the next token.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next token without taking it.
    pub(crate) fn peek(mut self) -> Option<&'a [u8]> {
        self.next()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self
            .rest
            .iter()
            .position(|byte| is_blank(*byte))
            .unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        self.skip_blanks();
        Some(token)
    }
}

/// Hexadecimal number with or without `0x`, up to 16 digits.
#[inline]
pub(crate) fn hex(text: &[u8]) -> Option<u64> {
    let digits = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
        .unwrap_or(text);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value = 0u64;
    for byte in digits {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        value = value << 4 | u64::from(digit);
    }
    Some(value)
}

/// Unsigned decimal number.
#[inline]
pub(crate) fn dec(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for byte in text {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
    }
    Some(value)
}

/// Signed decimal number; values from 2^63 to 2^64-1 are taken as their two's complement.
#[inline]
pub(crate) fn signed(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => 0i64.checked_sub_unsigned(dec(digits)?),
        None => Some(dec(text)?.cast_signed()),
    }
}

/// `text` without blanks on either side.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}
