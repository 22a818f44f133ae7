//! Reader of processed text traces (`.traceg`).

use std::io::BufRead;

use super::body::{Body, Event};
use super::header::{HeaderBuilder, Step};
use super::instr::{Columns, InstrParser};
use super::lines::Lines;
use super::{
    BlockSource, Instr, KernelHeader, MAX_INSTRS_PER_BLOCK, OpcodeTable, ThreadBlock, TraceError,
    TraceErrorKind, Warp,
};

/// Streams a processed text trace, one thread block at a time.
#[derive(Debug)]
pub struct TraceReader<R> {
    name: String,
    header: KernelHeader,
    lines: Lines<R>,
    assembler: Assembler,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header. `source_name` is what errors call the file.
    ///
    /// # Errors
    /// When the header is missing, incomplete or malformed, or reading fails.
    pub fn open(reader: R, source_name: &str) -> Result<Self, TraceError> {
        let mut lines = Lines::new(reader);
        match read_header(&mut lines) {
            Ok(header) => {
                let assembler = Assembler::new(&header);
                Ok(Self {
                    name: source_name.into(),
                    header,
                    lines,
                    assembler,
                })
            }
            Err(kind) => Err(TraceError {
                file: source_name.into(),
                line: lines.number(),
                kind,
            }),
        }
    }

    fn block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceErrorKind> {
        self.assembler.begin(block);
        let mut body = Body::default();
        loop {
            let Some(line) = self.lines.next()? else {
                return body.end().map(|()| false);
            };
            match body.line(line)? {
                Event::None => {}
                Event::Block(id) => block.id = id,
                Event::Cluster(cluster) => block.cluster = Some(cluster),
                Event::Warp(id) => self.assembler.warp(block, id),
                Event::Instr => self.assembler.instr(block, line)?,
                Event::EndBlock => return Ok(true),
            }
        }
    }
}

impl<R: BufRead> BlockSource for TraceReader<R> {
    fn header(&self) -> &KernelHeader {
        &self.header
    }

    fn opcodes(&self) -> &OpcodeTable {
        &self.assembler.parser.opcodes
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        self.block(block).map_err(|kind| TraceError {
            file: self.name.clone(),
            line: self.lines.number(),
            kind,
        })
    }
}

/// Reads header lines up to the body.
pub(crate) fn read_header<R: BufRead>(lines: &mut Lines<R>) -> Result<KernelHeader, TraceErrorKind> {
    let mut builder = HeaderBuilder::default();
    while let Some(line) = lines.next()? {
        match builder.line(line)? {
            Step::More => {}
            Step::End => break,
            Step::Body => {
                lines.unread();
                break;
            }
        }
    }
    builder.finish()
}

/// Builds thread blocks out of instruction lines and reuses their allocations.
#[derive(Debug)]
pub(crate) struct Assembler {
    pub(crate) parser: InstrParser,
    spare: Vec<Vec<Instr>>,
    instrs: usize,
}

impl Assembler {
    pub(crate) fn new(header: &KernelHeader) -> Self {
        let columns = Columns {
            block: header.tracer_version.is_none_or(|v| v < 3),
            line: header.lineinfo,
        };
        Self {
            parser: InstrParser::new(columns),
            spare: Vec::new(),
            instrs: 0,
        }
    }

    /// Empties `block` and keeps its instruction lists for the next warps.
    pub(crate) fn begin(&mut self, block: &mut ThreadBlock) {
        for mut warp in block.warps.drain(..).rev() {
            warp.instrs.clear();
            self.spare.push(warp.instrs);
        }
        block.clear();
        self.instrs = 0;
    }

    pub(crate) fn warp(&mut self, block: &mut ThreadBlock, id: u32) {
        block.warps.push(Warp {
            id,
            instrs: self.spare.pop().unwrap_or_default(),
        });
    }

    pub(crate) fn instr(&mut self, block: &mut ThreadBlock, line: &[u8]) -> Result<(), TraceErrorKind> {
        self.instrs += 1;
        if self.instrs > MAX_INSTRS_PER_BLOCK {
            return Err(TraceErrorKind::BlockTooLong);
        }
        let instr = self.parser.parse(line, &mut block.addresses)?;
        if let Some(warp) = block.warps.last_mut() {
            warp.instrs.push(instr);
        }
        Ok(())
    }
}
