//! Requests that are given up, as vLLM's `finish_requests` ends them.

use proptest::prelude::*;

use super::*;
use crate::content::{Content, Segment};

fn engine(caching: bool, asynchronous: bool) -> Scheduler {
    Scheduler::new(SchedulerConfig {
        num_gpu_blocks: 101,
        max_num_batched_tokens: 64,
        max_num_seqs: 2,
        enable_prefix_caching: caching,
        async_scheduling: asynchronous,
        ..SchedulerConfig::default()
    })
    .unwrap()
}

/// 40 tokens (three blocks), two of them shared with every other such prompt.
fn request(id: u64) -> Request {
    let run = |id, len| Segment { id, start: 0, len };
    Request {
        content: Some(Content {
            prompt: Box::from([run(7, 32), run(100 + id, 8)]),
            output: 1000 + id,
        }),
        ..Request::new(id, 1, 40, 5)
    }
}

fn step(scheduler: &mut Scheduler, now: u64, story: &mut Story) {
    scheduler.schedule();
    scheduler.complete(now, story);
}

#[test]
fn blocks_are_free_at_once_and_the_next_in_line_is_admitted() {
    for caching in [false, true] {
        let mut scheduler = engine(caching, false);
        let mut story = Story::default();
        for id in 0..3 {
            scheduler.add(request(id)).unwrap();
        }
        step(&mut scheduler, 1, &mut story);
        step(&mut scheduler, 2, &mut story);
        assert_eq!((scheduler.running().len(), scheduler.waiting_len()), (2, 1));
        let free = scheduler.free_blocks();
        assert!(scheduler.abort(0));
        // With caching the shared blocks stay with the other one.
        assert_eq!(scheduler.free_blocks(), free + if caching { 1 } else { 3 });
        assert!(!scheduler.abort(0) && !scheduler.abort(9));
        step(&mut scheduler, 3, &mut story);
        assert_eq!((scheduler.running().len(), scheduler.waiting_len()), (2, 0));
        assert!(scheduler.abort(1) && scheduler.abort(2));
        assert_eq!(scheduler.free_blocks(), scheduler.usable_blocks());
        assert!(story.emitted.is_empty());
    }
}

#[test]
fn a_waiting_request_leaves_the_queue_and_its_slot_starts_afresh() {
    let mut scheduler = engine(true, false);
    let mut story = Story::default();
    for id in 0..3 {
        scheduler.add(request(id)).unwrap();
    }
    step(&mut scheduler, 1, &mut story);
    assert!(scheduler.abort(2));
    assert_eq!(scheduler.waiting_len(), 0);
    // Another prompt in the same slot: what the cache said of the old one does not count.
    let other = Request {
        content: None,
        ..request(3)
    };
    scheduler.add(other).unwrap();
    for now in 2..20 {
        step(&mut scheduler, now, &mut story);
    }
    assert_eq!(story.emitted, BTreeMap::from([(0, 5), (1, 5), (3, 5)]));
    assert_eq!(scheduler.free_blocks(), scheduler.usable_blocks());
}

#[test]
fn what_it_computed_stays_in_the_prefix_cache() {
    let mut scheduler = engine(true, false);
    let mut story = Story::default();
    scheduler.add(request(0)).unwrap();
    step(&mut scheduler, 1, &mut story);
    assert!(scheduler.abort(0));
    let slot = scheduler.add(request(1)).unwrap();
    scheduler.schedule();
    assert_eq!(scheduler.seq(slot).cached_tokens, 32);
}

/// Two steps are in flight, both with both requests in them.
#[test]
fn steps_in_flight_emit_for_the_others_alone() {
    for singly in [false, true] {
        let mut scheduler = engine(false, true);
        if singly {
            scheduler.step_singly();
        }
        let mut story = Story::default();
        for id in 0..2 {
            scheduler.add(request(id)).unwrap();
        }
        for now in 1..4 {
            scheduler.schedule();
            if scheduler.in_flight() == 2 {
                scheduler.complete(now, &mut story);
            }
        }
        scheduler.schedule();
        assert_eq!(scheduler.in_flight(), 2);
        assert!(scheduler.abort(0));
        for now in 4..20 {
            scheduler.complete(now, &mut story);
            scheduler.schedule();
        }
        assert_eq!(story.emitted, BTreeMap::from([(1, 5)]));
        assert_eq!(scheduler.free_blocks(), scheduler.usable_blocks());
    }
}

proptest! {
    /// The shortcut for like steps gives way to an abort without a trace.
    #[test]
    fn aborts_in_runs_of_like_steps_are_exact(
        at in 1u64..30, victim in 0u64..6, caching in any::<bool>(), asynchronous in any::<bool>(),
    ) {
        let tell = |singly: bool| {
            let mut scheduler = engine(caching, asynchronous);
            if singly {
                scheduler.step_singly();
            }
            let mut story = Story::default();
            let mut steps = Vec::new();
            for id in 0..6 {
                scheduler.add(request(id)).unwrap();
            }
            for now in 1..60 {
                if now == at {
                    scheduler.abort(victim);
                }
                scheduler.schedule();
                let plan = scheduler.newest().unwrap();
                steps.push((scheduler.scheduled(), *plan.batch(), scheduler.free_blocks()));
                while scheduler.in_flight() > usize::from(asynchronous) {
                    scheduler.complete(now, &mut story);
                }
            }
            (story, steps, scheduler.free_blocks())
        };
        prop_assert_eq!(tell(false), tell(true));
    }
}
