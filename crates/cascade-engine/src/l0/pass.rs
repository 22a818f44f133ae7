//! The pass over the blocks of one kernel.

use std::collections::BTreeMap;

use cascade_accelsim::trace::{Instr, KernelHeader, MemAccess, OpcodeId, OpcodeTable, ThreadBlock, Warp};

use super::bounds::{Totals, p_norm};
use super::chain::Chain;
use super::coalesce::{Lines, SECTOR_BYTES, bank_passes};
use super::costs::{CostTable, UNITS};
use super::footprint::{Footprint, LineTable};
use super::occupancy::occupancy;
use crate::engine::{Engine, EngineError, Options};
use crate::estimate::{BoundKind, KernelEstimate, Provenance};
use crate::gpu::GpuModel;
use crate::opcode::{Class, MemKind, MemOp, Space};

/// Sub-cores for which there are counters; [`crate::gpu::SmCore::schedulers`] has the same limit.
const MAX_SUBCORES: usize = 8;
/// Lines of one CTA whose L1 state is tracked (128 MiB); further lines count as misses.
const MAX_CTA_LINES: usize = 1 << 20;
/// Bytes of the shared and local windows in the generic address space (CUDA gives each 16 MiB).
const WINDOW_BYTES: u64 = 1 << 24;

/// One sub-core's share of one block.
#[derive(Clone, Copy, Debug, Default)]
struct SubCore {
    issued: u64,
    busy: [f64; UNITS],
    agu: f64,
}

/// What one block adds to the SM-wide sums.
#[derive(Clone, Copy, Debug, Default)]
struct SmShare {
    lsu_cycles: f64,
    l2_bytes: u64,
    chain: f64,
}

/// Computes the bounds of one kernel on one GPU, block by block. Several passes may be fed from one reader.
#[derive(Debug)]
pub struct KernelPass<'gpu> {
    gpu: &'gpu GpuModel,
    options: Options,
    header: KernelHeader,
    costs: CostTable,
    lines: Lines,
    cta_lines: LineTable,
    footprint: Footprint,
    totals: Totals,
    warp_insts: u64,
    thread_insts: u64,
    sectors: u64,
    unknown: BTreeMap<OpcodeId, u64>,
}

impl<'gpu> KernelPass<'gpu> {
    /// A pass for the kernel of `header` on `gpu`.
    ///
    /// # Errors
    /// The trace is of another architecture, or not one CTA fits on an SM.
    pub fn new(header: &KernelHeader, gpu: &'gpu GpuModel, options: &Options) -> Result<Self, EngineError> {
        if !options.allow_other_arch {
            Engine::check(header, gpu)?;
        }
        occupancy(header, gpu, header.grid.count())
            .map_err(|limit| Engine::does_not_fit(header, gpu, limit))?;
        Ok(Self {
            gpu,
            options: *options,
            header: header.clone(),
            costs: CostTable::default(),
            lines: Lines::default(),
            cta_lines: LineTable::new(MAX_CTA_LINES),
            footprint: Footprint::default(),
            totals: Totals::default(),
            warp_insts: 0,
            thread_insts: 0,
            sectors: 0,
            unknown: BTreeMap::new(),
        })
    }

    /// Adds one thread block.
    ///
    /// # Errors
    /// The block refers to an opcode that `opcodes` lacks.
    pub fn block(&mut self, block: &ThreadBlock, opcodes: &OpcodeTable) -> Result<(), EngineError> {
        self.costs.extend(opcodes, self.gpu);
        self.cta_lines.clear();
        let mut subcores = [SubCore::default(); MAX_SUBCORES];
        let mut sm = SmShare::default();
        let count = (self.gpu.sm_core.schedulers.count() as usize).clamp(1, MAX_SUBCORES);
        // The chain is followed for the warp with the most instructions, the first of equals.
        let longest = block
            .warps
            .iter()
            .map(|warp| warp.instrs.len())
            .max()
            .unwrap_or(0);
        let mut chain_pending = true;
        for warp in &block.warps {
            let follow = chain_pending && warp.instrs.len() == longest;
            chain_pending &= !follow;
            let Some(subcore) = subcores.get_mut(warp.id as usize % count) else {
                continue;
            };
            self.warp(block, warp, follow, subcore, &mut sm)?;
        }
        self.add_block(subcores.get(..count).unwrap_or(&[]), &sm);
        Ok(())
    }

    fn warp(
        &mut self,
        block: &ThreadBlock,
        warp: &Warp,
        follow: bool,
        subcore: &mut SubCore,
        sm: &mut SmShare,
    ) -> Result<(), EngineError> {
        let mut chain = follow.then(Box::<Chain>::default);
        for instr in &warp.instrs {
            let Some(cost) = self.costs.as_slice().get(usize::from(instr.opcode.0)).copied() else {
                return Err(EngineError::Opcode {
                    kernel: self.header.name.clone(),
                    block: block.id.to_string(),
                    id: instr.opcode.0,
                });
            };
            if cost.op.class == Class::Pseudo {
                continue;
            }
            self.warp_insts += 1;
            self.thread_insts += u64::from(instr.active());
            subcore.issued += 1;
            subcore.agu += cost.agu;
            if let Some(busy) = cost.unit.and_then(|unit| subcore.busy.get_mut(unit)) {
                *busy += cost.interval;
            }
            let mut latency = cost.latency;
            let mut asynchronous = false;
            match cost.op.class {
                Class::Lsu => {
                    sm.lsu_cycles += self.gpu.sm_core.lsu_interval.value;
                    if let (Some(op), Some(mem)) = (cost.op.mem, &instr.mem) {
                        let (extra, time) = self.memory(block, instr, op, mem, sm);
                        sm.lsu_cycles += extra;
                        latency = time;
                        asynchronous = op.kind == MemKind::AsyncCopy || op.kind.is_bulk();
                    }
                }
                Class::Unknown => *self.unknown.entry(instr.opcode).or_default() += 1,
                _ => {}
            }
            if let Some(chain) = &mut chain {
                if asynchronous {
                    chain.issue_async(instr, &cost.op, latency);
                } else {
                    chain.issue(instr, &cost.op, latency);
                }
            }
        }
        if let Some(chain) = chain {
            sm.chain = chain.length();
        }
        Ok(())
    }

    /// One memory instruction: load/store cycles beyond the minimum, and its unloaded latency.
    fn memory(
        &mut self,
        block: &ThreadBlock,
        instr: &Instr,
        op: MemOp,
        mem: &MemAccess,
        sm: &mut SmShare,
    ) -> (f64, f64) {
        let core = &self.gpu.sm_core;
        let latency = &self.gpu.latency;
        let bytes = u64::from(op.bytes);
        let beyond_minimum = |cycles: f64| (cycles - core.lsu_interval.value).max(0.0);
        if self.space(block, instr, op) == Space::Shared {
            let passes = bank_passes(
                block,
                instr,
                mem,
                bytes,
                core.shared_banks.count(),
                op.address_lanes(),
            );
            return (
                beyond_minimum(f64::from(passes)),
                latency.shared.value + f64::from(passes.saturating_sub(1)),
            );
        }
        let bulk_bytes = mem.bulk.map_or(0, |bulk| bulk.bytes);
        if op.kind.is_bulk() {
            self.lines.coalesce_bulk(block, mem);
        } else {
            self.lines.coalesce(block, instr, mem, bytes);
        }
        let (reads, writes) = match op.kind {
            MemKind::Atomic | MemKind::Reduction => (true, true),
            kind => (!kind.writes(), kind.writes()),
        };
        let mut missed = 0_u64;
        let mut level = latency.l1.value;
        for (line, mask) in self.lines.as_slice() {
            if self.footprint.touch(*line, *mask, reads, writes) {
                level = level.max(latency.dram.value);
            }
            let mut miss = *mask;
            if reads
                && !op.bypass_l1
                && let Some(state) = self.cta_lines.entry(*line)
            {
                miss = *mask & !*state;
                *state |= *mask;
            }
            if miss != 0 {
                level = level.max(latency.l2.value);
                missed += u64::from(miss.count_ones());
            }
        }
        let sectors = self.lines.sectors();
        self.sectors += sectors;
        sm.l2_bytes += (missed * SECTOR_BYTES).max(bulk_bytes);
        let lines = self.lines.as_slice().len() as f64;
        let moved = bulk_bytes.max(u64::from(instr.active()) * bytes) as f64 / core.l1_bandwidth.value;
        // A bulk copy passes L1's tags by; it only moves its bytes.
        let cycles = if op.kind.is_bulk() {
            bulk_bytes as f64 / core.l1_bandwidth.value
        } else {
            lines.max(moved)
        };
        let serial = if op.kind.is_bulk() {
            0.0
        } else {
            (lines - 1.0).max(0.0)
        };
        (beyond_minimum(cycles), level + serial)
    }

    /// Where an access goes: what the opcode says or, for generic ones, the window of the first address.
    fn space(&self, block: &ThreadBlock, instr: &Instr, op: MemOp) -> Space {
        if op.space != Space::Generic {
            return op.space;
        }
        let mut first = None;
        block.for_each_address(instr, |_, address| first = first.or(Some(address)));
        let in_window = |base: Option<u64>| {
            base.filter(|base| *base != 0)
                .zip(first)
                .is_some_and(|(base, address)| address.wrapping_sub(base) < WINDOW_BYTES)
        };
        if in_window(self.header.shmem_base) {
            Space::Shared
        } else {
            Space::Global
        }
    }

    fn add_block(&mut self, subcores: &[SubCore], sm: &SmShare) {
        let peak_and_total = |f: &dyn Fn(&SubCore) -> f64| {
            subcores
                .iter()
                .map(f)
                .fold((0.0, 0.0), |(peak, total): (f64, f64), cycles| {
                    (peak.max(cycles), total + cycles)
                })
        };
        let totals = &mut self.totals;
        totals.blocks += 1;
        let (peak, total) = peak_and_total(&|subcore| subcore.issued as f64);
        totals.issue.add(peak, total);
        let (peak, total) = peak_and_total(&|subcore| subcore.agu);
        totals.agu.add(peak, total);
        for (unit, load) in totals.units.iter_mut().enumerate() {
            let (peak, total) = peak_and_total(&|subcore| subcore.busy.get(unit).copied().unwrap_or(0.0));
            load.add(peak, total);
        }
        totals.lsu.add(sm.lsu_cycles, sm.lsu_cycles);
        totals.port.add(sm.l2_bytes as f64, sm.l2_bytes as f64);
        totals.chain.add(sm.chain, 0.0);
        totals.l2_bytes += sm.l2_bytes;
    }

    /// The result, once every block was added.
    pub fn finish(mut self, opcodes: &OpcodeTable) -> KernelEstimate {
        let gpu = self.gpu;
        // Writes stay in L2 as long as it can hold them; reads must come from DRAM once.
        let spilled = self
            .footprint
            .written_bytes()
            .saturating_sub(gpu.chip.l2_size.count());
        self.totals.dram_bytes = self.footprint.read_bytes() + spilled;
        // `new` made sure that a CTA fits, so the grid's own occupancy is only a formality here.
        let occupancy = occupancy(&self.header, gpu, self.totals.blocks).unwrap_or_else(|limited_by| {
            crate::estimate::Occupancy {
                ctas_per_sm: 1,
                warps_per_cta: self.header.warps_per_block(),
                limited_by,
                ctas_on_busiest_sm: self.totals.blocks,
                waves: self.totals.blocks,
                resident_share: 0.0,
            }
        });
        let bounds = self.totals.bounds(&occupancy, gpu);
        let body = p_norm(bounds.iter().map(|bound| bound.cycles));
        let t0 = gpu.cycles_from_ns(gpu.chip.kernel_overhead.value);
        let first_wave = occupancy.ctas_per_sm.min(occupancy.ctas_on_busiest_sm);
        let fill = first_wave as f64 * gpu.chip.cta_launch_interval.value;
        let largest = bounds
            .iter()
            .fold(bounds.first().copied(), |best, next| match best {
                Some(best) if best.cycles >= next.cycles => Some(best),
                _ => Some(*next),
            });
        let winner = largest
            .filter(|_| body >= t0)
            .map_or(BoundKind::Overhead, |bound| bound.kind);
        let cycles = (t0 + fill + body).ceil() as u64;
        let unknown: u64 = self.unknown.values().sum();
        let mut unknown_opcodes: Vec<_> = self
            .unknown
            .iter()
            .map(|(id, n)| (opcodes.name(*id).to_owned(), *n))
            .collect();
        unknown_opcodes.sort();
        KernelEstimate {
            kernel_id: self.header.id,
            stream_id: self.header.stream_id,
            gpu: gpu.name.clone(),
            facts_hash: gpu.facts_hash(),
            status: gpu.status,
            level: self.options.level,
            provenance: Provenance::Simulated,
            other_arch: (self.header.binary_version != gpu.sm).then_some(self.header.binary_version),
            cycles,
            time_ns: gpu.ns_from_cycles(cycles as f64),
            t0_cycles: t0,
            fill_cycles: fill,
            body_cycles: body,
            bounds,
            winner,
            occupancy,
            blocks: self.totals.blocks,
            blocks_in_grid: self.header.grid.count(),
            warp_insts: self.warp_insts,
            thread_insts: self.thread_insts,
            sectors: self.sectors,
            l2_bytes: self.totals.l2_bytes,
            dram_bytes: self.totals.dram_bytes,
            footprint_exact: self.footprint.is_exact(),
            coverage: if self.warp_insts == 0 {
                1.0
            } else {
                1.0 - unknown as f64 / self.warp_insts as f64
            },
            unknown_opcodes,
            name: self.header.name,
        }
    }
}
