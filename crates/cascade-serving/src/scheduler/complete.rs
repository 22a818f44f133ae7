//! The end of a step: tokens come out, sequences end.

use super::Scheduler;
use super::seq::{Seq, Slot};

/// Hears what comes out of a step. Times are the ends of steps, in ns.
pub trait Emissions {
    /// `seq` emitted its first token.
    fn first_token(&mut self, seq: &Seq);
    /// `count` sequences emitted a token `gap_ns` after their previous one.
    fn later_tokens(&mut self, gap_ns: u64, count: u32);
    /// `seq` emitted a token `gap_ns` after its previous one. Every later token comes this way only if
    /// [`Scheduler::step_singly`] asks for it; otherwise most come as [`Emissions::later_tokens`].
    fn later_token(&mut self, seq: &Seq, gap_ns: u64) {
        let _ = seq;
        self.later_tokens(gap_ns, 1);
    }
    /// `seq` has emitted its last token and leaves.
    fn finished(&mut self, seq: &Seq);
}

impl Scheduler {
    /// Completes the oldest step in flight at `now_ns`.
    pub fn complete(&mut self, now_ns: u64, out: &mut impl Emissions) {
        let last_of_run = self.run.active && self.run.completed + 1 == self.run.total;
        if last_of_run && self.flight.front().is_some_and(|plan| plan.uniform) {
            self.leave_run(None);
        }
        let Some(plan) = self.flight.pop_front() else {
            return;
        };
        if plan.uniform {
            self.complete_uniform(now_ns, out);
        } else {
            let mut ended = false;
            for entry in plan.entries.iter().filter(|entry| entry.samples) {
                ended |= self.emit(entry.slot, now_ns, out);
            }
            if ended {
                // Running sequences hold at least one block; those that have ended hold none.
                self.running.retain(|slot| self.seqs[*slot as usize].held > 0);
            }
        }
        self.spare.push(plan);
    }

    fn complete_uniform(&mut self, now_ns: u64, out: &mut impl Emissions) {
        if self.run.completed == 0 {
            for slot in &self.running {
                let seq = &self.seqs[*slot as usize];
                out.later_token(seq, now_ns - seq.times.last_token);
            }
        } else {
            out.later_tokens(now_ns - self.run.last_ns, self.running.len() as u32);
        }
        self.run.completed += 1;
        self.run.last_ns = now_ns;
    }

    /// Emits a token of `slot`. True if it was the last.
    fn emit(&mut self, slot: Slot, now_ns: u64, out: &mut impl Emissions) -> bool {
        let seq = &mut self.seqs[slot as usize];
        seq.in_flight -= 1;
        if seq.target > 0 {
            seq.emitted += 1;
            let before = std::mem::replace(&mut seq.times.last_token, now_ns);
            if seq.emitted == 1 {
                seq.times.first_token = now_ns;
                out.first_token(seq);
            } else {
                out.later_token(seq, now_ns - before);
            }
        } else {
            seq.times.last_token = now_ns;
        }
        let waits = seq.held == 0;
        if self.config.async_scheduling && !waits {
            self.blocks.register(seq, seq.computed - seq.in_flight);
        }
        if seq.emitted < seq.target {
            return false;
        }
        if waits {
            // It was preempted while its last token was being computed.
            self.waiting.remove(seq, slot);
        }
        self.blocks.release(seq);
        out.finished(seq);
        self.vacant.push(slot);
        true
    }
}
