//! The rules of vLLM 0.33.0's v1 scheduler: running sequences first in order of admission, then admission.
//!
//! There is no prefill or decode phase: a sequence computes what it has not computed yet, as far as the step's
//! budget and the free blocks go.

use super::Scheduler;
use super::config::Policy;
use super::plan::{Blocked, Entry, Plan};
use super::prefix::Hits;
use super::seq::Slot;

impl Scheduler {
    pub(super) fn schedule_vllm(&mut self, plan: &mut Plan) {
        let mut budget = self.config.max_num_batched_tokens;
        // A lone request is never slowed down for the sake of others.
        let alone = self.running.len() + self.waiting.len() <= 1;
        let threshold = match self.config.long_prefill_token_threshold {
            0 => u32::MAX,
            _ if alone => u32::MAX,
            threshold => threshold,
        };
        if self.run_step(plan) {
            budget -= self.running.len() as u32;
        } else {
            self.running_pass(plan, &mut budget, threshold);
        }
        // A step that had to take blocks away gives none to newcomers.
        plan.blocked = if plan.preempted.is_empty() {
            self.waiting_pass(plan, budget, threshold)
        } else {
            Some(Blocked::Preemption)
        };
    }

    fn running_pass(&mut self, plan: &mut Plan, budget: &mut u32, threshold: u32) {
        let mut index = 0;
        'next: while *budget > 0
            && let Some(&slot) = self.running.get(index)
        {
            let seq = &self.seqs[slot as usize];
            let tokens = seq.pending().min(threshold).min(*budget);
            if tokens == 0 || seq.ending() {
                index += 1;
                continue;
            }
            let upto = seq.computed + tokens;
            while !self.blocks.grow(&mut self.seqs[slot as usize], upto) {
                let at = self.victim();
                let victim = self.running.remove(at);
                if at < index {
                    index -= 1;
                    if let Some(entry) = plan.entries.iter().position(|entry| entry.slot == victim) {
                        *budget += plan.entries.remove(entry).tokens;
                    }
                }
                self.preempt(victim, plan);
                if victim == slot {
                    match self.config.policy {
                        Policy::Fcfs => break 'next,
                        Policy::Priority => continue 'next,
                    }
                }
            }
            self.register(slot, upto);
            plan.entries.push(Entry {
                slot,
                tokens,
                samples: false,
            });
            *budget -= tokens;
            index += 1;
        }
    }

    /// Index of the running sequence that has to give way.
    fn victim(&self) -> usize {
        let last = self.running.len() - 1;
        match self.config.policy {
            Policy::Fcfs => last,
            Policy::Priority => {
                let key = |at: &usize| {
                    let seq = &self.seqs[self.running[*at] as usize];
                    // vLLM has no two equal arrival times; here the id tells them apart.
                    (seq.priority, seq.times.arrival, seq.id)
                };
                (0..=last).max_by_key(key).unwrap_or(last)
            }
        }
    }

    /// Admits from the queue what fits, and says why its head does not.
    fn waiting_pass(&mut self, plan: &mut Plan, mut budget: u32, threshold: u32) -> Option<Blocked> {
        while let Some(slot) = self.waiting.head() {
            if let Some(blocked) = self.full(budget) {
                return Some(blocked);
            }
            let hits = self.head_hits(slot);
            let known = self.seqs[slot as usize].known();
            let cached = hits.blocks * self.blocks.block_size();
            let wanted = (known - cached).min(threshold);
            if !self.config.enable_chunked_prefill && wanted > budget {
                return Some(Blocked::Chunk);
            }
            let tokens = wanted.min(budget);
            let needed = self.blocks_to_admit(hits, known, cached + tokens);
            if needed > self.blocks.free() {
                return Some(Blocked::Blocks {
                    needed,
                    free: self.blocks.free(),
                });
            }
            self.leave_run(Some(plan));
            self.admit(slot, hits, tokens, plan);
            budget -= tokens;
        }
        None
    }

    /// Whether the step or the engine takes no further request, whichever it is.
    pub(super) fn full(&self, budget: u32) -> Option<Blocked> {
        if budget == 0 {
            Some(Blocked::Budget)
        } else if self.running.len() >= self.config.max_num_seqs as usize {
            Some(Blocked::Seqs)
        } else {
            None
        }
    }

    /// Blocks that must be free: those for `chunk_end` tokens, or for all `known` ones where the gate asks for
    /// them. Cached blocks that nothing holds count as free until they are taken.
    fn blocks_to_admit(&self, hits: Hits, known: u32, chunk_end: u32) -> u32 {
        let spare = if self.running.is_empty() {
            0
        } else {
            self.config.watermark_blocks()
        };
        let gate = if self.config.scheduler_reserve_full_isl {
            known
        } else {
            chunk_end
        };
        let blocks = self.blocks.for_tokens(gate.max(chunk_end));
        (blocks.saturating_sub(hits.blocks) + hits.unused).saturating_add(spare)
    }

    fn head_hits(&mut self, slot: Slot) -> Hits {
        let Some(cache) = &self.blocks.cache else {
            return Hits::default();
        };
        let version = cache.version;
        match self.head_hits {
            Some((of, at, hits)) if of == slot && at == version => hits,
            _ => {
                let hits = self.blocks.lookup(&mut self.seqs[slot as usize]);
                self.head_hits = Some((slot, version, hits));
                hits
            }
        }
    }

    /// Moves the head of the queue to the running sequences and gives it `tokens` to compute.
    pub(super) fn admit(&mut self, slot: Slot, hits: Hits, tokens: u32, plan: &mut Plan) {
        self.waiting.pop();
        self.head_hits = None;
        self.running.push(slot);
        let cached = hits.blocks * self.blocks.block_size();
        let seq = &mut self.seqs[slot as usize];
        self.blocks.attach(seq, hits);
        self.blocks.grow(seq, cached + tokens);
        seq.computed = cached;
        seq.admissions += 1;
        if seq.admissions == 1 {
            seq.cached_tokens = cached;
        }
        self.register(slot, cached + tokens);
        plan.admitted.push(slot);
        plan.entries.push(Entry {
            slot,
            tokens,
            samples: false,
        });
    }

    /// Registers what the first `upto` tokens fill; vLLM does so when a block is allocated, not when it is
    /// computed, so that a request admitted later in the same step finds it.
    fn register(&mut self, slot: Slot, upto: u32) {
        let seq = &mut self.seqs[slot as usize];
        let known = seq.known();
        self.blocks.register(seq, upto.min(known));
    }
}
