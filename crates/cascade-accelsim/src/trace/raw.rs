//! Reader of raw traces as the tracer writes them: warps and blocks interleaved, one instruction a line.

use std::io::BufRead;

use super::header::read_header;
use super::lines::Lines;
use super::token::{Tokens, dec, hex};
use super::{Cluster, Dim3, KernelHeader, MAX_WARPS_PER_BLOCK, TraceError, TraceErrorKind};

/// One instruction of a raw trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// Thread block, inside the grid.
    pub block: Dim3,
    /// Index of the warp in its block.
    pub warp: u32,
    /// Lanes that are active and whose predicate holds.
    pub mask: u32,
    /// Place in its cluster (tracer 2.0).
    pub cluster: Option<Cluster>,
    /// The instruction as a processed trace holds it: without the prefix, except in tracer versions
    /// before 3, whose processed files keep it.
    pub text: &'a [u8],
    /// Whether the opcode is `LDGSTS…`, of which the tracer writes two lines for each execution.
    pub ldgsts: bool,
}

/// Columns before the program counter, found from the first line.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// Seven cluster columns follow the block and warp.
    cluster: bool,
    /// Index of the first token that belongs to the instruction.
    instr: usize,
    /// Index of the mask.
    mask: usize,
}

/// Columns of block and warp, of cluster coordinates, and of `TOOL_TRACE_CORE`.
const BLOCK_COLUMNS: usize = 4;
const CLUSTER_COLUMNS: usize = 7;
const CORE_COLUMNS: usize = 2;

/// Streams a raw trace line by line.
#[derive(Debug)]
pub struct RawReader<R> {
    name: String,
    header: KernelHeader,
    header_text: Vec<u8>,
    lines: Lines<R>,
    prefix: Option<Prefix>,
    keep_prefix: bool,
}

impl<R: BufRead> RawReader<R> {
    /// Reads the header. `source_name` is what errors call the file.
    ///
    /// # Errors
    /// When the header is missing, incomplete or malformed, or reading fails.
    pub fn open(reader: R, source_name: &str) -> Result<Self, TraceError> {
        let mut lines = Lines::new(reader);
        match read_header(&mut lines) {
            Ok((header, header_text)) => {
                let keep_prefix = header.tracer_version.is_none_or(|v| v < 3);
                Ok(Self {
                    name: source_name.into(),
                    header,
                    header_text,
                    lines,
                    prefix: None,
                    keep_prefix,
                })
            }
            Err(kind) => Err(TraceError {
                file: source_name.into(),
                line: lines.number(),
                kind,
            }),
        }
    }

    /// The kernel's header.
    pub fn header(&self) -> &KernelHeader {
        &self.header
    }

    /// The header's lines, as a processed trace repeats them.
    pub fn header_text(&self) -> &[u8] {
        &self.header_text
    }

    /// The next instruction, `None` at the end.
    ///
    /// # Errors
    /// When the line makes no sense or reading fails.
    pub fn next_line(&mut self) -> Result<Option<RawLine<'_>>, TraceError> {
        let Self {
            name,
            header,
            lines,
            prefix,
            keep_prefix,
            ..
        } = self;
        let mut number = lines.number();
        let fail = |kind, line| TraceError {
            file: name.clone(),
            line,
            kind,
        };
        // Blank lines and comments are skipped before the borrow that is handed out begins.
        loop {
            number += 1;
            match lines.next().map_err(|kind| fail(kind, number))? {
                None => return Ok(None),
                Some(line) if !matches!(line.trim_ascii(), [] | [b'#', ..]) => break,
                Some(line) if line.starts_with(b"#BEGIN_TB") => {
                    return Err(fail(TraceErrorKind::AlreadyProcessed, number));
                }
                Some(_) => {}
            }
        }
        lines.unread();
        let line = lines
            .next()
            .map_err(|kind| fail(kind, number))?
            .unwrap_or_default();
        parse(line, header, prefix, *keep_prefix)
            .map(Some)
            .map_err(|kind| fail(kind, number))
    }
}

fn parse<'a>(
    line: &'a [u8],
    header: &KernelHeader,
    prefix: &mut Option<Prefix>,
    keep_prefix: bool,
) -> Result<RawLine<'a>, TraceErrorKind> {
    let prefix = match *prefix {
        Some(prefix) => prefix,
        None => *prefix.insert(detect(line, header.lineinfo).ok_or(TraceErrorKind::BadPrefix)?),
    };
    let mut tokens = Tokens::new(line);
    let mut column = || {
        let text = tokens
            .next()
            .ok_or(TraceErrorKind::Missing("thread block column"))?;
        let value = dec(text).and_then(|n| u32::try_from(n).ok());
        value.ok_or_else(|| TraceErrorKind::BadField {
            field: "column",
            text: super::error::quote(text),
        })
    };
    let block = Dim3::new(column()?, column()?, column()?);
    let warp = column()?;
    let cluster = match prefix.cluster {
        true => Some(Cluster {
            id: Dim3::new(column()?, column()?, column()?),
            cta: Dim3::new(column()?, column()?, column()?),
            rank: column()?,
        }),
        false => None,
    };
    let grid = header.grid;
    if block.x >= grid.x || block.y >= grid.y || block.z >= grid.z {
        return Err(TraceErrorKind::OutsideGrid(block, grid));
    }
    if u64::from(warp) >= MAX_WARPS_PER_BLOCK {
        return Err(TraceErrorKind::TooManyWarps(warp.into()));
    }
    if u64::from(warp) >= header.warps_per_block() {
        return Err(TraceErrorKind::OutsideBlock(warp, header.block.count()));
    }
    let used = BLOCK_COLUMNS + if prefix.cluster { CLUSTER_COLUMNS } else { 0 };
    for _ in used..prefix.instr {
        tokens.next();
    }
    let text = if keep_prefix {
        line.trim_ascii_start()
    } else {
        tokens.rest()
    };
    for _ in prefix.instr..prefix.mask {
        tokens.next();
    }
    let mask = tokens.next().filter(|token| is_mask(token)).and_then(hex);
    let mask = mask
        .and_then(|mask| u32::try_from(mask).ok())
        .ok_or(TraceErrorKind::BadPrefix)?;
    Ok(RawLine {
        block,
        warp,
        mask,
        cluster,
        text,
        ldgsts: is_ldgsts(tokens),
    })
}

/// Whether the opcode after `dest_num [dests]` is an `LDGSTS`; `ARRIVES.LDGSTSBAR` is not.
fn is_ldgsts(mut tokens: Tokens<'_>) -> bool {
    let dests = tokens
        .next()
        .and_then(dec)
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0);
    tokens
        .nth(dests.min(super::MAX_REGS))
        .is_some_and(|opcode| opcode.starts_with(b"LDGSTS"))
}

fn is_mask(token: &[u8]) -> bool {
    token.len() == 8 && token.iter().all(u8::is_ascii_hexdigit)
}

/// Finds the mask, the only column of eight hexadecimal digits, and what must stand before it.
fn detect(line: &[u8], lineinfo: bool) -> Option<Prefix> {
    let line_column = usize::from(lineinfo);
    [(false, 0), (false, CORE_COLUMNS), (true, 0), (true, CORE_COLUMNS)]
        .into_iter()
        .find_map(|(cluster, core)| {
            let instr = BLOCK_COLUMNS + if cluster { CLUSTER_COLUMNS } else { 0 } + core;
            let mask = instr + line_column + 1;
            Tokens::new(line).nth(mask).filter(|token| is_mask(token))?;
            Some(Prefix { cluster, instr, mask })
        })
}
