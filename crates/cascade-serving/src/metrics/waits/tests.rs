//! Known queues, and the rule that the parts make up the whole.

use proptest::prelude::*;

use super::*;
use crate::request::Request;
use crate::scheduler::SchedulerConfig;
use crate::sim::{Sink, simulate};
use crate::step_time::Affine;
use crate::workload::List;

const MS: u64 = 1_000_000;

#[derive(Default)]
struct Tape(Vec<Record>, Vec<StepRecord>);

impl Sink for Tape {
    fn request(&mut self, record: &Record) {
        self.0.push(*record);
    }
    fn step(&mut self, step: &StepRecord) {
        self.1.push(*step);
    }
    fn inter_token(&mut self, _: u64, _: u32) {}
}

fn engine() -> SchedulerConfig {
    SchedulerConfig {
        num_gpu_blocks: 1_000,
        max_num_batched_tokens: 1_000,
        ..SchedulerConfig::default()
    }
}

/// Requests as (arrival, prompt, output) with steps of 10 ms; records in the order of the requests.
fn run(config: SchedulerConfig, requests: &[(u64, u32, u32)]) -> Tape {
    let config = SchedulerConfig {
        enable_prefix_caching: false,
        ..config
    };
    let request = |(id, (at, prompt, output)): (usize, &(u64, u32, u32))| {
        Request::new(id as u64, *at, *prompt, *output)
    };
    let mut list = List::new(requests.iter().enumerate().map(request).collect());
    let mut tape = Tape::default();
    simulate(&config, &Affine::constant(10 * MS), &mut list, &mut tape, 100_000).unwrap();
    tape.0.sort_by_key(|record| record.id);
    tape
}

/// The parts of a request's wait, in ms, by reason.
fn parts(tape: &Tape, id: usize) -> Vec<(Wait, u64)> {
    let waited = Waits::new(&tape.1).of(&tape.0[id]);
    let all = Wait::ALL.into_iter().zip(waited);
    all.filter(|(_, ns)| *ns > 0)
        .map(|(wait, ns)| (wait, ns / MS))
        .collect()
}

#[test]
fn each_reason_is_told_with_its_time() {
    let seqs = SchedulerConfig {
        max_num_seqs: 1,
        ..engine()
    };
    // One runs for 3 steps; the next comes in the middle of its first.
    let tape = run(seqs, &[(0, 8, 3), (5 * MS, 8, 1)]);
    assert_eq!(parts(&tape, 0), []);
    assert_eq!(parts(&tape, 1), [(Wait::Step, 5), (Wait::Seqs, 20)]);

    let budget = SchedulerConfig {
        max_num_batched_tokens: 16,
        ..engine()
    };
    assert_eq!(
        parts(&run(budget.clone(), &[(0, 32, 1), (0, 8, 1)]), 1),
        [(Wait::Budget, 20)]
    );
    let whole = SchedulerConfig {
        enable_chunked_prefill: false,
        ..budget
    };
    assert_eq!(
        parts(&run(whole, &[(0, 10, 1), (0, 8, 1)]), 1),
        [(Wait::Chunk, 10)]
    );

    let blocks = SchedulerConfig {
        num_gpu_blocks: 5,
        block_size: 4,
        ..engine()
    };
    assert_eq!(
        parts(&run(blocks, &[(0, 12, 3), (0, 12, 1)]), 1),
        [(Wait::Blocks, 30)]
    );
}

proptest! {
    #[test]
    fn the_parts_of_a_wait_make_up_its_time_in_the_queue(
        requests in prop::collection::vec((0..200_u64, 1..60_u32, 1..12_u32), 1..30),
        seqs in 1..6_u32, budget in 8..80_u32, blocks in 20..60_u32,
        chunked: bool, asynchronous: bool,
    ) {
        let mut requests: Vec<_> = requests.into_iter().map(|(at, p, o)| (at * MS, p, o)).collect();
        requests.sort_by_key(|request| request.0);
        let config = SchedulerConfig {
            max_num_seqs: seqs,
            // Without chunks a prompt must fit whole.
            max_num_batched_tokens: if chunked { budget } else { budget + 64 },
            num_gpu_blocks: blocks,
            block_size: 4,
            enable_chunked_prefill: chunked,
            async_scheduling: asynchronous,
            ..SchedulerConfig::default()
        };
        let tape = run(config, &requests);
        let waits = Waits::new(&tape.1);
        for record in &tape.0 {
            prop_assert_eq!(waits.of(record).iter().sum::<u64>(), record.queue_ns(), "{:?}", record);
        }
    }
}
