//! The rules `reference`: a plain continuous-batching scheduler.
//!
//! Decodes come before prefills. A prompt is cut where the budget or the free blocks end. Where no block is
//! free, the most recently admitted sequence that has no part in the step yet gives way, itself if need be. A
//! step that preempted admits nothing, since the preempted sequence stands first in line.

use super::Scheduler;
use super::plan::{Blocked, Entry, Plan};
use super::prefix::Hits;
use super::seq::Slot;

impl Scheduler {
    pub(super) fn schedule_reference(&mut self, plan: &mut Plan) {
        let mut budget = self.config.max_num_batched_tokens;
        if self.run_step(plan) {
            budget -= self.running.len() as u32;
        } else {
            let (decodes, prefills): (Vec<Slot>, Vec<Slot>) = self
                .running
                .iter()
                .partition(|slot| self.seqs[**slot as usize].pending() == 1);
            for slot in decodes.into_iter().chain(prefills) {
                // A sequence that was preempted on the way holds nothing.
                if budget > 0 && self.seqs[slot as usize].held > 0 {
                    budget -= self.give(slot, budget, plan);
                }
            }
        }
        plan.blocked = if plan.preempted.is_empty() {
            self.admit_reference(plan, budget)
        } else {
            Some(Blocked::Preemption)
        };
    }

    /// Schedules what a running sequence can get, and returns how many tokens that is.
    fn give(&mut self, slot: Slot, budget: u32, plan: &mut Plan) -> u32 {
        let seq = &self.seqs[slot as usize];
        if seq.ending() {
            return 0;
        }
        let (wanted, computed) = (seq.pending().min(budget), seq.computed);
        loop {
            let held = self.seqs[slot as usize].held;
            let room = (held + self.blocks.free()).saturating_mul(self.blocks.block_size()) - computed;
            let tokens = wanted.min(room);
            if tokens > 0 {
                self.blocks.grow(&mut self.seqs[slot as usize], computed + tokens);
                plan.entries.push(Entry {
                    slot,
                    tokens,
                    samples: false,
                });
                return tokens;
            }
            let idle = |other: &Slot| plan.entries.iter().all(|entry| entry.slot != *other);
            let Some(at) = self.running.iter().rposition(idle) else {
                return 0;
            };
            let victim = self.running.remove(at);
            self.preempt(victim, plan);
            if victim == slot {
                return 0;
            }
        }
    }

    fn admit_reference(&mut self, plan: &mut Plan, mut budget: u32) -> Option<Blocked> {
        while let Some(slot) = self.waiting.head() {
            if let Some(blocked) = self.full(budget) {
                return Some(blocked);
            }
            let known = self.seqs[slot as usize].known();
            let chunked = self.config.enable_chunked_prefill;
            if !chunked && known > budget {
                return Some(Blocked::Chunk);
            }
            let free = self.blocks.free();
            let tokens = known
                .min(budget)
                .min(free.saturating_mul(self.blocks.block_size()));
            if tokens == 0 || (!chunked && tokens < known) {
                let needed = if chunked { 1 } else { self.blocks.for_tokens(known) };
                return Some(Blocked::Blocks { needed, free });
            }
            self.leave_run(Some(plan));
            self.admit(slot, Hits::default(), tokens, plan);
            budget -= tokens;
        }
        None
    }
}
