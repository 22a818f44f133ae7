//! The static instructions of a kernel: every different (PC, opcode, operands) once, with its costs and
//! scoreboard slots, so that a warp's trace is a list of numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use cascade_accelsim::trace::{Instr, OpcodeId, OpcodeTable, Reg, Regs};

use super::stats::Stall;
use crate::gpu::GpuModel;
use crate::l0::costs::{Cost, CostTable, MULTIPLY};
use crate::opcode::{Class, MemKind};

/// Index of the load/store path among a sub-core's units.
pub(super) const LSU: u8 = 9;
/// Index of "no unit".
pub(super) const NO_UNIT: u8 = 10;
/// Entries of a sub-core's table of units.
pub(super) const UNIT_SLOTS: usize = 11;

/// What an instruction does beyond taking an issue slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Fixed latency on a unit.
    Fixed,
    /// The same, and the warp's next instruction waits for it.
    Jump,
    /// Shared memory.
    Shared,
    /// Load from global memory.
    Load,
    /// Store or reduction to global memory.
    Store,
    /// Atomic with a result.
    Atomic,
    /// Copy from global to shared memory.
    AsyncCopy,
    /// Shuffles and cache control: a pass through the load/store path.
    Pass,
    /// Bulk copy to shared memory.
    BulkLoad,
    /// Bulk copy to global memory.
    BulkStore,
    /// `BAR.SYNC` and `BAR.RED`; argument: barrier id, then expected threads (0: not in the trace).
    Barrier(u8, u16),
    /// `BAR.ARV`.
    Arrive(u8, u16),
    /// Fence that waits for the warp's writes.
    Fence,
    /// Closes a group of asynchronous copies.
    Commit,
    /// Waits until at most so many groups are under way.
    WaitGroups(u8),
    /// An mbarrier arrival.
    MbarArrive,
    /// An mbarrier arrival once the warp's asynchronous copies are done.
    MbarArriveAsync,
    /// Waits for an mbarrier's phase.
    MbarWait,
    /// Warp-group matrix multiply; closes a group when set.
    Gmma(bool),
    /// Closes a group of warp-group multiplies in traces without commit flags.
    GmmaFence,
    /// Waits until at most so many groups of warp-group multiplies are under way.
    GmmaWait(u8),
    /// Arrives at the cluster's barrier.
    ClusterArrive,
    /// Waits for the cluster's barrier.
    ClusterWait,
}

/// One static instruction.
#[derive(Clone, Debug)]
pub(super) struct Static {
    pub(super) pc: u32,
    pub(super) opcode: OpcodeId,
    pub(super) op: Op,
    pub(super) unit: u8,
    /// Why instructions that need its result wait.
    pub(super) producer: Stall,
    pub(super) bypass_l1: bool,
    pub(super) latency: u32,
    pub(super) interval: f64,
    pub(super) multiply: f64,
    waits: (u32, u32),
    writes: (u32, u32),
}

/// Which of an opcode's behaviours an instruction has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Variant {
    Normal,
    /// No lane is active: an issue slot and nothing else.
    Off,
    /// A generic access in the shared window.
    Shared,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    pc: u32,
    opcode: OpcodeId,
    dsts: u128,
    srcs: u128,
    imms: [Option<i64>; 2],
    commit: Option<bool>,
    variant: Variant,
}

/// Multiplies and rotates words (as rustc's hasher does): fast, and only used for look-ups.
#[derive(Default)]
pub(super) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0_u8; 8];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }
    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn write_u128(&mut self, n: u128) {
        self.write_u64(n as u64);
        self.write_u64((n >> 64) as u64);
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
    fn write_i64(&mut self, n: i64) {
        self.write_u64(n.cast_unsigned());
    }
}

/// All static instructions of a kernel.
#[derive(Default)]
pub(super) struct Isa {
    costs: CostTable,
    names: Vec<Box<str>>,
    list: Vec<Static>,
    /// Ranges of scoreboard slots, first and past-the-end.
    ranges: Vec<(u16, u16)>,
    index: HashMap<Key, u32, BuildHasherDefault<WordHasher>>,
    general: u16,
    /// Whether any instruction lists a predicate register.
    pub(super) predicates_listed: bool,
    /// Whether any instruction sets a predicate.
    pub(super) compares: bool,
}

/// Uniform registers, predicates and uniform predicates that have slots, and one for the last compare.
const UNIFORM: u16 = 64;
const PREDICATES: u16 = 8;

impl Isa {
    /// An empty table for a kernel of so many registers a thread.
    pub(super) fn new(nregs: u32) -> Self {
        let known = u16::try_from(nregs).ok().filter(|n| (1..=255).contains(n));
        Self {
            general: known.unwrap_or(256).max(16),
            ..Self::default()
        }
    }

    /// Scoreboard slots of a warp.
    pub(super) fn slots(&self) -> usize {
        usize::from(self.general + UNIFORM + 2 * PREDICATES + 1)
    }

    /// Learns opcodes that appeared since the last call.
    pub(super) fn extend(&mut self, opcodes: &OpcodeTable, gpu: &GpuModel) {
        self.costs.extend(opcodes, gpu);
        let known = self.names.len();
        self.names
            .extend(opcodes.iter().skip(known).map(|(_, name)| Box::from(name)));
    }

    /// Costs of an opcode; `None` when the table lacks it.
    pub(super) fn cost(&self, opcode: OpcodeId) -> Option<&Cost> {
        self.costs.as_slice().get(usize::from(opcode.0))
    }

    /// Text of an opcode.
    pub(super) fn name(&self, opcode: OpcodeId) -> &str {
        self.names.get(usize::from(opcode.0)).map_or("", |name| name)
    }

    /// A static instruction.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &Static {
        &self.list[id as usize]
    }

    /// Slots for which an instruction waits.
    #[inline]
    pub(super) fn waits(&self, inst: &Static) -> &[(u16, u16)] {
        &self.ranges[inst.waits.0 as usize..inst.waits.1 as usize]
    }

    /// Slots that an instruction writes.
    #[inline]
    pub(super) fn writes(&self, inst: &Static) -> &[(u16, u16)] {
        &self.ranges[inst.writes.0 as usize..inst.writes.1 as usize]
    }

    /// The number of an instruction, added when new.
    pub(super) fn intern(&mut self, instr: &Instr, variant: Variant) -> Option<u32> {
        let key = Key {
            pc: instr.pc,
            opcode: instr.opcode,
            dsts: pack(&instr.dsts),
            srcs: pack(&instr.srcs),
            imms: instr.imms,
            commit: instr.gmma_commit,
            variant,
        };
        if let Some(id) = self.index.get(&key) {
            return Some(*id);
        }
        let cost = *self.costs.as_slice().get(usize::from(instr.opcode.0))?;
        let id = u32::try_from(self.list.len()).ok()?;
        let made = self.make(instr, &cost, variant);
        self.list.push(made);
        self.index.insert(key, id);
        Some(id)
    }

    fn make(&mut self, instr: &Instr, cost: &Cost, variant: Variant) -> Static {
        let name = self
            .names
            .get(usize::from(instr.opcode.0))
            .cloned()
            .unwrap_or_default();
        let op = match variant {
            Variant::Normal => operation(&name, cost, instr),
            Variant::Off => Op::Fixed,
            Variant::Shared => Op::Shared,
        };
        let in_order_accumulators = matches!(op, Op::Gmma(_));
        let mut waits = Vec::new();
        let mut writes = Vec::new();
        for (i, reg) in instr.srcs.as_slice().iter().enumerate() {
            let span = cost.op.src_regs.get(i).copied().unwrap_or(1);
            self.slots_of(*reg, if in_order_accumulators { 1 } else { span }, &mut waits);
        }
        if !in_order_accumulators && variant != Variant::Off {
            for reg in instr.dsts.as_slice() {
                self.slots_of(*reg, cost.op.dst_regs, &mut writes);
            }
            waits.extend_from_slice(&writes);
        }
        let compare = self.general + UNIFORM + 2 * PREDICATES;
        if cost.op.sets_predicate {
            self.compares = true;
            writes.push((compare, compare + 1));
        }
        if cost.op.class == Class::Branch {
            waits.push((compare, compare + 1));
        }
        let mut add = |list: Vec<(u16, u16)>| {
            let start = self.ranges.len() as u32;
            self.ranges.extend(list);
            (start, self.ranges.len() as u32)
        };
        let (waits, writes) = (add(waits), add(writes));
        let memory = matches!(
            op,
            Op::Shared | Op::Load | Op::Store | Op::Atomic | Op::AsyncCopy | Op::Pass
        );
        let off = variant == Variant::Off;
        let unit = match cost.unit {
            _ if memory => LSU,
            // Warp-group multiplies queue at the tensor core; warps do not wait to hand them over.
            _ if off || in_order_accumulators => NO_UNIT,
            Some(_) if cost.multiply > 0.0 => MULTIPLY as u8,
            Some(unit) => unit as u8,
            _ => NO_UNIT,
        };
        Static {
            pc: instr.pc,
            opcode: instr.opcode,
            op,
            unit,
            producer: producer(op, cost),
            bypass_l1: cost.op.mem.is_some_and(|mem| mem.bypass_l1),
            latency: if off { 1 } else { cost.latency.ceil() as u32 },
            interval: cost.interval,
            multiply: if off { 0.0 } else { cost.multiply },
            waits,
            writes,
        }
    }

    fn slots_of(&mut self, reg: Reg, span: u8, out: &mut Vec<(u16, u16)>) {
        let general = self.general;
        let (file, size, n) = match reg {
            Reg::R(255) | Reg::UR(63 | 255) | Reg::P(7) | Reg::UP(7) => return,
            Reg::R(n) => (0, general, u16::from(n)),
            Reg::UR(n) => (general, UNIFORM, u16::from(n)),
            Reg::P(n) => (general + UNIFORM, PREDICATES, u16::from(n)),
            Reg::UP(n) => (general + UNIFORM + PREDICATES, PREDICATES, u16::from(n)),
        };
        let span = if matches!(reg, Reg::P(_) | Reg::UP(_)) {
            self.predicates_listed = true;
            1
        } else {
            u16::from(span.max(1))
        };
        // A register beyond those that the header declares shares a slot: late, never out of bounds.
        let first = n % size;
        out.push((file + first, file + (first + span).min(size)));
    }
}

/// A short register list as a number.
fn pack(regs: &Regs) -> u128 {
    regs.as_slice().iter().fold(1, |packed: u128, reg| {
        let (file, n) = match reg {
            Reg::R(n) => (0, *n),
            Reg::UR(n) => (1, *n),
            Reg::P(n) => (2, *n),
            Reg::UP(n) => (3, *n),
        };
        packed << 10 | file << 8 | u128::from(n)
    })
}

fn operation(name: &str, cost: &Cost, instr: &Instr) -> Op {
    let base = name.split('.').next().unwrap_or(name);
    let has = |part: &str| name.split('.').skip(1).any(|suffix| suffix == part);
    let imm = |i: usize| instr.imms.get(i).copied().flatten();
    // The last immediate that the trace gives: older tracers print the scoreboard's number first or not at all.
    let groups = || u8::try_from(imm(0).unwrap_or(0)).unwrap_or(0);
    match (cost.op.class, base) {
        (Class::Barrier, "BAR") => {
            let id = imm(0).and_then(|id| u8::try_from(id).ok()).unwrap_or(0) & 15;
            let threads = imm(1).and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
            if has("ARV") {
                Op::Arrive(id, threads)
            } else {
                Op::Barrier(id, threads)
            }
        }
        (Class::Barrier, "MEMBAR") if !has("CTA") => Op::Fence,
        (Class::Barrier, "LDGDEPBAR" | "UTMACMDFLUSH") => Op::Commit,
        (Class::Barrier, "DEPBAR") => Op::WaitGroups(groups()),
        (Class::Barrier, "ARRIVES") => Op::MbarArriveAsync,
        (Class::Barrier, "SYNCS") if has("PHASECHK") => Op::MbarWait,
        (Class::Barrier, "SYNCS") if has("ARRIVE") && !has("A0TR") && !has("A0T1") => Op::MbarArrive,
        (Class::Barrier, "WARPGROUP") if has("DEPBAR") => Op::GmmaWait(groups()),
        (Class::Barrier, "WARPGROUP") => Op::GmmaFence,
        (Class::Barrier, "UCGABAR_ARV") => Op::ClusterArrive,
        (Class::Barrier, "UCGABAR_WAIT") => Op::ClusterWait,
        (Class::Tensor, _) if cost.op.tensor.is_some_and(|tensor| tensor.group) => {
            Op::Gmma(instr.gmma_commit.unwrap_or(false))
        }
        (
            Class::Branch,
            "BRA" | "BRX" | "JMP" | "JMX" | "CALL" | "CAL" | "RET" | "BRXU" | "JMXU" | "JCAL",
        ) => Op::Jump,
        (Class::Texture, _) => Op::Pass,
        (Class::Lsu, _) => match cost.op.mem {
            None => Op::Pass,
            Some(mem) if mem.space == crate::opcode::Space::Shared => Op::Shared,
            Some(mem) => match mem.kind {
                MemKind::Load => Op::Load,
                MemKind::Store | MemKind::Reduction => Op::Store,
                MemKind::Atomic => Op::Atomic,
                MemKind::AsyncCopy => Op::AsyncCopy,
                MemKind::BulkLoad => Op::BulkLoad,
                MemKind::BulkStore => Op::BulkStore,
            },
        },
        _ => Op::Fixed,
    }
}

fn producer(op: Op, cost: &Cost) -> Stall {
    match (op, cost.op.class) {
        (Op::Shared | Op::Pass, _) => Stall::Shared,
        (Op::Load | Op::Atomic, _) => Stall::L1,
        (_, Class::Tensor) => Stall::Tensor,
        (_, Class::Constant | Class::Misc) => Stall::Special,
        _ => Stall::Arithmetic,
    }
}
