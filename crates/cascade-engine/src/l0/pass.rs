//! The pass over the blocks of one kernel.

use std::collections::BTreeMap;

use cascade_accelsim::trace::{KernelHeader, OpcodeId, OpcodeTable, ThreadBlock, Warp};

use super::bounds::{Totals, p_norm};
use super::chain::Chain;
use super::costs::{CostTable, MULTIPLY, UNITS};
use super::memory::Memory;
use super::occupancy::occupancy;
use crate::engine::{Engine, EngineError, Level, Options};
use crate::estimate::{BoundKind, KernelEstimate, Provenance};
use crate::gpu::GpuModel;
use crate::opcode::Class;

/// Sub-cores for which there are counters; [`crate::gpu::SmCore::schedulers`] has the same limit.
const MAX_SUBCORES: usize = 8;

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
    header: KernelHeader,
    costs: CostTable,
    memory: Memory,
    totals: Totals,
    warp_insts: u64,
    thread_insts: u64,
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
            header: header.clone(),
            costs: CostTable::default(),
            memory: Memory::new(header),
            totals: Totals::default(),
            warp_insts: 0,
            thread_insts: 0,
            unknown: BTreeMap::new(),
        })
    }

    /// Adds one thread block.
    ///
    /// # Errors
    /// The block refers to an opcode that `opcodes` lacks.
    pub fn block(&mut self, block: &ThreadBlock, opcodes: &OpcodeTable) -> Result<(), EngineError> {
        self.costs.extend(opcodes, self.gpu);
        self.memory.start_cta();
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
            let Some(cost) = self.costs.as_slice().get(usize::from(instr.opcode.0)) else {
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
            subcore.busy[MULTIPLY] += cost.multiply;
            let mut latency = cost.latency;
            let mut asynchronous = false;
            match cost.op.class {
                Class::Lsu => match (cost.op.mem, &instr.mem) {
                    (Some(op), Some(mem)) => {
                        let access = self.memory.access(self.gpu, block, instr, op, mem);
                        sm.lsu_cycles += access.lsu_cycles;
                        sm.l2_bytes += access.l2_bytes;
                        latency = access.latency;
                        asynchronous = access.asynchronous;
                    }
                    // Shuffles and cache control: a pass through the load/store path.
                    _ => sm.lsu_cycles += self.gpu.sm_core.lsu_interval.value,
                },
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
            .memory
            .footprint
            .written_bytes()
            .saturating_sub(gpu.chip.l2_size.count());
        self.totals.dram_bytes = self.memory.footprint.read_bytes() + spilled;
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
            status_note: gpu.status_note.clone(),
            level: Level::L0,
            fallback: None,
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
            sectors: self.memory.sectors,
            l2_bytes: self.totals.l2_bytes,
            dram_bytes: self.totals.dram_bytes,
            footprint_exact: self.memory.footprint.is_exact(),
            coverage: if self.warp_insts == 0 {
                1.0
            } else {
                1.0 - unknown as f64 / self.warp_insts as f64
            },
            unknown_opcodes,
            cycle_stats: None,
            name: self.header.name,
        }
    }
}
