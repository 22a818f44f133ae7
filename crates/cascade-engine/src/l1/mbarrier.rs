//! mbarriers: what each phase expects, worked out from the trace, and their state at run time.
//!
//! Traces carry neither counts nor parities, so they are derived from how a thread block (and its cluster)
//! uses each mbarrier: the k-th wait of a warp waits for the k-th phase; a phase is over when each arriving
//! warp has arrived once more and the bytes of the bulk copies issued after those arrivals have landed. The
//! one thing this cannot tell, whether a first wait passes at once (a ring's "empty" barriers), is found
//! out when nothing else can go on; see `chip`.

use std::collections::BTreeMap;

use super::image::Image;
use super::isa::{Isa, Op};

/// Bits of an mbarrier's address within one CTA; the CTA's rank in its cluster lies above.
const OFFSET_BITS: u32 = 24;
/// Largest rank in a cluster (CUDA allows 16 CTAs).
const MAX_RANK: u64 = 16;

/// Offset of an mbarrier in its CTA, and the rank that the address names when it is a cluster address.
pub(super) fn locate(address: u64) -> (u32, Option<u32>) {
    let rank = address >> OFFSET_BITS;
    let offset = (address & ((1 << OFFSET_BITS) - 1)) as u32;
    (offset, (rank > 0 && rank < MAX_RANK).then_some(rank as u32))
}

/// What one mbarrier of a CTA expects.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Arrivals that end a phase.
    pub(super) arrivals: u64,
    /// Phases that arrivals make.
    pub(super) phases: u64,
    /// Bytes landed by the end of each phase; the last entry goes for all later ones.
    pub(super) bytes: Vec<u64>,
    /// Waits of each warp that waits.
    pub(super) waits: BTreeMap<u32, u64>,
    /// Arrivals of each warp of each rank.
    arrivers: BTreeMap<(u32, u32), u64>,
}

/// Plans by mbarrier offset.
pub(super) type Plans = BTreeMap<u32, Plan>;

/// What the warps of a block do to mbarriers, their own and those of other ranks.
pub(super) fn own_uses(image: &Image, isa: &Isa) -> Plans {
    let mut plans = Plans::new();
    let own_rank = image.cluster.map_or(0, |cluster| cluster.rank);
    uses(image, isa, own_rank, own_rank, &mut plans);
    finish(&mut plans);
    plans
}

/// Completes the plans of all blocks of a cluster.
pub(super) fn plan_cluster(images: &mut [Image], isa: &Isa) {
    let ranks: Vec<u32> = images
        .iter()
        .map(|image| image.cluster.map_or(0, |cluster| cluster.rank))
        .collect();
    let all: Vec<Plans> = ranks
        .iter()
        .map(|rank| {
            let mut plans = Plans::new();
            for (image, from) in images.iter().zip(&ranks) {
                uses(image, isa, *from, *rank, &mut plans);
            }
            finish(&mut plans);
            plans
        })
        .collect();
    for (image, plans) in images.iter_mut().zip(all) {
        image.plans = plans;
    }
}

/// Adds what the block of rank `from` does to the mbarriers of rank `to`.
fn uses(image: &Image, isa: &Isa, from: u32, to: u32, plans: &mut Plans) {
    for (index, warp) in image.warps.iter().enumerate() {
        let warp_id = index as u32;
        let (mut mbarriers, mut bulks) = (warp.mbarriers.iter(), warp.bulks.iter());
        // Arrivals of this warp so far, by offset: copies belong to the phase of the arrival before them.
        let mut arrived: BTreeMap<u32, u64> = BTreeMap::new();
        for id in warp.stream.iter() {
            match isa.get(*id).op {
                Op::MbarWait => {
                    let Some(address) = mbarriers.next() else { break };
                    if from == to {
                        let plan = plans.entry(locate(*address).0).or_default();
                        *plan.waits.entry(warp_id).or_default() += 1;
                    }
                }
                Op::MbarArrive | Op::MbarArriveAsync => {
                    let Some(address) = mbarriers.next() else { break };
                    let (offset, rank) = locate(*address);
                    *arrived.entry(offset).or_default() += 1;
                    if rank.unwrap_or(from) == to {
                        let plan = plans.entry(offset).or_default();
                        *plan.arrivers.entry((from, warp_id)).or_default() += 1;
                    }
                }
                Op::BulkLoad => {
                    let Some(bulk) = bulks.next() else { break };
                    if !receives(bulk.cta_mask, from, to) || bulk.mbarrier == 0 {
                        continue;
                    }
                    let (offset, _) = locate(bulk.mbarrier);
                    let phase = arrived.get(&offset).copied().unwrap_or(0).saturating_sub(1) as usize;
                    let plan = plans.entry(offset).or_default();
                    if plan.bytes.len() <= phase {
                        plan.bytes.resize(phase + 1, 0);
                    }
                    if let Some(bytes) = plan.bytes.get_mut(phase) {
                        *bytes += bulk.bytes;
                    }
                }
                Op::BulkStore => {
                    bulks.next();
                }
                _ => {}
            }
        }
    }
}

/// Whether a bulk copy issued by rank `from` lands in rank `to`.
pub(super) fn receives(cta_mask: Option<u16>, from: u32, to: u32) -> bool {
    cta_mask.map_or(from == to, |mask| mask.checked_shr(to).unwrap_or(0) & 1 == 1)
}

fn finish(plans: &mut Plans) {
    for plan in plans.values_mut() {
        let total: u64 = plan.arrivers.values().sum();
        let rounds = plan.arrivers.values().copied().max().unwrap_or(0);
        plan.phases = rounds.max(plan.bytes.len() as u64);
        plan.arrivals = total.checked_div(rounds).unwrap_or(0);
        let mut sum = 0;
        for bytes in &mut plan.bytes {
            sum += *bytes;
            *bytes = sum;
        }
    }
}

/// An mbarrier at run time. Arrivals and bytes are counted from the CTA's start.
#[derive(Clone, Debug, Default)]
pub(super) struct Mbarrier {
    arrivals: u64,
    bytes: u64,
    latest: u32,
    /// Times at which phases ended.
    pub(super) ended: Vec<u32>,
    /// Waiting warps and the number of phases that each needs.
    pub(super) waiting: Vec<(u16, u64)>,
}

impl Mbarrier {
    /// Counts arrivals or landed bytes at `time` and ends the phases that are complete.
    pub(super) fn count(&mut self, plan: &Plan, arrivals: u64, bytes: u64, time: u32) {
        self.arrivals += arrivals;
        self.bytes += bytes;
        self.latest = self.latest.max(time);
        while (self.ended.len() as u64) < plan.phases {
            let phase = self.ended.len();
            let needed = plan.bytes.get(phase).or(plan.bytes.last()).copied().unwrap_or(0);
            let arrivals = (phase as u64 + 1) * plan.arrivals;
            if self.arrivals < arrivals || self.bytes < needed {
                return;
            }
            self.ended.push(self.latest);
        }
    }

    /// When the first `phases` phases were over, if they are.
    pub(super) fn over(&self, phases: u64) -> Option<u32> {
        let Some(last) = phases.checked_sub(1) else {
            return Some(0);
        };
        self.ended.get(last as usize).copied()
    }
}

impl Plan {
    /// Whether the first wait may pass at once: no bulk copy signals the mbarrier, and warps arrive at it.
    pub(super) fn may_start_open(&self) -> bool {
        self.bytes.is_empty() && self.phases > 0
    }

    /// Arriving warps for each waiting warp.
    pub(super) fn openness(&self) -> f64 {
        self.arrivers.len() as f64 / (self.waits.len() as f64).max(1.0)
    }

    /// Whether the same warps arrive and wait, so that both are stages of one ring.
    pub(super) fn resembles(&self, other: &Self) -> bool {
        self.bytes.is_empty() == other.bytes.is_empty()
            && self.arrivers.keys().eq(other.arrivers.keys())
            && self.waits.keys().eq(other.waits.keys())
    }
}
