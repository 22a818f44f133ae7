//! Where thread blocks go as lines: the counterpart of [`BlockSource`](super::BlockSource), and the text
//! writer.

use std::io::Write;

use super::{Cluster, Dim3, TraceErrorKind};

/// Takes the thread blocks of a processed trace, one after the other, their instructions as lines.
///
/// Calls come as `begin_block (begin_warp instr*)* end_block` any number of times, then `finish`.
pub trait BlockSink {
    /// A block starts.
    ///
    /// # Errors
    /// When writing fails.
    fn begin_block(&mut self, id: Dim3, cluster: Option<Cluster>) -> Result<(), TraceErrorKind>;

    /// A warp of the block starts; `insts` lines follow. Warps come in ascending order.
    ///
    /// # Errors
    /// When writing fails or the order is wrong.
    fn begin_warp(&mut self, id: u32, insts: u64) -> Result<(), TraceErrorKind>;

    /// One instruction line, without its line end.
    ///
    /// # Errors
    /// When writing fails.
    fn instr(&mut self, line: &[u8]) -> Result<(), TraceErrorKind>;

    /// The block is complete.
    ///
    /// # Errors
    /// When writing fails.
    fn end_block(&mut self) -> Result<(), TraceErrorKind>;

    /// The trace is complete: writes what is outstanding.
    ///
    /// # Errors
    /// When writing fails.
    fn finish(&mut self) -> Result<(), TraceErrorKind>;
}

/// Writes a processed text trace.
#[derive(Debug)]
pub struct TextWriter<W> {
    writer: W,
}

impl<W: Write> TextWriter<W> {
    /// Writes the header, `header_text` being its lines up to and with `#traces format`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(mut writer: W, header_text: &[u8]) -> Result<Self, TraceErrorKind> {
        writer.write_all(header_text)?;
        writer.write_all(b"\n")?;
        Ok(Self { writer })
    }

    /// The writer, after [`BlockSink::finish`].
    pub fn into_inner(self) -> W {
        self.writer
    }
}

impl<W: Write> BlockSink for TextWriter<W> {
    fn begin_block(&mut self, id: Dim3, cluster: Option<Cluster>) -> Result<(), TraceErrorKind> {
        write!(
            self.writer,
            "\n#BEGIN_TB\n\nthread block = {},{},{}\n",
            id.x, id.y, id.z
        )?;
        if let Some(Cluster { id, cta, rank }) = cluster {
            writeln!(self.writer, "cluster id = {},{},{}", id.x, id.y, id.z)?;
            write!(
                self.writer,
                "cluster cta = {},{},{}\ncluster rank = {rank}\n",
                cta.x, cta.y, cta.z
            )?;
        }
        Ok(())
    }

    fn begin_warp(&mut self, id: u32, insts: u64) -> Result<(), TraceErrorKind> {
        Ok(write!(self.writer, "\nwarp = {id}\ninsts = {insts}\n")?)
    }

    fn instr(&mut self, line: &[u8]) -> Result<(), TraceErrorKind> {
        self.writer.write_all(line)?;
        Ok(self.writer.write_all(b"\n")?)
    }

    fn end_block(&mut self) -> Result<(), TraceErrorKind> {
        Ok(self.writer.write_all(b"\n#END_TB\n")?)
    }

    fn finish(&mut self) -> Result<(), TraceErrorKind> {
        Ok(self.writer.flush()?)
    }
}
