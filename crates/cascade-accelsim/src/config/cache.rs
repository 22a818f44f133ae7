//! A cache's geometry from its option string.

use serde::Serialize;

/// Whether lines have sectors of 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Whole lines (`N`).
    Normal,
    /// Sectors (`S`).
    Sectored,
}

/// `<S|N>:<nsets>:<line>:<assoc>,<rep>:<wr>:<alloc>:<wr_alloc>:<hash>,<mshr>:<N>:<merge>,<mq>[:<fifo>][,<port>]`.
///
/// Letters are the simulator's own: replacement `L` LRU, `F` FIFO; write `R` read-only, `B` back, `T`
/// through, `E` evict, `L` local back and global through; allocate `m` on miss, `f` on fill, `s` streaming;
/// write-allocate `N` none, `W` write, `F` fetch on write, `L` lazy fetch; index `L` linear, `P` IPOLY,
/// `X` xor, `H` Fermi hash; MSHR `A` associative, `S` sector associative, `T`/`F` texture FIFO.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// Sectored or not.
    pub kind: CacheKind,
    /// Sets.
    pub sets: u32,
    /// Bytes in a line.
    pub line_bytes: u32,
    /// Ways.
    pub ways: u32,
    /// Replacement letter.
    pub replacement: char,
    /// Write policy letter.
    pub write: char,
    /// Allocation letter.
    pub allocate: char,
    /// Write-allocation letter.
    pub write_allocate: char,
    /// Set index letter; `L` where it is not given.
    pub index: char,
    /// MSHR letter.
    pub mshr_kind: char,
    /// MSHR entries.
    pub mshr_entries: u32,
    /// Requests merged into one entry.
    pub mshr_merge: u32,
    /// Miss queue entries.
    pub miss_queue: u32,
    /// Bytes of the data port; none where it is not given.
    pub port_bytes: Option<u32>,
}

impl Cache {
    /// Bytes: sets × line × ways.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.line_bytes) * u64::from(self.ways)
    }

    /// Reads an option string; `none` is no cache.
    ///
    /// # Errors
    /// In plain words, which part cannot be read.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let text = text.trim();
        if text == "none" {
            return Ok(None);
        }
        let parts: Vec<&str> = text.split(',').collect();
        let (geometry, policy, mshr, queue) = match parts.as_slice() {
            [geometry, policy, mshr, queue, ..] if parts.len() <= 5 => (*geometry, *policy, *mshr, *queue),
            _ => {
                return Err(format!(
                    "{text:?} is not <geometry>,<policy>,<mshr>,<queue>[,<port>] or `none`"
                ));
            }
        };
        let [kind, sets, line, ways] = fields::<4>(geometry, "geometry <S|N>:<sets>:<line>:<ways>")?;
        let policy: Vec<char> = policy.split(':').map(letter).collect::<Result<_, _>>()?;
        let (replacement, write, allocate, write_allocate, index) = match policy.as_slice() {
            [rep, wr, alloc, wr_alloc] => (*rep, *wr, *alloc, *wr_alloc, 'L'),
            [rep, wr, alloc, wr_alloc, index] => (*rep, *wr, *alloc, *wr_alloc, *index),
            _ => return Err("the policy is not <rep>:<wr>:<alloc>:<wr_alloc>[:<index>]".to_owned()),
        };
        let [mshr_kind, entries, merge] = fields::<3>(mshr, "mshr <kind>:<entries>:<merge>")?;
        Ok(Some(Self {
            kind: match kind {
                "N" => CacheKind::Normal,
                "S" => CacheKind::Sectored,
                other => return Err(format!("the kind {other:?} is neither N nor S")),
            },
            sets: count(sets, "sets")?,
            line_bytes: count(line, "line size")?,
            ways: count(ways, "ways")?,
            replacement,
            write,
            allocate,
            write_allocate,
            index,
            mshr_kind: letter(mshr_kind)?,
            mshr_entries: count(entries, "MSHR entries")?,
            mshr_merge: count(merge, "MSHR merges")?,
            miss_queue: count(queue.split(':').next().unwrap_or_default(), "miss queue")?,
            port_bytes: parts.get(4).map(|port| count(port, "port")).transpose()?,
        }))
    }
}

fn fields<'a, const N: usize>(text: &'a str, what: &str) -> Result<[&'a str; N], String> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    parts
        .try_into()
        .map_err(|parts: Vec<&str>| format!("{text:?} has {} parts and is not the {what}", parts.len()))
}

fn letter(text: &str) -> Result<char, String> {
    let mut chars = text.trim().chars();
    match (chars.next(), chars.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => Ok(letter),
        _ => Err(format!("{text:?} is not one letter")),
    }
}

fn count(text: &str, what: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| format!("{what} {text:?} is not a positive number"))
}
