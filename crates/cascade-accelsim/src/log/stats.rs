//! The `key = value` lines of a statistics block.
//!
//! Keys are kept as printed, trimmed. Where a log repeats a key the rule is:
//! 1. a line's own label leads every key on it: `L1D_cache_core[0]: Access`, `L1D_cache_core[0]: Miss`;
//! 2. between `Memory Partition N:` and the next heading, keys are led by `DRAM[N]: `;
//! 3. `minimum` and `maximum` under a network average are led by that average's key;
//! 4. a key seen again with a unit in brackets becomes `key (unit)`, so `gpgpu_simulation_rate` is the
//!    instructions and `gpgpu_simulation_rate (cycle/sec)` the cycles;
//! 5. any other key seen again becomes `key #2`, `key #3`, … unless its value is the same.
//!
//! A value is a number where one number stands alone or before a unit (`%`, `x`, `!`, `GB/Sec`, `(…)`).
//! `768/40 = 19.2` gives the number and a text `key (fraction)`; `8192 {8:1024,}` the number and a text
//! `key (sizes)`. All else, `nan` and `inf` among it, stays text.

use indexmap::IndexMap;
use memchr::{memchr, memrchr};
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

/// Key to value in the block's order.
pub type Stats = IndexMap<String, StatValue>;

/// A block's statistics while they arrive.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) stats: Stats,
    pub(super) dropped: usize,
    /// `DRAM[3]: ` inside a memory partition's lines, else empty.
    section: String,
    /// The last key that stands at the start of a line without underscore: the parent of `minimum`.
    average: String,
}

impl Collector {
    /// Takes one line of a block. Returns true where the whole line was plain `key = number`.
    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        let Some(eq) = memchr(b'=', line) else {
            self.heading(line);
            return false;
        };
        let (key, value) = (trim(line.get(..eq)), trim(line.get(eq + 1..)));
        if let (Some(number), false) = (number(value), is_odd(key)) {
            let key = self.full_key(line, key);
            self.insert(key, StatValue::Number(number), None);
            return true;
        }
        if key.is_empty() {
            self.heading(line);
        } else if !is_in_flight(line) {
            self.odd_line(line, key, value);
        }
        false
    }

    fn heading(&mut self, line: &[u8]) {
        if let Some(rest) = line.strip_prefix(b"Memory Partition ") {
            let index: Vec<u8> = rest
                .iter()
                .copied()
                .take_while(u8::is_ascii_digit)
                .take(9)
                .collect();
            self.section = format!("DRAM[{}]: ", String::from_utf8_lossy(&index));
        } else if line.starts_with(b"=====") {
            self.section.clear();
        }
    }

    fn full_key(&mut self, line: &[u8], key: &[u8]) -> String {
        let text = lossy(key);
        if !self.section.is_empty() && !text.starts_with("DRAM[") {
            return format!("{}{text}", self.section);
        }
        if text.ends_with(" average") && line.first() != Some(&b'\t') {
            self.average.clone_from(&text);
        } else if matches!(key, b"minimum" | b"maximum") && !self.average.is_empty() {
            return format!("{}: {text}", self.average);
        }
        text
    }

    /// Lines with several pairs, units, fractions or text.
    fn odd_line(&mut self, line: &[u8], key: &[u8], value: &[u8]) {
        // `bank skew: 288/64 = 4.50`
        if let Some(colon) = memrchr(b':', key)
            && let (label, fraction) = (trim(key.get(..colon)), trim(key.get(colon + 1..)))
            && is_fraction(fraction)
        {
            let label = self.full_key(line, label);
            self.fraction(label, fraction, value);
            return;
        }
        if let Some(eq) = memchr(b'=', value) {
            let (first, second) = (trim(value.get(..eq)), trim(value.get(eq + 1..)));
            if is_fraction(first) {
                let key = self.full_key(line, key);
                self.fraction(key, first, second);
            } else {
                self.pairs(line, key, value);
            }
            return;
        }
        // `In Dram Latency Queue (total = 0): `
        if memchr(b'(', key).is_some() && memchr(b')', key).is_none() {
            let key: Vec<u8> = key.iter().copied().filter(|&byte| byte != b'(').collect();
            let value = value.strip_suffix(b":").unwrap_or(value);
            let key = self.full_key(line, &key);
            self.value(key, value.strip_suffix(b")").unwrap_or(value));
            return;
        }
        // `mrqq: max=0 avg=0` has been taken above; `DRAM[0]: 16 bks, busW=16` alone comes here.
        let name = last_item(key);
        let key = if name.len() == key.len() {
            lossy(key)
        } else {
            label(key) + &lossy(name)
        };
        let key = self.full_key(line, key.as_bytes());
        self.value(key, value);
    }

    fn fraction(&mut self, key: String, fraction: &[u8], value: &[u8]) {
        let text = StatValue::Text(lossy(fraction));
        self.insert(format!("{key} (fraction)"), text, None);
        self.value(key, value);
    }

    /// `A: k = v, k = v` and `k=v k=v`: a value is one token, what follows it is the next key.
    fn pairs(&mut self, line: &[u8], first_key: &[u8], rest: &[u8]) {
        let name = last_item(first_key);
        let label = label(first_key);
        let (mut name, mut rest) = (name, rest);
        loop {
            let eq = memchr(b'=', rest);
            let segment = trim(rest.get(..eq.unwrap_or(rest.len())));
            let (value, next) = match (eq, segment.iter().position(|b| matches!(b, b',' | b' ' | b'\t'))) {
                (Some(_), Some(end)) => (segment.get(..end), segment.get(end..)),
                _ => (Some(segment), None),
            };
            let key = self.full_key(line, format!("{label}{}", lossy(name)).as_bytes());
            self.value(key, trim(value));
            let (Some(eq), Some(next)) = (eq, next) else {
                return;
            };
            name = trim(Some(next)).trim_ascii_start();
            name = name.strip_prefix(b",").unwrap_or(name).trim_ascii();
            rest = trim(rest.get(eq + 1..));
            if name.is_empty() {
                return;
            }
        }
    }

    /// A value that may have a unit.
    fn value(&mut self, key: String, value: &[u8]) {
        let end = value
            .iter()
            .position(|b| matches!(b, b' ' | b'\t' | b'%' | b'x' | b'!'))
            .unwrap_or(value.len());
        let unit = trim(value.get(end..));
        match (number(value.get(..end).unwrap_or(value)), unit) {
            (Some(number), [] | b"%" | b"x" | b"!" | b"GB/Sec" | b"," | b":") => {
                self.insert(key, StatValue::Number(number), None);
            }
            (Some(number), [b'(', .., b')']) => self.insert(key, StatValue::Number(number), Some(unit)),
            (Some(number), [b'{', ..]) => {
                self.insert(format!("{key} (sizes)"), StatValue::Text(lossy(unit)), None);
                self.insert(key, StatValue::Number(number), None);
            }
            _ => self.insert(key, StatValue::Text(lossy(value)), None),
        }
    }

    fn insert(&mut self, key: String, value: StatValue, unit: Option<&[u8]>) {
        if self.stats.len() >= MAX_KEYS_PER_BLOCK {
            self.dropped += 1;
            return;
        }
        let Some(old) = self.stats.get(&key) else {
            self.stats.insert(key, value);
            return;
        };
        if let Some(unit) = unit {
            let with_unit = format!("{key} {}", lossy(unit));
            self.insert(with_unit, value, None);
            return;
        }
        if *old == value {
            return;
        }
        for repeat in 2..=MAX_REPEATS {
            let numbered = format!("{key} #{repeat}");
            match self.stats.get(&numbered) {
                None => {
                    self.stats.insert(numbered, value);
                    return;
                }
                Some(old) if *old == value => return,
                Some(_) => {}
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

/// A key that `key = number` must not be taken from as it stands: an open bracket, a comma, a label.
fn is_odd(key: &[u8]) -> bool {
    key.is_empty()
        || (memchr(b'(', key).is_some() && memchr(b')', key).is_none())
        || memchr(b':', key).is_some()
        || memchr(b',', key).is_some()
}

/// `DRAM[0]: 16 bks, busW` to `DRAM[0]: `; nothing without a label.
fn label(key: &[u8]) -> String {
    let end = key
        .windows(2)
        .position(|pair| pair == b": ")
        .or(key.strip_suffix(b":").map(<[u8]>::len));
    end.map_or_else(String::new, |end| {
        lossy(key.get(..end).unwrap_or_default()) + ": "
    })
}

/// `DRAM[0]: 16 bks, busW` to `busW`; `mrqq: max` to `max`.
fn last_item(key: &[u8]) -> &[u8] {
    let start = memrchr(b',', key).map(|at| at + 1);
    let after_label = key.windows(2).position(|pair| pair == b": ").map(|at| at + 2);
    let start = match (start, after_label) {
        (Some(comma), label) => comma.max(label.unwrap_or(0)),
        (None, Some(label)) => label,
        (None, None) => 0,
    };
    trim(key.get(start..))
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
    let cut = text.get(..MAX_TEXT_BYTES).unwrap_or(text);
    match std::str::from_utf8(cut) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(cut).into_owned(),
    }
}
