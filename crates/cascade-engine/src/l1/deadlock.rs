//! Says what a kernel that cannot go on waits for.

use cascade_accelsim::trace::BlockSource;

use super::chip::{Blocks, Chip};
use super::warp::{Block, Warp};
use crate::engine::{Engine, EngineError};
use crate::estimate::Limit;

impl Chip<'_> {
    /// The error of a kernel of which no warp can go on: the first blocked warp, and how many there are.
    pub(super) fn deadlock<S: BlockSource + ?Sized>(&self, blocks: &Blocks<'_, S>, now: u32) -> EngineError {
        let kernel = blocks.source.header().name.clone();
        let blocked = || {
            self.sms.iter().flat_map(|sm| {
                sm.warps
                    .iter()
                    .filter(|warp| warp.live)
                    .map(move |warp| (sm, warp))
            })
        };
        let count = blocked().count();
        // Warps that wait for a CTA barrier are often victims of the one that waits for something else.
        let culprit = blocked()
            .find(|(_, warp)| !matches!(warp.block, Some(Block::Barrier(_))))
            .or_else(|| blocked().next());
        let (cta, warp, pc, waits_for) = culprit.map_or_else(
            || (String::new(), 0, 0, "nothing".to_owned()),
            |(sm, warp)| {
                let cta = sm
                    .ctas
                    .get(warp.cta)
                    .map(|cta| cta.id.to_string())
                    .unwrap_or_default();
                (cta, warp.index, pc_of(blocks, warp), waits_for(warp))
            },
        );
        EngineError::Deadlock {
            kernel,
            cycle: now,
            block: cta,
            warp,
            pc,
            waits_for,
            blocked: count,
        }
    }

    /// The error of a cluster of which not all CTAs fit on the GPU at once.
    pub(super) fn cluster_too_large<S: BlockSource + ?Sized>(&self, blocks: &Blocks<'_, S>) -> EngineError {
        Engine::does_not_fit(blocks.source.header(), blocks.gpu, Limit::Ctas)
    }
}

/// The instruction at which a warp waits: the last one issued.
fn pc_of<S: BlockSource + ?Sized>(blocks: &Blocks<'_, S>, warp: &Warp) -> u32 {
    let at = warp
        .at
        .saturating_sub(usize::from(warp.block != Some(Block::Register)));
    let id = warp.image.stream.get(at).or(warp.image.stream.last());
    id.map_or(0, |id| blocks.lowering.isa.get(*id).pc)
}

fn waits_for(warp: &Warp) -> String {
    match warp.block {
        None => "nothing".to_owned(),
        Some(Block::Register) => "a register that no reply fills".to_owned(),
        Some(Block::Barrier(id)) => format!("other warps at barrier {id}"),
        Some(Block::Mbarrier(offset, phases)) => {
            format!("phase {phases} of the mbarrier at shared address {offset:#x}")
        }
        Some(Block::Groups(left)) => format!("all but {left} groups of asynchronous copies"),
        Some(Block::Fence) => "its own writes".to_owned(),
        Some(Block::Drain) => "its own loads".to_owned(),
        Some(Block::Cluster) => "the other blocks of its cluster".to_owned(),
    }
}
