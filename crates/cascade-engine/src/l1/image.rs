//! Thread blocks packed for simulation: instruction numbers, coalesced accesses, arguments.
//!
//! A warp's instruction numbers are shared between all warps that execute the same ones, addresses are
//! reduced to lines and sectors at once, so a resident block takes a few bytes for each instruction.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use cascade_accelsim::trace::{Cluster, Dim3, Instr, KernelHeader, OpcodeTable, ThreadBlock, Warp};

use super::isa::{Isa, Op, Variant, WordHasher};
use super::mbarrier::{self, Plans};
use crate::gpu::GpuModel;
use crate::l0::{Lines, bank_passes};
use crate::opcode::{Class, MemKind, MemOp, Space};

/// Bytes of the shared window in the generic address space (CUDA gives it 16 MiB).
const WINDOW_BYTES: u64 = 1 << 24;
/// Different instruction streams kept for sharing; beyond, those that no warp uses are forgotten.
const MAX_STREAMS: usize = 4096;

/// One memory instruction's work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Access {
    /// Cycles that it occupies the SM's load/store path.
    pub(super) occupancy: u16,
    /// Cycles beyond the unloaded latency, for conflicting lanes.
    pub(super) extra: u16,
    /// Lines in the warp's list.
    pub(super) lines: u16,
    /// Lanes on the busiest word of an atomic.
    pub(super) degree: u16,
}

/// A bulk copy's facts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bulk {
    pub(super) mbarrier: u64,
    pub(super) cta_mask: Option<u16>,
    pub(super) bytes: u64,
    pub(super) lines: u32,
}

/// One warp's packed trace.
#[derive(Debug, Default)]
pub(super) struct WarpImage {
    pub(super) stream: Arc<[u32]>,
    pub(super) accesses: Vec<Access>,
    /// Line numbers with sector masks: `line << 4 | mask`.
    pub(super) lines: Vec<u64>,
    pub(super) bulks: Vec<Bulk>,
    /// Addresses of mbarriers, in the order of their use.
    pub(super) mbarriers: Vec<u64>,
    /// Arrivals at the cluster's barrier.
    pub(super) cluster_arrivals: u32,
}

/// One thread block's packed trace.
#[derive(Debug, Default)]
pub(super) struct Image {
    /// Coordinates in the grid.
    pub(super) id: Dim3,
    pub(super) cluster: Option<Cluster>,
    pub(super) warps: Vec<WarpImage>,
    /// Fewer warps than the kernel's header says.
    pub(super) trimmed: bool,
    /// Uses of each CTA barrier by each warp, `barrier * warps + warp`; empty when there are none.
    pub(super) barrier_uses: Vec<u32>,
    /// What each mbarrier expects; filled in when the whole cluster is known.
    pub(super) plans: Plans,
}

impl Image {
    /// Whether the block belongs to a cluster or uses one's barrier.
    pub(super) fn in_cluster(&self) -> bool {
        self.cluster.is_some() || self.warps.iter().any(|warp| warp.cluster_arrivals > 0)
    }
}

/// CTA barriers of a thread block.
pub(super) const BARRIERS: usize = 16;

/// What lowering counts on the way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lowered {
    pub(super) blocks: u64,
    pub(super) warp_insts: u64,
    pub(super) thread_insts: u64,
    pub(super) sectors: u64,
    /// Cycles of the SMs' load/store paths.
    pub(super) lsu_cycles: u64,
}

/// Packs blocks.
pub(super) struct Lowering {
    pub(super) isa: Isa,
    pub(super) counts: Lowered,
    /// Warp instructions of each opcode.
    pub(super) by_opcode: Vec<u64>,
    shared_window: Option<u64>,
    warps_per_block: u64,
    lines: Lines,
    streams: HashMap<u64, Vec<Arc<[u32]>>, BuildHasherDefault<WordHasher>>,
    stream_count: usize,
    words: Vec<u64>,
    stream: Vec<u32>,
}

impl Lowering {
    pub(super) fn new(header: &KernelHeader) -> Self {
        Self {
            isa: Isa::new(header.nregs),
            counts: Lowered::default(),
            by_opcode: Vec::new(),
            shared_window: header.shmem_base.filter(|base| *base != 0),
            warps_per_block: header.warps_per_block(),
            lines: Lines::default(),
            streams: HashMap::default(),
            stream_count: 0,
            words: Vec::new(),
            stream: Vec::new(),
        }
    }

    /// Packs a block.
    ///
    /// # Errors
    /// The opcode id that `opcodes` lacks.
    pub(super) fn block(
        &mut self,
        block: &ThreadBlock,
        opcodes: &OpcodeTable,
        gpu: &GpuModel,
    ) -> Result<Image, u16> {
        self.isa.extend(opcodes, gpu);
        self.by_opcode.resize(opcodes.len(), 0);
        self.counts.blocks += 1;
        let mut image = Image {
            id: block.id,
            cluster: block.cluster,
            trimmed: (block.warps.len() as u64) < self.warps_per_block,
            ..Image::default()
        };
        for (index, warp) in block.warps.iter().enumerate() {
            let packed = self.warp(block, warp, index, gpu, &mut image.barrier_uses)?;
            image.warps.push(packed);
        }
        if image.warps.iter().any(|warp| !warp.mbarriers.is_empty()) {
            image.plans = mbarrier::own_uses(&image, &self.isa);
        }
        Ok(image)
    }

    fn warp(
        &mut self,
        block: &ThreadBlock,
        warp: &Warp,
        index: usize,
        gpu: &GpuModel,
        barrier_uses: &mut Vec<u32>,
    ) -> Result<WarpImage, u16> {
        let mut image = WarpImage::default();
        let mut stream = std::mem::take(&mut self.stream);
        stream.clear();
        let mut spin = Spin::default();
        for instr in &warp.instrs {
            let Some(cost) = self.isa.cost(instr.opcode) else {
                return Err(instr.opcode.0);
            };
            let (class, mem) = (cost.op.class, cost.op.mem);
            if class == Class::Pseudo {
                spin.marker(self.isa.name(instr.opcode) == "REPLAY_START");
                continue;
            }
            let variant = self.variant(block, instr, class, mem);
            let id = self.isa.intern(instr, variant).ok_or(instr.opcode.0)?;
            let op = self.isa.get(id).op;
            let address = if matches!(op, Op::MbarWait | Op::MbarArrive | Op::MbarArriveAsync) {
                Some(first_address(block, instr))
            } else {
                None
            };
            if spin.skips(op, address.flatten()) {
                continue;
            }
            self.counts.warp_insts += 1;
            self.counts.thread_insts += u64::from(instr.active());
            if let Some(count) = self.by_opcode.get_mut(usize::from(instr.opcode.0)) {
                *count += 1;
            }
            stream.push(id);
            match op {
                Op::Shared => {
                    let access = shared(block, instr, mem, gpu);
                    self.counts.lsu_cycles += u64::from(access.occupancy);
                    image.accesses.push(access);
                }
                Op::Load | Op::Store | Op::Atomic | Op::AsyncCopy => {
                    self.global(block, instr, mem, gpu, &mut image);
                }
                Op::BulkLoad | Op::BulkStore => self.bulk(block, instr, &mut image),
                Op::MbarWait | Op::MbarArrive | Op::MbarArriveAsync => {
                    image.mbarriers.push(address.flatten().unwrap_or(0));
                }
                Op::Barrier(barrier, _) | Op::Arrive(barrier, _) => {
                    let warps = block.warps.len();
                    barrier_uses.resize(BARRIERS * warps, 0);
                    if let Some(uses) = barrier_uses.get_mut(usize::from(barrier) * warps + index) {
                        *uses += 1;
                    }
                }
                Op::ClusterArrive => image.cluster_arrivals += 1,
                _ => {}
            }
        }
        image.stream = self.share(&stream);
        self.stream = stream;
        Ok(image)
    }

    fn variant(&self, block: &ThreadBlock, instr: &Instr, class: Class, mem: Option<MemOp>) -> Variant {
        let Some(mem) = mem.filter(|_| class == Class::Lsu) else {
            return Variant::Normal;
        };
        if instr.mask == 0 || instr.mem.is_none() {
            return Variant::Off;
        }
        let in_window = |base: u64| in_shared_window(block, instr, base);
        if mem.space == Space::Generic && self.shared_window.is_some_and(in_window) {
            Variant::Shared
        } else {
            Variant::Normal
        }
    }

    fn global(
        &mut self,
        block: &ThreadBlock,
        instr: &Instr,
        op: Option<MemOp>,
        gpu: &GpuModel,
        image: &mut WarpImage,
    ) {
        let (Some(op), Some(mem)) = (op, &instr.mem) else {
            return image.accesses.push(Access::default());
        };
        let bytes = u64::from(op.bytes);
        self.lines.coalesce(block, instr, mem, bytes);
        let lines = self.lines.as_slice();
        self.counts.sectors += self.lines.sectors();
        image
            .lines
            .extend(lines.iter().map(|(line, mask)| line << 4 | u64::from(*mask)));
        let core = &gpu.sm_core;
        let moved = (u64::from(instr.active()) * bytes) as f64 / core.l1_bandwidth.value;
        let occupancy = (lines.len() as f64).max(moved).max(core.lsu_interval.value);
        self.counts.lsu_cycles += occupancy.ceil() as u64;
        let lines = lines.len() as u16;
        let degree = if matches!(op.kind, MemKind::Atomic | MemKind::Reduction) {
            self.busiest_word(block, instr)
        } else {
            0
        };
        image.accesses.push(Access {
            occupancy: occupancy.ceil() as u16,
            extra: 0,
            lines,
            degree,
        });
    }

    /// Lanes that hit the word which most lanes hit.
    fn busiest_word(&mut self, block: &ThreadBlock, instr: &Instr) -> u16 {
        let words = &mut self.words;
        words.clear();
        block.for_each_address(instr, |_, address| words.push(address));
        words.sort_unstable();
        let longest = words.chunk_by(|a, b| a == b).map(<[u64]>::len).max();
        longest.unwrap_or(1) as u16
    }

    fn bulk(&mut self, block: &ThreadBlock, instr: &Instr, image: &mut WarpImage) {
        let Some(mem) = &instr.mem else { return };
        self.lines.coalesce_bulk(block, mem);
        self.counts.sectors += self.lines.sectors();
        let lines = self.lines.as_slice();
        image
            .lines
            .extend(lines.iter().map(|(line, mask)| line << 4 | u64::from(*mask)));
        let bulk = mem.bulk.unwrap_or_default();
        image.bulks.push(Bulk {
            mbarrier: bulk.mbarrier,
            cta_mask: bulk.cta_mask,
            bytes: bulk.bytes,
            lines: lines.len() as u32,
        });
    }

    /// The stream itself or an equal one seen before.
    fn share(&mut self, stream: &[u32]) -> Arc<[u32]> {
        let mut hasher = WordHasher::default();
        stream.iter().for_each(|id| hasher.write_u32(*id));
        if self.stream_count >= MAX_STREAMS {
            self.streams.clear();
            self.stream_count = 0;
        }
        let same = self.streams.entry(hasher.finish()).or_default();
        if let Some(found) = same.iter().find(|found| ***found == *stream) {
            return Arc::clone(found);
        }
        let new: Arc<[u32]> = stream.into();
        same.push(Arc::clone(&new));
        self.stream_count += 1;
        new
    }
}

/// Spin loops on mbarriers: in a marked region each mbarrier is waited for once; outside, a wait that
/// follows a wait for the same mbarrier with nothing but branches between is the same wait.
#[derive(Default)]
struct Spin {
    marked: bool,
    waited: Option<u64>,
    /// The last wait was a repetition.
    again: bool,
}

impl Spin {
    fn marker(&mut self, start: bool) {
        self.marked = start;
        if start {
            self.waited = None;
        }
    }

    fn skips(&mut self, op: Op, address: Option<u64>) -> bool {
        if op == Op::MbarWait {
            self.again = address.is_some() && self.waited == address;
            self.waited = address;
            return self.again;
        }
        if self.marked && self.waited.is_some() {
            return matches!(op, Op::Fixed | Op::Jump);
        }
        if op == Op::Jump {
            return self.again;
        }
        (self.waited, self.again) = (None, false);
        false
    }
}

fn shared(block: &ThreadBlock, instr: &Instr, op: Option<MemOp>, gpu: &GpuModel) -> Access {
    let (Some(op), Some(mem)) = (op, &instr.mem) else {
        return Access::default();
    };
    let banks = gpu.sm_core.shared_banks.count();
    let passes = bank_passes(block, instr, mem, u64::from(op.bytes), banks, op.address_lanes());
    Access {
        occupancy: f64::from(passes).max(gpu.sm_core.lsu_interval.value).ceil() as u16,
        extra: passes.saturating_sub(1) as u16,
        lines: 0,
        degree: 0,
    }
}

/// Whether a generic access goes to the shared window that starts at `base`.
pub(super) fn in_shared_window(block: &ThreadBlock, instr: &Instr, base: u64) -> bool {
    first_address(block, instr).is_some_and(|address| address.wrapping_sub(base) < WINDOW_BYTES)
}

fn first_address(block: &ThreadBlock, instr: &Instr) -> Option<u64> {
    let mut first = None;
    block.for_each_address(instr, |_, address| first = first.or(Some(address)));
    first
}
