//! Clusters of CTAs: which blocks belong together, where they run, and their common barrier.

use std::collections::{BTreeMap, VecDeque};

use cascade_accelsim::trace::Dim3;

use super::image::Image;
use super::isa::Isa;
use super::mbarrier::{plan_cluster, receives};

/// A CTA of a running cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) rank: u32,
    pub(super) sm: usize,
    pub(super) slot: usize,
    pub(super) generation: u32,
}

/// A running cluster.
#[derive(Clone, Debug, Default)]
struct Running {
    members: Vec<Member>,
    /// Warps that arrive at each phase of the barrier.
    expected: Vec<u32>,
    arrived: Vec<(u32, u32)>,
}

/// All clusters of a kernel. Empty for kernels without clusters.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    /// Clusters that have not started, in the order of their first block.
    pub(super) waiting: VecDeque<Vec<Image>>,
    places: BTreeMap<Dim3, usize>,
    running: Vec<Running>,
}

impl Clusters {
    /// Whether the kernel has clusters.
    pub(super) fn in_use(&self) -> bool {
        !self.waiting.is_empty() || !self.running.is_empty()
    }

    /// Adds a block; one without cluster coordinates is a cluster of its own.
    pub(super) fn add(&mut self, image: Image) {
        let place = image
            .cluster
            .map(|cluster| *self.places.entry(cluster.id).or_insert(self.waiting.len()));
        match place.and_then(|place| self.waiting.get_mut(place)) {
            Some(cluster) => cluster.push(image),
            None => self.waiting.push_back(vec![image]),
        }
    }

    /// Works out what the mbarriers of each cluster expect.
    pub(super) fn plan(&mut self, isa: &Isa) {
        self.places.clear();
        for images in &mut self.waiting {
            let uses = |image: &Image| image.warps.iter().any(|warp| !warp.mbarriers.is_empty());
            if images.iter().any(uses) {
                plan_cluster(images, isa);
            }
        }
    }

    /// A cluster starts; its number.
    pub(super) fn start(&mut self, images: &[Image]) -> u32 {
        let mut expected = Vec::new();
        for warp in images.iter().flat_map(|image| &image.warps) {
            let phases = warp.cluster_arrivals as usize;
            if expected.len() < phases {
                expected.resize(phases, 0);
            }
            expected.iter_mut().take(phases).for_each(|count| *count += 1);
        }
        self.running.push(Running {
            members: Vec::new(),
            arrived: vec![(0, 0); expected.len()],
            expected,
        });
        self.running.len() as u32 - 1
    }

    /// Notes where a CTA of a cluster runs.
    pub(super) fn member(&mut self, cluster: u32, rank: u32, sm: usize, slot: usize, generation: u32) {
        if let Some(running) = self.running.get_mut(cluster as usize) {
            running.members.push(Member {
                rank,
                sm,
                slot,
                generation,
            });
        }
    }

    /// The CTA of a rank.
    pub(super) fn find(&self, cluster: u32, rank: u32) -> Option<Member> {
        let running = self.running.get(cluster as usize)?;
        running.members.iter().find(|member| member.rank == rank).copied()
    }

    /// CTAs in which a bulk copy of rank `from` lands.
    pub(super) fn receivers(&self, cluster: u32, from: u32, cta_mask: Option<u16>) -> Vec<Member> {
        let running = self.running.get(cluster as usize);
        running
            .into_iter()
            .flat_map(|running| &running.members)
            .filter(|member| receives(cta_mask, from, member.rank))
            .copied()
            .collect()
    }

    /// A warp arrives at the barrier; when it was the last of the phase, the time and whom to tell.
    pub(super) fn arrive(&mut self, cluster: u32, phase: u32, time: u32) -> Option<(u32, Vec<Member>)> {
        let running = self.running.get_mut(cluster as usize)?;
        let expected = running.expected.get(phase as usize)?;
        let (count, latest) = running.arrived.get_mut(phase as usize)?;
        *count += 1;
        *latest = time.max(*latest);
        (*count >= *expected).then(|| (*latest, running.members.clone()))
    }
}
