//! The structure of a processed trace's body, line by line: blocks, clusters, warps, counts.

use super::error::quote;
use super::header::dim3;
use super::token::{dec, trim};
use super::{Cluster, Dim3, MAX_INSTRS_PER_WARP, MAX_WARPS_PER_BLOCK, TraceErrorKind};

/// What one line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Nothing to do: blank line, comment or a line that only changes the state.
    None,
    /// Coordinates of the block.
    Block(Dim3),
    /// The cluster facts known so far (given again with each of their lines).
    Cluster(Cluster),
    /// A warp starts; its index and the number of instructions announced.
    Warp(u32, u64),
    /// An instruction of the current warp.
    Instr,
    /// The block is complete.
    EndBlock,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    /// Between `#BEGIN_TB` and `#END_TB`.
    Block,
    /// After `warp = `, before `insts = `.
    Warp(u32),
}

/// State of the walk through one block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body {
    place: Place,
    warp: u32,
    expected: u64,
    found: u64,
    cluster: Cluster,
}

impl Body {
    /// Takes one line.
    #[inline]
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Event, TraceErrorKind> {
        if self.found < self.expected {
            match line.first() {
                Some(b'#' | b'w' | b't' | b'i') => return Err(self.too_few()),
                Some(first) if !first.is_ascii_whitespace() => {}
                _ if trim(line).is_empty() => return Ok(Event::None),
                _ => {}
            }
            self.found += 1;
            return Ok(Event::Instr);
        }
        self.structure(trim(line))
    }

    fn structure(&mut self, line: &[u8]) -> Result<Event, TraceErrorKind> {
        match (self.place, line) {
            (_, []) => Ok(Event::None),
            (Place::Outside, b"#BEGIN_TB") => {
                self.place = Place::Block;
                Ok(Event::None)
            }
            (Place::Outside, [b'#', ..]) => Ok(Event::None),
            (Place::Outside, _) => Err(TraceErrorKind::RawTrace),
            (Place::Block, b"#END_TB") => Ok(Event::EndBlock),
            (Place::Block, [b't', ..]) => Ok(Event::Block(triple(line, b"thread block")?)),
            (Place::Block, [b'c', ..]) => {
                match key(line) {
                    b"cluster id" => self.cluster.id = triple(line, b"cluster id")?,
                    b"cluster cta" => self.cluster.cta = triple(line, b"cluster cta")?,
                    _ => self.cluster.rank = narrow(number(line, b"cluster rank")?, line)?,
                }
                Ok(Event::Cluster(self.cluster))
            }
            (Place::Block, [b'w', ..]) => {
                let warp = number(line, b"warp")?;
                if warp >= MAX_WARPS_PER_BLOCK {
                    return Err(TraceErrorKind::TooManyWarps(warp));
                }
                self.place = Place::Warp(narrow(warp, line)?);
                Ok(Event::None)
            }
            (Place::Warp(warp), [b'i', ..]) => {
                let count = number(line, b"insts")?;
                if count > MAX_INSTRS_PER_WARP {
                    return Err(TraceErrorKind::WarpTooLong(count));
                }
                (self.place, self.warp, self.expected, self.found) = (Place::Block, warp, count, 0);
                Ok(Event::Warp(warp, count))
            }
            _ => Err(TraceErrorKind::UnexpectedLine(quote(line))),
        }
    }

    /// The file is over.
    pub(crate) fn end(&self) -> Result<(), TraceErrorKind> {
        match self.place {
            Place::Outside => Ok(()),
            _ if self.found < self.expected => Err(TraceErrorKind::Truncated(format!(
                "warp {} has {} of {} instructions",
                self.warp, self.found, self.expected
            ))),
            _ => Err(TraceErrorKind::Truncated("`#END_TB` is missing".into())),
        }
    }

    fn too_few(&self) -> TraceErrorKind {
        TraceErrorKind::TooFewInstrs {
            warp: self.warp,
            expected: self.expected,
            found: self.found,
        }
    }
}

fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let at = memchr::memchr(b'=', line).unwrap_or(line.len());
    let (key, value) = line.split_at_checked(at).unwrap_or((line, &[]));
    (trim(key), trim(value.strip_prefix(b"=").unwrap_or(value)))
}

fn key(line: &[u8]) -> &[u8] {
    split(line).0
}

fn value<'a>(line: &'a [u8], expected: &[u8]) -> Result<&'a [u8], TraceErrorKind> {
    match split(line) {
        (key, value) if key == expected => Ok(value),
        _ => Err(TraceErrorKind::UnexpectedLine(quote(line))),
    }
}

fn triple(line: &[u8], key: &[u8]) -> Result<Dim3, TraceErrorKind> {
    dim3(value(line, key)?).ok_or_else(|| TraceErrorKind::BadStructure(quote(line)))
}

fn number(line: &[u8], key: &[u8]) -> Result<u64, TraceErrorKind> {
    dec(value(line, key)?).ok_or_else(|| TraceErrorKind::BadStructure(quote(line)))
}

fn narrow(value: u64, line: &[u8]) -> Result<u32, TraceErrorKind> {
    u32::try_from(value)
        .ok()
        .ok_or_else(|| TraceErrorKind::BadStructure(quote(line)))
}
