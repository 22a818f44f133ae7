//! Reader of `.tracez`, one block at a time along the index.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use zstd::bulk::Decompressor;

use super::{MAX_DICTIONARY_BYTES, MAX_SUBCHUNK_BYTES};
use crate::trace::header::parse_header;
use crate::trace::text::Assembler;
use crate::trace::{
    BlockSink, BlockSource, Cluster, Dim3, KernelHeader, MAX_HEADER_BYTES, MAX_INSTRS_PER_WARP,
    MAX_WARPS_PER_BLOCK, OpcodeTable, ThreadBlock, TraceError, TraceErrorKind,
};

type Result<T> = std::result::Result<T, TraceErrorKind>;

/// Blocks whose index entries are read in one go.
const INDEX_BATCH: usize = 256;
/// Buffer of the file, bytes.
const BUFFER_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug)]
struct WarpEntry {
    insts: u32,
    subchunks: u32,
    offset: u64,
}

#[derive(Clone, Debug)]
struct BlockEntry {
    id: Dim3,
    cluster: Cluster,
    warps: Vec<WarpEntry>,
}

/// Streams a packed trace.
pub struct Reader<R: Read + Seek> {
    name: String,
    header: KernelHeader,
    header_text: Vec<u8>,
    file: Packed<R>,
    assembler: Assembler,
    /// Instruction lines handed out so far.
    lines: u64,
}

/// The file behind a reader and where it stands in the index.
struct Packed<R: Read + Seek> {
    file: BufReader<R>,
    decompressor: Decompressor<'static>,
    index_start: u64,
    index_end: u64,
    index_next: u64,
    blocks_left: u32,
    /// Whether any block lies in a cluster; else the zeros of the index mean "no cluster".
    clustered: bool,
    ahead: VecDeque<BlockEntry>,
    packed: Vec<u8>,
    text: Vec<u8>,
}

impl<R: Read + Seek> Reader<R> {
    /// Reads header, dictionary and the shape of the index. `source_name` is what errors call the file.
    ///
    /// # Errors
    /// When the file is damaged or reading fails.
    pub fn open(read: R, source_name: &str) -> std::result::Result<Self, TraceError> {
        Self::start(read, source_name).map_err(|kind| TraceError {
            file: source_name.into(),
            line: 0,
            kind,
        })
    }

    fn start(read: R, name: &str) -> Result<Self> {
        let mut file = BufReader::with_capacity(BUFFER_BYTES, read);
        let mut text = Vec::new();
        file.by_ref()
            .take(MAX_HEADER_BYTES as u64 + 1)
            .read_until(0, &mut text)?;
        if text.len() > MAX_HEADER_BYTES {
            return Err(TraceErrorKind::HeaderTooLong);
        }
        if text.pop() != Some(0) {
            return Err(TraceErrorKind::Packed("its header is cut off"));
        }
        let (header, header_text) = parse_header(&text)?;
        let dictionary_bytes = u32_from(&mut file)? as usize;
        let _subchunk_instrs = u32_from(&mut file)?;
        if dictionary_bytes > MAX_DICTIONARY_BYTES {
            return Err(TraceErrorKind::Packed("the dictionary is larger than 64 KiB"));
        }
        let mut dictionary = vec![0; dictionary_bytes];
        file.read_exact(&mut dictionary)?;
        let decompressor = Decompressor::with_dictionary(&dictionary)?;
        let body_start = file.stream_position()?;
        let index_end = file.seek(SeekFrom::End(-8))?;
        let index_start = u64_from(&mut file)?;
        if index_start < body_start || index_start >= index_end {
            return Err(TraceErrorKind::Packed("the index does not lie behind the body"));
        }
        let mut packed = Packed {
            file,
            decompressor,
            index_start,
            index_end,
            index_next: index_start,
            blocks_left: 0,
            clustered: false,
            ahead: VecDeque::new(),
            packed: Vec::new(),
            text: Vec::new(),
        };
        packed.survey()?;
        let assembler = Assembler::new(&header);
        Ok(Self {
            name: name.into(),
            header,
            header_text,
            file: packed,
            assembler,
            lines: 0,
        })
    }
}

impl<R: Read + Seek> BlockSource for Reader<R> {
    fn header(&self) -> &KernelHeader {
        &self.header
    }

    fn header_text(&self) -> &[u8] {
        &self.header_text
    }

    fn opcodes(&self) -> &OpcodeTable {
        &self.assembler.parser.opcodes
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> std::result::Result<bool, TraceError> {
        let Self {
            name,
            file,
            assembler,
            lines,
            ..
        } = self;
        let result = file.next_block(&mut assembler.fill(block), lines);
        result.map_err(|kind| TraceError {
            file: name.clone(),
            line: *lines,
            kind,
        })
    }

    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> std::result::Result<bool, TraceError> {
        let result = self.file.next_block(sink, &mut self.lines);
        result.map_err(|kind| TraceError {
            file: self.name.clone(),
            line: self.lines,
            kind,
        })
    }
}

impl<R: Read + Seek> Packed<R> {
    /// Walks the whole index once: checks that it ends where it should and learns whether there are clusters.
    fn survey(&mut self) -> Result<()> {
        self.file.seek(SeekFrom::Start(self.index_start))?;
        let blocks = u32_from(&mut self.file)?;
        self.index_next = self.index_start + 4;
        for _ in 0..blocks {
            let entry = self.entry()?;
            self.clustered |= entry.cluster != Cluster::default();
        }
        if self.index_next != self.index_end {
            return Err(TraceErrorKind::Packed("the index has a wrong length"));
        }
        self.index_next = self.index_start + 4;
        self.blocks_left = blocks;
        Ok(())
    }

    /// Reads one block's entry at the file's position, which is `index_next`.
    fn entry(&mut self) -> Result<BlockEntry> {
        let file = &mut self.file;
        let mut dim = || -> Result<Dim3> { Ok(Dim3::new(u32_from(file)?, u32_from(file)?, u32_from(file)?)) };
        let (id, cluster_id, cta) = (dim()?, dim()?, dim()?);
        let rank = u32_from(file)?;
        let warp_count = u32_from(file)?;
        if u64::from(warp_count) > MAX_WARPS_PER_BLOCK {
            return Err(TraceErrorKind::TooManyWarps(warp_count.into()));
        }
        let mut length = 44;
        let mut warps = Vec::new();
        for _ in 0..warp_count {
            let entry = WarpEntry {
                insts: u32_from(file)?,
                subchunks: u32_from(file)?,
                offset: u64_from(file)?,
            };
            if u64::from(entry.insts) > MAX_INSTRS_PER_WARP {
                return Err(TraceErrorKind::WarpTooLong(entry.insts.into()));
            }
            if entry.subchunks > entry.insts || entry.offset >= self.index_start {
                return Err(TraceErrorKind::Packed("an entry of the index makes no sense"));
            }
            file.seek_relative(i64::from(entry.subchunks) * 4)?;
            length += 16 + u64::from(entry.subchunks) * 4;
            warps.push(entry);
        }
        self.index_next += length;
        if self.index_next > self.index_end {
            return Err(TraceErrorKind::Packed("the index is longer than its place"));
        }
        Ok(BlockEntry {
            id,
            cluster: Cluster {
                id: cluster_id,
                cta,
                rank,
            },
            warps,
        })
    }

    fn next_block(&mut self, sink: &mut dyn BlockSink, lines: &mut u64) -> Result<bool> {
        if self.ahead.is_empty() {
            self.file.seek(SeekFrom::Start(self.index_next))?;
            while self.blocks_left > 0 && self.ahead.len() < INDEX_BATCH {
                let entry = self.entry()?;
                self.ahead.push_back(entry);
                self.blocks_left -= 1;
            }
        }
        let Some(block) = self.ahead.pop_front() else {
            return Ok(false);
        };
        sink.begin_block(block.id, self.clustered.then_some(block.cluster))?;
        for (id, warp) in (0..).zip(block.warps) {
            sink.begin_warp(id, warp.insts.into())?;
            self.warp(warp, sink, lines)?;
        }
        sink.end_block()?;
        Ok(true)
    }

    fn warp(&mut self, warp: WarpEntry, sink: &mut dyn BlockSink, lines: &mut u64) -> Result<()> {
        let position = self.file.stream_position()?;
        // A relative seek keeps the buffer, and bodies lie in a row.
        self.file
            .seek_relative(warp.offset.wrapping_sub(position).cast_signed())?;
        if (u32_from(&mut self.file)?, u32_from(&mut self.file)?) != (warp.insts, warp.subchunks) {
            return Err(TraceErrorKind::Packed("index and body disagree"));
        }
        let mut found = 0u64;
        for _ in 0..warp.subchunks {
            self.subchunk()?;
            for line in self.text.split(|byte| *byte == b'\n') {
                found += 1;
                *lines += 1;
                if found > u64::from(warp.insts) {
                    break;
                }
                sink.instr(line)?;
            }
        }
        if found != u64::from(warp.insts) {
            return Err(TraceErrorKind::Packed(
                "a warp has another number of instructions than announced",
            ));
        }
        Ok(())
    }

    /// Decompresses the sub-chunk at the file's position into `text`.
    fn subchunk(&mut self) -> Result<()> {
        let size = u32_from(&mut self.file)? as usize;
        if size > MAX_SUBCHUNK_BYTES {
            return Err(TraceErrorKind::Packed("a sub-chunk is larger than 256 MiB"));
        }
        self.packed.clear();
        self.file
            .by_ref()
            .take(size as u64)
            .read_to_end(&mut self.packed)?;
        if self.packed.len() != size {
            return Err(TraceErrorKind::Packed("a sub-chunk is cut off"));
        }
        let text = Decompressor::upper_bound(&self.packed).filter(|text| *text <= MAX_SUBCHUNK_BYTES);
        let text = text.ok_or(TraceErrorKind::Packed(
            "a sub-chunk has no size or one above 256 MiB",
        ))?;
        self.text.clear();
        self.text.reserve(text);
        self.decompressor
            .decompress_to_buffer(&self.packed, &mut self.text)?;
        Ok(())
    }
}

fn u32_from(read: &mut impl Read) -> Result<u32> {
    Ok(u32::from_le_bytes(bytes_from(read)?))
}

fn u64_from(read: &mut impl Read) -> Result<u64> {
    Ok(u64::from_le_bytes(bytes_from(read)?))
}

fn bytes_from<const N: usize>(read: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match read.read_exact(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(TraceErrorKind::Packed("it ends too early"))
        }
        Err(error) => Err(error.into()),
        Ok(()) => Ok(bytes),
    }
}
