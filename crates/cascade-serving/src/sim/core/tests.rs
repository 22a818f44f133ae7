//! The loop as a live engine drives it: requests become known as they arrive, and some are given up.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::request::Request;
use crate::scheduler::Rules;
use crate::sim::simulate;
use crate::step_time::Affine;
use crate::workload::List;

const MS: u64 = 1_000_000;

#[derive(Default)]
struct Tape {
    requests: Vec<Record>,
    steps: Vec<StepRecord>,
    /// Times of tokens by request.
    tokens: BTreeMap<u64, Vec<u64>>,
    gaps: u64,
    /// Whether every token is told.
    singly: bool,
}

impl Tape {
    fn singly() -> Self {
        Self {
            singly: true,
            ..Self::default()
        }
    }
}

impl Sink for Tape {
    fn request(&mut self, record: &Record) {
        self.requests.push(*record);
    }
    fn step(&mut self, step: &StepRecord) {
        self.steps.push(*step);
    }
    fn inter_token(&mut self, _: u64, count: u32) {
        self.gaps += u64::from(count);
    }
    fn token(&mut self, seq: &Seq, at_ns: u64) {
        if !self.singly {
            return;
        }
        assert_eq!(seq.times.last_token, at_ns);
        let tokens = self.tokens.entry(seq.id).or_default();
        tokens.push(at_ns);
        assert_eq!(tokens.len() as u32, seq.emitted);
    }
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = (0..60 * MS, 1u32..90, 1u32..40);
    proptest::collection::vec(one, 1..30).prop_map(|list| {
        let request = |(id, (at, prompt, output)): (usize, (u64, u32, u32))| {
            Request::new(id as u64, at, prompt, output)
        };
        list.into_iter().enumerate().map(request).collect()
    })
}

fn config() -> impl Strategy<Value = SchedulerConfig> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (20u32..200, 1u32..20, flags).prop_map(|(blocks, seqs, (reference, caching, asynchronous))| {
        SchedulerConfig {
            rules: if reference {
                Rules::Reference
            } else {
                Rules::VllmV1
            },
            num_gpu_blocks: blocks,
            max_num_seqs: seqs,
            max_num_batched_tokens: 64,
            enable_prefix_caching: caching,
            async_scheduling: asynchronous && !reference,
            ..SchedulerConfig::default()
        }
    })
}

fn time(host_ns: u64) -> Affine {
    Affine {
        host_ns,
        query_token_ns: 1e4,
        ..Affine::constant(2 * MS)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// An engine that hears of a request when it arrives does what the simulation of the whole load does, and
    /// tells every token once.
    #[test]
    fn a_load_that_unfolds_is_the_load_known_beforehand(
        config in config(), requests in requests(), host_ns in 0..3 * MS,
    ) {
        let mut whole = Tape::default();
        let time = time(host_ns);
        let totals = simulate(&config, &time, &mut List::new(requests.clone()), &mut whole, 100_000).unwrap();

        let mut live = Tape::singly();
        let mut core = Core::new(config, &time).unwrap();
        core.tell_tokens();
        let mut coming = List::new(requests);
        let mut known = List::default();
        let mut clock = 0;
        loop {
            // Wait for the next event, unless a request arrives before it.
            let next = core.next_ns(&mut known);
            match coming.next_arrival_ns() {
                Some(at) if next.is_none_or(|next| at <= next) => {
                    clock = clock.max(at);
                    known.push(coming.pop().unwrap());
                }
                _ => {
                    let Some(next) = next else { break };
                    prop_assert!(clock <= next, "{clock} {next}");
                    clock = next;
                    prop_assert!(core.advance(&mut known, &mut live));
                }
            }
        }
        prop_assert_eq!(core.totals(), totals);
        prop_assert_eq!(&live.requests, &whole.requests);
        prop_assert_eq!(&live.steps, &whole.steps);
        prop_assert_eq!(live.gaps, whole.gaps);
        for record in live.requests.iter().filter(|record| record.refusal.is_none()) {
            let tokens = &live.tokens[&record.id];
            prop_assert_eq!(tokens.len() as u32, record.output_tokens);
            prop_assert_eq!(tokens.first().copied(), record.first_token_ns);
        }
    }

    /// Whatever is given up, the others get all their tokens, the given up get none after it, and no block leaks.
    #[test]
    fn what_is_given_up_leaves_nothing_behind(
        config in config(), requests in requests(), host_ns in 0..3 * MS,
        aborts in proptest::collection::vec((0u64..300, any::<proptest::sample::Index>()), 1..12),
    ) {
        let mut tape = Tape::singly();
        let mut core = Core::new(config, time(host_ns)).unwrap();
        core.tell_tokens();
        let count = requests.len();
        let targets: Vec<u32> = requests.iter().map(|request| request.output_tokens).collect();
        let mut source = List::new(requests);
        let mut gone = BTreeMap::new();
        for event in 0.. {
            assert!(event < 100_000, "does not end");
            for (_, index) in aborts.iter().filter(|(at, _)| *at == event) {
                let id = index.index(count) as u64;
                if core.abort(id) {
                    prop_assert!(!core.abort(id));
                    let so_far = tape.tokens.get(&id).map_or(0, Vec::len);
                    prop_assert!(gone.insert(id, so_far).is_none());
                }
            }
            if !core.advance(&mut source, &mut tape) {
                break;
            }
        }
        let ended: BTreeSet<u64> = tape.requests.iter().map(|record| record.id).collect();
        prop_assert_eq!(ended.len() + gone.len(), count);
        prop_assert!(gone.keys().all(|id| !ended.contains(id)));
        for (id, so_far) in gone {
            prop_assert_eq!(tape.tokens.get(&id).map_or(0, Vec::len), so_far);
        }
        for record in tape.requests.iter().filter(|record| record.refusal.is_none()) {
            prop_assert_eq!(record.output_tokens, targets[record.id as usize]);
        }
        let scheduler = core.scheduler();
        prop_assert_eq!(scheduler.free_blocks(), scheduler.usable_blocks());
        prop_assert!(!core.has_work());
    }
}
