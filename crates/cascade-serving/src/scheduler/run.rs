//! A run of like steps: every running sequence decodes one token, nobody comes, ends or is preempted.
//!
//! Most steps are such, and all they change is known in advance: each sequence gains a token, and a block if
//! its length is at a block's end. So the run keeps how many sequences stand where in their block and how many
//! steps are left, and a step costs the same however many sequences run. Sequences are brought up to date when
//! the run ends. A test holds this against the same scheduler without it.

use super::Scheduler;
use super::plan::{Entry, Plan};
use super::seq::Slot;
use crate::batch::Batch;

#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) active: bool,
    /// Steps until a sequence emits its last token.
    pub(super) total: u32,
    pub(super) scheduled: u32,
    pub(super) completed: u32,
    /// End of the latest completed step, in ns.
    pub(super) last_ns: u64,
    /// Sum of the contexts before the run, in tokens.
    context_tokens: u64,
    /// Sequences by computed tokens modulo block size, before the run.
    standing: Vec<u32>,
    /// The same by name, where blocks have names.
    names: Vec<Vec<Slot>>,
    /// Turns runs off.
    pub(super) disabled: bool,
}

impl Scheduler {
    /// Schedules the running sequences' part of a step as part of a run. False if it is not such a step.
    pub(super) fn run_step(&mut self, plan: &mut Plan) -> bool {
        if self.run.active && self.run.scheduled == self.run.total {
            self.leave_run(None);
        }
        if !self.run.active && !self.enter_run() {
            return false;
        }
        let size = self.blocks.block_size();
        let step = self.run.scheduled % size;
        let need = self.run.standing[((size - step) % size) as usize];
        if need > self.blocks.free() {
            self.leave_run(None);
            return false;
        }
        if self.blocks.cache.is_some() {
            self.grow_by_name(((size - step) % size) as usize, (size - 1 - step) as usize);
        } else {
            self.blocks.take_counted(need);
        }
        self.run.scheduled += 1;
        let seqs = self.running.len() as u32;
        let context = self.run.context_tokens + u64::from(seqs) * u64::from(self.run.scheduled);
        plan.batch = Batch::decodes(seqs, context);
        plan.uniform = true;
        true
    }

    /// Gives a block to the sequences that start one and registers the block of those that fill one.
    fn grow_by_name(&mut self, starting: usize, filling: usize) {
        let ahead = self.run.scheduled + 1;
        for slot in &self.run.names[starting] {
            let seq = &mut self.seqs[*slot as usize];
            let upto = seq.computed + ahead;
            self.blocks.grow(seq, upto);
        }
        for slot in &self.run.names[filling] {
            let seq = &mut self.seqs[*slot as usize];
            let upto = seq.computed + ahead;
            self.blocks.register(seq, upto);
        }
    }

    fn enter_run(&mut self) -> bool {
        let caching = self.blocks.cache.is_some();
        // With both on, blocks fill one step before their last token is known.
        let excluded = self.run.disabled || (caching && self.config.async_scheduling);
        if excluded
            || self.running.is_empty()
            || self.running.len() > self.config.max_num_batched_tokens as usize
        {
            return false;
        }
        let size = self.blocks.block_size();
        let mut total = u32::MAX;
        let mut context_tokens = 0;
        self.run.standing.clear();
        self.run.standing.resize(size as usize, 0);
        // Newcomers, who are the ones still in prefill, stand last.
        for slot in self.running.iter().rev() {
            let seq = &self.seqs[*slot as usize];
            let emitted = seq.emitted + seq.in_flight;
            if seq.pending() != 1 || emitted == 0 || emitted >= seq.target {
                return false;
            }
            total = total.min(seq.target - emitted);
            context_tokens += u64::from(seq.computed);
            self.run.standing[(seq.computed % size) as usize] += 1;
        }
        if caching {
            self.run.names.resize_with(size as usize, Vec::new);
            self.run.names.iter_mut().for_each(Vec::clear);
            for slot in &self.running {
                self.run.names[(self.seqs[*slot as usize].computed % size) as usize].push(*slot);
            }
        }
        self.run.active = true;
        self.run.total = total;
        self.run.context_tokens = context_tokens;
        self.run.scheduled = 0;
        self.run.completed = 0;
        true
    }

    /// Ends the run, if there is one: brings its sequences up to date and writes out its steps in flight,
    /// `current` among them, which is not in flight yet.
    pub(super) fn leave_run(&mut self, current: Option<&mut Plan>) {
        if !std::mem::take(&mut self.run.active) {
            return;
        }
        let Run {
            scheduled,
            completed,
            last_ns,
            ..
        } = self.run;
        for slot in &self.running {
            let seq = &mut self.seqs[*slot as usize];
            seq.computed += scheduled;
            seq.emitted += completed;
            seq.in_flight += scheduled - completed;
            seq.held = self.blocks.for_tokens(seq.computed);
            if completed > 0 {
                seq.times.last_token = last_ns;
            }
        }
        for plan in self.flight.iter_mut().chain(current) {
            if std::mem::take(&mut plan.uniform) {
                let decode = |slot: &Slot| Entry {
                    slot: *slot,
                    tokens: 1,
                    samples: true,
                };
                plan.entries.extend(self.running.iter().map(decode));
                plan.applied = plan.entries.len();
            }
        }
    }

    /// Makes every step look at every sequence, so that each token is told by sequence and every counter is up
    /// to date. Results are the same; a step then costs time for each running sequence.
    pub fn step_singly(&mut self) {
        self.run.disabled = true;
    }
}
