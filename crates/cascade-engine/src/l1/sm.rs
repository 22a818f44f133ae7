//! One streaming multiprocessor: launching CTAs, issuing instructions, going on after each.

use std::collections::BTreeSet;

use super::caches::{L1, NEVER};
use super::cta::Cta;
use super::image::Image;
use super::isa::{Isa, Op, Static};
use super::lsu::{Request, Tokens};
use super::params::Params;
use super::stats::{Counts, Stall};
use super::subcore::SubCore;
use super::sync::Remote;
use super::warp::{Block, Warp};

/// What all SMs share while they run.
#[derive(Clone, Copy)]
pub(super) struct Env<'a> {
    pub(super) isa: &'a Isa,
    pub(super) params: &'a Params,
    /// Offsets of mbarriers whose first wait passes.
    pub(super) open: &'a BTreeSet<u32>,
}

/// An SM. Warp `w` sits in lane `w / sub-cores` of sub-core `w % sub-cores`.
pub(super) struct Sm {
    pub(super) subcores: Vec<SubCore>,
    pub(super) warps: Vec<Warp>,
    pub(super) ctas: Vec<Cta>,
    pub(super) lsu_free: f64,
    pub(super) l1: L1,
    pub(super) tma_free: u32,
    /// Bulk-copy instructions whose descriptor this SM has.
    pub(super) descriptors: BTreeSet<u32>,
    pub(super) outbox: Vec<Request>,
    pub(super) remote: Vec<Remote>,
    pub(super) tokens: Tokens,
    pub(super) counts: Counts,
    /// The CTA that starts when a slot becomes free.
    pub(super) spare: Option<Image>,
    pub(super) resident: usize,
    generation: u32,
    launch_free: u32,
    /// When the last warp so far ended.
    pub(super) end: u32,
    pub(super) finished: u64,
}

impl Sm {
    pub(super) fn new(params: &Params) -> Self {
        let mut warps = Vec::new();
        warps.resize_with(params.lanes * params.subcores, Warp::default);
        Self {
            subcores: vec![SubCore::new(params.lanes); params.subcores],
            warps,
            ctas: Vec::new(),
            lsu_free: 0.0,
            l1: L1::new(params.l1_bytes),
            tma_free: 0,
            descriptors: BTreeSet::new(),
            outbox: Vec::new(),
            remote: Vec::new(),
            tokens: Tokens::default(),
            counts: Counts::default(),
            spare: None,
            resident: 0,
            generation: 0,
            launch_free: 0,
            end: 0,
            finished: 0,
        }
    }

    /// When something happens here next: an issue, or a request that was left for later.
    pub(super) fn next_event(&mut self) -> u32 {
        let issue = self.subcores.iter_mut().map(|subcore| subcore.next().0).min();
        let request = self.outbox.iter().map(|request| request.time).min();
        issue.unwrap_or(NEVER).min(request.unwrap_or(NEVER))
    }

    /// Starts a CTA at `time` or as soon as the launcher is free; its slot.
    pub(super) fn launch(
        &mut self,
        env: Env<'_>,
        image: Image,
        time: u32,
        cluster: Option<(u32, u32)>,
    ) -> usize {
        let time = time.max(self.launch_free);
        self.launch_free = time + env.params.launch_interval;
        self.generation += 1;
        let slot = self
            .ctas
            .iter()
            .position(|cta| !cta.resident)
            .unwrap_or(self.ctas.len());
        let (cta, warps) = Cta::new(image, self.generation, cluster);
        if slot == self.ctas.len() {
            self.ctas.push(cta);
        } else if let Some(free) = self.ctas.get_mut(slot) {
            *free = cta;
        }
        self.resident += 1;
        let slots = env.isa.slots();
        let lanes: Vec<usize> = warps
            .into_iter()
            .enumerate()
            .map(|(index, image)| {
                let w = self.free_lane();
                if let Some(warp) = self.warps.get_mut(w) {
                    warp.start(image, slot, index as u32, self.generation, slots, time);
                }
                w
            })
            .collect();
        if let Some(cta) = self.ctas.get_mut(slot) {
            cta.warps.clone_from(&lanes);
        }
        if lanes.is_empty() {
            self.finish_cta(env, slot, time);
        }
        for w in lanes {
            let (k, lane) = self.place(w);
            self.subcores[k].age[lane] = self.generation;
            self.prepare(env, w, time, Stall::NotSelected);
        }
        slot
    }

    /// A lane of the sub-core with the fewest warps, the first of equals.
    fn free_lane(&mut self) -> usize {
        let n = self.subcores.len();
        let k = (0..n).min_by_key(|k| self.subcores[*k].resident).unwrap_or(0);
        let taken = |lane: &usize| self.warps.get(lane * n + k).is_some_and(|warp| warp.live);
        let lanes = self.warps.len() / n;
        let lane = (0..lanes).find(|lane| !taken(lane)).unwrap_or_else(|| {
            self.subcores.iter_mut().for_each(|subcore| {
                subcore.grow();
            });
            self.warps.resize_with((lanes + 1) * n, Warp::default);
            lanes
        });
        self.subcores[k].resident += 1;
        let w = lane * n + k;
        // Taken from now on, so that the CTA's next warp finds another one.
        self.warps[w].live = true;
        w
    }

    /// Sub-core and lane of a warp.
    #[inline]
    pub(super) fn place(&self, w: usize) -> (usize, usize) {
        (w % self.subcores.len(), w / self.subcores.len())
    }

    /// Issues everything before `until`.
    pub(super) fn run(&mut self, env: Env<'_>, until: u32) {
        loop {
            let mut first = (NEVER, 0, 0);
            for (k, subcore) in self.subcores.iter_mut().enumerate() {
                let (time, lane) = subcore.next();
                if time < first.0 {
                    first = (time, k, lane);
                }
            }
            let (time, k, lane) = first;
            if time >= until {
                return;
            }
            self.issue(env, k, lane, time);
        }
    }

    #[inline]
    fn issue(&mut self, env: Env<'_>, k: usize, lane: usize, time: u32) {
        let w = lane * self.subcores.len() + k;
        let subcore = &mut self.subcores[k];
        let warp = &mut self.warps[w];
        let id = warp.image.stream[warp.at];
        warp.at += 1;
        let inst = env.isa.get(id);
        let able = subcore.earliest[lane];
        let unit_ready = subcore.unit_ready(inst.unit).max(able);
        let counts = &mut self.counts;
        counts.issued += 1;
        counts.stall(warp.reason, able.saturating_sub(warp.since));
        let busy = if inst.unit == super::isa::LSU {
            Stall::LsuBusy
        } else {
            Stall::UnitBusy
        };
        counts.stall(busy, unit_ready - able);
        counts.stall(Stall::NotSelected, time - unit_ready);
        warp.since = time + 1;
        subcore.issue(lane, time, inst);
        match inst.op {
            Op::Fixed => {
                self.write(env, w, inst, time + inst.latency, inst.producer);
                self.prepare(env, w, time + 1, Stall::NotSelected);
            }
            Op::Jump => {
                self.write(env, w, inst, time + inst.latency, inst.producer);
                self.prepare(env, w, time + env.params.branch_latency, Stall::Branch);
            }
            _ => self.special(env, w, id, time),
        }
    }

    /// Everything that is not plain arithmetic.
    fn special(&mut self, env: Env<'_>, w: usize, id: u32, time: u32) {
        let inst = env.isa.get(id);
        let mut after = (time + 1, Stall::NotSelected);
        match inst.op {
            Op::Fixed | Op::Jump => {}
            Op::Pass | Op::Shared => self.shared_access(env, w, inst, time),
            Op::Load | Op::Store | Op::Atomic | Op::AsyncCopy => self.global_access(env, w, id, time),
            Op::BulkLoad | Op::BulkStore => self.bulk_access(env, w, id, time),
            Op::Barrier(barrier, threads) => return self.barrier(env, w, barrier, threads, true, time),
            Op::Arrive(barrier, threads) => self.barrier(env, w, barrier, threads, false, time),
            Op::Fence => return self.fence(env, w, time),
            Op::Commit => self.warps[w].groups.commit(),
            Op::WaitGroups(left) => return self.wait_groups(env, w, left, time),
            Op::MbarArrive | Op::MbarArriveAsync => {
                self.mbarrier_arrive(env, w, inst.op == Op::MbarArriveAsync, time)
            }
            Op::MbarWait => return self.mbarrier_wait(env, w, time),
            Op::Gmma(commit) => self.gmma(w, inst, commit, time),
            Op::GmmaFence => self.warps[w].gmma_commit(),
            Op::GmmaWait(left) => {
                self.warps[w].gmma_commit();
                after = (after.0.max(self.warps[w].gmma_wait(left)), Stall::Gmma);
            }
            Op::ClusterArrive => self.cluster_arrive(w, time),
            Op::ClusterWait => return self.cluster_wait(env, w, time),
        }
        self.prepare(env, w, after.0, after.1);
    }

    fn gmma(&mut self, w: usize, inst: &Static, commit: bool, time: u32) {
        let (k, _) = self.place(w);
        let done = self.subcores[k].queue_tensor(time, inst.interval) + super::consts::GMMA_TAIL;
        let warp = &mut self.warps[w];
        warp.gmma_open = warp.gmma_open.max(done);
        if commit {
            warp.gmma_commit();
        }
    }

    /// Results become ready at `time`.
    #[inline]
    pub(super) fn write(&mut self, env: Env<'_>, w: usize, inst: &Static, time: u32, maker: Stall) {
        let warp = &mut self.warps[w];
        for (first, end) in env.isa.writes(inst) {
            let slots = usize::from(*first)..usize::from(*end);
            warp.ready[slots.clone()].fill(time);
            warp.makers[slots].fill(maker);
        }
    }

    /// Finds out when a warp's next instruction may issue, not before `base`.
    #[inline]
    pub(super) fn prepare(&mut self, env: Env<'_>, w: usize, base: u32, reason: Stall) {
        let warp = &mut self.warps[w];
        let Some(id) = warp.image.stream.get(warp.at) else {
            return self.finish_warp(env, w, base);
        };
        let inst = env.isa.get(*id);
        let warp_reason = reason;
        let (mut earliest, mut reason) = (base, reason);
        for (first, end) in env.isa.waits(inst) {
            for slot in usize::from(*first)..usize::from(*end) {
                let ready = warp.ready[slot];
                if ready > earliest {
                    (earliest, reason) = (ready, warp.makers[slot]);
                }
            }
        }
        warp.base = (base, warp_reason);
        warp.block = (earliest == NEVER).then_some(Block::Register);
        warp.reason = reason;
        let n = self.subcores.len();
        self.subcores[w % n].set(w / n, earliest, inst.unit);
    }

    /// A warp waits for something without a known end.
    pub(super) fn block(&mut self, w: usize, block: Block, reason: Stall) {
        let (k, lane) = self.place(w);
        self.warps[w].block = Some(block);
        self.warps[w].reason = reason;
        self.subcores[k].set(lane, NEVER, super::isa::NO_UNIT);
    }

    fn finish_warp(&mut self, env: Env<'_>, w: usize, time: u32) {
        let (k, lane) = self.place(w);
        self.subcores[k].set(lane, NEVER, super::isa::NO_UNIT);
        let warp = &mut self.warps[w];
        if warp.loads_pending > 0 {
            warp.block = Some(Block::Drain);
            return;
        }
        // A warp has ended when its last result is there.
        let results = warp.ready.iter().copied().filter(|ready| *ready != NEVER);
        let time = results.fold(time.max(warp.loads_done), u32::max);
        self.subcores[k].resident -= 1;
        warp.live = false;
        warp.block = None;
        warp.image = super::image::WarpImage::default();
        let slot = warp.cta;
        if let Some(cta) = self.ctas.get_mut(slot) {
            cta.live -= 1;
            cta.end = cta.end.max(time);
            if cta.live == 0 {
                let end = cta.end;
                self.finish_cta(env, slot, end);
            }
        }
    }

    fn finish_cta(&mut self, env: Env<'_>, slot: usize, time: u32) {
        if let Some(cta) = self.ctas.get_mut(slot) {
            cta.resident = false;
        }
        self.resident -= 1;
        self.finished += 1;
        self.end = self.end.max(time);
        if let Some(image) = self.spare.take() {
            self.launch(env, image, time, None);
        }
    }
}

impl Sm {
    /// Number of the next launch.
    pub(super) fn next_generation(&self) -> u32 {
        self.generation + 1
    }

    /// Whether a launch's CTA is still in its slot.
    pub(super) fn holds(&self, slot: usize, generation: u32) -> bool {
        self.ctas
            .get(slot)
            .is_some_and(|cta| cta.resident && cta.generation == generation)
    }
}
