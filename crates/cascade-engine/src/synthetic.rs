//! Kernels with known instruction streams, for the validation suite and for tests.

use cascade_accelsim::trace::{
    AddressMode, BlockSink, BlockSource, BulkAccess, Dim3, Instr, KernelHeader, MemAccess, OpcodeTable, Reg,
    Regs, ThreadBlock, TraceError, Warp,
};

/// Blocks from memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Synthetic {
    pub(crate) header: KernelHeader,
    pub(crate) opcodes: OpcodeTable,
    pub(crate) blocks: Vec<ThreadBlock>,
    next: usize,
}

impl Synthetic {
    /// A grid of `blocks` blocks of `warps` warps, all with the same instructions.
    pub(crate) fn uniform(sm: u32, blocks: u32, warps: u32, build: impl Fn(u32, u32, &mut Builder)) -> Self {
        let mut opcodes = OpcodeTable::default();
        let blocks: Vec<_> = (0..blocks)
            .map(|block| {
                let mut addresses = Vec::new();
                let warps = (0..warps)
                    .map(|warp| {
                        let mut builder = Builder {
                            opcodes: &mut opcodes,
                            addresses: &mut addresses,
                            instrs: Vec::new(),
                            pc: 0,
                        };
                        build(block, warp, &mut builder);
                        Warp {
                            id: warp,
                            instrs: builder.instrs,
                        }
                    })
                    .collect();
                ThreadBlock {
                    id: Dim3::new(block, 0, 0),
                    warps,
                    addresses,
                    ..ThreadBlock::default()
                }
            })
            .collect();
        let header = KernelHeader {
            name: "k".to_owned(),
            id: 1,
            grid: Dim3::new(blocks.len() as u32, 1, 1),
            block: Dim3::new(warps * 32, 1, 1),
            nregs: 32,
            binary_version: sm,
            ..KernelHeader::default()
        };
        Self {
            header,
            opcodes,
            blocks,
            next: 0,
        }
    }

    /// One warp with `n` instructions that each need the one before.
    pub(crate) fn chain(opcode: &str, n: u32, sm: u32) -> Self {
        Self::uniform(sm, 1, 1, |_, _, code| {
            (0..n).for_each(|_| code.op(opcode, &[4], &[4]))
        })
    }
}

impl BlockSource for Synthetic {
    fn header(&self) -> &KernelHeader {
        &self.header
    }

    fn header_text(&self) -> &[u8] {
        b""
    }

    fn opcodes(&self) -> &OpcodeTable {
        &self.opcodes
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        let Some(next) = self.blocks.get(self.next) else {
            return Ok(false);
        };
        block.clone_from(next);
        self.next += 1;
        Ok(true)
    }

    /// Only what a counting sink needs.
    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        let Some(next) = self.blocks.get(self.next) else {
            return Ok(false);
        };
        for warp in &next.warps {
            if sink.begin_warp(warp.id, warp.instrs.len() as u64).is_err() {
                return Ok(false);
            }
        }
        self.next += 1;
        Ok(true)
    }
}

/// Appends instructions to a warp.
pub(crate) struct Builder<'a> {
    opcodes: &'a mut OpcodeTable,
    addresses: &'a mut Vec<u64>,
    instrs: Vec<Instr>,
    pc: u32,
}

impl Builder<'_> {
    /// Goes on at another program counter, as a loop does.
    pub(crate) fn jump(&mut self, pc: u32) {
        self.pc = pc;
    }

    /// An instruction on general registers.
    pub(crate) fn op(&mut self, opcode: &str, dsts: &[u8], srcs: &[u8]) {
        self.push(opcode, dsts, srcs, None, u32::MAX);
    }

    /// A memory instruction of all lanes at `base + lane * stride`.
    pub(crate) fn mem(&mut self, opcode: &str, dsts: &[u8], srcs: &[u8], base: u64, stride: i64) {
        self.masked_mem(opcode, dsts, srcs, base, stride, u32::MAX);
    }

    /// A memory instruction of the lanes in `mask`.
    pub(crate) fn masked_mem(
        &mut self,
        opcode: &str,
        dsts: &[u8],
        srcs: &[u8],
        base: u64,
        stride: i64,
        mask: u32,
    ) {
        let mode = AddressMode::BaseStride { base, stride };
        self.push(
            opcode,
            dsts,
            srcs,
            Some(MemAccess {
                width: 4,
                mode,
                range: (0, 0),
                bulk: None,
            }),
            mask,
        );
    }

    /// A bulk copy of `lines` lines from `start` by one lane, signalling an mbarrier.
    pub(crate) fn bulk(
        &mut self,
        opcode: &str,
        start: u64,
        lines: u64,
        mbarrier: u64,
        cta_mask: Option<u16>,
    ) {
        let first = self.addresses.len() as u32;
        self.addresses.extend((0..lines).map(|i| start + i * 128));
        let access = MemAccess {
            width: 16,
            mode: AddressMode::Bulk,
            range: (first, self.addresses.len() as u32),
            bulk: Some(BulkAccess {
                mbarrier,
                cta_mask,
                bytes: lines * 128,
                out_of_bounds_bytes: 0,
            }),
        };
        self.push(opcode, &[], &[], Some(access), 1);
    }

    /// An instruction with immediates, such as a barrier.
    pub(crate) fn with_imms(&mut self, opcode: &str, imms: [Option<i64>; 2]) {
        self.push(opcode, &[], &[], None, u32::MAX);
        if let Some(instr) = self.instrs.last_mut() {
            instr.imms = imms;
        }
    }

    /// A warp-group multiply that closes its group or not.
    pub(crate) fn gmma(&mut self, opcode: &str, commit: bool) {
        self.push(opcode, &[], &[], None, u32::MAX);
        if let Some(instr) = self.instrs.last_mut() {
            instr.gmma_commit = Some(commit);
        }
    }

    fn push(&mut self, opcode: &str, dsts: &[u8], srcs: &[u8], mem: Option<MemAccess>, mask: u32) {
        let regs = |list: &[u8]| {
            let mut regs = Regs::default();
            for n in list {
                let fits = regs.push(Reg::R(*n));
                debug_assert!(fits, "a short list");
            }
            regs
        };
        // The table holds far more opcodes than a synthetic kernel has.
        let Some(opcode) = self.opcodes.intern(opcode) else {
            return;
        };
        let instr = Instr {
            pc: self.pc,
            mask,
            line: None,
            opcode,
            dsts: regs(dsts),
            srcs: regs(srcs),
            gmma_commit: None,
            mem,
            imms: [None; 2],
        };
        self.instrs.push(instr);
        self.pc += 16;
    }
}
