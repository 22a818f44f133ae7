//! The engine on the clock. What it predicts is exact however late this machine is; what it delivers is never early.

use cascade_serving::datasheet::{Bound, Efficiency, datasheet};
use cascade_serving::facts::builtin;
use cascade_serving::profile::{HostTime, PerfProfile};
use cascade_serving::request::Request;
use cascade_serving::sim::simulate;

use super::*;

/// OPT-125m on an H100, decodes of about 0.1 ms.
fn time() -> Roofline {
    let model = builtin("facebook/opt-125m").unwrap();
    let gpu = datasheet("SM90_H100").unwrap();
    let profile = PerfProfile::from_datasheet(model, gpu, Efficiency::default(), HostTime::default());
    Roofline::new(&profile.unwrap(), Bound::Assumed)
}

fn config() -> SchedulerConfig {
    SchedulerConfig {
        num_gpu_blocks: 300,
        max_num_seqs: 4,
        max_num_batched_tokens: 64,
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    }
}

fn sequences(count: usize, prompt_tokens: u32, output_tokens: u32) -> Vec<Sequence> {
    let content = None;
    vec![
        Sequence {
            prompt_tokens,
            output_tokens,
            content
        };
        count
    ]
}

/// Everything that is told until the end.
async fn all(mut ticket: Ticket) -> Vec<Told> {
    let mut all = Vec::new();
    while let Some(told) = ticket.next().await {
        all.push(told);
    }
    all
}

/// Waits until the engine's numbers are as wanted.
fn eventually(engine: &Engine, wanted: impl Fn(&Stats) -> bool) {
    let started = Instant::now();
    while !wanted(&engine.stats()) {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{:?}",
            engine.stats()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[derive(Default)]
struct Ends(Vec<Record>);

impl Sink for Ends {
    fn request(&mut self, record: &Record) {
        self.0.push(*record);
    }
    fn step(&mut self, _: &StepRecord) {}
    fn inter_token(&mut self, _: u64, _: u32) {}
}

#[tokio::test]
async fn a_batch_takes_what_the_simulation_says_and_no_token_is_early() {
    let engine = Arc::new(Engine::start(config(), time(), 100).unwrap());
    let ticket = engine.submit(Instant::now(), sequences(9, 100, 50)).unwrap();
    let told = all(ticket).await;
    let elapsed = nanos(engine.origin.elapsed());
    let mut live: Vec<Record> = told
        .iter()
        .filter_map(|told| match told {
            Told::Ended { record, .. } => Some(*record),
            Told::Token { .. } => None,
        })
        .collect();
    live.sort_by_key(|record| record.id);
    let mut ends = Ends::default();
    let arrival = live[0].arrival_ns;
    let load = (0..9).map(|id| Request::new(id, arrival, 100, 50)).collect();
    simulate(&config(), &time(), &mut List::new(load), &mut ends, 10_000).unwrap();
    ends.0.sort_by_key(|record| record.id);
    assert_eq!(live, ends.0);
    assert_eq!(told.len(), 9 * 51);
    assert!(live.iter().all(|record| record.end_ns <= elapsed));
    // Tokens come in the order in which they were due, each choice's last before its end.
    let due = |told: &Told| match told {
        Told::Token { due_ns, .. } => *due_ns,
        Told::Ended { record, .. } => record.end_ns,
    };
    assert!(told.is_sorted_by_key(due));
    let stats = engine.stats().clone();
    assert_eq!(
        (
            stats.length,
            stats.abort,
            stats.generation_tokens,
            stats.prompt_tokens
        ),
        (9, 0, 450, 900)
    );
    let counted = |histogram: &Histogram| histogram.counts.iter().sum::<u64>();
    assert_eq!(
        (
            counted(&stats.ttft),
            counted(&stats.inter_token),
            counted(&stats.e2e)
        ),
        (9, 441, 9)
    );
    assert_eq!(counted(&engine.lateness()), 450);
}

#[tokio::test]
async fn requests_share_steps_and_those_given_up_make_room() {
    let config = SchedulerConfig {
        num_gpu_blocks: 1_000_000,
        ..config()
    };
    let engine = Arc::new(Engine::start(config, time(), 5).unwrap());
    let long = || engine.submit(Instant::now(), sequences(1, 64, 1_000_000));
    let first: Vec<Ticket> = (0..4).map(|_| long().unwrap()).collect();
    eventually(&engine, |stats| stats.running == 4);
    let waiting = engine.submit(Instant::now(), sequences(5, 64, 1)).unwrap();
    eventually(&engine, |stats| stats.waiting == 5);
    // The queue is full; nothing of a request that does not fit is taken.
    assert_eq!(long().unwrap_err(), QueueFull { limit: 5 });
    assert_eq!(engine.stats().rejected, 1);
    drop(first);
    let told = all(waiting).await;
    assert_eq!(told.len(), 10);
    eventually(&engine, |stats| {
        stats.running == 0 && stats.abort == 4 && stats.length == 5
    });
    assert_eq!(engine.stats().kv_usage, 0.0);
}

#[tokio::test]
async fn what_can_never_run_is_refused_with_the_reason() {
    let engine = Arc::new(Engine::start(config(), time(), 5).unwrap());
    let told = all(engine.submit(Instant::now(), sequences(1, 16 * 300, 1)).unwrap()).await;
    let [Told::Ended { choice: 0, record }] = told[..] else {
        panic!("{told:?}")
    };
    assert!(
        record
            .refusal
            .is_some_and(|refusal| refusal.to_string().contains("KV blocks"))
    );
    assert_eq!(engine.stats().error, 1);
}

#[tokio::test]
async fn equal_prompts_share_blocks() {
    let config = SchedulerConfig {
        enable_prefix_caching: true,
        ..config()
    };
    let engine = Arc::new(Engine::start(config, time(), 5).unwrap());
    let tokens: Vec<u32> = (0..100).map(|n| n * n).collect();
    for (ids, hits) in [
        (&tokens[..], 0),
        (&tokens[..], 96),
        (&tokens[..50], 144),
        (&tokens[1..50], 144),
    ] {
        let sequence = Sequence::of_tokens(ids.iter().copied(), 2);
        all(engine.submit(Instant::now(), vec![sequence]).unwrap()).await;
        assert_eq!(engine.stats().prefix_hits, hits);
    }
}
