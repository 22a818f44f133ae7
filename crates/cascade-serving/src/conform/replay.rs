//! Runs our scheduler beside a trace.

use std::collections::BTreeMap;

use thiserror::Error;

use super::trace::{Names, Step, Trace, TraceError, TraceRequest};
use crate::content::{Content, Segment};
use crate::request::{Refusal, Request};
use crate::scheduler::{ConfigError, Emissions, Scheduler, Seq, Slot};

/// Where our scheduler first does something else.
#[derive(Debug, Error)]
pub enum Difference {
    /// The trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Its engine is not possible.
    #[error("config: {0}")]
    Config(#[from] ConfigError),
    /// We refuse a request that vLLM runs.
    #[error("step {step}: request {id} is refused: {refusal}")]
    Refused {
        /// The call of `schedule()`.
        step: u64,
        /// The request.
        id: String,
        /// Why.
        refusal: Refusal,
    },
    /// A field has another value.
    #[error("step {step}: {field}: vLLM has {expected}, this scheduler has {got}")]
    Field {
        /// The call of `schedule()`.
        step: u64,
        /// The field of the trace.
        field: &'static str,
        /// vLLM's value.
        expected: String,
        /// Ours.
        got: String,
    },
}

/// What a trace came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Steps that computed something.
    pub steps: u64,
    /// Query tokens of all steps.
    pub scheduled_tokens: u64,
    /// Preemptions.
    pub preemptions: u64,
}

/// The ids of sequences that end.
#[derive(Default)]
struct Finished(Vec<u64>);

impl Emissions for Finished {
    fn first_token(&mut self, _: &Seq) {}
    fn later_tokens(&mut self, _: u64, _: u32) {}
    fn finished(&mut self, seq: &Seq) {
        self.0.push(seq.id);
    }
}

/// Replays `trace` and compares every call.
pub fn replay(trace: &Trace) -> Result<Summary, Difference> {
    run(trace, Scheduler::new(trace.config.clone())?)
}

pub(super) fn run(trace: &Trace, mut scheduler: Scheduler) -> Result<Summary, Difference> {
    let mut requests: Vec<_> = trace.requests()?.into_iter().enumerate().collect();
    let mut beside = Beside {
        names: requests.iter().map(|(_, request)| request.id.clone()).collect(),
        call: 0,
    };
    requests.sort_by_key(|(_, request)| request.arrive_step);
    let mut coming = requests.into_iter().peekable();
    let mut expected = trace.steps.iter();
    let mut summary = Summary::default();
    loop {
        beside.call += 1;
        while let Some((index, request)) = coming.next_if(|(_, request)| request.arrive_step <= beside.call) {
            let id = request.id.clone();
            let added = scheduler.add(to_request(index as u64, request));
            added.map_err(|refusal| Difference::Refused {
                step: beside.call,
                id,
                refusal,
            })?;
        }
        if scheduler.running().is_empty() && scheduler.waiting_len() == 0 {
            let Some((_, next)) = coming.peek() else { break };
            beside.call = next.arrive_step - 1;
            continue;
        }
        scheduler.schedule();
        let step = expected.next();
        beside.compare_decision(&scheduler, step)?;
        if let Some(plan) = scheduler.newest() {
            summary.steps += u64::from(!plan.is_empty());
            summary.scheduled_tokens += plan.batch().query_tokens;
            summary.preemptions += plan.preempted().len() as u64;
        }
        let mut finished = Finished::default();
        let lag =
            usize::from(trace.config.async_scheduling && !scheduler.newest().is_some_and(|p| p.is_empty()));
        while scheduler.in_flight() > lag {
            scheduler.complete(beside.call, &mut finished);
        }
        beside.compare_finished(&finished.0, step)?;
    }
    match expected.next() {
        Some(step) => Err(beside.differs("step", format!("another call, {}", step.step), "none".into())),
        None => Ok(summary),
    }
}

struct Beside {
    names: Vec<String>,
    call: u64,
}

impl Beside {
    fn differs(&self, field: &'static str, expected: String, got: String) -> Difference {
        Difference::Field {
            step: self.call,
            field,
            expected,
            got,
        }
    }

    fn same<T: PartialEq + std::fmt::Debug>(
        &self,
        field: &'static str,
        vllm: &T,
        ours: &T,
    ) -> Result<(), Difference> {
        if vllm == ours {
            Ok(())
        } else {
            Err(self.differs(field, format!("{vllm:?}"), format!("{ours:?}")))
        }
    }

    fn name(&self, id: u64) -> &str {
        self.names.get(id as usize).map_or("?", String::as_str)
    }

    fn names(&self, scheduler: &Scheduler, slots: impl Iterator<Item = Slot>) -> Vec<String> {
        slots
            .map(|slot| self.name(scheduler.seq(slot).id).to_owned())
            .collect()
    }

    fn compare_decision(&self, scheduler: &Scheduler, step: Option<&Step>) -> Result<(), Difference> {
        let scheduled = scheduler.scheduled();
        let Some(step) = step else {
            return Err(self.differs(
                "step",
                "no further call".into(),
                format!("{} sequences", scheduled.len()),
            ));
        };
        self.same("step", &step.step, &self.call)?;
        let named: Vec<(String, u32)> = (scheduled.iter())
            .map(|(slot, tokens)| (self.name(scheduler.seq(*slot).id).to_owned(), *tokens))
            .collect();
        if let Some(expected) = &step.scheduled {
            self.same("scheduled", expected, &named)?;
        }
        if let Some(n) = &step.n {
            self.same("n", n, &(named.len() as u64))?;
        }
        if let Some(tokens) = &step.tokens {
            self.same(
                "tokens",
                tokens,
                &named.iter().map(|(_, tokens)| u64::from(*tokens)).sum(),
            )?;
        }
        let preempted = scheduler
            .newest()
            .map(|plan| plan.preempted())
            .unwrap_or_default();
        let preempted = self.names(scheduler, preempted.iter().copied());
        self.same("preempted", &sorted(&step.preempted), &sorted(&preempted))?;
        let running = self.names(scheduler, scheduler.running().iter().copied());
        self.same_names("running", &step.running, running)?;
        self.same_names(
            "waiting",
            &step.waiting,
            self.names(scheduler, scheduler.waiting()),
        )?;
        if let Some(expected) = &step.computed_after {
            let computed: BTreeMap<String, u32> = (scheduled.iter())
                .map(|(slot, _)| {
                    (
                        self.name(scheduler.seq(*slot).id).to_owned(),
                        scheduler.computed(*slot),
                    )
                })
                .collect();
            self.same("computed_after", expected, &computed)?;
        }
        step.free_blocks.map_or(Ok(()), |free| {
            self.same("free_blocks", &free, &scheduler.free_blocks())
        })
    }

    fn same_names(&self, field: &'static str, vllm: &Names, ours: Vec<String>) -> Result<(), Difference> {
        match vllm {
            Names::List(list) => self.same(field, list, &ours),
            Names::Count(count) => self.same(field, count, &(ours.len() as u64)),
        }
    }

    fn compare_finished(&self, finished: &[u64], step: Option<&Step>) -> Result<(), Difference> {
        let Some(expected) = step.and_then(|step| step.finished.as_ref()) else {
            return Ok(());
        };
        let finished: Vec<String> = finished.iter().map(|id| self.name(*id).to_owned()).collect();
        self.same("finished", &sorted(expected), &sorted(&finished))
    }
}

fn sorted(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names
}

/// In the traces a request's arrival time, which orders equal priorities, is its place in the list.
fn to_request(id: u64, request: TraceRequest) -> Request {
    let content = (!request.prompt.is_empty()).then(|| Content {
        prompt: request
            .prompt
            .iter()
            .map(|token| Segment {
                id: u64::from(*token),
                start: 0,
                len: 1,
            })
            .collect(),
        // Answers are not in the trace; no prompt repeats one.
        output: (1 << 40) | id,
    });
    Request {
        priority: request.priority,
        content,
        ..Request::new(id, id, request.prompt_tokens(), request.output_tokens)
    }
}
