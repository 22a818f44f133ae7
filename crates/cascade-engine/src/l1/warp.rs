//! One resident warp: where it is in its trace, its scoreboard and what it has under way.

use std::collections::VecDeque;

use super::image::WarpImage;
use super::stats::Stall;

/// What a warp waits for that has no known end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// A register that memory has not delivered.
    Register,
    /// A CTA barrier.
    Barrier(u8),
    /// An mbarrier, by offset, until so many phases are over.
    Mbarrier(u32, u64),
    /// Groups of asynchronous copies, all but so many.
    Groups(u8),
    /// Its own writes.
    Fence,
    /// The cluster's barrier.
    Cluster,
    /// Its own loads, at its end.
    Drain,
}

/// Groups of asynchronous copies of one warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Copies under way and the time of the last that arrived, of the open group.
    open: (u32, u32),
    closed: VecDeque<(u32, u32)>,
    first: u32,
}

impl Groups {
    /// Number of the open group.
    pub(super) fn current(&self) -> u32 {
        self.first + self.closed.len() as u32
    }

    /// A copy starts.
    pub(super) fn start(&mut self) {
        self.open.0 += 1;
    }

    /// A copy of group `group` is complete.
    pub(super) fn done(&mut self, group: u32, time: u32) {
        let at = group.wrapping_sub(self.first) as usize;
        let entry = if at == self.closed.len() {
            Some(&mut self.open)
        } else {
            self.closed.get_mut(at)
        };
        if let Some((pending, ready)) = entry {
            *pending = pending.saturating_sub(1);
            *ready = (*ready).max(time);
        }
    }

    /// Closes the open group.
    pub(super) fn commit(&mut self) {
        self.closed.push_back(std::mem::take(&mut self.open));
    }

    /// When all but the last `left` closed groups are complete, if that is known.
    pub(super) fn wait(&mut self, left: u8) -> Option<u32> {
        let count = self.closed.len().saturating_sub(usize::from(left));
        let mut ready = 0;
        for (pending, time) in self.closed.iter().take(count) {
            if *pending > 0 {
                return None;
            }
            ready = ready.max(*time);
        }
        self.closed.drain(..count);
        self.first += count as u32;
        Some(ready)
    }

    /// When all copies are complete, if that is known.
    pub(super) fn all(&self) -> Option<u32> {
        let mut ready = self.open.1;
        let mut pending = self.open.0;
        for (more, time) in &self.closed {
            pending += more;
            ready = ready.max(*time);
        }
        (pending == 0).then_some(ready)
    }
}

/// A resident warp.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) image: WarpImage,
    /// Next instruction, access, line, bulk copy and mbarrier address.
    pub(super) at: usize,
    pub(super) access_at: usize,
    pub(super) line_at: usize,
    pub(super) bulk_at: usize,
    pub(super) mbarrier_at: usize,
    /// Its CTA's slot and its index there.
    pub(super) cta: usize,
    pub(super) index: u32,
    /// Launch number of its CTA; replies to earlier owners of the lane are dropped.
    pub(super) generation: u32,
    pub(super) block: Option<Block>,
    /// Cycle after its last issue, and why it has not gone on.
    pub(super) since: u32,
    pub(super) reason: Stall,
    /// Before what and why its next instruction could not issue even with all registers ready.
    pub(super) base: (u32, Stall),
    /// When each scoreboard slot is ready, and who makes it so.
    pub(super) ready: Vec<u32>,
    pub(super) makers: Vec<Stall>,
    pub(super) groups: Groups,
    /// Arrivals at mbarriers that wait for the copies under way.
    pub(super) deferred: Vec<u64>,
    /// Ends of warp-group multiplies: of the open group, and of closed ones.
    pub(super) gmma_open: u32,
    pub(super) gmma: VecDeque<u32>,
    /// Loads and copies under way; a warp does not end before they are there.
    pub(super) loads_pending: u32,
    pub(super) loads_done: u32,
    pub(super) writes_pending: u32,
    pub(super) writes_done: u32,
    /// Waits so far at each mbarrier offset.
    pub(super) mbarrier_waits: Vec<(u32, u64)>,
    pub(super) cluster_arrivals: u32,
    pub(super) live: bool,
}

impl Warp {
    /// Takes a new warp's trace.
    pub(super) fn start(
        &mut self,
        image: WarpImage,
        cta: usize,
        index: u32,
        generation: u32,
        slots: usize,
        time: u32,
    ) {
        let (mut ready, mut makers) = (std::mem::take(&mut self.ready), std::mem::take(&mut self.makers));
        ready.clear();
        ready.resize(slots, 0);
        makers.clear();
        makers.resize(slots, Stall::Arithmetic);
        *self = Self {
            image,
            cta,
            index,
            generation,
            since: time,
            ready,
            makers,
            live: true,
            ..Self::default()
        };
    }

    /// The wait number of the next wait at an mbarrier, from 1.
    pub(super) fn next_wait(&mut self, offset: u32) -> u64 {
        if let Some((_, count)) = self.mbarrier_waits.iter_mut().find(|(known, _)| *known == offset) {
            *count += 1;
            return *count;
        }
        self.mbarrier_waits.push((offset, 1));
        1
    }

    /// When all but the last `left` groups of warp-group multiplies are done.
    pub(super) fn gmma_wait(&mut self, left: u8) -> u32 {
        let count = self.gmma.len().saturating_sub(usize::from(left));
        self.gmma.drain(..count).max().unwrap_or(0)
    }

    /// Closes the open group of warp-group multiplies.
    pub(super) fn gmma_commit(&mut self) {
        if self.gmma_open > 0 {
            self.gmma.push_back(std::mem::take(&mut self.gmma_open));
        }
    }
}
