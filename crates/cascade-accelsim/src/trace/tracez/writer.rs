//! Writer of `.tracez`, front to back without seeking.

use std::io::{self, Write};

use zstd::bulk::Compressor;

use super::{DEFAULT_SUBCHUNK_INSTRS, MAX_DICTIONARY_BYTES};
use crate::trace::{BlockSink, Cluster, Dim3, TraceErrorKind};

/// zstd level, the one that Accel-Sim's post-processor uses.
const LEVEL: i32 = 3;

/// How a `.tracez` is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Instructions for each sub-chunk; 0 keeps warps whole.
    pub subchunk_instrs: u32,
    /// zstd dictionary, may be empty; see [`train_dictionary`].
    pub dictionary: Vec<u8>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            subchunk_instrs: DEFAULT_SUBCHUNK_INSTRS,
            dictionary: Vec::new(),
        }
    }
}

/// A dictionary for warps like `samples` (texts of some warps each), or an empty one when there is too
/// little to learn from.
pub fn train_dictionary(samples: &[Vec<u8>]) -> Vec<u8> {
    let mut dictionary = zstd::dict::from_samples(samples, MAX_DICTIONARY_BYTES).unwrap_or_default();
    dictionary.truncate(MAX_DICTIONARY_BYTES);
    dictionary
}

/// One warp in the index.
#[derive(Clone, Debug, Default)]
struct WarpEntry {
    offset: u64,
    /// Instructions of each sub-chunk.
    subchunks: Vec<u32>,
}

/// Writes a packed trace. The index, about 20 bytes for each warp, is kept in memory until the end.
pub struct Writer<W> {
    writer: Counting<W>,
    compressor: Compressor<'static>,
    limit: u32,
    index: Vec<u8>,
    blocks: u32,
    block: Option<(Dim3, Cluster)>,
    warps: Vec<WarpEntry>,
    /// Lines of the sub-chunk that is being filled, and their number.
    text: Vec<u8>,
    lines: u32,
    in_replay: bool,
    /// Finished sub-chunks of the current warp, each with its size before it.
    packed: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header, `header_text` being its lines up to and with `#traces format`.
    ///
    /// # Errors
    /// When writing fails, the dictionary is too large or the header holds a NUL.
    pub fn new(writer: W, header_text: &[u8], options: &Options) -> Result<Self, TraceErrorKind> {
        if options.dictionary.len() > MAX_DICTIONARY_BYTES {
            return Err(TraceErrorKind::Packed("the dictionary is larger than 64 KiB"));
        }
        if header_text.contains(&0) {
            return Err(TraceErrorKind::Packed("the header holds a NUL"));
        }
        let mut writer = Counting { writer, position: 0 };
        writer.write_all(header_text)?;
        writer.write_all(&[0])?;
        writer.write_all(&u32_of(options.dictionary.len())?.to_le_bytes())?;
        writer.write_all(&options.subchunk_instrs.to_le_bytes())?;
        writer.write_all(&options.dictionary)?;
        Ok(Self {
            writer,
            compressor: Compressor::with_dictionary(LEVEL, &options.dictionary)?,
            limit: options.subchunk_instrs,
            index: Vec::new(),
            blocks: 0,
            block: None,
            warps: Vec::new(),
            text: Vec::new(),
            lines: 0,
            in_replay: false,
            packed: Vec::new(),
        })
    }

    /// Compresses the lines gathered so far into a sub-chunk.
    fn end_subchunk(&mut self) -> Result<(), TraceErrorKind> {
        if self.lines == 0 {
            return Ok(());
        }
        let frame = self
            .compressor
            .compress(self.text.strip_suffix(b"\n").unwrap_or(&self.text))?;
        self.packed.extend_from_slice(&u32_of(frame.len())?.to_le_bytes());
        self.packed.extend_from_slice(&frame);
        if let Some(warp) = self.warps.last_mut() {
            warp.subchunks.push(self.lines);
        }
        self.text.clear();
        self.lines = 0;
        Ok(())
    }

    fn end_warp(&mut self) -> Result<(), TraceErrorKind> {
        self.end_subchunk()?;
        self.in_replay = false;
        let Some(warp) = self.warps.last_mut() else {
            return Ok(());
        };
        warp.offset = self.writer.position;
        let insts: u64 = warp.subchunks.iter().map(|n| u64::from(*n)).sum();
        let insts = u32::try_from(insts)
            .ok()
            .ok_or(TraceErrorKind::WarpTooLong(insts))?;
        let chunks = u32_of(warp.subchunks.len())?;
        self.writer.write_all(&insts.to_le_bytes())?;
        self.writer.write_all(&chunks.to_le_bytes())?;
        self.writer.write_all(&self.packed)?;
        self.packed.clear();
        Ok(())
    }
}

impl<W: Write> BlockSink for Writer<W> {
    fn begin_block(&mut self, id: Dim3, cluster: Option<Cluster>) -> Result<(), TraceErrorKind> {
        self.block = Some((id, cluster.unwrap_or_default()));
        self.warps.clear();
        Ok(())
    }

    /// Warps that are left out become empty ones, since the format does not number them.
    fn begin_warp(&mut self, id: u32, _insts: u64) -> Result<(), TraceErrorKind> {
        if id as usize >= crate::trace::MAX_WARPS_PER_BLOCK as usize {
            return Err(TraceErrorKind::TooManyWarps(id.into()));
        }
        if (id as usize) < self.warps.len() {
            return Err(TraceErrorKind::Packed("warps are not in ascending order"));
        }
        while self.warps.len() <= id as usize {
            if !self.warps.is_empty() {
                self.end_warp()?;
            }
            self.warps.push(WarpEntry::default());
        }
        Ok(())
    }

    fn instr(&mut self, line: &[u8]) -> Result<(), TraceErrorKind> {
        if self.limit > 0 && self.lines >= self.limit && !self.in_replay {
            self.end_subchunk()?;
        }
        if memchr::memmem::find(line, b" REPLAY_START ").is_some() {
            self.in_replay = true;
        } else if memchr::memmem::find(line, b" REPLAY_END ").is_some() {
            self.in_replay = false;
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.lines += 1;
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), TraceErrorKind> {
        self.end_warp()?;
        let Some((id, cluster)) = self.block.take() else {
            return Ok(());
        };
        let Cluster {
            id: cluster_id,
            cta,
            rank,
        } = cluster;
        for dim in [id, cluster_id, cta] {
            for part in [dim.x, dim.y, dim.z] {
                self.index.extend_from_slice(&part.to_le_bytes());
            }
        }
        self.index.extend_from_slice(&rank.to_le_bytes());
        self.index
            .extend_from_slice(&u32_of(self.warps.len())?.to_le_bytes());
        for warp in self.warps.drain(..) {
            self.index
                .extend_from_slice(&warp.subchunks.iter().sum::<u32>().to_le_bytes());
            self.index
                .extend_from_slice(&u32_of(warp.subchunks.len())?.to_le_bytes());
            self.index.extend_from_slice(&warp.offset.to_le_bytes());
            for insts in warp.subchunks {
                self.index.extend_from_slice(&insts.to_le_bytes());
            }
        }
        self.blocks = self
            .blocks
            .checked_add(1)
            .ok_or(TraceErrorKind::Packed("too many thread blocks"))?;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceErrorKind> {
        let start = self.writer.position;
        self.writer.write_all(&self.blocks.to_le_bytes())?;
        self.writer.write_all(&self.index)?;
        self.writer.write_all(&start.to_le_bytes())?;
        Ok(self.writer.flush()?)
    }
}

fn u32_of(value: usize) -> Result<u32, TraceErrorKind> {
    u32::try_from(value)
        .ok()
        .ok_or(TraceErrorKind::Packed("a part is larger than 4 GiB"))
}

/// Counts the bytes written, which are the offsets of the index.
struct Counting<W> {
    writer: W,
    position: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
