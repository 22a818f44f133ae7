//! One kernel at level 1, from its trace to its estimate.

use std::collections::VecDeque;

use cascade_accelsim::trace::{BlockSource, OpcodeId, ThreadBlock};

use super::bounds::bounds;
use super::chip::Blocks;
use super::image::Lowering;
use super::memory::L2State;
use super::outcome;
use super::params::Params;
use super::stats::{CycleStats, Stall};
use crate::engine::{Engine, EngineError, Level, Options};
use crate::estimate::{Bound, BoundKind, KernelEstimate, Provenance};
use crate::gpu::GpuModel;
use crate::l0::occupancy;
use crate::opcode::Class;

/// A throughput bound below this share of the body does not explain it: the kernel waited.
const EXPLAINS: f64 = 0.5;

/// Simulates the kernel of `source` on `gpu`; `state` holds what earlier kernels left in L2.
pub(crate) fn simulate<S: BlockSource + ?Sized>(
    source: &mut S,
    gpu: &GpuModel,
    options: &Options,
    state: &mut L2State,
) -> Result<KernelEstimate, EngineError> {
    let header = source.header().clone();
    if !options.allow_other_arch {
        Engine::check(&header, gpu)?;
    }
    let fit = |ctas| occupancy(&header, gpu, ctas).map_err(|limit| Engine::does_not_fit(&header, gpu, limit));
    let params = Params::new(gpu, &header, &fit(header.grid.count())?);
    if options.cold {
        *state = L2State::cold(gpu);
    }
    let warm = state.tags.sectors();
    let mut blocks = Blocks {
        lowering: Lowering::new(&header),
        source,
        gpu,
        block: ThreadBlock::default(),
        queue: VecDeque::new(),
        closed: false,
    };
    let outcome = outcome::some_sms(&mut blocks, params, options, state)?;
    let lowering = &blocks.lowering;
    let insts = lowering.counts.warp_insts + outcome.left_insts;
    // What was simulated stands for all instructions.
    let scale = if outcome.left_insts == 0 {
        1.0
    } else {
        insts as f64 / lowering.counts.warp_insts.max(1) as f64
    };
    let scaled = |count: u64| {
        if outcome.left_insts == 0 {
            count
        } else {
            (count as f64 * scale).round() as u64
        }
    };
    let (traffic, counts) = (outcome.traffic, outcome.counts);
    let (simulated, counted) = outcome.fraction.unwrap_or((1.0 / scale, 1.0 / scale));
    let mut bounds = bounds(lowering, outcome.port_cycles, traffic, scale, gpu);
    let floor = bounds.iter().map(|bound| bound.cycles).fold(0.0, f64::max);
    let body = outcome.cycles.max(floor);
    let winner = winner(&mut bounds, body);
    let t0 = gpu.cycles_from_ns(gpu.chip.kernel_overhead.value);
    let cycles = (t0 + body).ceil() as u64;
    let unknown_opcodes = unknown(lowering);
    let unknown_insts: u64 = unknown_opcodes.iter().map(|(_, count)| count).sum();
    let share = |bytes: u64, per_cycle: f64| {
        if body > 0.0 {
            bytes as f64 / body / per_cycle
        } else {
            0.0
        }
    };
    let dram_bytes = (traffic.dram_reads + traffic.dram_writes) * 32;
    let dram_peak = gpu.dram_bytes_per_cycle() / gpu.chip.dram_efficiency.value;
    let slots = gpu.chip.sms.value * gpu.sm_core.schedulers.value;
    let stats = CycleStats {
        stalls: Stall::ALL
            .into_iter()
            .zip(counts.stalls)
            .filter(|(_, cycles)| *cycles > 0)
            .collect(),
        issue_cycles: counts.issued,
        l1_sectors: counts.l1_sectors,
        l1_hits: counts.l1_hits,
        l2_sectors: traffic.l2,
        l2_hits: traffic.l2_hits,
        l2_merged_sectors: traffic.l2_merged,
        l2_warm_sectors: if outcome.from_cold { 0 } else { warm },
        dram_read_bytes: traffic.dram_reads * 32,
        dram_write_bytes: traffic.dram_writes * 32,
        l2_peak_gb_s: gpu.chip.l2_bandwidth.value * gpu.chip.core_clock.value / 1e3,
        dram_peak_gb_s: gpu.chip.dram_bandwidth.value,
        l2_share: share(
            traffic.l2.saturating_sub(traffic.l2_merged) * 32,
            gpu.chip.l2_bandwidth.value,
        ),
        dram_share: share(dram_bytes, dram_peak),
        issue_share: if body > 0.0 {
            counts.issued as f64 / counted / (body * slots)
        } else {
            0.0
        },
        predicates_inferred: lowering.isa.compares && !lowering.isa.predicates_listed,
        mbarriers_inferred: outcome.mbarriers,
        sampled_fraction: simulated,
        sampling_error: outcome.disagreement * (1.0 - simulated),
    };
    let simulated_insts = lowering.counts.warp_insts;
    Ok(KernelEstimate {
        kernel_id: header.id,
        stream_id: header.stream_id,
        gpu: gpu.name.clone(),
        facts_hash: gpu.facts_hash(),
        status: gpu.status,
        status_note: gpu.status_note.clone(),
        level: Level::L1,
        fallback: None,
        provenance: Provenance::Simulated,
        other_arch: (header.binary_version != gpu.sm).then_some(header.binary_version),
        cycles,
        time_ns: gpu.ns_from_cycles(cycles as f64),
        t0_cycles: t0,
        fill_cycles: 0.0,
        body_cycles: body,
        bounds,
        winner: if body >= t0 { winner } else { BoundKind::Overhead },
        occupancy: fit((lowering.counts.blocks + outcome.left_blocks).max(1))?,
        blocks: lowering.counts.blocks + outcome.left_blocks,
        blocks_in_grid: header.grid.count(),
        warp_insts: insts,
        thread_insts: scaled(lowering.counts.thread_insts),
        sectors: scaled(lowering.counts.sectors),
        l2_bytes: traffic.l2 * 32,
        dram_bytes,
        footprint_exact: true,
        coverage: if simulated_insts == 0 {
            1.0
        } else {
            1.0 - unknown_insts as f64 / simulated_insts as f64
        },
        unknown_opcodes,
        cycle_stats: Some(stats),
        name: header.name,
    })
}

/// The largest bound, or [`BoundKind::Latency`] with what no throughput explains.
fn winner(bounds: &mut Vec<Bound>, body: f64) -> BoundKind {
    let largest = bounds.iter().fold(None::<Bound>, |best, next| match best {
        Some(best) if best.cycles >= next.cycles => Some(best),
        _ => Some(*next),
    });
    let explained = largest.map_or(0.0, |bound| bound.cycles);
    bounds.push(Bound {
        kind: BoundKind::Latency,
        cycles: body - explained,
    });
    largest
        .filter(|bound| bound.cycles >= EXPLAINS * body)
        .map_or(BoundKind::Latency, |bound| bound.kind)
}

/// Opcodes without a class, with how often they ran, by name.
fn unknown(lowering: &Lowering) -> Vec<(String, u64)> {
    let mut unknown: Vec<_> = lowering
        .by_opcode
        .iter()
        .enumerate()
        .filter_map(|(id, count)| {
            let id = OpcodeId(u16::try_from(id).ok()?);
            let unknown = *count > 0 && lowering.isa.cost(id)?.op.class == Class::Unknown;
            unknown.then(|| (lowering.isa.name(id).to_owned(), *count))
        })
        .collect();
    unknown.sort();
    unknown
}
