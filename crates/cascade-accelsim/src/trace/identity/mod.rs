//! What makes two launches the same work: a key of the launch header and a key of the whole trace.
//!
//! [`header_key`] covers the launch properties only. [`Identifier`] reads thread blocks as an engine does and
//! gives the **content key**: the launch shape, and for every warp in order its instructions with program
//! counter (from the kernel's first), mask, opcode text, registers, immediates and addresses. The key does
//! not depend on the file format, and not on name, launch number, stream or source lines.
//!
//! Addresses are written so that moving a buffer keeps the key and nothing else does:
//!
//! 1. The first address that an instruction (a program counter) ever touches is its *anchor*. Each access is
//!    written as the distance of its first lane from the anchor, and each further lane as the distance from
//!    the lane before. Strides over lanes, loops, warps and blocks are thus exact, whatever their size.
//! 2. At the end, instructions whose address ranges share a block of [`ALIGNMENT`] bytes form one *region*,
//!    and the distances between their anchors are written. Instructions of different regions touch different
//!    lines, so only the distance between regions is left out; that is where buffers may move.
//! 3. The anchor modulo [`ALIGNMENT`] is written: sectors, lines and banks stay what they were.
//! 4. Whether an access lies in the shared or the local window of the generic address space is written.
//! 5. A trace that may touch more than [`MAX_RELOCATABLE_LINES`] lines, or addresses near the end of the
//!    address space, is written with its absolute addresses: there an engine may estimate, and estimates
//!    may depend on addresses.
//!
//! So equal keys mean: there is a shift by a multiple of [`ALIGNMENT`] for each region that turns one trace's
//! addresses into the other's and keeps regions apart. The reverse is not promised: buffers less than
//! [`ALIGNMENT`] bytes apart, or one instruction that walks over several buffers, give different keys when
//! they move against each other, which costs a simulation and no accuracy.

mod key;
mod regions;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use key::{BadKey, Key};
pub use regions::{ALIGNMENT, MAX_RELOCATABLE_LINES};

use super::{
    AddressMode, BlockSink, BlockSource, Instr, KernelHeader, MemAccess, OpcodeId, OpcodeTable, Reg,
    ThreadBlock, TraceError,
};
use key::Writer;
use regions::{Regions, Span};

/// What a trace is, whatever its file, name and place in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Key of the instruction stream and the address pattern.
    pub content: Key,
    /// Thread blocks in the trace.
    pub blocks: u64,
    /// Warp instructions, the tracer's replay markers not counted.
    pub warp_insts: u64,
    /// Thread instructions: active lanes summed over these.
    pub thread_insts: u64,
}

/// Key of the launch properties: name, grid, block, shared memory, registers and binary version. It says
/// nothing about what the kernel does: launches with equal headers may differ in loop counts and addresses.
pub fn header_key(header: &KernelHeader) -> Key {
    let mut out = Writer::new("cascade launch header 1");
    out.text(&header.name);
    shape(&mut out, header);
    out.finish()
}

/// Everything of a header that an engine computes with.
fn shape(out: &mut Writer, header: &KernelHeader) {
    for dim in [header.grid, header.block] {
        out.dim(dim);
    }
    out.u64(header.shmem_bytes);
    out.u32(header.nregs);
    out.u32(header.binary_version);
}

/// Reads a trace to its end and says what it is.
///
/// # Errors
/// The source's.
pub fn identify<S: BlockSource + ?Sized>(source: &mut S) -> Result<Identity, TraceError> {
    let mut identifier = Identifier::new(source.header());
    let mut block = ThreadBlock::default();
    while source.next_block(&mut block)? {
        identifier.block(&block, source.opcodes());
    }
    Ok(identifier.finish())
}

/// Takes a trace block by block, in bounded memory.
pub struct Identifier {
    out: Writer,
    regions: Regions,
    /// For each id of the reader its number in order of first use, and whether it is a replay marker.
    opcodes: Vec<Option<(u32, bool)>>,
    next_opcode: u32,
    first_pc: Option<u32>,
    counts: Identity,
}

impl Identifier {
    /// Starts with a kernel's header.
    pub fn new(header: &KernelHeader) -> Self {
        let mut out = Writer::new("cascade trace content 1");
        shape(&mut out, header);
        Self {
            out,
            regions: Regions::new(header),
            opcodes: Vec::new(),
            next_opcode: 0,
            first_pc: None,
            counts: Identity {
                content: Key::default(),
                blocks: 0,
                warp_insts: 0,
                thread_insts: 0,
            },
        }
    }

    /// Takes the next thread block.
    pub fn block(&mut self, block: &ThreadBlock, opcodes: &OpcodeTable) {
        self.counts.blocks += 1;
        let cluster = block.cluster.unwrap_or_default();
        self.out.u8(b'B');
        for dim in [block.id, cluster.id, cluster.cta] {
            self.out.dim(dim);
        }
        self.out.u32(cluster.rank);
        // Packed traces write down warps without instructions that text traces leave out.
        for warp in block.warps.iter().filter(|warp| !warp.instrs.is_empty()) {
            self.out.u8(b'W');
            self.out.u32(warp.id);
            self.out.u64(warp.instrs.len() as u64);
            for instr in &warp.instrs {
                self.instr(block, instr, opcodes);
            }
        }
    }

    fn instr(&mut self, block: &ThreadBlock, instr: &Instr, opcodes: &OpcodeTable) {
        let first_pc = *self.first_pc.get_or_insert(instr.pc);
        self.out.u32(instr.pc.wrapping_sub(first_pc));
        self.out.u32(instr.mask);
        if !self.opcode(instr.opcode, opcodes) {
            self.counts.warp_insts += 1;
            self.counts.thread_insts += u64::from(instr.active());
        }
        let out = &mut self.out;
        let given = |i: usize| instr.imms.get(i).copied().flatten();
        let flags = u8::from(instr.mem.is_some())
            | u8::from(given(0).is_some()) << 1
            | u8::from(given(1).is_some()) << 2
            | u8::from(instr.gmma_commit.is_some()) << 3
            | u8::from(instr.gmma_commit == Some(true)) << 4;
        out.u8(flags);
        for regs in [&instr.dsts, &instr.srcs] {
            let regs = regs.as_slice();
            out.u8(regs.len() as u8);
            for reg in regs {
                let (file, number) = match *reg {
                    Reg::R(number) => (0, number),
                    Reg::UR(number) => (1, number),
                    Reg::P(number) => (2, number),
                    Reg::UP(number) => (3, number),
                };
                out.u8(file);
                out.u8(number);
            }
        }
        for imm in [given(0), given(1)].into_iter().flatten() {
            out.u64(imm.cast_unsigned());
        }
        if let Some(mem) = &instr.mem {
            self.access(block, instr, mem);
        }
    }

    /// Writes the opcode's number in the stream and, when it is new, its text. True for a replay marker.
    fn opcode(&mut self, id: OpcodeId, table: &OpcodeTable) -> bool {
        let index = usize::from(id.0);
        if self.opcodes.len() <= index {
            self.opcodes.resize(index + 1, None);
        }
        let Some(slot) = self.opcodes.get_mut(index) else {
            return false;
        };
        if let Some((number, marker)) = slot {
            self.out.u32(*number);
            return *marker;
        }
        let new = (self.next_opcode, table.is_pseudo(id));
        *slot = Some(new);
        self.next_opcode += 1;
        self.out.u32(new.0);
        self.out.text(table.name(id));
        new.1
    }

    fn access(&mut self, block: &ThreadBlock, instr: &Instr, mem: &MemAccess) {
        self.out.u16(mem.width);
        if let Some(bulk) = &mem.bulk {
            self.out.u8(b'T');
            self.out.u64(bulk.mbarrier);
            self.out.u32(bulk.cta_mask.map_or(u32::MAX, u32::from));
            self.out.u64(bulk.bytes);
            self.out.u64(bulk.out_of_bounds_bytes);
        }
        let bytes = u64::from(mem.width).max(mem.bulk.map_or(0, |bulk| bulk.bytes));
        match mem.mode {
            // Without a lane there is no address, whatever the tracer wrote.
            _ if instr.mask == 0 && mem.mode != AddressMode::Bulk => self.out.u8(b'-'),
            AddressMode::BaseStride { base, stride } => {
                let steps = 31 - instr.mask.leading_zeros() - instr.mask.trailing_zeros();
                let last = i128::from(base) + i128::from(stride) * i128::from(steps);
                let last = u64::try_from(last).unwrap_or(u64::MAX);
                let span = Span::new(base, bytes).with(last, bytes);
                let lanes = u64::from(instr.active());
                self.out.u8(b's');
                self.regions
                    .access(&mut self.out, instr.pc, base, span, lanes, bytes);
                self.out.u64(stride.cast_unsigned());
            }
            AddressMode::List | AddressMode::Bulk => {
                let range = mem.range.0 as usize..mem.range.1 as usize;
                let list = block.addresses.get(range).unwrap_or(&[]);
                self.out
                    .u8(if mem.mode == AddressMode::Bulk { b'b' } else { b'l' });
                self.out.u32(list.len() as u32);
                let Some(first) = list.first() else { return };
                let span = list
                    .iter()
                    .fold(Span::new(*first, bytes), |span, at| span.with(*at, bytes));
                let lanes = list.len() as u64;
                self.regions
                    .access(&mut self.out, instr.pc, *first, span, lanes, bytes);
                let mut before = *first;
                for address in list.iter().skip(1) {
                    self.out.u64(address.wrapping_sub(before));
                    before = *address;
                }
            }
        }
    }

    /// The identity, once every block was taken.
    pub fn finish(mut self) -> Identity {
        self.out.u8(b'E');
        self.regions.finish(&mut self.out);
        Identity {
            content: self.out.finish(),
            ..self.counts
        }
    }
}

/// A source that identifies what is read from it, so that one pass over a trace does both.
pub struct Identified<'a, S: ?Sized> {
    inner: &'a mut S,
    identifier: Option<Identifier>,
    identity: Option<Identity>,
}

impl<'a, S: BlockSource + ?Sized> Identified<'a, S> {
    /// Wraps a source of which no block was read yet.
    pub fn new(inner: &'a mut S) -> Self {
        Self {
            identifier: Some(Identifier::new(inner.header())),
            inner,
            identity: None,
        }
    }

    /// The identity, once the source was read to its end.
    pub fn identity(&self) -> Option<Identity> {
        self.identity
    }
}

impl<S: BlockSource + ?Sized> BlockSource for Identified<'_, S> {
    fn header(&self) -> &KernelHeader {
        self.inner.header()
    }

    fn header_text(&self) -> &[u8] {
        self.inner.header_text()
    }

    fn opcodes(&self) -> &OpcodeTable {
        self.inner.opcodes()
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        let more = self.inner.next_block(block)?;
        if !more {
            self.identity = self.identifier.take().map(Identifier::finish).or(self.identity);
        } else if let Some(identifier) = &mut self.identifier {
            identifier.block(block, self.inner.opcodes());
        }
        Ok(more)
    }

    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        // Lines are not parsed here, so what they say is not known.
        self.identifier = None;
        self.inner.copy_block(sink)
    }
}
