//! The whole GPU: CTAs go to SMs, SMs run a quantum each, their requests are served in the order of time.
//!
//! A quantum is at most the shortest way from one SM to anything that another can see, so nothing that
//! happens in a quantum can matter to another SM within it, and SMs may run one after the other or at once
//! with the same result. Idle time is skipped: a quantum starts when the next thing happens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cascade_accelsim::trace::{BlockSource, ThreadBlock};

use super::caches::NEVER;
use super::clusters::Clusters;
use super::consts::{MAX_CYCLES, SM_TO_SM};
use super::image::{Image, Lowering};
use super::lsu::Kind;
use super::memory::Memory;
use super::params::Params;
use super::sample::{Counter, LeftOut, Progress, Sampler};
use super::sm::{Env, Sm};
use super::stats::{Counts, Stall};
use super::sync::Remote;
use super::warp::Block;
use crate::engine::EngineError;
use crate::gpu::GpuModel;

/// Where a kernel's blocks come from, packed as they are read.
pub(super) struct Blocks<'a, S: BlockSource + ?Sized> {
    pub(super) source: &'a mut S,
    pub(super) lowering: Lowering,
    pub(super) gpu: &'a GpuModel,
    pub(super) block: ThreadBlock,
    /// Blocks that were packed already and come first.
    pub(super) queue: VecDeque<Image>,
    /// Nothing follows the queue.
    pub(super) closed: bool,
}

impl<S: BlockSource + ?Sized> Blocks<'_, S> {
    /// Leaves out blocks; how many there were, and their instructions.
    fn skip(&mut self, blocks: u64) -> Result<(u64, u64), EngineError> {
        let mut counter = Counter::default();
        let mut skipped = 0;
        while skipped < blocks && self.source.copy_block(&mut counter)? {
            skipped += 1;
        }
        Ok((skipped, counter.0))
    }

    /// The next block, `None` at the end of the trace.
    pub(super) fn next(&mut self) -> Result<Option<Image>, EngineError> {
        if let Some(image) = self.queue.pop_front() {
            return Ok(Some(image));
        }
        if self.closed || !self.source.next_block(&mut self.block)? {
            return Ok(None);
        }
        let image = self.lowering.block(&self.block, self.source.opcodes(), self.gpu);
        image.map(Some).map_err(|id| EngineError::Opcode {
            kernel: self.source.header().name.clone(),
            block: self.block.id.to_string(),
            id,
        })
    }
}

/// The SMs and what they share.
pub(super) struct Chip<'a> {
    pub(super) params: Params,
    pub(super) sms: Vec<Sm>,
    pub(super) memory: Memory<'a>,
    pub(super) clusters: Clusters,
    /// Offsets of mbarriers whose first wait passes.
    pub(super) open: BTreeSet<u32>,
    /// Decides what to leave out, when the caller wants that.
    pub(super) sampler: Option<Sampler>,
    pub(super) left_out: LeftOut,
    pub(super) parallel: bool,
    /// Requests of the quantum, in the order of time.
    order: Vec<(u32, u32)>,
    starts: Vec<u32>,
}

impl<'a> Chip<'a> {
    pub(super) fn new(params: Params, memory: Memory<'a>) -> Self {
        let sms = (0..params.sms).map(|_| Sm::new(&params)).collect();
        Self {
            params,
            sms,
            memory,
            clusters: Clusters::default(),
            open: BTreeSet::new(),
            sampler: None,
            left_out: LeftOut::default(),
            parallel: false,
            order: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Runs all blocks; the cycle at which the last warp ended and the last write was acknowledged.
    pub(super) fn run<S: BlockSource + ?Sized>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
    ) -> Result<u32, EngineError> {
        let mut now = 0;
        let mut more = true;
        loop {
            if more {
                more = self.dispatch(blocks, now)?;
            }
            self.share_spares(&blocks.lowering, now);
            let start = self.sms.iter_mut().map(Sm::next_event).min().unwrap_or(NEVER);
            if start == NEVER {
                let running = self.sms.iter().any(|sm| sm.resident > 0);
                if running {
                    self.unlock(blocks, now)?;
                    continue;
                }
                if !more && self.clusters.waiting.is_empty() && self.sms.iter().all(|sm| sm.spare.is_none()) {
                    break;
                }
                if !more {
                    return Err(self.cluster_too_large(blocks));
                }
                continue;
            }
            if start >= MAX_CYCLES {
                return Err(EngineError::TooLong {
                    kernel: blocks.source.header().name.clone(),
                    limit: MAX_CYCLES,
                });
            }
            let until = start + self.quantum();
            let env = env_of(&blocks.lowering, &self.params, &self.open);
            run_sms(&mut self.sms, env, until, self.parallel);
            self.serve(&blocks.lowering, start, until);
            now = until;
            if !self.clusters.in_use() {
                self.sample(blocks, now)?;
            }
        }
        let end = self.sms.iter().map(|sm| sm.end).max().unwrap_or(0);
        Ok(end.max(self.memory.writes_done))
    }

    /// Leaves blocks out if the pace is steady.
    fn sample<S: BlockSource + ?Sized>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
        now: u32,
    ) -> Result<(), EngineError> {
        let Some(sampler) = &mut self.sampler else {
            return Ok(());
        };
        let progress = Progress {
            cycle: now,
            started: blocks.lowering.counts.blocks,
            finished: self.sms.iter().map(|sm| sm.finished).sum(),
            issued: self.sms.iter().map(|sm| sm.counts.issued).sum(),
            traffic: self.memory.traffic,
        };
        if let Some(skip) = sampler.poll(progress) {
            let (skipped, insts) = blocks.skip(skip.blocks)?;
            self.left_out = skip.left_out(skipped, insts);
        }
        Ok(())
    }

    /// Counts of all SMs.
    pub(super) fn counts(&self) -> Counts {
        self.sms.iter().fold(Counts::default(), |mut sum, sm| {
            sum.add(&sm.counts);
            sum
        })
    }

    fn quantum(&self) -> u32 {
        let quantum = self.params.l2_latency;
        if self.clusters.in_use() {
            quantum.min(SM_TO_SM)
        } else {
            quantum
        }
    }

    /// Gives blocks to SMs with free slots, then one spare to each SM. False at the end of the trace.
    fn dispatch<S: BlockSource + ?Sized>(
        &mut self,
        blocks: &mut Blocks<'_, S>,
        now: u32,
    ) -> Result<bool, EngineError> {
        if self.clusters.in_use() {
            self.place_clusters(&blocks.lowering, now);
            return Ok(false);
        }
        let slots = self.params.ctas_per_sm;
        // Round-robin: the SM with the fewest CTAs, the first of equals.
        while let Some(sm) = (0..self.sms.len())
            .filter(|sm| self.sms[*sm].resident < slots)
            .min_by_key(|sm| self.sms[*sm].resident)
        {
            let Some(image) = blocks.next()? else {
                return Ok(false);
            };
            if image.in_cluster() {
                self.clusters.add(image);
                while let Some(image) = blocks.next()? {
                    self.clusters.add(image);
                }
                self.clusters.plan(&blocks.lowering.isa);
                self.place_clusters(&blocks.lowering, now);
                return Ok(false);
            }
            self.launch(&blocks.lowering, sm, image, now, None);
        }
        for sm in 0..self.sms.len() {
            if self.sms[sm].spare.is_none() {
                let Some(image) = blocks.next()? else {
                    return Ok(false);
                };
                self.sms[sm].spare = Some(image);
            }
        }
        Ok(true)
    }

    fn launch(
        &mut self,
        lowering: &Lowering,
        sm: usize,
        image: Image,
        now: u32,
        cluster: Option<(u32, u32)>,
    ) -> usize {
        let env = env_of(lowering, &self.params, &self.open);
        self.sms[sm].launch(env, image, now, cluster)
    }

    /// At the end of the trace, a CTA that waits at a busy SM goes to one that has room.
    fn share_spares(&mut self, lowering: &Lowering, now: u32) {
        let slots = self.params.ctas_per_sm;
        while let Some(idle) = (0..self.sms.len()).find(|sm| self.sms[*sm].resident < slots) {
            let Some(image) = self.sms.iter_mut().find_map(|sm| sm.spare.take()) else {
                return;
            };
            self.launch(lowering, idle, image, now, None);
        }
    }

    /// Starts the clusters that fit, in order, each on the SMs with the fewest CTAs.
    fn place_clusters(&mut self, lowering: &Lowering, now: u32) {
        let slots = self.params.ctas_per_sm;
        while let Some(images) = self.clusters.waiting.front() {
            let mut load: Vec<usize> = self.sms.iter().map(|sm| sm.resident).collect();
            let mut places = Vec::new();
            for _ in images {
                let best = (0..load.len())
                    .filter(|sm| load[*sm] < slots)
                    .min_by_key(|sm| load[*sm]);
                let Some(best) = best else { return };
                load[best] += 1;
                places.push(best);
            }
            let Some(images) = self.clusters.waiting.pop_front() else {
                return;
            };
            let cluster = self.clusters.start(&images);
            for (sm, image) in places.into_iter().zip(images) {
                let rank = image.cluster.map_or(0, |cluster| cluster.rank);
                let generation = self.sms[sm].next_generation();
                let slot = self.launch(lowering, sm, image, now, Some((cluster, rank)));
                self.clusters.member(cluster, rank, sm, slot, generation);
            }
        }
    }

    /// Serves the requests made before `until` and delivers what SMs sent each other.
    fn serve(&mut self, lowering: &Lowering, start: u32, until: u32) {
        self.sort(start, until);
        let env = env_of(lowering, &self.params, &self.open);
        for (sm, index) in &self.order {
            let unit = &mut self.sms[*sm as usize];
            let request = unit.outbox[*index as usize];
            let merged = (request.kind == Kind::Merged)
                .then(|| unit.l1.arrival(request.line, request.mask))
                .flatten();
            let (time, level) = match merged {
                Some(time) => (time.max(request.time + self.params.l1_latency), Stall::L2),
                None => self.memory.serve(*sm as usize, &request),
            };
            unit.reply(env, &request, time, level);
        }
        for sm in &mut self.sms {
            sm.outbox.retain(|request| request.time >= until);
        }
        for sm in 0..self.sms.len() {
            for event in std::mem::take(&mut self.sms[sm].remote) {
                self.deliver(lowering, sm, event);
            }
        }
    }

    /// Sorts requests by time, then SM, then the order in which they were made, by counting.
    fn sort(&mut self, start: u32, until: u32) {
        let width = (until - start) as usize;
        self.starts.clear();
        self.starts.resize(width + 1, 0);
        let slot = |time: u32| time.saturating_sub(start) as usize;
        let due = || {
            self.sms.iter().enumerate().flat_map(|(sm, unit)| {
                let numbered = unit.outbox.iter().enumerate();
                numbered
                    .filter(|(_, request)| request.time < until)
                    .map(move |(i, request)| (sm as u32, i as u32, request.time))
            })
        };
        for (_, _, time) in due() {
            self.starts[slot(time) + 1] += 1;
        }
        for i in 0..width {
            self.starts[i + 1] += self.starts[i];
        }
        self.order.clear();
        self.order.resize(self.starts[width] as usize, (0, 0));
        for (sm, index, time) in due() {
            let at = &mut self.starts[slot(time)];
            self.order[*at as usize] = (sm, index);
            *at += 1;
        }
    }

    fn deliver(&mut self, lowering: &Lowering, sm: usize, event: Remote) {
        let env = env_of(lowering, &self.params, &self.open);
        match event {
            Remote::Cluster { time, cluster, phase } => {
                let Some((over, members)) = self.clusters.arrive(cluster, phase, time) else {
                    return;
                };
                for member in members {
                    self.sms[member.sm].cluster_release(env, member.slot, member.generation, over + SM_TO_SM);
                }
            }
            Remote::Arrive {
                time,
                cluster,
                rank,
                offset,
            } => {
                if let Some(member) = self.clusters.find(cluster, rank)
                    && self.sms[member.sm].holds(member.slot, member.generation)
                {
                    self.sms[member.sm].mbarrier_count(env, member.slot, offset, 1, 0, time);
                }
            }
            Remote::Landed {
                time,
                cta,
                generation,
                offset,
                cta_mask,
                bytes,
            } => {
                let slot = cta as usize;
                let cluster = self.sms[sm]
                    .ctas
                    .get(slot)
                    .filter(|cta| cta.generation == generation)
                    .and_then(|cta| cta.cluster);
                let receivers = match cluster {
                    Some((cluster, rank)) => self.clusters.receivers(cluster, rank, cta_mask),
                    None => vec![super::clusters::Member {
                        rank: 0,
                        sm,
                        slot,
                        generation,
                    }],
                };
                for member in receivers {
                    if self.sms[member.sm].holds(member.slot, member.generation) {
                        self.sms[member.sm].mbarrier_count(env, member.slot, offset, 0, bytes, time);
                    }
                }
            }
        }
    }

    /// Nothing can go on. Either the first waits at some mbarriers pass at once, or this is a deadlock.
    fn unlock<S: BlockSource + ?Sized>(
        &mut self,
        blocks: &Blocks<'_, S>,
        now: u32,
    ) -> Result<(), EngineError> {
        let mut candidates: BTreeMap<u32, &super::mbarrier::Plan> = BTreeMap::new();
        for sm in &self.sms {
            for warp in sm.warps.iter().filter(|warp| warp.live) {
                if let Some(Block::Mbarrier(offset, 1)) = warp.block
                    && !self.open.contains(&offset)
                    && let Some(plan) = sm.ctas.get(warp.cta).and_then(|cta| cta.plans.get(&offset))
                    && plan.may_start_open()
                {
                    candidates.entry(offset).or_insert(plan);
                }
            }
        }
        // A ring's "empty" barriers have the most arriving warps for each that waits.
        let best = candidates
            .values()
            .max_by(|a, b| a.openness().total_cmp(&b.openness()))
            .copied();
        let Some(best) = best else {
            return Err(self.deadlock(blocks, now));
        };
        let all = self.alike(best);
        self.open.extend(&all);
        let env = env_of(&blocks.lowering, &self.params, &self.open);
        for sm in &mut self.sms {
            sm.open_mbarriers(env, &all);
        }
        Ok(())
    }

    /// Offsets of all mbarriers of resident CTAs that are used like `plan`.
    fn alike(&self, plan: &super::mbarrier::Plan) -> Vec<u32> {
        let mut found = BTreeSet::new();
        for cta in self.sms.iter().flat_map(|sm| &sm.ctas).filter(|cta| cta.resident) {
            found.extend(
                cta.plans
                    .iter()
                    .filter(|(_, other)| other.resembles(plan))
                    .map(|(offset, _)| *offset),
            );
        }
        found.retain(|offset| !self.open.contains(offset));
        found.into_iter().collect()
    }
}

/// Fewest SMs with something to do for which threads are woken.
#[cfg(feature = "parallel")]
const PARALLEL_SMS: usize = 16;

/// Runs every SM to the end of the quantum. They do not see each other meanwhile, so their order is free.
fn run_sms(sms: &mut [Sm], env: Env<'_>, until: u32, parallel: bool) {
    #[cfg(feature = "parallel")]
    if parallel
        && sms
            .iter_mut()
            .map(Sm::next_event)
            .filter(|next| *next < until)
            .count()
            >= PARALLEL_SMS
    {
        use rayon::prelude::*;
        return sms.par_iter_mut().for_each(|sm| sm.run(env, until));
    }
    #[cfg(not(feature = "parallel"))]
    let _: bool = parallel;
    sms.iter_mut().for_each(|sm| sm.run(env, until));
}

fn env_of<'a>(lowering: &'a Lowering, params: &'a Params, open: &'a BTreeSet<u32>) -> Env<'a> {
    Env {
        isa: &lowering.isa,
        params,
        open,
    }
}
