//! A request that its client gives up: vLLM's `finish_requests` with the status of an abort.

use super::Scheduler;
use super::plan::Plan;
use super::seq::Slot;

impl Scheduler {
    /// Ends the request `id` wherever it stands: it neither waits nor runs any more, its blocks are free at once
    /// (what they hold stays in the prefix cache), and what steps in flight compute for it comes to nothing.
    /// False if there is no such request. Looks at every request, so it is not for every step.
    pub fn abort(&mut self, id: u64) -> bool {
        let named = |slot: &Slot| self.seqs[*slot as usize].id == id;
        let Some(slot) = self
            .running
            .iter()
            .copied()
            .chain(self.waiting.iter())
            .find(named)
        else {
            return false;
        };
        // Its place in the run of like steps has to be taken out by name.
        self.leave_run(None);
        self.running.retain(|other| *other != slot);
        let seq = &mut self.seqs[slot as usize];
        self.waiting.remove(seq, slot);
        self.blocks.release(seq);
        for plan in &mut self.flight {
            plan.forget(slot);
        }
        self.vacant.push(slot);
        self.head_hits = None;
        true
    }
}

impl Plan {
    /// Takes a sequence out. The batch stays what it was: the step computes it all the same.
    fn forget(&mut self, slot: Slot) {
        self.entries.retain(|entry| entry.slot != slot);
        self.applied = self.entries.len();
        self.admitted.retain(|other| *other != slot);
        self.preempted.retain(|other| *other != slot);
    }
}
