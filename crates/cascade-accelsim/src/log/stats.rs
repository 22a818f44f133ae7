//! The `key = value` lines of a statistics block.
//!
//! Keys are kept as printed, trimmed. Where a log repeats a key the rule is:
//! 1. a line's own label leads every key on it: `L1D_cache_core[0]: Access`, `L1D_cache_core[0]: Miss`;
//! 2. between `Memory Partition N:` and the next heading, keys are led by `DRAM[N]: `;
//! 3. `minimum` and `maximum` under a network average are led by that average's key;
//! 4. a key seen again with a unit in brackets becomes `key (unit)`, so `gpgpu_simulation_rate` is the
//!    instructions and `gpgpu_simulation_rate (cycle/sec)` the cycles;
//! 5. any other key seen again becomes `key #2`, `key #3`, … in the log's order.
//!
//! A value is a number where one number stands alone or before a unit (`%`, `x`, `!`, `GB/Sec`, `(…)`).
//! `768/40 = 19.2` gives the number and a text `key (fraction)`; `8192 {8:1024,}` the number and a text
//! `key (sizes)`. All else, `nan` and `inf` among it, stays text.

use indexmap::IndexMap;
use indexmap::map::Entry;
use memchr::{memchr, memrchr};
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// Keys kept of one block; an H100 block has about 5,000.
pub const MAX_KEYS_PER_BLOCK: usize = 16_384;
/// Bytes kept of one key and of one text value.
pub(super) const MAX_TEXT_BYTES: usize = 16 * 1024;
/// How often one key may repeat in one block.
const MAX_REPEATS: usize = 64;

/// A value: on the wire a float or a string.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StatValue {
    /// A finite number.
    Number(f64),
    /// Anything else, also `nan` and `inf`, which JSON lacks.
    Text(String),
}

impl StatValue {
    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

/// Key to value in the block's order. The hash is a fixed one: order never depends on it, and a block's keys
/// are bounded.
pub type Stats = IndexMap<String, StatValue, FxBuildHasher>;

/// A block's statistics while they arrive.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) stats: Stats,
    pub(super) dropped: usize,
    /// `DRAM[3]: ` inside a memory partition's lines, else empty.
    section: String,
    /// The last key ending in ` average`: the parent of `minimum`.
    average: String,
    /// The key being built.
    key: String,
}

impl Collector {
    /// With room for as many keys as the block before had.
    pub(super) fn with_capacity(keys: usize) -> Self {
        let stats = Stats::with_capacity_and_hasher(keys.min(MAX_KEYS_PER_BLOCK), FxBuildHasher);
        Self {
            stats,
            ..Self::default()
        }
    }

    /// Takes a line that is plain `key = number`, as most are; false where it is not.
    pub(super) fn plain(&mut self, line: &[u8]) -> bool {
        let Some(eq) = memchr(b'=', line) else {
            return false;
        };
        let (key, value) = (trim(line.get(..eq)), trim(line.get(eq + 1..)));
        match number(value) {
            Some(number) if !is_odd(key) => {
                self.start_key(line, b"", key);
                self.put(StatValue::Number(number), None);
                true
            }
            _ => false,
        }
    }

    /// Takes any other line.
    pub(super) fn other(&mut self, line: &[u8]) {
        match memchr(b'=', line) {
            Some(eq) if !trim(line.get(..eq)).is_empty() => {
                if !is_in_flight(line) {
                    self.odd_line(line, trim(line.get(..eq)), trim(line.get(eq + 1..)));
                }
            }
            _ => self.heading(line),
        }
    }

    fn heading(&mut self, line: &[u8]) {
        if let Some(rest) = line.strip_prefix(b"Memory Partition ") {
            let digits = rest
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(rest.len())
                .min(9);
            self.section.clear();
            self.section.push_str("DRAM[");
            push_lossy(&mut self.section, rest.get(..digits).unwrap_or_default());
            self.section.push_str("]: ");
        } else if line.starts_with(b"=====") {
            self.section.clear();
        }
    }

    /// Builds the key from section or parent, the line's label and the name.
    fn start_key(&mut self, line: &[u8], label: &[u8], name: &[u8]) {
        self.key.clear();
        if !self.section.is_empty() {
            if !label.starts_with(b"DRAM[") {
                self.key.push_str(&self.section);
            }
        } else if name.ends_with(b" average") && line.first() != Some(&b'\t') {
            self.average.clear();
            push_lossy(&mut self.average, name);
        } else if matches!(name, b"minimum" | b"maximum") && !self.average.is_empty() {
            self.key.push_str(&self.average);
            self.key.push_str(": ");
        }
        if !label.is_empty() {
            push_lossy(&mut self.key, label);
            self.key.push_str(": ");
        }
        push_lossy(&mut self.key, name);
    }

    /// Lines with several pairs, units, fractions or text.
    fn odd_line(&mut self, line: &[u8], key: &[u8], value: &[u8]) {
        // `bank skew: 288/64 = 4.50`
        if let Some(colon) = memrchr(b':', key)
            && let fraction = trim(key.get(colon + 1..))
            && is_fraction(fraction)
        {
            self.start_key(line, b"", trim(key.get(..colon)));
            self.fraction(fraction, value);
            return;
        }
        let (label, name) = split_label(key);
        if let Some(eq) = memchr(b'=', value) {
            let first = trim(value.get(..eq));
            if is_fraction(first) {
                self.start_key(line, label, name);
                self.fraction(first, trim(value.get(eq + 1..)));
            } else {
                self.pairs(line, label, name, value);
            }
            return;
        }
        // `In Dram Latency Queue (total = 0): `
        if memchr(b'(', name).is_some() && memchr(b')', name).is_none() {
            let name: Vec<u8> = name.iter().copied().filter(|&byte| byte != b'(').collect();
            let value = value.strip_suffix(b":").unwrap_or(value);
            self.start_key(line, label, &name);
            self.value(value.strip_suffix(b")").unwrap_or(value));
            return;
        }
        self.start_key(line, label, name);
        self.value(value);
    }

    fn fraction(&mut self, fraction: &[u8], value: &[u8]) {
        self.value(value);
        self.key.push_str(" (fraction)");
        self.put(StatValue::Text(lossy(fraction)), None);
    }

    /// `A: k = v, k = v` and `k=v k=v`: a value is one token, what follows it is the next key.
    fn pairs(&mut self, line: &[u8], label: &[u8], first: &[u8], rest: &[u8]) {
        let (mut name, mut rest) = (first, rest);
        loop {
            let eq = memchr(b'=', rest);
            let segment = trim(rest.get(..eq.unwrap_or(rest.len())));
            let end = match eq {
                Some(_) => segment
                    .iter()
                    .position(|byte| matches!(byte, b',' | b' ' | b'\t')),
                None => None,
            };
            let (value, next) = segment
                .split_at_checked(end.unwrap_or(segment.len()))
                .unwrap_or((segment, b""));
            self.start_key(line, label, name);
            self.value(value);
            let Some(eq) = eq else { return };
            name = next.strip_prefix(b",").unwrap_or(next).trim_ascii();
            rest = rest.get(eq + 1..).unwrap_or_default();
            if name.is_empty() {
                return;
            }
        }
    }

    /// Stores a value that may have a unit, under the key built.
    fn value(&mut self, value: &[u8]) {
        let end = value
            .iter()
            .position(|byte| matches!(byte, b' ' | b'\t' | b'%' | b'x' | b'!' | b','));
        let (digits, unit) = value
            .split_at_checked(end.unwrap_or(value.len()))
            .unwrap_or((value, b""));
        match (number(digits), unit.trim_ascii()) {
            (Some(number), [] | b"%" | b"x" | b"!" | b"GB/Sec" | b",") => {
                self.put(StatValue::Number(number), None)
            }
            (Some(number), unit @ [b'(', .., b')']) => self.put(StatValue::Number(number), Some(unit)),
            (Some(number), unit @ [b'{', .., b'}']) => {
                self.put(StatValue::Number(number), None);
                self.key.push_str(" (sizes)");
                self.put(StatValue::Text(lossy(unit)), None);
            }
            // `end_cycle=15913, sim cycle for this kernel is 6338`
            (Some(number), [b',', b' ', letter, ..]) if letter.is_ascii_alphabetic() => {
                self.put(StatValue::Number(number), None);
            }
            _ => self.put(StatValue::Text(lossy(value)), None),
        }
    }

    /// Stores under the key built, or under the next free name where it is taken.
    fn put(&mut self, value: StatValue, unit: Option<&[u8]>) {
        if self.stats.len() >= MAX_KEYS_PER_BLOCK {
            self.dropped += 1;
            return;
        }
        if let Entry::Vacant(free) = self.stats.entry(self.key.clone()) {
            free.insert(value);
            return;
        }
        if let Some(unit) = unit {
            self.key.push(' ');
            push_lossy(&mut self.key, unit);
            self.put(value, None);
            return;
        }
        for repeat in 2..=MAX_REPEATS {
            if let Entry::Vacant(free) = self.stats.entry(format!("{} #{repeat}", self.key)) {
                free.insert(value);
                return;
            }
        }
        self.dropped += 1;
    }
}

/// Lines that list requests in flight: they are not statistics and never the same twice.
fn is_in_flight(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"mf:") || line.starts_with(b"MSHR:") || line.starts_with(b"Ready @")
}

/// A key that `key = number` must not be taken from as it stands: it may have a bracket, a comma, a label.
fn is_odd(key: &[u8]) -> bool {
    // `fold` rather than `any`: the compiler turns it into vector code.
    key.iter().fold(key.is_empty(), |odd, byte| {
        odd | matches!(byte, b'(' | b':' | b',')
    })
}

/// `DRAM[0]: 16 bks, busW` to `DRAM[0]` and `busW`; without a label the first is empty.
fn split_label(key: &[u8]) -> (&[u8], &[u8]) {
    let (label, rest) = match memchr::memmem::find(key, b": ") {
        Some(at) => (trim(key.get(..at)), key.get(at + 2..).unwrap_or_default()),
        None => (&b""[..], key),
    };
    (
        label,
        trim(rest.get(memrchr(b',', rest).map_or(0, |at| at + 1)..)),
    )
}

fn is_fraction(text: &[u8]) -> bool {
    memchr(b'/', text).is_some_and(|at| {
        let all_digits =
            |part: Option<&[u8]>| part.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
        all_digits(text.get(..at)) && all_digits(text.get(at + 1..))
    })
}

/// A finite decimal number and nothing else.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    // `f64::from_str` also takes `nan` and `inf`; a number starts with a digit after its sign.
    let digits = text
        .strip_prefix(b"-")
        .or_else(|| text.strip_prefix(b"+"))
        .unwrap_or(text);
    if !digits
        .first()
        .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return None;
    }
    if text.len() <= 15 && text.iter().all(u8::is_ascii_digit) {
        // Exact below 2^53 and quicker than the general reader.
        return Some(
            text.iter()
                .fold(0_u64, |sum, byte| sum * 10 + u64::from(byte - b'0')) as f64,
        );
    }
    std::str::from_utf8(text)
        .ok()?
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

pub(super) fn trim(text: Option<&[u8]>) -> &[u8] {
    text.unwrap_or_default().trim_ascii()
}

pub(super) fn lossy(text: &[u8]) -> String {
    let mut out = String::new();
    push_lossy(&mut out, text);
    out
}

/// Appends at most [`MAX_TEXT_BYTES`].
fn push_lossy(out: &mut String, text: &[u8]) {
    let cut = text.get(..MAX_TEXT_BYTES).unwrap_or(text);
    match std::str::from_utf8(cut) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(cut)),
    }
}
