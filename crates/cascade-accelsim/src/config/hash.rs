//! A hash that identifies effective options.

use sha2::{Digest, Sha256};

/// Hex digits of a hash: 128 bits.
pub const HASH_CHARS: usize = 32;

/// SHA-256, cut to 128 bits, of the options sorted by name, each as `name\0value\n` with the value normalised.
///
/// Normalised means: blanks joined; a number in its shortest decimal form, whether it was written decimal,
/// `0x` or octal, with or without a fraction; a flag without value as `1`. Names of files are kept. Two
/// texts that the simulator would read alike have the same hash whatever their order and comments.
/// A log echoes the defaults as well, so its hash differs from its config files' hash.
#[must_use]
pub fn options_hash<'a>(options: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<String> = options
        .into_iter()
        .map(|(name, value)| format!("{name}\0{}\n", normalised(value)))
        .collect();
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    for line in &lines {
        hasher.update(line);
    }
    hasher
        .finalize()
        .iter()
        .take(HASH_CHARS / 2)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn normalised(value: &str) -> String {
    let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    // Lists (`1132:1132:1132:3500.5`, `4,1`) are normalised part by part.
    let mut out = String::with_capacity(value.len());
    for part in value.split_inclusive([':', ',']) {
        let end = part.strip_suffix([':', ',']).unwrap_or(part);
        out.push_str(&number(end).unwrap_or_else(|| end.to_owned()));
        out.push_str(part.get(end.len()..).unwrap_or_default());
    }
    if out.is_empty() { "1".to_owned() } else { out }
}

fn number(text: &str) -> Option<String> {
    if let Some(number) = integer(text) {
        return Some(number.to_string());
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.')) {
        return None;
    }
    // `-0.0` and `0` are one number.
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .map(|number| (number + 0.0).to_string())
}

/// An integer as the simulator reads it: decimal, `0x` hexadecimal or with a leading 0 octal.
pub(super) fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    value
        .ok()
        .filter(|value| *value >= 0)
        .map(|value| if negative { -value } else { value })
}
