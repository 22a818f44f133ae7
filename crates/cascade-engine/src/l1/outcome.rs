//! Running a kernel: all of it, or the blocks of some SMs.

use std::collections::VecDeque;

use cascade_accelsim::trace::{BlockSource, KernelHeader};

use super::chip::{Blocks, Chip};
use super::image::Image;
use super::memory::{L2State, Memory};
use super::params::Params;
use super::sample::{Counter, MAX_DISAGREEMENT, Sampler, Traffic};
use super::stats::Counts;
use super::tiles::persistent;
use crate::engine::{EngineError, Options};
use crate::gpu::GpuModel;

/// What a run found out.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Cycles of the whole kernel.
    pub(super) cycles: f64,
    /// Of what was simulated.
    pub(super) counts: Counts,
    /// Of the whole kernel.
    pub(super) traffic: Traffic,
    /// Work of the busiest SM's port, of the whole kernel.
    pub(super) port_cycles: f64,
    pub(super) left_blocks: u64,
    pub(super) left_insts: u64,
    /// Relative difference between the samples.
    pub(super) disagreement: f64,
    pub(super) mbarriers: u64,
    /// Of a shortened kernel: the shares of its instructions that were simulated, and that the counts are of.
    pub(super) fraction: Option<(f64, f64)>,
    /// It did not see what earlier kernels left in L2.
    pub(super) from_cold: bool,
}

fn refuse_unsteady(header: &KernelHeader, disagreement: f64) -> Result<(), EngineError> {
    if disagreement <= MAX_DISAGREEMENT {
        return Ok(());
    }
    Err(EngineError::Unsteady {
        kernel: header.name.clone(),
        percent: disagreement * 100.0,
    })
}

/// Simulates all blocks, or with [`Options::sample`] the first and the last waves.
pub(super) fn whole<S: BlockSource + ?Sized>(
    blocks: &mut Blocks<'_, S>,
    params: Params,
    options: &Options,
    state: &mut L2State,
) -> Result<Outcome, EngineError> {
    let header = blocks.source.header().clone();
    if options.sample
        && let Some(outcome) = persistent(blocks, &params, options, state)?
    {
        return Ok(outcome);
    }
    let mut chip = Chip::new(params.clone(), Memory::new(blocks.gpu, &params, &mut state.tags));
    chip.parallel = options.parallel;
    if options.sample {
        let wave = (params.sms * params.ctas_per_sm) as u64;
        chip.sampler = Some(Sampler::new(header.grid.count(), wave, params.l2_latency));
    }
    let simulated = chip.run(blocks)?;
    let mut left_out = chip.left_out;
    if let Some(disagreement) = chip.sampler.as_ref().and_then(Sampler::disagreement) {
        refuse_unsteady(&header, disagreement)?;
        left_out.disagreement = left_out.disagreement.max(disagreement);
    }
    let traffic = chip.memory.traffic.and(&left_out.traffic);
    let more = traffic.l2 as f64 / (chip.memory.traffic.l2 as f64).max(1.0);
    Ok(Outcome {
        cycles: f64::from(simulated) + left_out.cycles,
        counts: chip.counts(),
        traffic,
        port_cycles: chip.memory.busiest_port_cycles() * more,
        left_blocks: left_out.blocks,
        left_insts: left_out.insts,
        disagreement: left_out.disagreement,
        mbarriers: chip.open.len() as u64,
        fraction: None,
        from_cold: false,
    })
}

/// Simulates the blocks that round-robin gives to every `every`-th SM, twice with different SMs, each on a GPU
/// that has its share of L2, of its bandwidth and of DRAM's; the answer is the mean of the two. L2 starts cold.
pub(super) fn some_sms<S: BlockSource + ?Sized>(
    blocks: &mut Blocks<'_, S>,
    params: Params,
    options: &Options,
    state: &mut L2State,
) -> Result<Outcome, EngineError> {
    let every = options.sample_sms.unwrap_or(1) as usize;
    if every < 2 || params.sms < 2 * every {
        return whole(blocks, params, options, state);
    }
    let mut halves: [VecDeque<Image>; 2] = Default::default();
    let mut skipped = Counter::default();
    let (mut left_blocks, mut index) = (0, 0);
    loop {
        let sm = index % params.sms;
        let half = match sm % every {
            0 => Some(0),
            rest if rest == every / 2 => Some(1),
            _ => None,
        };
        index += 1;
        let Some(half) = half.and_then(|half| halves.get_mut(half)) else {
            if !blocks.source.copy_block(&mut skipped)? {
                break;
            }
            left_blocks += 1;
            continue;
        };
        let Some(image) = blocks.next()? else { break };
        let in_cluster = image.in_cluster();
        half.push_back(image);
        if in_cluster && index == 1 {
            // Blocks of a cluster need each other.
            blocks.queue.extend(half.drain(..));
            return whole(blocks, params, options, state);
        }
    }
    blocks.closed = true;
    let mut results = Vec::new();
    for (queue, first) in halves.into_iter().zip([0, every / 2]) {
        let sms = (first..params.sms).step_by(every).count();
        blocks.queue = queue;
        results.push((sms, share_of_chip(blocks, &params, sms, options)?));
    }
    let mean = results.iter().map(|(_, part)| part.cycles).sum::<f64>() / 2.0;
    let spread = results
        .iter()
        .map(|(_, part)| (part.cycles - mean).abs())
        .fold(0.0, f64::max)
        * 2.0;
    let disagreement = if mean > 0.0 { spread / mean } else { 0.0 };
    refuse_unsteady(blocks.source.header(), disagreement)?;
    let mut sum = Outcome::default();
    for (_, part) in &results {
        sum.counts.add(&part.counts);
        sum.traffic = sum.traffic.and(&part.traffic);
        sum.port_cycles = sum.port_cycles.max(part.port_cycles);
        sum.mbarriers = sum.mbarriers.max(part.mbarriers);
    }
    let simulated = sum.counts.issued.max(1) as f64;
    let scale = (simulated + skipped.0 as f64) / simulated;
    Ok(Outcome {
        cycles: mean,
        traffic: Traffic::between(&Traffic::default(), &sum.traffic, scale),
        left_blocks,
        left_insts: skipped.0,
        disagreement,
        from_cold: true,
        ..sum
    })
}

/// Simulates the queued blocks on `sms` SMs with their share of everything behind them.
fn share_of_chip<S: BlockSource + ?Sized>(
    blocks: &mut Blocks<'_, S>,
    params: &Params,
    sms: usize,
    options: &Options,
) -> Result<Outcome, EngineError> {
    let share = sms as f64 / params.sms as f64;
    let mut gpu: GpuModel = blocks.gpu.clone();
    gpu.chip.dram_bandwidth.value *= share;
    gpu.chip.l2_bandwidth.value *= share;
    gpu.chip.l2_size.value = (gpu.chip.l2_size.value * share).floor();
    // As many slices as the whole chip has, each slower, and slower atomics: what all SMs want is then as hot as it
    // is there.
    let params = Params {
        sms,
        atomic_interval: params.atomic_interval / share,
        ..params.clone()
    };
    let mut state = L2State::cold(&gpu);
    let mut chip = Chip::new(params.clone(), Memory::new(&gpu, &params, &mut state.tags));
    chip.parallel = options.parallel;
    let cycles = f64::from(chip.run(blocks)?);
    Ok(Outcome {
        cycles,
        counts: chip.counts(),
        traffic: chip.memory.traffic,
        port_cycles: chip.memory.busiest_port_cycles(),
        mbarriers: chip.open.len() as u64,
        ..Outcome::default()
    })
}
