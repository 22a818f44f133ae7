//! The rules as sentences, over random loads, and known cases.

mod abort;
mod known;
mod rules;

use std::collections::BTreeMap;

use super::*;
use crate::request::Request;

/// What a whole load came to, by step.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Story {
    /// Steps that computed something.
    pub(super) steps: u64,
    /// Query tokens of all steps.
    pub(super) tokens: u64,
    /// Preemptions by request.
    pub(super) preemptions: BTreeMap<u64, u32>,
    /// Tokens emitted, by request, once it has finished.
    pub(super) emitted: BTreeMap<u64, u32>,
    /// Step of the first and of the last token, by request.
    pub(super) times: BTreeMap<u64, (u64, u64)>,
    /// Gaps between tokens, in steps.
    pub(super) gaps: BTreeMap<u64, u64>,
    /// Refused requests.
    pub(super) refused: BTreeMap<u64, Refusal>,
}

impl Emissions for Story {
    fn first_token(&mut self, seq: &Seq) {
        assert_eq!((seq.emitted, seq.times.first_token), (1, seq.times.last_token));
    }
    fn later_tokens(&mut self, gap: u64, count: u32) {
        *self.gaps.entry(gap).or_default() += u64::from(count);
    }
    fn finished(&mut self, seq: &Seq) {
        self.emitted.insert(seq.id, seq.emitted);
        self.preemptions.insert(seq.id, seq.preemptions);
        self.times
            .insert(seq.id, (seq.times.first_token, seq.times.last_token));
    }
}

/// Lets each request arrive before the call that its arrival time names, and runs until all have left.
pub(super) fn tell(
    scheduler: &mut Scheduler,
    requests: &[Request],
    mut each: impl FnMut(&Scheduler),
) -> Story {
    let mut story = Story::default();
    let mut coming: Vec<&Request> = requests.iter().collect();
    coming.sort_by_key(|request| request.arrival_ns);
    let mut coming = coming.into_iter().peekable();
    let lag = usize::from(scheduler.config().async_scheduling);
    for call in 1.. {
        assert!(call < 100_000, "does not end");
        while let Some(request) = coming.next_if(|request| request.arrival_ns <= call) {
            if let Err(refusal) = scheduler.add(request.clone()) {
                story.refused.insert(request.id, refusal);
            }
        }
        scheduler.schedule();
        each(scheduler);
        let plan = scheduler.newest().unwrap();
        assert_eq!(plan.blocked().is_some(), scheduler.waiting_len() > 0);
        let empty = plan.is_empty();
        story.steps += u64::from(!empty);
        story.tokens += plan.batch().query_tokens;
        if empty && plan.preempted().is_empty() && scheduler.running().is_empty() {
            if let Some((slot, refusal)) = scheduler.refuse_head() {
                story.refused.insert(scheduler.seq(slot).id, refusal);
            } else if coming.peek().is_none() {
                return story;
            }
        }
        while scheduler.in_flight() > if empty { 0 } else { lag } {
            scheduler.complete(call, &mut story);
        }
    }
    story
}

pub(super) fn all_at_once(count: u64, prompt: u32, output: u32) -> Vec<Request> {
    (0..count).map(|id| Request::new(id, 1, prompt, output)).collect()
}
