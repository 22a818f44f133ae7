//! The `-key = value` lines at the start of a trace.

use std::io::BufRead;

use super::lines::Lines;
use super::token::{dec, hex, trim};
use super::{Dim3, KernelHeader, MAX_HEADER_BYTES, MAX_TRACER_VERSION, TraceErrorKind};

/// What a line meant to the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Part of the header, more may come.
    More,
    /// The `#traces format` line: the body starts after it.
    End,
    /// Already the body: the line was not taken.
    Body,
}

/// Collects a header line by line.
#[derive(Debug, Default)]
pub(crate) struct HeaderBuilder {
    header: KernelHeader,
    has_key: bool,
    grid: bool,
    block: bool,
    bytes: usize,
}

impl HeaderBuilder {
    /// Takes one line.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Step, TraceErrorKind> {
        self.bytes += line.len() + 1;
        if self.bytes > MAX_HEADER_BYTES {
            return Err(TraceErrorKind::HeaderTooLong);
        }
        let line = trim(line);
        let Some(entry) = line.strip_prefix(b"-") else {
            return match line.first() {
                None => Ok(Step::More),
                Some(_) if !self.has_key => Err(TraceErrorKind::NoHeader),
                Some(b'#') if !line.starts_with(b"#BEGIN_TB") => Ok(Step::End),
                Some(_) => Ok(Step::Body),
            };
        };
        let (key, value) = match memchr::memchr(b'=', entry).and_then(|at| entry.split_at_checked(at)) {
            Some((key, value)) => (trim(key), trim(value.strip_prefix(b"=").unwrap_or(value))),
            None => (trim(entry), [].as_slice()),
        };
        self.has_key = true;
        self.entry(key, value)?;
        Ok(Step::More)
    }

    fn entry(&mut self, key: &[u8], value: &[u8]) -> Result<(), TraceErrorKind> {
        let bad = |expected| TraceErrorKind::BadValue {
            key: String::from_utf8_lossy(key).into_owned(),
            value: super::error::quote(value),
            expected,
        };
        let number = || dec(value).ok_or_else(|| bad("a number"));
        let small = || {
            dec(value)
                .and_then(|n| u32::try_from(n).ok())
                .ok_or_else(|| bad("a 32-bit number"))
        };
        let triple = || {
            dim3(value)
                .filter(|dim| dim.count() > 0)
                .ok_or_else(|| bad("three numbers from 1 up, such as (8,1,1)"))
        };
        let address = || hex(value).ok_or_else(|| bad("a hexadecimal address"));
        let header = &mut self.header;
        match key {
            b"kernel name" => header.name = text(value),
            b"kernel id" => header.id = number()?,
            b"grid dim" => {
                header.grid = triple()?;
                self.grid = true;
            }
            b"block dim" => {
                header.block = triple()?;
                self.block = true;
            }
            b"shmem" => header.shmem_bytes = number()?,
            b"nregs" => header.nregs = small()?,
            b"binary version" => header.binary_version = small()?,
            b"cuda stream id" => header.stream_id = number()?,
            b"shmem base_addr" => header.shmem_base = Some(address()?),
            b"local mem base_addr" => header.local_base = Some(address()?),
            b"nvbit version" => header.nvbit_version = Some(text(value)),
            b"accelsim tracer version" => match small()? {
                version if version > MAX_TRACER_VERSION => return Err(TraceErrorKind::NewerTracer(version)),
                version => header.tracer_version = Some(version),
            },
            b"enable lineinfo" => header.lineinfo = number()? != 0,
            _ => header.unknown.push((text(key), text(value))),
        }
        Ok(())
    }

    /// The header, once its lines are over.
    pub(crate) fn finish(self) -> Result<KernelHeader, TraceErrorKind> {
        match (self.has_key, self.grid, self.block) {
            (false, _, _) => Err(TraceErrorKind::NoHeader),
            (_, false, _) => Err(TraceErrorKind::MissingKey("grid dim")),
            (_, _, false) => Err(TraceErrorKind::MissingKey("block dim")),
            _ => Ok(self.header),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `(x,y,z)` or `x,y,z`.
pub(crate) fn dim3(value: &[u8]) -> Option<Dim3> {
    let value = trim(value);
    let inner = value
        .strip_prefix(b"(")
        .and_then(|v| v.strip_suffix(b")"))
        .unwrap_or(value);
    let mut parts = inner.split(|byte| *byte == b',').map(|part| dec(trim(part)));
    let mut next = || parts.next().flatten().and_then(|n| u32::try_from(n).ok());
    let dim = Dim3::new(next()?, next()?, next()?);
    parts.next().is_none().then_some(dim)
}

/// Reads header lines up to the body; gives the header and its text up to the `#traces format` line, blank
/// lines in it kept, without carriage returns.
pub(crate) fn read_header<R: BufRead>(
    lines: &mut Lines<R>,
) -> Result<(KernelHeader, Vec<u8>), TraceErrorKind> {
    let mut builder = HeaderBuilder::default();
    let mut text = Vec::new();
    while let Some(line) = lines.next()? {
        let step = builder.line(line)?;
        if step == Step::Body {
            lines.unread();
            break;
        }
        text.extend_from_slice(line);
        text.push(b'\n');
        if step == Step::End {
            break;
        }
    }
    Ok((builder.finish()?, text))
}

/// The header in `text`, which holds nothing else.
#[cfg(feature = "compression")]
pub(crate) fn parse_header(text: &[u8]) -> Result<(KernelHeader, Vec<u8>), TraceErrorKind> {
    let mut lines = Lines::new(text);
    let header = read_header(&mut lines)?;
    while let Some(line) = lines.next()? {
        if !trim(line).is_empty() {
            return Err(TraceErrorKind::UnexpectedLine(super::error::quote(line)));
        }
    }
    Ok(header)
}
