//! What can be wrong with a trace, in sentences that say where and what to do.

use std::io;

use super::{
    MAX_ADDRESSES_PER_BLOCK, MAX_HEADER_BYTES, MAX_INSTRS_PER_BLOCK, MAX_INSTRS_PER_WARP, MAX_LINE_BYTES,
    MAX_OPCODE_BYTES, MAX_REGS, MAX_TRACER_VERSION, MAX_WARPS_PER_BLOCK,
};

/// A problem in one trace file, with its place.
#[derive(Debug, thiserror::Error)]
#[error("{file}{}: {kind}", place(*.line))]
pub struct TraceError {
    /// Name of the file as the caller gave it.
    pub file: String,
    /// Line counted from 1, 0 for none; in a `.tracez` file, the number of instruction lines read so far.
    pub line: u64,
    /// What is wrong.
    pub kind: TraceErrorKind,
}

/// What is wrong with a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceErrorKind {
    /// Reading, decompressing or writing failed.
    #[error("input or output failed: {error}{todo}", error = .0, todo = remedy(.0))]
    Io(#[from] io::Error),
    /// A line longer than the limit.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes; this is not a kernel trace")]
    LineTooLong,
    /// A header longer than the limit.
    #[error("the header is longer than {MAX_HEADER_BYTES} bytes; this is not a kernel trace")]
    HeaderTooLong,
    /// No `-key = value` line at the start.
    #[error("no `-kernel name = …` header at the start; this is not an Accel-Sim kernel trace")]
    NoHeader,
    /// A header key that is needed is missing.
    #[error("the header has no `-{0} = …` line; trace the kernel again")]
    MissingKey(&'static str),
    /// A header value that cannot be understood.
    #[error("`-{key} = {value}` is not {expected}")]
    BadValue {
        /// Key without the dash.
        key: String,
        /// Text of the value.
        value: String,
        /// What was expected, such as "a number".
        expected: &'static str,
    },
    /// Instruction lines before any thread block.
    #[error("instruction lines outside a thread block: this looks like a raw trace; post-process it first")]
    RawTrace,
    /// A file that is meant to be raw holds thread blocks.
    #[error("`#BEGIN_TB` in a raw trace: this file is already post-processed; use it as it is")]
    AlreadyProcessed,
    /// A line that has no place where it stands.
    #[error("unexpected line `{0}`; if it is an instruction, the `insts =` count before it is too small")]
    UnexpectedLine(String),
    /// A structure line with a value that cannot be understood.
    #[error("`{0}` has no valid number after `=`")]
    BadStructure(String),
    /// Fewer instruction lines than announced.
    #[error(
        "warp {warp} announces {expected} instructions but only {found} lines follow; the file is damaged"
    )]
    TooFewInstrs {
        /// Warp's index in its block.
        warp: u32,
        /// `insts = ` value.
        expected: u64,
        /// Instruction lines there.
        found: u64,
    },
    /// The file ends inside a thread block.
    #[error("the file ends inside a thread block ({0}); it was cut off, copy or trace it again")]
    Truncated(String),
    /// More warps than a block can have.
    #[error("warp {0} is beyond the limit of {MAX_WARPS_PER_BLOCK} warps in a block")]
    TooManyWarps(u64),
    /// More instructions than a warp may have.
    #[error("{0} instructions in one warp, the limit is {MAX_INSTRS_PER_WARP}; trace a shorter kernel")]
    WarpTooLong(u64),
    /// More instructions than a block may have.
    #[error("more than {MAX_INSTRS_PER_BLOCK} instructions in one thread block; trace a shorter kernel")]
    BlockTooLong,
    /// More addresses than a block may have.
    #[error("more than {MAX_ADDRESSES_PER_BLOCK} addresses in one thread block; trace a shorter kernel")]
    TooManyAddresses,
    /// A line ends before a field.
    #[error("the instruction line ends where the {0} should be")]
    Missing(&'static str),
    /// A field that cannot be understood.
    #[error("`{text}` is not a valid {field}")]
    BadField {
        /// What the field is.
        field: &'static str,
        /// Its text.
        text: String,
    },
    /// A register number outside its file.
    #[error(
        "register `{0}` is outside 0..255; NVBit older than 1.8 writes such numbers on new drivers, \
         trace again with a newer tracer"
    )]
    RegisterRange(String),
    /// More registers than the line can carry.
    #[error("{0} registers in one list, the limit is {MAX_REGS}")]
    TooManyRegs(u64),
    /// An opcode of odd characters or length.
    #[error(
        "`{0}` is not an opcode: expected up to {MAX_OPCODE_BYTES} of A-Z, 0-9, `.` and `_`, and a-z after the first `.`"
    )]
    BadOpcode(String),
    /// More different opcodes than the table holds.
    #[error("more than 65,536 different opcodes in one trace; the file is damaged")]
    TooManyOpcodes,
    /// An address mode that no tracer writes.
    #[error("address mode {0} is unknown; modes 0 to 4 are supported")]
    BadMode(u64),
    /// Base and stride with a hole in the mask.
    #[error("mask {0:08x} has holes, which base+stride addresses cannot describe")]
    MaskHoles(u32),
    /// Tokens after the last field.
    #[error("`{0}` follows the last field of the instruction line")]
    Trailing(String),
    /// A raw line whose prefix differs from that of the file's first line.
    #[error(
        "the columns before the program counter differ from those of the first line (no mask where expected)"
    )]
    BadPrefix,
    /// A block outside the grid.
    #[error(
        "thread block {0} lies outside the grid {1}; the header or the block is damaged, trace the kernel again"
    )]
    OutsideGrid(super::Dim3, super::Dim3),
    /// More blocks than the grid has.
    #[error(
        "there are more thread blocks than the {0} of the grid; the file is damaged, trace the kernel again"
    )]
    TooManyBlocks(u64),
    /// A warp that the header's block does not have.
    #[error("warp {0} has instructions, but a block of {1} threads has no such warp; trace the kernel again")]
    OutsideBlock(u32, u64),
    /// A warp that was there already.
    #[error("warp {0} comes twice in thread block {1}; the file is damaged, trace the kernel again")]
    WarpTwice(u32, super::Dim3),
    /// A format that is newer than this program.
    #[error(
        "`-accelsim tracer version = {0}`: versions up to {MAX_TRACER_VERSION} are known. Trace with Accel-Sim 2.0 or \
         older; if the lines are as in version {MAX_TRACER_VERSION}, write that number here"
    )]
    NewerTracer(u32),
    /// A `.tracez` file whose structure is wrong.
    #[error("damaged .tracez file: {0}; copy or post-process it again")]
    Packed(&'static str),
    /// A compressed file, but this build has no decompression.
    #[error("this build cannot read compressed traces; unpack the file first")]
    NoCompression,
}

/// What to do about compressed data that makes no sense.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        // zstd's errors have no kind of their own.
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::Other => "; the file is damaged or was cut off, copy or trace it again",
        _ => "",
    }
}

/// Where in a file: nothing where no line is to blame.
pub(crate) fn place(line: u64) -> String {
    match line {
        0 => String::new(),
        line => format!(":{line}"),
    }
}

/// At most this much of an offending text is quoted.
const QUOTE_BYTES: usize = 80;

/// An excerpt of outside bytes that is safe to print.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let cut = bytes.get(..QUOTE_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(cut);
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if cut.len() < bytes.len() {
        out.push('…');
    }
    out
}
