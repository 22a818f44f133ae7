//! The request scheduler: which sequences compute how many tokens in each step.
//!
//! One step is [`Scheduler::schedule`], then the caller lets time pass, then [`Scheduler::complete`]. With
//! asynchronous scheduling the caller schedules step k+1 before it completes step k. No time enters a decision.

mod abort;
mod blocks;
mod complete;
mod config;
mod plan;
mod prefix;
mod queue;
mod reference;
mod run;
mod seq;
mod vllm;

use std::collections::VecDeque;

pub use complete::Emissions;
pub use config::{ConfigError, MAX_BLOCK_SIZE, Policy, Rules, SchedulerConfig, Usage, default_limits};
pub use plan::{Blocked, Entry, Plan};
pub use seq::{Seq, Slot, Times};

use crate::request::{Refusal, Request};
use blocks::Blocks;
use prefix::Hits;
use queue::Waiting;
use run::Run;

/// The state of one engine's scheduler.
#[derive(Debug)]
pub struct Scheduler {
    config: SchedulerConfig,
    seqs: Vec<Seq>,
    vacant: Vec<Slot>,
    waiting: Waiting,
    /// In order of admission.
    running: Vec<Slot>,
    blocks: Blocks,
    /// Steps scheduled and not completed, oldest first.
    flight: VecDeque<Plan>,
    spare: Vec<Plan>,
    run: Run,
    /// What the prefix cache last said about the head of the queue, and in which version of the cache.
    head_hits: Option<(Slot, u64, Hits)>,
}

impl Scheduler {
    /// An empty engine.
    pub fn new(config: SchedulerConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self::of(config))
    }

    fn of(config: SchedulerConfig) -> Self {
        let caching = config.enable_prefix_caching && config.rules == Rules::VllmV1;
        Self {
            seqs: Vec::new(),
            vacant: Vec::new(),
            waiting: Waiting::new(if config.rules == Rules::Reference {
                Policy::Fcfs
            } else {
                config.policy
            }),
            running: Vec::new(),
            blocks: Blocks::new(config.usable_blocks(), config.block_size, caching),
            flight: VecDeque::new(),
            spare: Vec::new(),
            run: Run::default(),
            head_hits: None,
            config,
        }
    }

    /// Lets a request arrive. It waits, unless it could never run.
    pub fn add(&mut self, request: Request) -> Result<Slot, Refusal> {
        let target = self.target(&request)?;
        let seq = Seq::new(request, target, self.blocks.cache.is_some());
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.seqs[slot as usize] = seq;
                slot
            }
            None => {
                self.seqs.push(seq);
                (self.seqs.len() - 1) as Slot
            }
        };
        self.waiting.add(&self.seqs[slot as usize], slot);
        Ok(slot)
    }

    /// Checks a request and says how many tokens it will emit.
    fn target(&self, request: &Request) -> Result<u32, Refusal> {
        let SchedulerConfig {
            max_model_len,
            max_num_batched_tokens,
            ..
        } = self.config;
        let prompt_tokens = request.prompt_tokens;
        if prompt_tokens == 0 {
            return Err(Refusal::EmptyPrompt);
        }
        if prompt_tokens >= max_model_len {
            return Err(Refusal::PromptTooLong {
                prompt_tokens,
                max_model_len,
            });
        }
        if !self.config.enable_chunked_prefill && prompt_tokens > max_num_batched_tokens {
            return Err(Refusal::PromptOverBudget {
                prompt_tokens,
                max_num_batched_tokens,
            });
        }
        let target = request.output_tokens.min(max_model_len - prompt_tokens);
        // The last token is emitted and never computed.
        let needed = self
            .blocks
            .for_tokens(prompt_tokens.saturating_add(target.saturating_sub(1)));
        let usable = self.blocks.usable();
        if needed > usable {
            Err(Refusal::KvCapacity { needed, usable })
        } else {
            Ok(target)
        }
    }

    /// Decides the next step. [`Scheduler::newest`] tells what it does.
    pub fn schedule(&mut self) {
        let mut plan = self.spare.pop().unwrap_or_default();
        plan.clear();
        match self.config.rules {
            Rules::VllmV1 => self.schedule_vllm(&mut plan),
            Rules::Reference => self.schedule_reference(&mut plan),
        }
        self.apply(&mut plan);
        self.flight.push_back(plan);
    }

    /// Counts the plan's tokens as computed, as vLLM does before the model has run.
    fn apply(&mut self, plan: &mut Plan) {
        for entry in plan.entries.iter_mut().skip(plan.applied) {
            let seq = &mut self.seqs[entry.slot as usize];
            let prefill = entry.tokens > 1 || seq.computed < seq.prompt;
            seq.computed += entry.tokens;
            entry.samples = seq.pending() == 0;
            seq.in_flight += u32::from(entry.samples);
            plan.batch
                .push(entry.tokens, seq.computed, prefill, entry.samples);
        }
        plan.applied = plan.entries.len();
    }

    /// Takes everything from a running sequence and puts it first in line.
    fn preempt(&mut self, slot: Slot, plan: &mut Plan) {
        let seq = &mut self.seqs[slot as usize];
        self.blocks.release(seq);
        seq.computed = 0;
        seq.preemptions += 1;
        self.waiting.add_first(seq, slot);
        plan.preempted.push(slot);
    }

    /// Gives up on the head of the queue: called when nothing runs and it still cannot be admitted.
    pub fn refuse_head(&mut self) -> Option<(Slot, Refusal)> {
        let slot = self.waiting.pop()?;
        self.vacant.push(slot);
        // The next request in this slot is another one.
        self.head_hits = None;
        Some((
            slot,
            Refusal::NeverFits {
                tokens: self.seq(slot).known(),
            },
        ))
    }

    /// The step scheduled last, unless it is completed.
    pub fn newest(&self) -> Option<&Plan> {
        self.flight.back()
    }

    /// Steps scheduled and not completed.
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// Each sequence's query tokens in the newest step, in scheduling order.
    pub fn scheduled(&self) -> Vec<(Slot, u32)> {
        match self.flight.back() {
            Some(plan) if plan.uniform => self.running.iter().map(|slot| (*slot, 1)).collect(),
            Some(plan) => plan
                .entries
                .iter()
                .map(|entry| (entry.slot, entry.tokens))
                .collect(),
            None => Vec::new(),
        }
    }

    /// A sequence that has arrived and not left. While all sequences decode, its counters may lag behind.
    pub fn seq(&self, slot: Slot) -> &Seq {
        &self.seqs[slot as usize]
    }

    /// Tokens of a running sequence in the cache, those of steps in flight included.
    pub fn computed(&self, slot: Slot) -> u32 {
        self.seq(slot).computed + if self.run.active { self.run.scheduled } else { 0 }
    }

    /// Notes when the first step of the sequences that the newest plan admits starts.
    pub fn start_admitted(&mut self, now_ns: u64) {
        let Some(plan) = self.flight.back() else { return };
        for slot in &plan.admitted {
            let seq = &mut self.seqs[*slot as usize];
            if seq.admissions == 1 {
                seq.times.first_scheduled = now_ns;
            }
        }
    }

    /// Running sequences in order of admission.
    pub fn running(&self) -> &[Slot] {
        &self.running
    }

    /// Number of waiting requests.
    pub fn waiting_len(&self) -> usize {
        self.waiting.len()
    }

    /// Waiting requests, the next one first.
    pub fn waiting(&self) -> impl Iterator<Item = Slot> + '_ {
        self.waiting.iter()
    }

    /// KV blocks that nothing holds.
    pub fn free_blocks(&self) -> u32 {
        self.blocks.free()
    }

    /// KV blocks that requests can use.
    pub fn usable_blocks(&self) -> u32 {
        self.blocks.usable()
    }

    /// The settings.
    pub fn config(&self) -> &SchedulerConfig {
        &self.config
    }
}

#[cfg(test)]
mod tests;
