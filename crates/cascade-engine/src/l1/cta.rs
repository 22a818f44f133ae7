//! A resident CTA: its warps, barriers and place in a cluster.

use std::collections::BTreeMap;

use cascade_accelsim::trace::Dim3;

use super::image::{BARRIERS, Image, WarpImage};
use super::mbarrier::{Mbarrier, Plans};

/// One CTA barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BarrierState {
    /// Warps that arrived in this phase, one bit each.
    pub(super) arrived: u64,
    /// Arrivals in this phase.
    pub(super) arrivals: u32,
}

/// A CTA in a slot of an SM.
#[derive(Debug, Default)]
pub(super) struct Cta {
    pub(super) id: Dim3,
    pub(super) resident: bool,
    pub(super) generation: u32,
    pub(super) live: usize,
    pub(super) end: u32,
    /// The SM's number of each of its warps.
    pub(super) warps: Vec<usize>,
    /// Fewer warps than the header says: the trace was trimmed, and barriers wait for those that are there.
    pub(super) trimmed: bool,
    /// Remaining uses of each barrier by each warp.
    uses: Vec<u32>,
    barriers: [BarrierState; BARRIERS],
    pub(super) plans: Plans,
    pub(super) mbarriers: BTreeMap<u32, Mbarrier>,
    /// Cluster number and the CTA's rank in it.
    pub(super) cluster: Option<(u32, u32)>,
    /// When each phase of the cluster's barrier was over here.
    pub(super) cluster_phases: Vec<u32>,
}

impl Cta {
    pub(super) fn new(image: Image, generation: u32, cluster: Option<(u32, u32)>) -> (Self, Vec<WarpImage>) {
        let cta = Self {
            id: image.id,
            resident: true,
            generation,
            live: image.warps.len(),
            trimmed: image.trimmed,
            uses: image.barrier_uses,
            plans: image.plans,
            cluster,
            ..Self::default()
        };
        (cta, image.warps)
    }

    /// A warp arrives at a barrier that expects `threads` (0: every warp that still uses it). True when the
    /// phase is over.
    pub(super) fn arrive(&mut self, barrier: u8, warp: u32, threads: u16) -> bool {
        let warps = self.warps.len();
        let first = usize::from(barrier) * warps;
        let Some(uses) = self.uses.get_mut(first..first + warps) else {
            return true;
        };
        if let Some(count) = uses.get_mut(warp as usize) {
            *count = count.saturating_sub(1);
        }
        let Some(state) = self.barriers.get_mut(usize::from(barrier)) else {
            return true;
        };
        state.arrived |= 1_u64.checked_shl(warp).unwrap_or(0);
        state.arrivals += 1;
        let nobody_else = || {
            let here = |i: usize| state.arrived.checked_shr(i as u32).unwrap_or(0) & 1 == 1;
            uses.iter().enumerate().all(|(i, count)| *count == 0 || here(i))
        };
        let over = if threads == 0 {
            nobody_else()
        } else {
            state.arrivals * 32 >= u32::from(threads) || self.trimmed && nobody_else()
        };
        if over {
            *state = BarrierState::default();
        }
        over
    }
}
