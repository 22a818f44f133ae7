//! Waiting of warps for each other: CTA barriers, fences, copy groups, mbarriers, cluster barriers.

use super::consts::{BARRIER_LATENCY, MBARRIER_ARRIVE, MBARRIER_WAIT, SM_TO_SM};
use super::mbarrier::{Plan, locate};
use super::sm::{Env, Sm};
use super::stats::Stall;
use super::warp::Block;

/// What an SM does to CTAs that may sit on other SMs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Remote {
    /// A warp arrives at its cluster's barrier for the n-th time, from 0.
    Cluster { time: u32, cluster: u32, phase: u32 },
    /// A warp arrives at an mbarrier of another CTA of its cluster.
    Arrive {
        time: u32,
        cluster: u32,
        rank: u32,
        offset: u32,
    },
    /// A bulk copy has landed.
    Landed {
        time: u32,
        cta: u32,
        generation: u32,
        offset: u32,
        cta_mask: Option<u16>,
        bytes: u64,
    },
}

impl Sm {
    pub(super) fn barrier(
        &mut self,
        env: Env<'_>,
        w: usize,
        barrier: u8,
        threads: u16,
        waits: bool,
        time: u32,
    ) {
        let (slot, index) = (self.warps[w].cta, self.warps[w].index);
        let over = self.ctas[slot].arrive(barrier, index, threads);
        if waits {
            self.block(w, Block::Barrier(barrier), Stall::Barrier);
        }
        if !over {
            return;
        }
        for i in 0..self.ctas[slot].warps.len() {
            let w = self.ctas[slot].warps[i];
            if self.warps[w].cta == slot && self.warps[w].block == Some(Block::Barrier(barrier)) {
                self.prepare(env, w, time + BARRIER_LATENCY, Stall::Barrier);
                // A CTA that just ended may have made room for another in the same slot.
                if !self.ctas[slot].resident {
                    return;
                }
            }
        }
    }

    pub(super) fn fence(&mut self, env: Env<'_>, w: usize, time: u32) {
        if self.warps[w].writes_pending > 0 {
            return self.block(w, Block::Fence, Stall::Fence);
        }
        let base = self.warps[w].writes_done.max(time + 1);
        self.prepare(env, w, base, Stall::Fence);
    }

    pub(super) fn wait_groups(&mut self, env: Env<'_>, w: usize, left: u8, time: u32) {
        match self.warps[w].groups.wait(left) {
            Some(ready) => self.prepare(env, w, ready.max(time + 1), Stall::AsyncCopy),
            None => self.block(w, Block::Groups(left), Stall::AsyncCopy),
        }
    }

    /// A copy of a warp is complete: it may go on, or its deferred arrivals may happen.
    pub(super) fn copies_done(&mut self, env: Env<'_>, w: usize) {
        let warp = &mut self.warps[w];
        if !warp.deferred.is_empty()
            && let Some(time) = warp.groups.all()
        {
            for address in std::mem::take(&mut warp.deferred) {
                self.arrive_at(env, w, address, time);
            }
        }
        if let Some(Block::Groups(left)) = self.warps[w].block
            && let Some(ready) = self.warps[w].groups.wait(left)
        {
            let base = ready.max(self.warps[w].since);
            self.prepare(env, w, base, Stall::AsyncCopy);
        }
    }

    pub(super) fn mbarrier_arrive(&mut self, env: Env<'_>, w: usize, after_copies: bool, time: u32) {
        let warp = &mut self.warps[w];
        let address = warp.image.mbarriers.get(warp.mbarrier_at).copied().unwrap_or(0);
        warp.mbarrier_at += 1;
        let time = time + MBARRIER_ARRIVE;
        if !after_copies {
            return self.arrive_at(env, w, address, time);
        }
        match warp.groups.all() {
            Some(done) => self.arrive_at(env, w, address, time.max(done)),
            None => warp.deferred.push(address),
        }
    }

    fn arrive_at(&mut self, env: Env<'_>, w: usize, address: u64, time: u32) {
        let slot = self.warps[w].cta;
        let (offset, rank) = locate(address);
        if let (Some(rank), Some((cluster, own))) = (rank, self.ctas[slot].cluster)
            && rank != own
        {
            let time = time + SM_TO_SM;
            return self.remote.push(Remote::Arrive {
                time,
                cluster,
                rank,
                offset,
            });
        }
        self.mbarrier_count(env, slot, offset, 1, 0, time);
    }

    /// Counts arrivals or bytes at an mbarrier of a CTA and wakes the warps that may go on.
    pub(super) fn mbarrier_count(
        &mut self,
        env: Env<'_>,
        slot: usize,
        offset: u32,
        arrivals: u64,
        bytes: u64,
        time: u32,
    ) {
        let Some(cta) = self.ctas.get_mut(slot) else {
            return;
        };
        let none = Plan::default();
        let plan = cta.plans.get(&offset).unwrap_or(&none);
        cta.mbarriers
            .entry(offset)
            .or_default()
            .count(plan, arrivals, bytes, time);
        self.mbarrier_wake(env, slot, offset);
    }

    /// Wakes the warps whose phase of an mbarrier is over.
    pub(super) fn mbarrier_wake(&mut self, env: Env<'_>, slot: usize, offset: u32) {
        let Some(mbarrier) = self.ctas[slot].mbarriers.get_mut(&offset) else {
            return;
        };
        let mut woken = Vec::new();
        let waiting = std::mem::take(&mut mbarrier.waiting);
        for (w, phases) in waiting {
            match mbarrier.over(phases) {
                Some(time) => woken.push((usize::from(w), time)),
                None => mbarrier.waiting.push((w, phases)),
            }
        }
        for (w, time) in woken {
            let base = time.max(self.warps[w].since) + MBARRIER_WAIT;
            self.prepare(env, w, base, Stall::Mbarrier);
        }
    }

    pub(super) fn mbarrier_wait(&mut self, env: Env<'_>, w: usize, time: u32) {
        let warp = &mut self.warps[w];
        let address = warp.image.mbarriers.get(warp.mbarrier_at).copied().unwrap_or(0);
        warp.mbarrier_at += 1;
        let (offset, _) = locate(address);
        let number = warp.next_wait(offset);
        let (slot, index) = (warp.cta, warp.index);
        let cta = &mut self.ctas[slot];
        let mut phases = number;
        if let Some(plan) = cta.plans.get(&offset) {
            let waits = plan.waits.get(&index).copied().unwrap_or(number);
            if waits > plan.phases && plan.phases > 0 {
                // More waits than phases: some only looked. Spread them evenly.
                phases = (number * plan.phases).div_ceil(waits);
            }
        }
        phases = phases.saturating_sub(u64::from(env.open.contains(&offset)));
        let mbarrier = cta.mbarriers.entry(offset).or_default();
        match mbarrier.over(phases) {
            Some(over) => self.prepare(env, w, over.max(time) + MBARRIER_WAIT, Stall::Mbarrier),
            None => {
                mbarrier.waiting.push((w as u16, phases));
                self.block(w, Block::Mbarrier(offset, phases), Stall::Mbarrier);
            }
        }
    }

    /// The first wait at mbarriers of these offsets passes: waiting warps need one phase less.
    pub(super) fn open_mbarriers(&mut self, env: Env<'_>, offsets: &[u32]) {
        for slot in 0..self.ctas.len() {
            if !self.ctas[slot].resident {
                continue;
            }
            for offset in offsets {
                if let Some(mbarrier) = self.ctas[slot].mbarriers.get_mut(offset) {
                    mbarrier
                        .waiting
                        .iter_mut()
                        .for_each(|(_, phases)| *phases = phases.saturating_sub(1));
                    self.mbarrier_wake(env, slot, *offset);
                }
            }
        }
    }

    pub(super) fn cluster_arrive(&mut self, w: usize, time: u32) {
        let warp = &mut self.warps[w];
        let phase = warp.cluster_arrivals;
        warp.cluster_arrivals += 1;
        if let Some((cluster, _)) = self.ctas[warp.cta].cluster {
            self.remote.push(Remote::Cluster { time, cluster, phase });
        }
    }

    pub(super) fn cluster_wait(&mut self, env: Env<'_>, w: usize, time: u32) {
        let warp = &self.warps[w];
        let phases = &self.ctas[warp.cta].cluster_phases;
        let over = match warp.cluster_arrivals.checked_sub(1) {
            None => Some(0),
            Some(last) => phases.get(last as usize).copied(),
        };
        match over {
            Some(over) => self.prepare(env, w, over.max(time + 1), Stall::Cluster),
            None => self.block(w, Block::Cluster, Stall::Cluster),
        }
    }

    /// A phase of the cluster's barrier is over at `time`.
    pub(super) fn cluster_release(&mut self, env: Env<'_>, slot: usize, generation: u32, time: u32) {
        let Some(cta) = self
            .ctas
            .get_mut(slot)
            .filter(|cta| cta.resident && cta.generation == generation)
        else {
            return;
        };
        cta.cluster_phases.push(time);
        let over = cta.cluster_phases.len();
        for w in cta.warps.clone() {
            let warp = &self.warps[w];
            if warp.generation == generation
                && warp.block == Some(Block::Cluster)
                && warp.cluster_arrivals as usize <= over
            {
                let base = time.max(warp.since);
                self.prepare(env, w, base, Stall::Cluster);
            }
        }
    }
}
