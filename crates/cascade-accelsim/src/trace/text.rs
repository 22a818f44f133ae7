//! Reader of processed text traces (`.traceg`).

use std::io::BufRead;

use super::body::{Body, Event};
use super::header::read_header;
use super::instr::{Columns, InstrParser};
use super::lines::Lines;
use super::{
    BlockSink, BlockSource, Cluster, Dim3, Instr, KernelHeader, MAX_INSTRS_PER_BLOCK, OpcodeTable,
    ThreadBlock, TraceError, TraceErrorKind, Warp,
};

/// Streams a processed text trace, one thread block at a time.
#[derive(Debug)]
pub struct TraceReader<R> {
    name: String,
    header: KernelHeader,
    header_text: Vec<u8>,
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
            Ok((header, header_text)) => {
                let assembler = Assembler::new(&header);
                Ok(Self {
                    name: source_name.into(),
                    header,
                    header_text,
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
}

impl<R: BufRead> BlockSource for TraceReader<R> {
    fn header(&self) -> &KernelHeader {
        &self.header
    }

    fn header_text(&self) -> &[u8] {
        &self.header_text
    }

    fn opcodes(&self) -> &OpcodeTable {
        &self.assembler.parser.opcodes
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        let result = walk(&mut self.lines, &mut self.assembler.fill(block));
        result.map_err(|kind| TraceError {
            file: self.name.clone(),
            line: self.lines.number(),
            kind,
        })
    }

    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        let result = walk(&mut self.lines, sink);
        result.map_err(|kind| TraceError {
            file: self.name.clone(),
            line: self.lines.number(),
            kind,
        })
    }
}

/// Gives one block of the body to `sink`; false at the end of the file.
fn walk<R: BufRead, S: BlockSink + ?Sized>(
    lines: &mut Lines<R>,
    sink: &mut S,
) -> Result<bool, TraceErrorKind> {
    let mut body = Body::default();
    let (mut id, mut cluster, mut begun) = (Dim3::default(), None, false);
    loop {
        let Some(line) = lines.next()? else {
            return body.end().map(|()| false);
        };
        let event = body.line(line)?;
        // The cluster lines follow the block's, so the block is announced with what comes after them.
        if !begun && matches!(event, Event::Warp(..) | Event::EndBlock) {
            sink.begin_block(id, cluster)?;
            begun = true;
        }
        match event {
            Event::None => {}
            Event::Block(block) => id = block,
            Event::Cluster(found) => cluster = Some(found),
            Event::Warp(warp, insts) => sink.begin_warp(warp, insts)?,
            Event::Instr => sink.instr(line)?,
            Event::EndBlock => return sink.end_block().map(|()| true),
        }
    }
}

/// Builds thread blocks out of instruction lines and reuses their allocations.
#[derive(Debug)]
pub(crate) struct Assembler {
    pub(crate) parser: InstrParser,
    spare: Vec<Vec<Instr>>,
    grid: Dim3,
    /// Threads of a block.
    threads: u64,
    /// Warps of a block.
    warps: u64,
    /// Blocks that were read.
    blocks: u64,
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
            grid: header.grid,
            threads: header.block.count(),
            warps: header.warps_per_block(),
            blocks: 0,
        }
    }

    /// Empties `block`, keeping its instruction lists for the next warps, and makes it the sink.
    pub(crate) fn fill<'a>(&'a mut self, block: &'a mut ThreadBlock) -> Fill<'a> {
        for mut warp in block.warps.drain(..).rev() {
            warp.instrs.clear();
            self.spare.push(warp.instrs);
        }
        block.clear();
        Fill {
            assembler: self,
            block,
            instrs: 0,
        }
    }
}

/// A thread block that is being filled.
pub(crate) struct Fill<'a> {
    assembler: &'a mut Assembler,
    block: &'a mut ThreadBlock,
    instrs: usize,
}

impl BlockSink for Fill<'_> {
    fn begin_block(&mut self, id: Dim3, cluster: Option<Cluster>) -> Result<(), TraceErrorKind> {
        (self.block.id, self.block.cluster) = (id, cluster);
        let grid = self.assembler.grid;
        if id.x >= grid.x || id.y >= grid.y || id.z >= grid.z {
            return Err(TraceErrorKind::OutsideGrid(id, grid));
        }
        self.assembler.blocks += 1;
        if self.assembler.blocks > grid.count() {
            return Err(TraceErrorKind::TooManyBlocks(grid.count()));
        }
        Ok(())
    }

    fn begin_warp(&mut self, id: u32, insts: u64) -> Result<(), TraceErrorKind> {
        // A packed trace lists warps without instructions, too.
        if insts > 0 && u64::from(id) >= self.assembler.warps {
            return Err(TraceErrorKind::OutsideBlock(id, self.assembler.threads));
        }
        if self.block.warps.iter().any(|warp| warp.id == id) {
            return Err(TraceErrorKind::WarpTwice(id, self.block.id));
        }
        self.block.warps.push(Warp {
            id,
            instrs: self.assembler.spare.pop().unwrap_or_default(),
        });
        Ok(())
    }

    #[inline]
    fn instr(&mut self, line: &[u8]) -> Result<(), TraceErrorKind> {
        self.instrs += 1;
        if self.instrs > MAX_INSTRS_PER_BLOCK {
            return Err(TraceErrorKind::BlockTooLong);
        }
        let instr = self.assembler.parser.parse(line, &mut self.block.addresses)?;
        if let Some(warp) = self.block.warps.last_mut() {
            warp.instrs.push(instr);
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), TraceErrorKind> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceErrorKind> {
        Ok(())
    }
}
