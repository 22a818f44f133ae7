//! What a kernel trace says, independent of which file format said it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Grid, block or cluster coordinates and extents, `x` fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dim3 {
    /// Fastest dimension.
    pub x: u32,
    /// Middle dimension.
    pub y: u32,
    /// Slowest dimension.
    pub z: u32,
}

impl Dim3 {
    /// A triple from its parts.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// `x * y * z`, which fits because each factor has 32 bits and CUDA's limits are far below.
    pub const fn count(self) -> u64 {
        (self.x as u64)
            .saturating_mul(self.y as u64)
            .saturating_mul(self.z as u64)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{},{})", self.x, self.y, self.z)
    }
}

/// The `-key = value` lines before a kernel's body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelHeader {
    /// Mangled or plain kernel name.
    pub name: String,
    /// The tracer's launch number (ids have gaps: untraced launches count too).
    pub id: u64,
    /// Thread blocks in the grid.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
    /// Static plus dynamic shared memory of a block, bytes.
    pub shmem_bytes: u64,
    /// Registers of a thread.
    pub nregs: u32,
    /// SM number of the cubin, such as 80; 0 when the header lacks it.
    pub binary_version: u32,
    /// The CUstream's pointer value, 0 for the default stream.
    pub stream_id: u64,
    /// Generic address where shared memory starts (absent in tracer versions 1 and 2).
    pub shmem_base: Option<u64>,
    /// Generic address where local memory starts (absent in tracer versions 1 and 2).
    pub local_base: Option<u64>,
    /// Free text such as `1.7.4`.
    pub nvbit_version: Option<String>,
    /// `-accelsim tracer version`; `None` means older than 3.
    pub tracer_version: Option<u32>,
    /// Whether every instruction starts with a source line number.
    pub lineinfo: bool,
    /// Keys this version does not know, in file order.
    pub unknown: Vec<(String, String)>,
}

impl KernelHeader {
    /// Warps of 32 threads in one block.
    pub fn warps_per_block(&self) -> u64 {
        self.block.count().div_ceil(32)
    }
}

/// An opcode's index in the [`OpcodeTable`] of the reader that produced it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpcodeId(pub u16);

/// A register operand, with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// General register `R0`..`R254`; 255 is RZ.
    R(u8),
    /// Uniform register `UR0`..`UR62` (`UR254` on Blackwell); 63 or 255 is URZ.
    UR(u8),
    /// Predicate `P0`..`P6`; 7 is PT.
    P(u8),
    /// Uniform predicate.
    UP(u8),
}

/// Most registers an instruction line may list on either side (Accel-Sim's tracer writes at most 1 and 5).
pub const MAX_REGS: usize = 8;

/// A short list of registers, stored in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regs {
    len: u8,
    regs: [Reg; MAX_REGS],
}

impl Default for Regs {
    fn default() -> Self {
        Self {
            len: 0,
            regs: [Reg::R(255); MAX_REGS],
        }
    }
}

impl Regs {
    /// Appends a register; false when the list is full.
    #[must_use]
    pub fn push(&mut self, reg: Reg) -> bool {
        let Some(slot) = self.regs.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = reg;
        self.len += 1;
        true
    }

    /// The registers in line order.
    pub fn as_slice(&self) -> &[Reg] {
        self.regs.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// How a memory instruction's addresses are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// One address for each active lane, in lane order, at `range` of [`ThreadBlock::addresses`].
    List,
    /// `base + i * stride` for the i-th lane after the first active one.
    BaseStride {
        /// Address of the first active lane.
        base: u64,
        /// Bytes between neighbouring lanes, may be 0 or negative.
        stride: i64,
    },
    /// TMA list or base-and-deltas form, expanded to `range` of [`ThreadBlock::addresses`].
    Bulk,
}

/// The memory part of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemAccess {
    /// Bytes for each lane, as the tracer derived them from the opcode text.
    pub width: u16,
    /// Form of the addresses.
    pub mode: AddressMode,
    /// Start and end in [`ThreadBlock::addresses`] (empty for [`AddressMode::BaseStride`]).
    pub range: (u32, u32),
    /// Extra facts of a TMA instruction.
    pub bulk: Option<BulkAccess>,
}

/// What a TMA (bulk copy) instruction says besides its addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkAccess {
    /// Address of the mbarrier it signals.
    pub mbarrier: u64,
    /// CTAs of the cluster that receive the data; `None` when it is not a multicast.
    pub cta_mask: Option<u16>,
    /// Bytes moved.
    pub bytes: u64,
    /// Bytes of those that lie outside the tensor.
    pub out_of_bounds_bytes: u64,
}

/// One warp instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// Program counter, bytes from the kernel's start.
    pub pc: u32,
    /// Lanes that are active and whose predicate holds; 0 is legal.
    pub mask: u32,
    /// Source line, when the header says `lineinfo`.
    pub line: Option<u32>,
    /// The opcode, resolved through the reader's [`OpcodeTable`].
    pub opcode: OpcodeId,
    /// Destination registers.
    pub dsts: Regs,
    /// Source registers.
    pub srcs: Regs,
    /// GMMA commit-group flag (tracer 2.0 only).
    pub gmma_commit: Option<bool>,
    /// Memory part, when `mem_width > 0`.
    pub mem: Option<MemAccess>,
    /// Up to two immediates.
    pub imms: [Option<i64>; 2],
}

impl Instr {
    /// Number of threads that execute it.
    pub fn active(&self) -> u32 {
        self.mask.count_ones()
    }
}

/// The instructions of one warp, in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warp {
    /// Index of the warp in its block.
    pub id: u32,
    /// Its instructions (may be empty).
    pub instrs: Vec<Instr>,
}

/// One thread block: the unit in which traces are read, so memory stays bounded by the largest block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadBlock {
    /// Coordinates in the grid.
    pub id: Dim3,
    /// Cluster coordinates, CTA coordinates in the cluster and rank (tracer 2.0 only).
    pub cluster: Option<Cluster>,
    /// Warps, ascending.
    pub warps: Vec<Warp>,
    /// Addresses that instructions refer to by range.
    pub addresses: Vec<u64>,
}

/// Where a block sits in its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Cluster coordinates in the grid of clusters.
    pub id: Dim3,
    /// The block's coordinates in its cluster.
    pub cta: Dim3,
    /// The block's rank in its cluster.
    pub rank: u32,
}

impl ThreadBlock {
    /// Empties the block and keeps its allocations.
    pub fn clear(&mut self) {
        self.id = Dim3::default();
        self.cluster = None;
        self.warps.clear();
        self.addresses.clear();
    }

    /// Calls `f(lane, address)` for each active lane of a (non-bulk) memory instruction, lanes ascending.
    pub fn for_each_address(&self, instr: &Instr, mut f: impl FnMut(u32, u64)) {
        let Some(mem) = instr.mem else { return };
        let lanes = (0..32u32).filter(|lane| instr.mask & (1 << lane) != 0);
        match mem.mode {
            AddressMode::BaseStride { base, stride } => {
                let first = instr.mask.trailing_zeros();
                for lane in lanes {
                    let offset = stride.wrapping_mul(i64::from(lane - first));
                    f(lane, base.wrapping_add_signed(offset));
                }
            }
            AddressMode::List => {
                let list = self
                    .addresses
                    .get(mem.range.0 as usize..mem.range.1 as usize)
                    .unwrap_or(&[]);
                for (lane, address) in lanes.zip(list) {
                    f(lane, *address);
                }
            }
            AddressMode::Bulk => {}
        }
    }
}

/// Opcode texts seen so far, in order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct OpcodeTable {
    names: Vec<Box<str>>,
    index: std::collections::BTreeMap<Box<str>, OpcodeId>,
}

impl OpcodeTable {
    /// The id of `name`, added when new. `None` when more than 65,536 different opcodes appear.
    pub fn intern(&mut self, name: &str) -> Option<OpcodeId> {
        if let Some(id) = self.index.get(name) {
            return Some(*id);
        }
        let id = OpcodeId(u16::try_from(self.names.len()).ok()?);
        self.names.push(name.into());
        self.index.insert(name.into(), id);
        Some(id)
    }

    /// The text of an opcode, such as `LDG.E.128`.
    pub fn name(&self, id: OpcodeId) -> &str {
        self.names.get(usize::from(id.0)).map_or("", |name| name)
    }

    /// Whether the opcode is one of the tracer's replay markers, which no GPU executes.
    pub fn is_pseudo(&self, id: OpcodeId) -> bool {
        matches!(self.name(id), "REPLAY_START" | "REPLAY_END")
    }

    /// Number of different opcodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no opcode was seen yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Ids and texts in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (OpcodeId, &str)> {
        self.names
            .iter()
            .enumerate()
            .filter_map(|(i, name)| Some((OpcodeId(u16::try_from(i).ok()?), &**name)))
    }
}
