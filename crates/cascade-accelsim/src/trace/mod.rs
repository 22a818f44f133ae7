//! Kernel traces: headers, thread blocks, warps and instructions.

mod body;
mod create;
pub(crate) mod error;
mod format;
mod header;
pub mod identity;
mod instr;
pub(crate) mod lines;
mod open;
mod raw;
mod sink;
mod text;
pub(crate) mod token;
#[cfg(feature = "compression")]
pub mod tracez;
mod types;

#[cfg(test)]
pub(crate) mod tests;

pub use create::create;
pub use error::{TraceError, TraceErrorKind};
pub use format::TraceFormat;
pub use open::open;
#[cfg(feature = "compression")]
pub use open::xz_reader;
pub use raw::{RawLine, RawReader};
pub use sink::{BlockSink, TextWriter};
pub use text::TraceReader;
pub use types::*;

/// Longest line of a text trace, bytes (a list of 32 addresses takes 600; mangled names a few thousand).
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// Longest header, bytes.
pub const MAX_HEADER_BYTES: usize = 4 << 20;
/// Most instructions in one warp.
pub const MAX_INSTRS_PER_WARP: u64 = 1 << 24;
/// Most instructions in one thread block, which bounds the memory a reader takes.
pub const MAX_INSTRS_PER_BLOCK: usize = 1 << 25;
/// Most addresses in one thread block.
pub const MAX_ADDRESSES_PER_BLOCK: usize = 1 << 28;
/// Most warps in a thread block: twice what CUDA's 1,024 threads give.
pub const MAX_WARPS_PER_BLOCK: u64 = 64;
/// Longest opcode text, bytes.
pub const MAX_OPCODE_BYTES: usize = 128;
/// Newest tracer version whose lines are known: 6, of Accel-Sim 2.0.
pub const MAX_TRACER_VERSION: u32 = 6;

/// A kernel trace that gives its thread blocks one after the other.
pub trait BlockSource {
    /// The kernel's header.
    fn header(&self) -> &KernelHeader;

    /// The header's lines up to and with `#traces format`, as a writer repeats them.
    fn header_text(&self) -> &[u8];

    /// The opcodes of the instructions given so far.
    fn opcodes(&self) -> &OpcodeTable;

    /// Fills `block` with the next thread block, reusing its memory; false at the end of the trace.
    ///
    /// # Errors
    /// When the trace is damaged or reading fails. The content of `block` is then unspecified.
    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError>;

    /// Gives the next thread block to `sink` as lines, unparsed; false at the end of the trace.
    ///
    /// # Errors
    /// When the trace is damaged, reading fails or the sink fails.
    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError>;
}
